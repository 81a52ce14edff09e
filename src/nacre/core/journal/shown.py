"""What a session showed, line by line: each text that stood on its screen, with when and where.

The screen is read at moments: after what was read from the terminal at once, but not more often
than a person could see (`_FRAME`), and before each sequence that erases it. A line is noted when
it is new at its place: what a progress bar said first is there as well as what it said last.

Rule 1: lines, not rows: rows that the width breaks are one line, numbered as its first row
(core/terminal/scrollback.py has the numbers).
Rule 2: on the alternate screen a line that only moved is not new. Its number is its row.
Rule 3: memory is bounded by who calls: `size` says how much there is, and rows that have left the
screen are taken out before the engine drops them.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.journal.records import NOTICE, OUTPUT, RESIZE, START, Checkpoint, Record
from nacre.core.terminal.terminal import Terminal

_FRAME = 0.02  # seconds that a text must have stood, unless the screen was erased: a frame at 50 Hz
_SLICE = 4096  # bytes fed at once; each could be a line
_HARVEST = 4000  # rows after which they are read, long before the engine drops them
_LEAST_SCROLLBACK = 10_000  # rows
_LONGEST = 200  # rows of a line that is read again while it grows

# The screen or a part of it is erased (xterm ctlseqs: ED, RIS), or another one shown (DECSET 47,
# 1047, 1049): what stands there is read before. The last group: read after it, too.
_ERASES = re.compile(rb"\x1b(?:\[[0-3]?J|c|\[\?(?:47|104[79])(?:h|(l)))")
_WHOLE_SCREEN = (b"\x1b[2J", b"\x1b[3J", b"\x1bc")
# Only the cursor moves: clear (1) goes home before it erases (ECMA-48 8.3.21).
_MOVES = re.compile(rb"(?:\x1b\[[0-9;]*[A-HdGf]|\r)*")
_APART = 512  # bytes between two such reads within one output


class ShownAt(NamedTuple):
    """A moment: what was noted then is on one screen."""

    time: float
    generation: int
    alternate: bool
    epoch: int  # grows when the screen is cleared or another one shown, and by other numbers


class ShownText:
    """Lines in the order in which they were shown."""

    def __init__(self) -> None:
        self.text: bytes | bytearray = bytearray()  # UTF-8, each line with its end
        self.numbers = array("q")
        self.known = 0  # bytes at the beginning that were shown before, in an earlier part
        self._moments: list[ShownAt] = []
        self._firsts: list[int] = []  # the first line of each moment

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return len(self.text) + 8 * len(self.numbers) + 200 * len(self._moments)

    def note(self, at: ShownAt, lines: list[tuple[int, str]]) -> None:
        if not lines:
            return
        if not self._moments or self._moments[-1] != at:
            self._moments.append(at)
            self._firsts.append(len(self.numbers))
        for number, line in lines:
            self.numbers.append(number)
            self.text += line.encode(errors="replace") + b"\n"

    def moment_of(self, line: int) -> ShownAt:
        return self._moments[bisect_right(self._firsts, line) - 1]

    def around(self, line: int, begin: int, context: int) -> tuple[list[str], list[str]]:
        """Return the lines above and below one of the primary screen; `begin` is where it begins.

        They are those with the numbers before and after it. Lines above are as they were when it
        was shown, lines below as they came to be.
        """
        own, epoch = self.numbers[line], self.moment_of(line).epoch
        above: dict[int, str] = {}
        below: dict[int, str] = {}
        for number, text in self._neighbours(line, begin, epoch, step=-1):
            if own - context <= number < own:
                above.setdefault(number, text)
            elif own < number <= own + context:
                below.setdefault(number, text)
        for number, text in self._neighbours(line, begin, epoch, step=1):
            if own < number <= own + context:
                below[number] = text
            if number > own + context:
                break
        return [above[one] for one in sorted(above)], [below[one] for one in sorted(below)]

    def _neighbours(
        self, line: int, begin: int, epoch: int, *, step: int
    ) -> Iterator[tuple[int, str]]:
        at = begin
        for _ in range(_LONGEST):
            line += step
            if not 0 <= line < len(self.numbers) or self.moment_of(line).epoch != epoch:
                return
            if step < 0:
                at = self.text.rfind(b"\n", 0, at - 1) + 1
            else:
                at = self.text.find(b"\n", at) + 1
            end = self.text.find(b"\n", at)
            yield self.numbers[line], self.text[at:end].decode()


class ShownReader:
    """Reads what a part of a journal showed: a checkpoint, or an empty screen, and its records."""

    def __init__(
        self, checkpoint: Checkpoint | None, engine: bytes, *, oldest: bool, scrollback: int
    ) -> None:
        """`oldest`: nothing is before it, so that what the checkpoint has is new, too.

        Raises ValueError when the checkpoint's engine is damaged.
        """
        self.shown = ShownText()
        self._scrollback = max(_LEAST_SCROLLBACK, scrollback)
        self._time, self._generation = 0.0, 0
        self._epoch = 0
        self._alternate = False
        self._last: dict[int, str] = {}  # lines of the primary screen, by number
        self._rows: list[str] = []  # lines of the alternate screen
        self._begin = self._top = 0  # the first line to read, and the screen's when it was read
        self._known = False  # what the primary screen shows next was shown before
        self._unread = False
        self._read_at = 0.0  # when the screen was read last
        if checkpoint is None:
            self._terminal = Terminal(scrollback=self._scrollback)
            return
        self._terminal = Terminal.from_snapshot(
            engine, scrollback=self._scrollback, evicted=checkpoint.evicted
        )
        self._time, self._generation = checkpoint.time, checkpoint.generation
        self._alternate = self._terminal.alternate
        if not oldest:
            self._begin = self._screen_top()
        self._read()
        if not oldest:
            self.shown.known = len(self.shown.text)
            self._known = self._alternate

    def take(self, record: Record) -> None:
        """Raises TerminalClosed after `close`."""
        if record.kind in (OUTPUT, NOTICE):
            if self._unread and record.time - self._read_at >= _FRAME:
                self._read()
            self._show(record)
        elif record.kind in (RESIZE, START):
            self._read()
            self._resize(record)

    def end(self) -> ShownText:
        """Return all of it; nothing can be taken after that."""
        self._read()
        self.close()
        self.shown.text = bytes(self.shown.text)
        return self.shown

    def close(self) -> None:
        self._terminal.close()

    def _show(self, record: Record) -> None:
        data = record.payload
        at = 0
        for cut in _cuts(data):
            if _MOVES.fullmatch(data, at, cut):  # what is read belongs to the record before
                self._terminal.feed(data[at:cut])
            else:
                self._feed(data[at:cut], record)
            self._read()
            if data.startswith(_WHOLE_SCREEN, cut):
                self._epoch += 1  # what comes now is no other text of the lines before
            at = cut
        self._feed(data[at:], record)

    def _feed(self, data: bytes, record: Record) -> None:
        terminal = self._terminal
        self._time, self._generation = record.time, record.generation
        for at in range(0, len(data), _SLICE):
            terminal.feed(data[at : at + _SLICE])
            self._unread = True
            if self._screen_top() - self._top > _HARVEST and not terminal.alternate:
                self._read(final=True)
        terminal.take_replies()

    def _resize(self, record: Record) -> None:
        self._time, self._generation = record.time, record.generation
        self._read_at = record.time
        self._epoch += 1
        if record.kind == START:
            self._terminal.close()
            self._terminal = Terminal(*record.size, scrollback=self._scrollback)
            self._last, self._rows, self._alternate, self._known = {}, [], False, False
            self._begin = self._top = 0
            return
        self._terminal.resize(*record.size)
        # A reflow renumbers: what is on the screen now is what was there before.
        self._begin = self._screen_top()
        self._known = True
        if self._alternate:
            self._rows = [line for _, line in self._terminal.numbered_lines(0)]
        else:
            self._read()

    def _screen_top(self) -> int:
        return self._terminal.evicted + self._terminal.scrollback_total

    def _read(self, *, final: bool = False) -> None:
        """Note what is new on the screen; `final`: only what has left it, the rest goes on."""
        terminal = self._terminal
        self._unread = False
        self._read_at = self._time
        if terminal.alternate != self._alternate:
            self._alternate = not self._alternate
            self._epoch += 1
            self._rows = []
        lines = self._new_rows() if self._alternate else self._new_lines(final=final)
        if self._known and not self._alternate:
            self._known = False
            return
        at = ShownAt(self._time, self._generation, self._alternate, self._epoch)
        self.shown.note(at, lines)

    def _new_rows(self) -> list[tuple[int, str]]:
        lines = self._terminal.numbered_lines(0)
        before = set(self._rows)
        self._rows = [line for _, line in lines]
        return [(row, line) for row, line in lines if line and line not in before]

    def _new_lines(self, *, final: bool) -> list[tuple[int, str]]:
        terminal = self._terminal
        oldest, top = terminal.evicted, self._screen_top()
        begin = min(top, max(oldest, self._begin))
        lines = [(oldest + row, line) for row, line in terminal.numbered_lines(begin - oldest)]
        self._top = top
        # The line that the screen's first row belongs to is read again, unless it is very long.
        on_screen = max((number for number, _ in lines if number <= top), default=top)
        self._begin = on_screen if top - on_screen <= _LONGEST else top
        before = self._last
        if final:
            lines = [(number, line) for number, line in lines if number < self._begin]
            self._last = {number: line for number, line in before.items() if number >= self._begin}
        else:
            self._last = {number: line for number, line in lines if number >= self._begin}
        return [(number, line) for number, line in lines if line and before.get(number) != line]


def _cuts(data: bytes) -> Iterator[int]:
    """Yield where the screen is read within an output."""
    last = -_APART
    for found in _ERASES.finditer(data):
        if found.start() - last >= _APART:
            last = found.start()
            yield last
        if found[1]:
            yield found.end()
