"""The lines of an output on disk, any of them at once, without rendering all of it.

The file is looked through once, in blocks. Of most blocks only their lines are counted; they are
rendered when somebody reads them. Only a passage that was drawn over (core/terminal/passages.py) is
rendered when it is found, into a file beside it.

Rule 1: what was looked through is not looked through again: a run that goes on only adds to it.
Rule 2: memory does not grow with the output: a few words for each block, and one engine while a
passage is drawn.
Rule 3: it blocks, and belongs into a thread; one at a time is in it.
"""

import os
import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from nacre.core.terminal.passages import (
    SETTLED,
    Kind,
    NeedleFinder,
    all_strange,
    kind_of,
    local_lines,
    next_strange,
    plain_text,
)
from nacre.core.terminal.transcript import ROWS, Redrawn, render, trimmed, whole_part
from nacre.core.text.needles import Needles

_BLOCK = 1 << 17  # bytes looked at together; a longer line is given out in pieces
_MOST = 1 << 21  # bytes in which a screen of lines is looked for, whatever it takes


class _Passage(NamedTuple):
    kind: Kind
    first: int  # number of its first line
    lines: int
    start: int  # in the file of its kind
    end: int


class LongOutput:
    def __init__(self, path: str, cols: int, limit: int) -> None:
        """`limit` bounds the file of what was drawn; a few bytes can draw a screen."""
        self._path = path
        self._text = f"{path}.txt"
        self._cols = cols
        self._limit = limit
        self._lock = threading.Lock()
        self._passages: list[_Passage] = []
        self._at = 0  # what stands before it in the file is known
        self._lines = 0  # of the passages
        self._drawn = 0  # bytes in the text's file
        self._redrawn: Redrawn | None = None  # in a passage that is drawn, up to _at
        self._below = 0  # lines since anything strange in it
        self._lasts = False  # it will be drawn to the end
        self._tail: list[str] = []  # what may still change
        self._blank = 0  # lines at the end of it all that do not count
        self._complete = False
        self._removed = False
        self.undrawn = 0  # bytes that were not rendered, for the limit was reached

    def advance(self, end: int, *, finished: bool) -> int:
        """Look through what was written up to a byte; return how many lines there are."""
        with self._lock:
            try:
                if not self._complete:
                    self._advance(end, finished)
                return self._total
            finally:
                if self._removed:
                    self._clear()

    def _advance(self, end: int, finished: bool) -> None:
        with open(self._path, "rb") as file:
            while self._step(file, end, finished):
                pass
            self._tail = [] if finished else self._render_tail(_read(file, self._at, end))
        if finished:
            self._blank = self._count_blank()
            self._complete = True

    @property
    def _total(self) -> int:
        return self._lines + len(self._tail) - self._blank

    def page(self, offset: int, limit: int) -> list[str]:
        with self._lock:
            limit = min(limit, self._total - offset)
            lines: list[str] = []
            for number in range(self._find(offset), len(self._passages)):
                if len(lines) >= limit:
                    break
                passage = self._passages[number]
                skip = max(0, offset - passage.first)
                lines += self._render(passage, skip, limit - len(lines))
            if len(lines) < limit:
                skip = max(0, offset - self._lines)
                lines += self._tail[skip : skip + limit - len(lines)]
            return lines

    def texts(
        self, offset: int, needles: Needles | None = None
    ) -> Iterator[tuple[int, int, bytes]]:
        """Give out all lines from one on: the number of each part's first, of the next, its text.

        A part without any needle is empty: it is not rendered.
        """
        finder = None if needles is None else NeedleFinder(needles)
        line = offset
        while True:
            with self._lock:
                if line >= self._lines:
                    break
                passage = self._passages[self._find(line)]
                text = self._as_text(passage, line - passage.first, finder)
            after = passage.first + passage.lines
            yield line, after, text
            line = after
        tail = self._tail[max(0, line - self._lines) :]
        if tail:
            yield line, line + len(tail), "\n".join(tail).encode()

    def remove(self) -> None:
        """Let go of it, now or when who is in it has left; this does not block."""
        self._removed = True
        if self._lock.acquire(blocking=False):
            try:
                self._clear()
            finally:
                self._lock.release()

    def _clear(self) -> None:
        if self._redrawn is not None:
            self._redrawn.close()
            self._redrawn = None
        with suppress(FileNotFoundError):
            os.unlink(self._text)

    # --- looking through -------------------------------------------------------------------

    def _step(self, file: BinaryIO, end: int, finished: bool) -> bool:
        """Look at the next block; return False when there is nothing more to see."""
        size = _BLOCK
        while self._redrawn is not None:
            block = _read(file, self._at, min(end, self._at + size))
            last = finished and self._at + len(block) == end
            if self._step_drawn(self._redrawn, block, last=last, most=size >= _MOST):
                return True
            if self._redrawn is None or self._at + len(block) >= end:
                return False
            size *= 2  # what follows decides, and is not in the block
        block = _read(file, self._at, min(end, self._at + _BLOCK))
        block = _whole_lines(block, last=finished and self._at + len(block) == end)
        if not block:
            return False
        kind = kind_of(block if block.endswith(b"\n") else block + b"\n", self._cols)
        if kind is Kind.DRAWN:
            return self._begin_drawing(file, block)
        self._add(kind, block)
        return True

    def _add(self, kind: Kind, block: bytes) -> None:
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        end = self._at + len(block)
        self._passages.append(_Passage(kind, self._lines, lines, self._at, end))
        self._lines += lines
        self._at = end

    def _begin_drawing(self, file: BinaryIO, block: bytes) -> bool:
        """Draw from a screen above what is strange: all that it can reach."""
        strange = next_strange(block)
        assert strange is not None
        above = block[: block.rfind(b"\n", 0, strange.start) + 1]
        missing = ROWS - above.count(b"\n")
        if missing < 0:
            start = _nth_line(above, -missing)
            self._add(kind_of(above[:start], self._cols), above[:start])
        else:
            self._take_back(file, missing)
        self._redrawn = Redrawn(self._cols)
        self._below, self._lasts = 0, False
        return True

    def _take_back(self, file: BinaryIO, lines: int) -> None:
        """Forget so many lines again that were looked through."""
        while lines > 0 and self._passages and self._passages[-1].kind is not Kind.DRAWN:
            passage = self._passages.pop()
            self._at, self._lines = passage.start, passage.first
            if passage.lines > lines:
                block = _read(file, passage.start, passage.end)
                self._add(passage.kind, block[: _nth_line(block, passage.lines - lines)])
            lines -= passage.lines

    def _step_drawn(self, redrawn: Redrawn, block: bytes, *, last: bool, most: bool) -> bool:
        """Draw a block, up to where lines begin that are not drawn; return False without effect."""
        block = block if last else whole_part(block)
        if not block:
            if last:
                self._end_drawing(redrawn)
            return False
        at, until = 0, len(block)
        for strange in () if self._lasts else all_strange(block):
            if self._below + block.count(b"\n", at, strange.start) >= SETTLED + ROWS:
                until = strange.start
                break
            self._below, at = 0, strange.end
            self._lasts = strange.lasts
            if self._lasts:
                break
        below = block.count(b"\n", at, until)
        settled = SETTLED - self._below
        if self._lasts or below < settled:
            self._draw(redrawn, block)
            self._below += below
            self._at += len(block)
            return True
        drawn = at + _nth_line(block[at:], settled)
        if drawn:
            self._draw(redrawn, block[:drawn])
            self._below = SETTLED
            self._at += drawn
        # The next passage that is drawn begins a screen above: in lines that are not drawn.
        if below >= settled + ROWS or last or (most and not drawn):
            self._end_drawing(redrawn)
            return True
        return drawn > 0  # what follows is not known yet

    def _draw(self, redrawn: Redrawn, data: bytes) -> None:
        if self._drawn > self._limit:
            self.undrawn += len(data)
        else:
            self._put_down(redrawn.feed(data))

    def _end_drawing(self, redrawn: Redrawn) -> None:
        rest = redrawn.above() if self._settled else trimmed(redrawn.rest(last=True))
        self._put_down(rest)
        redrawn.close()
        self._redrawn = None

    @property
    def _settled(self) -> bool:
        """Whether what was strange can touch nothing any more; a line begins here."""
        return self._below >= SETTLED and not self._lasts

    def _put_down(self, lines: list[str]) -> None:
        if not lines:
            return
        text = "".join(f"{line}\n" for line in lines).encode()
        with open(self._text, "ab" if self._drawn else "wb") as file:
            file.write(text)
        end = self._drawn + len(text)
        self._passages.append(_Passage(Kind.DRAWN, self._lines, len(lines), self._drawn, end))
        self._lines += len(lines)
        self._drawn = end

    def _render_tail(self, data: bytes) -> list[str]:
        """Return what is not settled yet: a line that is not over, or what is on the screen."""
        if self._redrawn is None:
            return render(data, self._cols)
        if self._settled:
            return self._redrawn.above() + render(data, self._cols)
        return trimmed(self._redrawn.rest())

    def _count_blank(self) -> int:
        """Count the blank lines at the end: a person does not see them."""
        blank = 0
        for passage in reversed(self._passages):
            kept = len(trimmed(self._render(passage, 0, passage.lines)))
            blank += passage.lines - kept
            if kept:
                break
        return blank

    # --- reading ---------------------------------------------------------------------------

    def _find(self, line: int) -> int:
        """Return the number of the passage that a line is in."""
        return max(0, bisect_right(self._passages, line, key=lambda passage: passage.first) - 1)

    def _render(self, passage: _Passage, skip: int, limit: int) -> list[str]:
        count = min(limit, passage.lines - skip)
        if count <= 0:
            return []
        raw = self._raw(passage)
        start = _nth_line(raw, skip)
        part = raw[start : start + _nth_line(raw[start:], count)]
        if passage.kind is Kind.LOCAL:
            return local_lines(part, count, self._cols)
        text = part if passage.kind is Kind.DRAWN else plain_text(part)
        return text.decode().removesuffix("\n").split("\n")

    def _as_text(self, passage: _Passage, skip: int, finder: NeedleFinder | None) -> bytes:
        raw = self._raw(passage)
        if finder is not None and not finder.may_be_in(raw, passage.kind):
            return b""
        if passage.kind is Kind.LOCAL:
            return "\n".join(self._render(passage, skip, passage.lines)).encode()
        part = raw[_nth_line(raw, skip) :] if skip else raw
        text = part if passage.kind is Kind.DRAWN else plain_text(part)
        return text.removesuffix(b"\n")

    def _raw(self, passage: _Passage) -> bytes:
        path = self._text if passage.kind is Kind.DRAWN else self._path
        with open(path, "rb") as file:
            return _read(file, passage.start, passage.end)


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(max(0, end - start))


def _nth_line(data: bytes, number: int) -> int:
    """Return where so many lines end."""
    parts = data.split(b"\n", number)
    return len(data) - (len(parts[-1]) if len(parts) > number else 0)


def _whole_lines(block: bytes, *, last: bool) -> bytes:
    if last:
        return block
    end = block.rfind(b"\n") + 1
    if end or len(block) < _BLOCK:
        return block[:end]
    return whole_part(block)
