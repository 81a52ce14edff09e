"""Mouse reports in each of the modes that programs ask for (xterm ctlseqs, "Mouse Tracking")."""

import pytest

from nacre.core.keys.pointing import click, drag, scroll
from nacre.core.terminal.terminal import Terminal

NONE = frozenset[str]()
AT = (2, 3)


def terminal(modes: str) -> Terminal:
    made = Terminal(24, 80)
    for mode in modes.split():
        made.feed(f"\x1b[?{mode}h".encode())
    return made


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ("", b""),
        ("9", b"\x1b[M $#"),
        ("1000", b"\x1b[M $#\x1b[M#$#"),
        ("1000 1006", b"\x1b[<0;4;3M\x1b[<0;4;3m"),
        ("1003 1015", b"\x1b[32;4;3M\x1b[35;4;3M"),
    ],
)
def test_a_click_is_written_as_the_program_asked(modes: str, expected: bytes) -> None:
    assert terminal(modes).encode_pointer(click("left", AT, 1, NONE)) == expected


def test_moves_are_told_to_who_wants_them() -> None:
    events = drag("left", AT, (2, 5), NONE)
    ends = (b"\x1b[<0;4;3M", b"\x1b[<0;6;3m")
    assert terminal("1000 1006").encode_pointer(events) == b"".join(ends)
    moves = b"\x1b[<32;5;3M\x1b[<32;6;3M"
    assert terminal("1002 1006").encode_pointer(events) == moves.join(ends)


def test_wheel_buttons_and_modifiers_are_in_the_number() -> None:
    sgr = terminal("1000 1006")
    assert sgr.encode_pointer(scroll("down", AT, 2, frozenset({"ctrl"}))) == b"\x1b[<81;4;3M" * 2
    assert sgr.encode_pointer(click("right", AT, 1, NONE)).startswith(b"\x1b[<2;4;3M")
    assert terminal("9").encode_pointer(scroll("up", AT, 1, NONE)) == b""
