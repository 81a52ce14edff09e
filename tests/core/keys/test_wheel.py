"""Whose the mouse is: a terminal that is told all that passes says it."""

import pytest

from nacre.core.display.repaint import repaint
from nacre.core.keys.wheel import Wheel
from nacre.core.terminal.terminal import Terminal

PROGRAM = [
    (b"text", True),
    (b"\x1b[?1002h", False),
    (b"\x1b[?1006h", False),
    (b"\x1b[?1002;1006l", True),
    (b"\x1b[?1003h\x1b[?1003l", True),
    (b"\x1b[?1006h", True),
    (b"\x1b[?1000h", False),
    (b"\x1b[?1000l", True),
]


def modes(*, on: bytes) -> list[bool]:
    """Which of some modes a terminal has on after this (DECRQM)."""
    terminal = Terminal(5, 20)
    terminal.feed(on)
    terminal.feed(b"".join(b"\x1b[?%d$p" % mode for mode in (9, 1000, 1002, 1003, 1006)))
    return [reply.endswith(b";1$y") for reply in terminal.take_replies().split(b"\x1b[")[1:]]


def test_the_mouse_is_ours_until_a_program_asks_for_it() -> None:
    wheel = Wheel()
    told = raw = b""
    for data, ours in PROGRAM:
        told += wheel.pass_on(data)
        raw += data
        assert wheel.ours == ours
        assert modes(on=told) == ([False, True, False, False, True] if ours else modes(on=raw))


def test_what_draws_is_not_changed() -> None:
    wheel = Wheel()
    assert wheel.pass_on(b"first") == b"first\x1b[?1000;1006h"
    assert wheel.pass_on(b"more\x1b[31m\x1b[?25l") == b"more\x1b[31m\x1b[?25l"


@pytest.mark.parametrize("alternate", [True, False])
def test_a_snapshot_says_whose_it_is(alternate: bool) -> None:
    wheel = Wheel()
    child = Terminal(5, 20)
    for _ in range(2):
        drawn = wheel.pass_on(repaint(child.picture()), alternate=alternate)
        assert wheel.ours is not alternate
        assert modes(on=drawn)[1] is not alternate


def test_a_frame_of_a_full_screen_program_leaves_it_its_wheel() -> None:
    wheel = Wheel()
    wheel.pass_on(b"", alternate=False)
    assert wheel.pass_on(b"\x1b[?1007hframe") == b"\x1b[?1000;1006l\x1b[?1007hframe"
    assert wheel.pass_on(b"\x1b[?1007lframe") == b"\x1b[?1007lframe\x1b[?1000;1006h"
