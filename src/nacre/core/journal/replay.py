"""A terminal as it was: a checkpoint, or an empty screen, and the records that came after it.

Rule 1: the same bytes make the same screen, so only the journal is needed.
Rule 2: the engine's answers to queries are dropped: the program got them when it happened.
Rule 3: a start begins with an empty screen and counts lines from zero, as a session does.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self, cast

from nacre.core.journal.records import (
    MARK,
    NO_OFFSET,
    NOTICE,
    OUTPUT,
    RESIZE,
    START,
    Checkpoint,
    Record,
)
from nacre.core.screen.screen import Cursor
from nacre.core.shell.marks import Mark, Prompting
from nacre.core.terminal.terminal import Terminal

_SCROLLBACK = 10_000


class Moment(NamedTuple):
    """A point in a session's past: the earlier one of both, or the end if none is given."""

    generation: int | None = None
    time: float | None = None  # seconds since the epoch

    def is_before(self, record: Record) -> bool:
        if self.generation is not None and record.generation > self.generation:
            return True
        return self.time is not None and record.time > self.time


END = Moment()


class Replay:
    """A session's terminal and prompt after the records so far."""

    def __init__(
        self,
        checkpoint: Checkpoint | None = None,
        engine: bytes = b"",
        *,
        scrollback: int = _SCROLLBACK,
    ) -> None:
        """Raises ValueError when the checkpoint's engine is damaged."""
        self._scrollback = scrollback
        self.terminal: Terminal
        self.prompting = Prompting()
        self.prompt_end: Cursor | None = None
        self.generation = 0
        self.time: float | None = None  # of the last record, or of the checkpoint
        self.offset: int | None = None  # in the terminal's stream, of everything on the screen
        self._untouched = checkpoint is None
        if checkpoint is None:
            self.terminal = Terminal(scrollback=scrollback)
        else:
            self._begin_at(checkpoint, engine)

    def _begin_at(self, checkpoint: Checkpoint, engine: bytes) -> None:
        self.terminal = Terminal.from_snapshot(
            engine, scrollback=self._scrollback, evicted=checkpoint.evicted
        )
        self.prompting.phase = cast(Any, checkpoint.phase)
        self.prompting.ended = checkpoint.ended
        self.prompting.exit_code = checkpoint.exit_code
        self.prompting.folder = checkpoint.folder
        if checkpoint.prompt_end is not None:
            self.prompt_end = Cursor(*checkpoint.prompt_end)
        self.generation = checkpoint.generation
        self.time = checkpoint.time
        self.offset = checkpoint.offset

    def apply(self, record: Record) -> None:
        kind = record.kind
        if kind == START:
            self._start(*record.size)
        elif kind in (OUTPUT, NOTICE):
            self.terminal.feed(record.payload)
        elif kind == RESIZE:
            self.terminal.resize(*record.size)
        elif kind == MARK:
            self._note(*record.mark)
        self._untouched = False
        self.terminal.take_replies()
        self.generation = record.generation
        self.time = record.time
        if record.offset != NO_OFFSET:
            self.offset = record.offset

    def _start(self, rows: int, cols: int) -> None:
        if not self._untouched or (rows, cols) != (self.terminal.rows, self.terminal.cols):
            self.terminal.close()
            self.terminal = Terminal(rows, cols, scrollback=self._scrollback)
        self.prompting = Prompting()
        self.prompt_end = None

    def _note(self, letter: str, _tag: str, value: str) -> None:
        if letter in "ABCDP":
            self.prompting.note(Mark(letter, value))
        if letter == "B":
            self.prompt_end = self.terminal.cursor()

    def run(self, records: Iterable[Record], until: Moment = END) -> Self:
        """Apply the records up to a moment."""
        for record in records:
            if until.is_before(record):
                break
            self.apply(record)
        return self


def replay_until(
    checkpoint: Checkpoint | None,
    engine: bytes,
    records: Iterable[Record],
    *,
    generation: int | None = None,
    time: float | None = None,
    scrollback: int = _SCROLLBACK,
) -> Replay:
    """Return the screen as it was at a generation or time, or at the end.

    A moment before the checkpoint gives the checkpoint. Raises ValueError if that is damaged.
    """
    replay = Replay(checkpoint, engine, scrollback=scrollback)
    return replay.run(records, Moment(generation, time))
