"""A terminal made from a snapshot is the twin of the one that the snapshot was taken of."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pytest

from nacre.core.terminal.packed import UNFINISHED_BYTES, WithinSequence
from nacre.core.terminal.terminal import Terminal, TerminalClosed

from core.display.test_repaint import FOLLOWING, MORE
from core.terminal.fuzz_terminal import fragment
from vt_streams import STREAMS, snapshot

SCRIPT = Path(__file__).with_name("fuzz_snapshot.py")

# State that shows only later, or when asked for.
STATE = {
    "saved cursor": b"\x1b[3;4H\x1b[31m\x1b7\x1b[H\x1b[m",
    "saved cursor with origin": b"\x1b[2;6r\x1b[?6h\x1b(0\x1b[2;2H\x1b7\x1b[?6l\x1b(B\x1b[r",
    "saved modes": b"\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?2004h\x1b[?2004s\x1b[?2004l",
    "keyboard stack": b"\x1b[>1u\x1b[>3u\x1b[>5u",
    "keyboard stacks of both screens": b"\x1b[>1u\x1b[?1049h\x1b[>3u",
    "palette": b"\x1b]4;1;#123456\x07\x1b]10;#102030\x07\x1b]11;#405060\x07\x1b]12;#708090\x07",
    "the character that REP repeats": b"abcz",
    "protected": b'\x1b[1"qabc\x1b[0"qdef\x1b[1"q',
    "charsets": b"\x1b*0\x1bnq\x1b)0\x1b~",
    "a single shift": b"\x1b*0\x1bN",
    "titles on a stack": b"\x1b]2;one\x07\x1b[22t\x1b]2;two\x07",
    "prompts": b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07out",
    "132 columns": b"\x1b[?40h\x1b[?3h",
    "both screens wait to wrap": b"z" * 20 + b"\x1b[?1049h" + b"y" * 20,
    "clusters": "\x1b[?2027h👩‍👩".encode(),
    "half a cluster": "\x1b[?2027h👩‍".encode(),
    "half a character": b"a\xe6\xbc",
    "half a sequence": b"a\x1b[3",
    "half a title": b"a\x1b]2;ti",
    "half a question": b"\x1bP$q",
    "half a link": b"\x1b]8;;http://x",
}
ALL = {**STREAMS, **MORE, **STATE}

QUESTIONS = b"".join(
    (
        b"\x1b[c\x1b[6n\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1b[?u\x1b[14t\x1b[18t\x1b[2b",
        b"\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x07\x1b]12;?\x07",
        *(b"\x1b[%d$p" % mode for mode in range(1, 25)),
        *(b"\x1b[?%d$p" % mode for mode in (*range(1, 100), *range(1000, 1070))),
        *(b"\x1b[?%d$p" % mode for mode in (2004, 2026, 2027, 2031, 2048)),
    )
)
LATER = (
    b"\x18\x1b\\" + QUESTIONS,
    b"\x1b8" + FOLLOWING,
    b"\x1b[?7r\x1b[?2004r" + QUESTIONS,
    b"\x1b[?1049l\x1b[?47l" + FOLLOWING + QUESTIONS,
    b"\x1b[<u\x1b[?u\x1b[<u\x1b[?u\x1b[?1049h\x1b8" + FOLLOWING,
)


def seen(terminal: Terminal) -> dict[str, Any]:
    return {
        **snapshot(terminal),
        "picture": terminal.picture(),
        "drawing": terminal.drawing(),
        "within": terminal.in_sequence,
        "replies": terminal.take_replies(),
    }


def assert_twins(one: Terminal, other: Terminal, *, numbers: bool = True) -> None:
    first, second = seen(one), seen(other)
    if not numbers:
        for every in (first, second):
            every["scrollback"] = every["scrollback"][1:]
    assert first == second


def assert_twin(before: bytes, after: bytes, rows: int = 8, cols: int = 20, kept: int = 50) -> None:
    terminal = Terminal(rows, cols, scrollback=kept)
    terminal.feed(before)
    terminal.take_replies()
    twin = Terminal.from_snapshot(terminal.snapshot(), scrollback=kept)
    assert_twins(terminal, twin)
    # Erased in the alternate screen, how many rows had been there is not known (scrollback.py).
    numbers = not terminal.alternate
    for data in (after, *LATER):
        for each in (terminal, twin):
            each.feed(data)
        assert_twins(terminal, twin, numbers=numbers)


@pytest.mark.parametrize("name", ALL)
def test_a_twin_shows_answers_and_goes_on_the_same(name: str) -> None:
    assert_twin(ALL[name], b"")
    assert_twin(b"one\r\ntwo\r\n" * 40 + ALL[name], ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_a_twin_made_anywhere_within_a_stream_goes_on_the_same(name: str) -> None:
    stream = ALL[name]
    rng = random.Random(name)
    for at in sorted(rng.sample(range(len(stream)), min(4, len(stream)))):
        assert_twin(stream[:at], stream[at:])


@pytest.mark.parametrize("seed", range(40))
def test_a_twin_of_anything_goes_on_the_same(seed: int) -> None:
    rng = random.Random(seed)
    before, after = (b"".join(fragment(rng) for _ in range(rng.randrange(1, 60))) for _ in range(2))
    assert_twin(before, after, rng.choice((2, 8, 24)), rng.choice((1, 2, 20, 80)))


def test_a_twin_of_a_twin_within_a_sequence_is_the_same() -> None:
    terminal = Terminal(8, 20)
    for part in (b"a\x1b", b"[", b"3", b"1", b"mred"):
        terminal.feed(part)
        terminal = Terminal.from_snapshot(terminal.snapshot())
    assert terminal.styled_lines()[0][-1].fg == "red"


def test_a_twin_resizes_the_same() -> None:
    terminal = Terminal(8, 20)
    terminal.feed(b"a line longer than the screen is wide\r\n" * 100 + b"\x1b[31mend")
    twin = Terminal.from_snapshot(terminal.snapshot())
    for rows, cols in ((8, 40), (30, 13), (3, 80)):
        for each in (terminal, twin):
            each.resize(rows, cols)
        assert_twins(terminal, twin)


# Numbers


def numbered(first: int, count: int) -> bytes:
    return b"".join(b"line %d\r\n" % n for n in range(first, first + count))


def assert_numbers_hold(terminal: Terminal) -> None:
    top = terminal.evicted + terminal.scrollback_total
    assert terminal.plain_lines()[0] == f"line {top}"
    assert terminal.scrollback_plain(0, 1)[0] == f"line {terminal.evicted}"


@pytest.mark.parametrize("before", [10, 999, 5_000, 20_000])
def test_lines_keep_their_numbers(before: int) -> None:
    terminal = Terminal(8, 20, scrollback=1_000)
    terminal.feed(numbered(0, before))
    twin = Terminal.from_snapshot(terminal.snapshot(), scrollback=1_000)
    assert_numbers_hold(twin)
    twin.feed(numbered(before, 20_000))
    assert_numbers_hold(twin)


@pytest.mark.parametrize("after", [1, 2_000, 30_000])
@pytest.mark.parametrize("resized", [False, True])
def test_lines_keep_their_numbers_behind_the_alternate_screen(after: int, resized: bool) -> None:
    terminal = Terminal(8, 20, scrollback=1_000)
    terminal.feed(numbered(0, 20_000))
    terminal.feed(numbered(20_000, 3_000) + b"\x1b[?1049h\x1b[2J")
    twin = Terminal.from_snapshot(terminal.snapshot(), scrollback=1_000)
    assert twin.evicted == terminal.evicted
    if resized:
        twin.resize(5, 20)
        twin.resize(12, 20)
    twin.feed(b"\x1b[?1049l" + numbered(23_000, after))
    assert twin.scrollback_total == 1_000
    assert_numbers_hold(twin)
    twin.feed(numbered(23_000 + after, 10_000))
    assert_numbers_hold(twin)


def test_lines_erased_behind_the_alternate_screen_leave_no_number_to_be_given_twice() -> None:
    terminal = Terminal(8, 20)
    terminal.feed(numbered(0, 500) + b"\x1b[?1049h")
    twin = Terminal.from_snapshot(terminal.snapshot())
    twin.feed(b"\x1b[?1049l\x1b[3J")
    assert twin.evicted >= 493


def test_numbers_go_on_from_a_given_value() -> None:
    terminal = Terminal(8, 20, scrollback=1_000)
    terminal.feed(numbered(0, 5_000))
    twin = Terminal.from_snapshot(terminal.snapshot(), scrollback=1_000, evicted=7)
    assert twin.evicted == 7
    twin.feed(numbered(0, 10))
    assert twin.evicted == 17


def test_a_smaller_scrollback_keeps_the_newest_lines_and_their_numbers() -> None:
    terminal = Terminal(8, 20)
    terminal.feed(numbered(0, 9_000))
    twin = Terminal.from_snapshot(terminal.snapshot(), scrollback=100)
    assert twin.scrollback_total == 100
    assert_numbers_hold(twin)


# Limits and damage


def test_a_twin_has_the_limits_of_a_new_terminal() -> None:
    twin = Terminal.from_snapshot(Terminal(8, 20).snapshot())
    twin.feed(b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b]11;?\x07")
    assert twin.take_replies() == b"\x1b]11;rgb:0000/0000/0000\x07"


def test_a_snapshot_within_an_endless_sequence_has_to_wait() -> None:
    terminal = Terminal(8, 20)
    terminal.feed(b"\x1b]52;c;" + b"A" * UNFINISHED_BYTES)
    with pytest.raises(WithinSequence):
        terminal.snapshot()
    terminal.feed(b"\x07done")
    assert Terminal.from_snapshot(terminal.snapshot()).plain_lines()[0] == "done"


@pytest.mark.parametrize("data", [b"", b"\0" * 10, b"\0" * 4_000])
def test_what_is_no_snapshot_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        Terminal.from_snapshot(data)


def test_a_damaged_snapshot_is_refused_and_never_crashes() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"}
    fuzz = subprocess.run(
        [sys.executable, str(SCRIPT), "0", "2000"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert fuzz.returncode == 0, f"{fuzz.stdout[-200:]}\n{fuzz.stderr[-4000:]}"


# --- lent to a thread ---------------------------------------------------------------------------


def test_a_terminal_that_is_lent_is_packed_as_it_was_and_goes_on_afterwards() -> None:
    terminal = Terminal(5, 20)
    terminal.feed(b"before\r\n" * 30)
    expected = terminal.snapshot()
    lent = terminal.lend(Lock())
    thread = Thread(target=lent.result)
    thread.start()
    terminal.feed(b"after")  # waits for the thread, or packs it first
    thread.join()
    assert lent.result() == expected
    assert terminal.plain_lines()[-1] == "after"


@pytest.mark.parametrize(
    "use",
    [
        lambda terminal: terminal.plain_lines(),
        lambda terminal: terminal.cursor(),
        lambda terminal: terminal.modes(),
        lambda terminal: terminal.scrollback_total,
        lambda terminal: terminal.evicted,
        lambda terminal: terminal.resize(10, 40),
        lambda terminal: terminal.take_replies(),
        lambda terminal: terminal.picture(),
        lambda terminal: terminal.unwrapped_lines(),
        lambda terminal: terminal.separators(0, ["before"]),
        lambda terminal: terminal.title,
        lambda terminal: terminal.lend(Lock()).result(),
    ],
)
def test_whatever_is_asked_of_a_lent_terminal_packs_it_first(use: Callable[[Any], object]) -> None:
    terminal = Terminal(5, 20)
    terminal.feed(b"before\r\n" * 30)
    for read in (terminal.plain_lines, terminal.modes, terminal.cursor):
        read()  # what is remembered must be asked for again
    expected = terminal.snapshot()
    lent = terminal.lend(Lock())
    before = lent.done
    use(terminal)
    assert (before, lent.done) == (False, True)
    assert lent.result() == expected


def test_a_lent_terminal_can_be_closed_and_forgotten() -> None:
    terminal = Terminal(5, 20)
    lent = terminal.lend(Lock())
    terminal.close()
    assert lent.done
    with pytest.raises(TerminalClosed):
        terminal.plain_lines()
    lent = Terminal(5, 20).lend(Lock())  # nobody else has it
    assert Terminal.from_snapshot(lent.result()).rows == 5
