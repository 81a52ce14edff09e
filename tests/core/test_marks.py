"""Marks are found however the stream is cut, and nothing else is taken for one."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.core.marks import Mark, MarkScanner, Prompting

NONCE = "0123456789abcdef"
OTHER = "fedcba9876543210"


def mark(kind: str, value: str = "", nonce: str = NONCE, end: str = "\a") -> bytes:
    return f"\x1b]133;{kind};n={nonce}{';' + value if value else ''}{end}".encode()


def joined(pieces: list[bytes | Mark]) -> list[bytes | Mark]:
    """Put neighbouring bytes together: where the stream was cut is nobody's business."""
    whole: list[bytes | Mark] = []
    for piece in pieces:
        if isinstance(piece, bytes) and whole and isinstance(whole[-1], bytes):
            whole[-1] += piece
        else:
            whole.append(piece)
    return whole


def scanned(parts: list[bytes]) -> list[bytes | Mark]:
    scanner = MarkScanner(NONCE)
    pieces = [piece for part in parts for piece in scanner.scan(part)]
    held = scanner.flush()
    return joined([*pieces, held] if held else pieces)


STREAM = (
    b"\x1b[1mone\r\n"
    + mark("D", "7;/home/x y/\u00fc")
    + mark("A")
    + b"$ "
    + mark("B", end="\x1b\\")
    + b"\x1b]0;title\x07\x1b]133;D;9\x07two"
    + mark("C")
    + mark("E", "1", OTHER)
    + b"\x1b\x1b]133;\x1b"
)
PIECES: list[bytes | Mark] = [
    b"\x1b[1mone\r\n",
    Mark("D", "7;/home/x y/\u00fc", NONCE),
    Mark("A", "", NONCE),
    b"$ ",
    Mark("B", "", NONCE),
    b"\x1b]0;title\x07\x1b]133;D;9\x07two",
    Mark("C", "", NONCE),
    mark("E", "1", OTHER) + b"\x1b\x1b]133;\x1b",
]


def test_a_stream_as_a_whole() -> None:
    assert scanned([STREAM]) == PIECES


def test_a_stream_byte_by_byte() -> None:
    assert scanned([bytes([byte]) for byte in STREAM]) == PIECES


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_a_stream_cut_anywhere(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    assert scanned([STREAM[a:b] for a, b in itertools.pairwise(at)]) == PIECES


@settings(deadline=None)  # a busy machine is no failure
@given(st.binary(max_size=300), st.integers(0, 300))
def test_bytes_without_marks_pass_unchanged(data: bytes, cut: int) -> None:
    assert scanned([data[:cut], data[cut:]]) == ([data] if data else [])


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.sampled_from([b"\x1b", b"]133;", b"D;n=", b"\a", b"x", mark("C"), b"\x1b\\"])))
def test_fragments_lose_no_byte(parts: list[bytes]) -> None:
    found = scanned(parts)
    again = b"".join(mark("C") if isinstance(piece, Mark) else piece for piece in found)
    assert again == b"".join(parts)


def test_a_mark_without_the_nonce_is_output() -> None:
    forged = mark("D", "0;/", OTHER) + b"\x1b]133;D;0\x07" + b"\x1b]133;D;n=;0\x07"
    assert scanned([forged]) == [forged]


def test_a_nonce_counts_while_it_is_accepted() -> None:
    scanner = MarkScanner(NONCE)
    scanner.accept(OTHER)
    assert scanner.scan(mark("E", "3", OTHER)) == [Mark("E", "3", OTHER)]
    scanner.refuse(OTHER)
    assert scanner.scan(mark("E", "3", OTHER)) == [mark("E", "3", OTHER)]


def test_what_can_be_no_mark_is_not_held_back() -> None:
    scanner = MarkScanner(NONCE)
    for data in (b"x\x1b[", b"\x1b]0;", b"\x1b]133\x07"):
        assert b"".join(p for p in scanner.scan(data) if isinstance(p, bytes)) == data


def test_an_endless_mark_is_let_go() -> None:
    scanner = MarkScanner(NONCE)
    assert scanner.scan(b"\x1b]133;D;n=0;") == []
    shown = b"".join(p for p in scanner.scan(b"x" * 5000) if isinstance(p, bytes))
    assert shown == b"\x1b]133;D;n=0;" + b"x" * 5000


def test_a_mark_right_behind_an_escape_is_found_over_two_chunks() -> None:
    scanner = MarkScanner(NONCE)
    assert scanner.scan(b"a\x1b") == [b"a"]
    assert scanner.scan(mark("C")[1:]) == [Mark("C", "", NONCE)]


@pytest.mark.parametrize(
    ("value", "code", "folder"),
    [
        ("0;/tmp", 0, "/tmp"),
        ("130", 130, None),
        ("", None, None),
        ("x;/", None, "/"),
        ("2;", 2, None),
    ],
)
def test_code_and_folder_of_an_end(value: str, code: int | None, folder: str | None) -> None:
    assert (Mark("D", value).exit_code, Mark("D", value).folder) == (code, folder)


def test_a_folder_that_is_no_text_comes_through() -> None:
    found = scanned([b"\x1b]133;D;n=" + NONCE.encode() + b";0;/a\xff\x07"])
    assert found == [Mark("D", "0;/a\udcff", NONCE)]
    assert Mark("D", "0;/a\udcff").folder == "/a\ufffd"  # as text, for no answer carries the bytes


def test_phases_of_a_shell() -> None:
    prompting = Prompting()
    seen = []
    for kind, value in (("A", ""), ("B", ""), ("P", ""), ("C", ""), ("D", "3;/x"), ("D", "4")):
        prompting.note(Mark(kind, value))
        seen.append(prompting.phase)
    assert seen == ["drawing", "prompt", "continuation", "running", "drawing", "drawing"]
    assert (prompting.ended, prompting.exit_code, prompting.folder) == (2, 4, "/x")
