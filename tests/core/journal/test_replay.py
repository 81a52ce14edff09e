import random

import pytest

from nacre.core.journal.records import (
    EXIT,
    INPUT,
    MARK,
    NO_OFFSET,
    NOTICE,
    OUTPUT,
    RESIZE,
    START,
    Checkpoint,
    Record,
    ending_payload,
    mark_payload,
    size_payload,
)
from nacre.core.journal.replay import Replay, replay_until
from nacre.core.terminal.terminal import Terminal

from vt_streams import STREAMS, snapshot

T = 1_700_000_000.0


class Tape:
    """Records as a session would write them; a checkpoint can be taken at any point."""

    def __init__(self, rows: int = 8, cols: int = 20) -> None:
        self.records: list[Record] = []
        self.generation = 0
        self.add(START, size_payload(rows, cols))

    def add(self, kind: int, payload: bytes = b"") -> None:
        self.generation += kind in (OUTPUT, NOTICE, RESIZE, START)
        at = len(self.records)
        self.records.append(Record(kind, T + at, self.generation, at * 10, payload))

    def mark(self, letter: str, value: str = "") -> None:
        self.add(MARK, mark_payload(letter, "tag", value))


def checkpoint_of(replay: Replay) -> tuple[Checkpoint, bytes]:
    engine = replay.terminal.snapshot()
    end, prompting = replay.prompt_end, replay.prompting
    checkpoint = Checkpoint(
        time=replay.time or 0.0,
        generation=replay.generation,
        offset=replay.offset or 0,
        evicted=replay.terminal.evicted,
        phase=prompting.phase,
        ended=prompting.ended,
        exit_code=prompting.exit_code,
        folder=prompting.folder,
        prompt_end=(end.row, end.col) if end else None,
    )
    return checkpoint, engine


def facts(replay: Replay) -> dict[str, object]:
    end = replay.prompt_end
    return {
        **snapshot(replay.terminal),
        "picture": replay.terminal.picture(),
        "prompting": [
            getattr(replay.prompting, name) for name in ("phase", "ended", "exit_code", "folder")
        ],
        "end": (end.row, end.col) if end else None,
        "where": (replay.generation, replay.time, replay.offset),
    }


def seen_of(terminal: Terminal) -> dict[str, object]:
    """What a repaint carries."""
    picture = terminal.picture()
    return {
        "size": (picture.rows, picture.cols),
        "lines": picture.lines,
        "cursor": picture.cursor,
        "alternate": picture.alternate,
        "modes": terminal.modes(),
    }


def a_session() -> Tape:
    tape = Tape()
    tape.mark("A")
    tape.add(OUTPUT, b"\x1b[32m$\x1b[m ")
    tape.mark("B")
    tape.add(INPUT, b"ls\r")
    tape.add(OUTPUT, b"ls\r\n")
    tape.mark("C")
    tape.add(OUTPUT, "naïve 漢".encode()[:-1])
    tape.add(OUTPUT, "naïve 漢".encode()[-1:] + b"\x1b[c\r\n")
    tape.add(RESIZE, size_payload(5, 12))
    tape.mark("D", "3;/tmp/a;b")
    tape.mark("A")
    tape.add(OUTPUT, b"$ \x1b[?1049h\x1b[2Jfull")
    tape.add(OUTPUT, b"\x1b[?1049l")
    tape.mark("B")
    tape.add(NOTICE, b"\r\nthe daemon was restarted\r\n")
    tape.add(EXIT, ending_payload(3, None))
    return tape


def test_a_replay_shows_what_the_session_showed() -> None:
    replay = Replay().run(a_session().records)
    terminal = Terminal(8, 20)
    terminal.feed("$ ls\r\nnaïve 漢\r\n".encode())
    terminal.resize(5, 12)
    terminal.feed(b"$ \r\nthe daemon was restarted\r\n")
    assert replay.terminal.plain_lines() == terminal.plain_lines()
    assert (replay.terminal.rows, replay.terminal.cols) == (5, 12)
    assert replay.terminal.take_replies() == b""


def test_marks_say_where_the_prompt_is_and_how_commands_ended() -> None:
    replay = Replay().run(a_session().records)
    assert replay.prompting.phase == "prompt"
    assert (replay.prompting.ended, replay.prompting.exit_code) == (1, 3)
    assert replay.prompting.folder == "/tmp/a;b"
    assert replay.prompt_end is not None
    assert (replay.prompt_end.row, replay.prompt_end.col) == (2, 2)


@pytest.mark.parametrize("at", range(1, 18))
def test_a_replay_from_a_checkpoint_anywhere_ends_the_same(at: int) -> None:
    records = a_session().records
    checkpoint, engine = checkpoint_of(Replay().run(records[:at]))
    assert facts(Replay(checkpoint, engine).run(records[at:])) == facts(Replay().run(records))


@pytest.mark.parametrize("seed", range(20))
def test_streams_cut_anywhere_replay_the_same_from_any_checkpoint(seed: int) -> None:
    rng = random.Random(seed)
    tape = Tape()
    for stream in rng.sample(sorted(STREAMS.values()), 8):
        at = rng.randrange(len(stream))
        tape.add(OUTPUT, stream[:at])
        tape.add(OUTPUT, stream[at:] + b"\x18")
        if rng.random() < 0.3:
            tape.add(RESIZE, size_payload(rng.randrange(2, 12), rng.randrange(4, 40)))
    at = rng.randrange(1, len(tape.records))
    checkpoint, engine = checkpoint_of(Replay().run(tape.records[:at]))
    whole, rest = Replay().run(tape.records), Replay(checkpoint, engine).run(tape.records[at:])
    assert facts(rest)["picture"] == facts(whole)["picture"]
    assert facts(rest)["where"] == facts(whole)["where"]


def test_a_start_begins_on_an_empty_screen_and_counts_from_zero() -> None:
    tape = Tape()
    tape.mark("B")
    tape.add(OUTPUT, b"x\r\n" * 20_000)
    tape.add(START, size_payload(4, 10))
    replay = Replay().run(tape.records)
    assert replay.terminal.plain_lines() == [""] * 4
    assert (replay.terminal.cols, replay.terminal.evicted, replay.generation) == (10, 0, 3)
    assert (replay.prompting.phase, replay.prompt_end) == (None, None)


def test_lines_keep_their_numbers_over_a_checkpoint() -> None:
    tape = Tape()
    tape.add(OUTPUT, b"x\r\n" * 30_000)
    checkpoint, engine = checkpoint_of(Replay(scrollback=100).run(tape.records))
    replay = Replay(checkpoint, engine, scrollback=100)
    assert replay.terminal.evicted == 30_000 + 1 - 8 - 100


def test_a_record_without_an_offset_leaves_the_last_one() -> None:
    replay = Replay()
    replay.apply(Record(OUTPUT, T, 1, 50, b"a"))
    replay.apply(Record(OUTPUT, T, 2, NO_OFFSET, b"b"))
    assert (replay.generation, replay.offset) == (2, 50)


def test_no_records_are_an_empty_screen() -> None:
    replay = replay_until(None, b"", [])
    assert (replay.terminal.rows, replay.terminal.cols, replay.generation) == (24, 80, 0)
    assert (replay.time, replay.offset) == (None, None)


def test_a_damaged_checkpoint_is_refused() -> None:
    checkpoint, engine = checkpoint_of(Replay())
    with pytest.raises(ValueError, match="damaged"):
        Replay(checkpoint, engine[:-1])


# Moments


def numbered_tape() -> Tape:
    tape = Tape()
    for n in range(2, 6):
        tape.add(OUTPUT, b"%d" % n)
        tape.add(INPUT, b"x")
    return tape


@pytest.mark.parametrize(("generation", "shown"), [(1, ""), (2, "2"), (4, "234"), (9, "2345")])
def test_the_screen_of_a_generation_is_what_that_output_left(generation: int, shown: str) -> None:
    replay = replay_until(None, b"", numbered_tape().records, generation=generation)
    assert replay.terminal.plain_lines()[0] == shown
    assert replay.generation == min(generation, 5)


@pytest.mark.parametrize(("after", "shown"), [(0.0, ""), (1.0, "2"), (2.9, "2"), (3.0, "23")])
def test_the_screen_of_a_time_is_what_had_come_by_then(after: float, shown: str) -> None:
    replay = replay_until(None, b"", numbered_tape().records, time=T + after)
    assert replay.terminal.plain_lines()[0] == shown


def test_a_moment_before_the_checkpoint_gives_the_checkpoint() -> None:
    records = numbered_tape().records
    checkpoint, engine = checkpoint_of(Replay().run(records[:4]))
    replay = replay_until(checkpoint, engine, records[4:], generation=1)
    assert replay.terminal.plain_lines()[0] == "23"
