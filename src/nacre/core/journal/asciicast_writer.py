"""A recording: the journal as an asciicast, version 3, which asciinema and many others play.

A header line, then lines of [interval, code, data], each interval in seconds since the event before
(https://docs.asciinema.org/manual/asciicast/v3/).

Rule 1: a recording that begins in the middle starts with the exact screen of that moment, drawn in
one event.
Rule 2: intervals are differences of rounded positions, so rounding errors do not add up.
Rule 3: a character that is split over two records is one in the recording.
Rule 4: typed input is included only on request; hidden input is not even in the journal.
If a recording begins on the alternate screen, there is nothing behind that screen.
"""

import signal
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from nacre.core.display.repaint import repaint
from nacre.core.journal.records import (
    EXIT,
    INPUT,
    MARK,
    NOTICE,
    OUTPUT,
    RESIZE,
    START,
    Checkpoint,
    Record,
)
from nacre.core.journal.replay import END, Moment, Replay
from nacre.core.screen.controls import ALTERNATE, PRIMARY
from nacre.core.shell.marks import Mark
from nacre.core.terminal.terminal import Terminal

_TERM = "xterm-256color"
_DIGITS = 3  # of a second's fraction, as in the format's own examples

_encode = msgspec.json.Encoder().encode
_decoder = getincrementaldecoder("utf-8")


class CastAbout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the header says about a session."""

    command: str | None = None
    title: str | None = None
    env: dict[str, str] | None = None
    tags: list[str] | None = None


def write_cast(
    checkpoint: Checkpoint | None,
    engine: bytes,
    records: Sequence[Record],
    *,
    after: Moment | None = None,
    until: Moment = END,
    idle_cap: float | None = None,
    typed: bool = False,
    markers: bool = False,
    about: CastAbout | None = None,
) -> Iterator[str]:
    """Yield the lines of a recording, each with its newline.

    `after` and `until` are the moments where it begins and ends; `idle_cap` is the longest interval
    in seconds. `typed` adds the input, `markers` a marker for each command, labelled with its exit
    code. Raises ValueError when the checkpoint is damaged.
    """
    replay = Replay(checkpoint, engine, scrollback=0)
    first = _skip(replay, records, after)
    start = _start_time(replay, records, after)
    events = _Events(replay.terminal, start, idle_cap, typed=typed)
    yield events.header(about)
    if checkpoint is not None or after is not None:
        yield events.redraw(start)
    codes = _exit_codes(records) if markers else {}
    for index in range(first, len(records)):
        record = records[index]
        if until.is_before(record):
            break
        yield from events.of(record)
        if index in codes:
            yield events.event(record.time, "m", codes[index])
    yield from events.end()


def _skip(replay: Replay, records: Sequence[Record], after: Moment | None) -> int:
    """Apply what comes before the recording; return the index of its first record."""
    if after is None:
        # The first start has the size, which goes into the header.
        beginning = bool(records) and records[0].kind == START
        replay.run(records[:beginning])
        return int(beginning)
    for index, record in enumerate(records):
        if after.is_before(record):
            return index
        replay.apply(record)
    return len(records)


def _start_time(replay: Replay, records: Sequence[Record], after: Moment | None) -> float:
    asked = after.time if after is not None else None
    known = replay.time if replay.time is not None else records[0].time if records else 0.0
    return known if asked is None else max(asked, known)


def _exit_codes(records: Sequence[Record]) -> dict[int, str]:
    """Return the label of each command's start: its exit code, or nothing if that is unknown."""
    codes: dict[int, str] = {}
    code = ""
    for index in range(len(records) - 1, -1, -1):
        if records[index].kind == START:
            code = ""
        if records[index].kind == MARK:
            letter, _tag, value = records[index].mark
            if letter == "D":
                ended = Mark("D", value).exit_code
                code = "" if ended is None else str(ended)
            elif letter == "C":
                codes[index], code = code, ""
    return codes


class _Events:
    """The event stream: what each record becomes, and when."""

    def __init__(
        self, terminal: Terminal, start: float, idle_cap: float | None, *, typed: bool
    ) -> None:
        # As it was at the start. The next output may continue a sequence that began before: until
        # its end the terminal is fed, and drawn again.
        self._terminal = terminal
        self._cut_off = terminal.in_sequence
        self._size = terminal.rows, terminal.cols
        self._start = start
        self._cap = idle_cap
        self._typed = typed
        self._last = start  # time of the last event, by the clock
        self._position = 0.0  # of the last event in the recording; in seconds, and rounded
        self._rounded = 0.0
        self._output = _decoder("replace")
        self._input = _decoder("replace")
        self._exit: Record | None = None

    def header(self, about: CastAbout | None) -> str:
        rows, cols = self._size
        fields: dict[str, Any] = {
            "version": 3,
            "term": {"cols": cols, "rows": rows, "type": _TERM},
            "timestamp": max(0, int(self._start)),
            **msgspec.to_builtins(about or CastAbout()),
        }
        return _line(fields)

    def event(self, time: float, code: str, text: str) -> str:
        interval = max(0.0, time - self._last)  # a clock that was set back adds no time
        self._last = time
        self._position += interval if self._cap is None else min(interval, self._cap)
        before, self._rounded = self._rounded, round(self._position, _DIGITS)
        return _line([round(self._rounded - before, _DIGITS), code, text])

    def redraw(self, time: float) -> str:
        picture = self._terminal.picture()
        screen = ALTERNATE if picture.alternate else PRIMARY
        return self.event(time, "o", (screen + repaint(picture)).decode(errors="replace"))

    def of(self, record: Record) -> Iterator[str]:
        kind, time = record.kind, record.time
        if kind in (OUTPUT, NOTICE):
            yield from self._show(time, record.payload)
        elif kind == RESIZE:
            self._terminal.resize(*record.size)
            yield from self._resize(time, record.size)
        elif kind == START:
            yield from self._begin_anew(time, record.size)
        elif kind == INPUT and self._typed:
            if text := self._input.decode(record.payload):
                yield self.event(time, "i", text)
        elif kind == EXIT:
            self._exit = record

    def _show(self, time: float, data: bytes) -> Iterator[str]:
        if self._cut_off:
            self._terminal.feed(data)
            self._cut_off = self._terminal.in_sequence
            yield self.redraw(time)
        elif text := self._output.decode(data):
            yield self.event(time, "o", text)

    def _resize(self, time: float, size: tuple[int, int]) -> Iterator[str]:
        if size != self._size:
            self._size = rows, cols = size
            yield self.event(time, "r", f"{cols}x{rows}")

    def _begin_anew(self, time: float, size: tuple[int, int]) -> Iterator[str]:
        self._terminal.close()
        self._terminal = Terminal(*size, scrollback=0)
        self._cut_off = False
        self._exit = None
        self._output.reset()
        yield from self._resize(time, size)
        yield self.redraw(time)

    def end(self) -> Iterator[str]:
        # Half a character at the end of the output is not on the screen either.
        if self._exit is not None and (status := _status(self._exit)) is not None:
            yield self.event(max(self._last, self._exit.time), "x", str(status))
        self._terminal.close()


def _status(record: Record) -> int | None:
    """Return the exit code as shells do: 128 plus the signal's number for a killed command."""
    code, name = record.ending
    if name is None:
        return code
    try:
        return 128 + signal.Signals[name if name.startswith("SIG") else f"SIG{name}"]
    except KeyError:  # a real-time signal
        return 128


def _line(value: Any) -> str:
    return _encode(value).decode() + "\n"
