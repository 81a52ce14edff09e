"""What is echo: between the prompt's end and the command's start, by number and by text."""

from nacre.core.terminal.echoes import Echo, Echoes
from nacre.core.terminal.terminal import Terminal


def test_rows_between_prompt_and_start_are_echo() -> None:
    terminal, echoes = Terminal(6, 10), Echoes()
    terminal.feed(b"$ echo one and two\r\n")
    echoes.begin(0, 2)
    echoes.note_typing(Terminal(6, 10))
    assert echoes.within(0, 3) == {0: Echo(2, None), 1: Echo(0, None), 2: Echo(0, None)}
    echoes.end(terminal, started=True)
    assert echoes.within(0, 3) == {0: Echo(2, "$ echo one"), 1: Echo(0, " and two")}
    assert echoes.within(1, 2) == {1: Echo(0, " and two")}


def test_what_is_printed_behind_a_prompt_before_anybody_types_is_no_echo() -> None:
    terminal, echoes = Terminal(6, 20), Echoes()
    terminal.feed(b"$ ")
    echoes.begin(0, 2)
    terminal.feed(b"from a job\r\n")
    assert echoes.within(0, 6) == {}
    echoes.note_typing(terminal)
    terminal.feed(b"echo one")
    assert echoes.within(0, 3) == {1: Echo(0, None), 2: Echo(0, None)}
    terminal.feed(b"\r\n")
    echoes.end(terminal, started=True)
    assert echoes.within(0, 6) == {1: Echo(0, "echo one")}


def test_what_was_typed_ahead_of_the_prompt_is_echo() -> None:
    terminal, echoes = Terminal(6, 20), Echoes()
    echoes.note_typing(terminal)
    terminal.feed(b"$ typed ahead")
    echoes.begin(0, 2)
    assert echoes.within(0, 1) == {0: Echo(2, None)}


def test_of_a_refused_line_only_its_first_row_is_echo() -> None:
    terminal, echoes = Terminal(6, 20), Echoes()
    terminal.feed(b"$ )\r\nsyntax error\r\n")
    echoes.begin(0, 2)
    echoes.end(terminal, started=False)
    assert echoes.within(0, 6) == {0: Echo(2, "$ )")}


def test_oldest_lines_make_room_and_all_are_forgotten_at_once() -> None:
    terminal, echoes = Terminal(2, 20), Echoes()
    for number in range(1100):
        echoes.begin(number, 2)
        terminal.feed(b"$ x\r\n")
        echoes.end(terminal, started=True)
    known = echoes.within(0, 2000)
    assert (min(known), max(known), len(known)) == (1100 - 1024, 1099, 1024)
    echoes.forget()
    assert echoes.within(0, 2000) == {}
