"""A repaint gives another terminal the same screen, cursor, modes and pen, whatever it showed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.display.repaint import kept_state, repaint, restore
from nacre.core.terminal.terminal import Terminal

from vt_streams import STREAMS

# What a later program's output depends on: state that no read of a terminal shows.
FOLLOWING = "\r\nwörd\ttab\x1b[2;3Hx\x1b[5;1H\n\n漢 q\x1b[K\x1b[8;19Hlong enough to wrap".encode()

MORE = {
    "pen": b"\x1b[1;31mred\x1b[4;58;5;9m",
    "margins": b"a\r\nb\r\nc\x1b[2;4r\x1b[3;3Hx",
    "margins and origin": b"\x1b[3;6r\x1b[?6h\x1b[2;2Hx",
    "left and right margins": b"\x1b[?69h\x1b[3;9s\x1b[2;6r\x1b[4;5H",
    "all margins and origin": b"\x1b[?69h\x1b[3;9s\x1b[2;6r\x1b[?6h\x1b[2;2Hx",
    "waits to wrap": b"\x1b[31m" + b"z" * 20 + b"\x1b[32m",
    "waits to wrap in a link": b"z" * 17 + b"\x1b]8;;http://a/\x1b\\abc\x1b]8;;\x1b\\",
    "within a link": b"z\x1b]8;;http://a/\x1b\\abc",
    "insert, newline, no wrap": b"\x1b[4h\x1b[20h\x1b[?7labc\x1b[1G",
    "line drawing goes on": b"\x1b(0lqq",
    "shifted out": b"\x1b)0\x0eqq",
    "modify other keys": b"\x1b[>4;2m",
    "mouse": b"\x1b[?1003h\x1b[?1006h",
    "no tabs": b"\x1b[3g",
    "alternate": b"one\x1b[?1049h\x1b[2;4r\x1b[?25ltwo",
    "shapes": b"\x1b[4 q",
}
# DECCOLM would make the other terminal another size.
ALL = {**STREAMS, **MORE}


def seen(terminal: Terminal) -> dict[str, Any]:
    return {
        "styled": terminal.styled_lines(),
        "plain": terminal.plain_lines(),
        "cursor": terminal.cursor(),
        "modes": terminal.modes(),
        "title": terminal.title,
    }


def copy_of(terminal: Terminal, before: bytes = b"") -> Terminal:
    """Repaint a terminal on another one, on which something else was."""
    picture = terminal.picture()
    copy = Terminal(terminal.rows, terminal.cols)
    copy.feed(before + (b"\x1b[?1049h" if picture.alternate else b"\x1b[?1049l"))
    copy.feed(repaint(picture))
    return copy


@pytest.mark.parametrize("name", ALL)
def test_a_repaint_shows_the_same_and_goes_on_the_same(name: str) -> None:
    terminal = Terminal(8, 20)
    terminal.feed(ALL[name])
    copy = copy_of(terminal)
    assert seen(copy) == seen(terminal)
    for one in (terminal, copy):
        one.feed(FOLLOWING)
    assert seen(copy) == seen(terminal)


@pytest.mark.parametrize("name", ALL)
def test_a_repaint_takes_away_what_was_there_before(name: str) -> None:
    terminal = Terminal(8, 20)
    terminal.feed(b"hello\x1b]2;title\x07")
    copy = copy_of(terminal, before=ALL[name] + b"\x18\x1b\\\x1b[?2026l")
    assert seen(copy) == seen(terminal)


# Where a character begins is not in the spans: with clusters on, a mark that was put into a cell of
# its own by moving the cursor would join its neighbour.
_CLUSTER_MODE = b"\x1b[?2027h"


@steady
@given(st.lists(st.sampled_from(sorted(set(ALL.values()))), max_size=6))
def test_a_repaint_of_anything_is_the_same(streams: list[bytes]) -> None:
    terminal = Terminal(8, 20)
    for stream in streams:
        terminal.feed(stream.replace(_CLUSTER_MODE, b""))
    if terminal.in_sequence:
        terminal.feed(b"\x18")
    assert seen(copy_of(terminal)) == seen(terminal)


def test_restore_leaves_a_terminal_as_a_new_one() -> None:
    terminal = Terminal(8, 20)
    for stream in MORE.values():
        terminal.feed(stream)
    terminal.feed(b"\x1b[?1049l" + restore() + b"\x1b[H\x1b[2J")
    new = Terminal(8, 20)
    for one in (terminal, new):
        one.feed(b"plain text\x1b[1;1H")
    assert terminal.modes() == new.modes()
    assert terminal.cursor() == new.cursor()
    assert terminal.styled_lines() == new.styled_lines()


def test_the_wheel_is_arrow_keys_only_where_the_program_has_a_screen_of_its_own() -> None:
    terminal = Terminal(4, 20)
    assert kept_state(terminal.picture()).startswith(b"\x1b[?1007l")
    terminal.feed(b"\x1b[?1049h")
    assert kept_state(terminal.picture()).startswith(b"\x1b[?1007h")
    terminal.feed(b"\x1b[?1049l")
    assert kept_state(terminal.picture()).startswith(b"\x1b[?1007l")
