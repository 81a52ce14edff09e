"""Screens that callers know by their generation: kept when they change, the newest ones."""

from nacre.core.terminal.terminal import Terminal
from nacre.services.session.seen_screens import SeenScreens, numbered


def showing(*lines: str, rows: int = 4) -> Terminal:
    terminal = Terminal(rows, 20)
    terminal.feed("\r\n".join(lines).encode())
    return terminal


def test_screen_is_remembered_as_it_was() -> None:
    memory, terminal = SeenScreens(), showing("one", "two")
    memory.keep(5, terminal)
    terminal.feed(b"\x1b[2J\x1b[Hother")
    assert memory.screen(5) == {0: "one", 1: "two", 2: "", 3: ""}
    assert memory.screen(6) is None


def test_lines_are_numbered_from_the_first_line_on() -> None:
    terminal = showing(*map(str, range(10)))
    assert numbered(terminal) == {6: "6", 7: "7", 8: "8", 9: "9"}


def test_numbers_count_lines_that_the_scrollback_dropped() -> None:
    terminal = Terminal(4, 20, scrollback=0)
    terminal.feed(b"\r\n".join(b"%d" % number for number in range(10)))
    assert numbered(terminal) == {6: "6", 7: "7", 8: "8", 9: "9"}


def test_screen_is_wanted_once() -> None:
    memory = SeenScreens()
    assert not memory.wanted
    memory.wanted = True
    memory.keep(1, showing("one"))
    assert not memory.wanted, "the next screen is kept only when somebody knows it"


def test_full_screen_program_is_not_remembered_and_no_longer_wanted() -> None:
    memory, terminal = SeenScreens(), showing("one")
    terminal.feed(b"\x1b[?1049h")
    memory.wanted = True
    memory.keep(1, terminal)
    assert memory.screen(1) is None
    assert not memory.wanted


def test_oldest_screens_make_room() -> None:
    memory, terminal = SeenScreens(), showing("one")
    for generation in range(20):
        memory.keep(generation, terminal)
    known = [generation for generation in range(20) if memory.screen(generation) is not None]
    assert known == list(range(4, 20))


def test_what_a_caller_does_with_a_screen_changes_nothing() -> None:
    memory = SeenScreens()
    memory.keep(1, showing("one"))
    screen = memory.screen(1)
    assert screen is not None
    del screen[0]
    assert memory.screen(1) == {0: "one", 1: "", 2: "", 3: ""}
