"""What is printed of a run's bytes: for a terminal, for a pipe, and as they are."""

import json

import pytest

from nacre.cli.running.printers import (
    EventPrinter,
    LinePrinter,
    Printer,
    RawPrinter,
    TerminalPrinter,
)


def printed(
    capfdbinary: pytest.CaptureFixture[bytes], printer: Printer, *parts: bytes, end: bool = True
) -> bytes:
    printer.begin("run")
    for part in parts:
        printer.take(part, 80)
    if end:
        printer.end()
    return capfdbinary.readouterr().out


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((b"one\r\ntwo",), b"one\ntwo\n"),
        ((b"o", b"ne\r", b"\ntwo\r\n"), b"one\ntwo\n"),
        ((b"\x1b[31mred\x1b[0m \ta  \r\n\r\n",), b"red     a\n"),
        ((b"a\r\n\r\n\r\n", b"b\r\n\r\n"), b"a\n\n\nb\n"),
        ((b"10%\r", b"20%\r\n"), b"20%\n"),
        (("ä\tö\r\n".encode(),), "ä       ö\n".encode()),
        ((b"\x1b]0;title\x07text\r\n",), b"text\n"),
        ((), b""),
    ],
)
def test_lines_are_what_a_person_would_have_read(
    capfdbinary: pytest.CaptureFixture[bytes], parts: tuple[bytes, ...], text: bytes
) -> None:
    assert printed(capfdbinary, LinePrinter(), *parts) == text


def test_a_line_is_printed_when_it_ends(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printer = LinePrinter()
    assert printed(capfdbinary, printer, b"one\r\ntw", end=False) == b"one\n"
    assert printed(capfdbinary, printer, b"o\r\n", end=False) == b"two\n"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((b"\x1b[31mred\x1b[0m\r\n",), b"\x1b[31mred\x1b[0m\n\x1b[0m\x1b[?25h"),
        ((b"\x1b[3", b"1mred\r\n"), b"\x1b[31mred\n\x1b[0m\x1b[?25h"),
        ((b"10%\r\x1b[K20%",), b"10%\r\x1b[K20%\n"),
        # Nothing that asks the terminal, names it, moves far or leaves the screen.
        ((b"\x1b[6n\x1b]52;c;aGk=\x07\x1b[2J\x1b[1;1H\x1bc\x1bP1$qm\x1b\\\x07x\r\n",), b"x\n"),
        ((b"a\r\n\x1b[?1049hfull screen\x1b[?1049lb\r\n",), b"a\nb\n"),
        (("a\u202eb\u009b2Jc\r\n".encode(),), b"ab2Jc\n"),
        (("ä".encode()[:1], "ä".encode()[1:] + b"\r\n"), "ä\n".encode()),
        ((b"\xc2", b"\x9b2J\r\n"), b"2J\n"),
        ((b"a\x9b2Jb\xff\r\n",), "a\ufffd2Jb\ufffd\n".encode()),
        ((b"x\xe2\x82",), "x\ufffd\n".encode()),
    ],
)
def test_a_terminal_gets_colours_and_redrawn_lines_only(
    capfdbinary: pytest.CaptureFixture[bytes], parts: tuple[bytes, ...], text: bytes
) -> None:
    assert printed(capfdbinary, TerminalPrinter(colours=True), *parts) == text


def test_a_terminal_without_colours(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printer = TerminalPrinter(colours=False)
    assert printed(capfdbinary, printer, b"\x1b[31mred\x1b[0m\r\n") == b"red\n"


def test_raw_bytes_are_the_programs_own(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    parts = (b"a\tb  \r", b"\n\x1b[31m\xff\r\n50%\r")
    assert printed(capfdbinary, RawPrinter(), *parts) == b"a\tb  \n\x1b[31m\xff\n50%\r"


def test_events_are_one_object_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = printed(capfdbinary, EventPrinter(), b"a\r\n").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"event": "started", "run_id": "run"},
        {"event": "output", "data": "a\r\n"},
    ]


def test_a_character_that_is_torn_is_whole_in_an_event(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    lines = printed(capfdbinary, EventPrinter(), b"a\xe2", b"\x82", b"\xac!", b"\xe2").splitlines()
    told = [json.loads(line).get("data") for line in lines]
    assert told == [None, "a", "€!", "\ufffd"]
