"""Lines on their way to the daemon, in any pieces."""

import pytest

from nacre.cli.attach.outgoing import Outgoing

LINES = [b"one\n", b"two\n", b"three\n"]


@pytest.fixture
def outgoing() -> Outgoing:
    outgoing = Outgoing()
    for line in LINES:
        outgoing.add(line)
    return outgoing


@pytest.mark.parametrize("size", [1, 2, 4, 5, 100])
def test_what_goes_in_pieces_goes_once(outgoing: Outgoing, size: int) -> None:
    gone = b""
    while outgoing:
        piece = outgoing.rest()[:size]
        outgoing.sent(len(piece))
        gone += piece
    assert gone == b"".join(LINES)
    assert outgoing.rest() == b""


@pytest.mark.parametrize(
    ("count", "again"),
    [
        (0, b"one\ntwo\nthree\n"),
        (3, b"one\ntwo\nthree\n"),
        (4, b"two\nthree\n"),
        (6, b"two\nthree\n"),
        (14, b""),
    ],
)
def test_a_line_that_did_not_go_wholly_goes_again(
    outgoing: Outgoing, count: int, again: bytes
) -> None:
    outgoing.sent(count)
    outgoing.rewind()
    assert outgoing.rest() == again
    assert bool(outgoing) is bool(again)


def test_keys_do_not_go_again_by_themselves(outgoing: Outgoing) -> None:
    outgoing.add(b"keys\n", typed=True)
    outgoing.add(b"four\n")
    outgoing.rewind()
    assert outgoing.rest() == b"".join(LINES) + b"four\n"
