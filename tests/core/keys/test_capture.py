"""Captured keys: what is a key, what is the way out, and how long keys are kept."""

import pytest

from nacre.core.keys.capture import Capture


@pytest.fixture
def capture() -> Capture:
    begun = Capture(1000)
    begun.begin()
    return begun


def test_keys_are_numbered_and_kept_for_who_asks_later(capture: Capture) -> None:
    capture.focus = "overlay-1"
    typed = capture.typed(b"a\x1b[1;5A")
    assert (typed.rest, typed.ended) == (b"", False)
    assert [(key.number, bytes(key.raw)) for key in typed.keys] == [(1, b"a"), (2, b"\x1b[1;5A")]
    assert typed.keys[1].parsed is not None
    assert (typed.keys[1].parsed.key, typed.keys[1].parsed.modifiers) == ("ArrowUp", ["ctrl"])
    assert typed.keys[0].focused_element == "overlay-1"
    assert capture.since(0) == typed.keys
    assert capture.since(1) == typed.keys[1:]
    assert capture.since(2) == []


@pytest.mark.parametrize("kept", [1, 1000])
def test_the_last_ones_are_kept(kept: int) -> None:
    capture = Capture(kept)
    capture.begin()
    capture.typed(b"x" * 1500)
    assert capture.last == 1500
    assert [key.number for key in capture.since(0)] == list(range(1501 - kept, 1501))


def test_whole_and_byte_by_byte_are_the_same() -> None:
    data = "aé日\x01🦪\r".encode()
    whole, parts = Capture(1000), Capture(1000)
    whole.begin()
    parts.begin()
    whole.typed(data)
    for at in range(len(data)):
        parts.typed(data[at : at + 1])
    assert parts.since(0) == whole.since(0)
    assert [key.parsed and key.parsed.key for key in whole.since(0)] == [
        "a",
        "é",
        "日",
        "a",
        "🦪",
        "Enter",
    ]


@pytest.mark.parametrize(
    "way_out", [b"\x1c", b"\x1b[92;5u", b"\x1b[92;5:1u", b"\x1b[92;133u", b"\x1b[27;5;92~"]
)
def test_the_way_out_ends_it_and_the_rest_is_the_programs(capture: Capture, way_out: bytes) -> None:
    capture.focus = "panel-1"
    typed = capture.typed(b"ab" + way_out + b"c\x1b[A" + way_out + b"\xe6\x97")
    assert [bytes(key.raw) for key in typed.keys] == [b"a", b"b"]
    assert typed.ended
    assert typed.rest == b"c\x1b[A" + way_out + b"\xe6\x97"
    assert capture.mode == "passthrough"
    assert not capture.focus


def test_a_way_out_that_comes_in_two_parts_is_one(capture: Capture) -> None:
    assert not capture.typed(b"\x1b[92").ended
    assert capture.typed(b";5u!") == ([], b"!", True)


@pytest.mark.parametrize(
    "data", [b"\\", b"\x1b\x1c", b"\x1b[92;6u", b"\x1b[92;5:3u", b"\x1b[200~\x1c\x1b[201~"]
)
def test_what_is_like_the_way_out_is_none(capture: Capture, data: bytes) -> None:
    typed = capture.typed(data)
    assert not typed.ended
    assert b"".join(bytes(key.raw) for key in typed.keys) == data


def test_a_capture_that_begins_anew_knows_nothing_of_a_key_half_typed(capture: Capture) -> None:
    capture.typed(b"\x1b[9")
    capture.release()
    capture.begin()
    [key] = capture.typed(b"x").keys
    assert bytes(key.raw) == b"x"
    capture.begin()  # while it is active: nothing changes
    assert capture.mode == "capture"
    assert capture.last == 1
