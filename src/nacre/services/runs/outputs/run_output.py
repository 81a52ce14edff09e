"""What a run printed: its head and tail in memory, all of it on disk if memory is full.

Rule 1: memory does not grow with the output, and the file has a quota (spool.py).
Rule 2: the order is kept. While the earlier part is still being read from the journal, new output
waits.
Rule 3: of what a REPL prints, echo and prompts are cut off first (repl_cut.py).
Rule 4: what several lines of one run print stands below each other, without what the shell puts
before its prompt.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nacre.core.terminal.repl_cut import ReplCut
from nacre.core.terminal.transcript import render
from nacre.core.text.budget import HeadTail, head_and_tail, parted_head_and_tail
from nacre.late_pattern import late_pattern
from nacre.services.runs.outputs.prompt_marks import (
    without_beginning_mark,
    without_prompt_mark,
)
from nacre.services.runs.outputs.spool import Spool
from nacre.services.session.screen import Lost

_ECHO = 64 * 1024  # bytes kept of what comes before the start mark
_AROUND = 10  # rows of the command itself and of the next prompt
_HELD = 4096  # bytes: more than a shell prints before its prompt, in the widest of terminals

# Control sequences and the way back to a line's beginning (ECMA-48 5.4): nobody sees them.
_INVISIBLE = late_pattern(
    rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[()].|[\r\x07]"
)
# A sequence of which the end is missing.
_TORN = late_pattern(rb"\x1b(?:\[[0-9;?]*|\(|\][^\x07\x1b]*\x1b?)?\Z")
_SOON_RENDERED = 16 * 1024  # bytes
_FEW_ESCAPES = 16  # each may take the engine a millisecond (host/pace.py)
_FACTS = 500  # characters of the other fields of the answer that has it


class Rendered(NamedTuple):
    """What a reader would have seen; of a long output its ends."""

    head: list[str]
    tail: list[str] | None = None  # None: the head is everything
    lines: int = 0  # in all, and of them those that are not known
    between: int = 0

    def within(self, budget: int) -> tuple[str, int]:
        """Return the text within a budget, and how many lines were cut out of it."""
        if self.tail is None:
            return head_and_tail(self.head, budget)
        return parted_head_and_tail(self.head, self.tail, self.lines, self.between, budget)


class _Printed(NamedTuple):
    """What a run printed up to a moment."""

    head: bytes | None  # None: the end is everything
    end: bytes
    cols: int
    lines: int
    between: int

    @property
    def is_slow(self) -> bool:
        """Whether it may take longer to render than the loop can wait."""
        printed = (self.head or b"") + self.end
        return len(printed) > _SOON_RENDERED or printed.count(b"\x1b") > _FEW_ESCAPES

    def render(self) -> Rendered:
        if self.head is None:
            return Rendered(render(self.end, self.cols))
        first, last = render(self.head, self.cols), render(self.end, self.cols)
        unended = bool(_INVISIBLE.sub(b"", self.end.rpartition(b"\n")[2]))
        return Rendered(first, last, self.lines + unended, self.between)


class RunOutput:
    def __init__(self, cols: int, memory: int) -> None:
        self.cols = cols
        self.recording = False  # between the start mark and the end
        self.spool: Spool | None = None
        self.on_overflow: Callable[[], Spool | None] | None = None
        self.cut: ReplCut | None = None
        self.incomplete = False  # the journal did not have all that an earlier daemon saw
        self.lost_before = 0  # bytes of that, with the shell's marks, as far as it is known
        self.in_parts = False  # of several lines: what may be no output is held back
        self._held = b""
        self._shells_own: re.Pattern[bytes] | None = None  # what the shell prints first
        self._begun = b""  # as much of that as came
        self._memory = memory
        self._capture = HeadTail(memory // 2, memory // 2)
        self._unstarted = bytearray()  # from before the start mark: the echo
        self._refusal: bytes | None = None  # the same, of a line that ended without a start
        self._waiting: list[bytes] | None = None  # new output that waits for the earlier part
        self._closed = False
        self._prepared: Rendered | None = None
        self._trailing: bytearray | None = None  # came after the shell said that all was printed
        self._prompt_from: bytes | None = None  # what an unmarked prompt before that begins with

    def record(self, data: bytes) -> None:
        if self._trailing is not None:
            self._trailing += data
            if len(self._trailing) > _ECHO:  # no prompt is as long as that
                self.go_on()
            return
        if self.in_parts:
            data = self._held + data
            data, self._held = data[:-_HELD], data[-_HELD:]
        self._pass_on(data)

    def _pass_on(self, data: bytes) -> None:
        if self._waiting is not None:
            self._waiting.append(data)
        elif data:
            self._write(data)

    def leave_out(self, shells_own: "re.Pattern[bytes] | None") -> None:
        """Leave out what the shell itself prints first, from here on."""
        self._shells_own, self._begun = shells_own, b""

    def end_part(self) -> None:
        """A line has ended, and another follows: it begins below what this one printed."""
        self.recording = False
        self._trailing = None
        self._unstarted.clear()
        held, self._held = without_prompt_mark(self._without_prompt(self._held)), b""
        self._prompt_from = None
        in_line = _INVISIBLE.sub(b"", held.rpartition(b"\n")[2])
        self._pass_on(held + b"\r\n" if in_line else held)

    def note_echo(self, data: bytes) -> None:
        """Remember what came before the start mark: it is output if that mark never comes."""
        if len(self._unstarted) < _ECHO:
            self._unstarted += data

    def end_echo(self) -> None:
        """A line has ended without a start: what follows is the next prompt."""
        self._refusal, self._unstarted = bytes(self._unstarted), bytearray()

    def record_echo(self) -> None:
        """Take what is below the echo of the line as output: it says why nothing was started."""
        echo = bytes(self._unstarted) if self._refusal is None else self._refusal
        self.record(echo.partition(b"\n")[2])

    def record_before_start(self, typed: str) -> None:
        """Take what came before a late start mark, but for the echo of the line that was typed."""
        echo = bytes(self._unstarted) if self._refusal is None else self._refusal
        first, end, rest = echo.partition(b"\n")
        shown = _INVISIBLE.sub(b"", first).decode(errors="replace").strip()
        self.record(rest if end and shown.endswith(typed.strip()) else echo)

    def printed_all(self, prompt_from: bytes | None = None) -> None:
        """The shell prepares its next prompt: what comes until the end is no output.

        Where no end follows, it was one after all: somebody called the shell's prompt commands.
        `prompt_from` is what the prompt begins with, if that may be drawn already.
        """
        self.go_on()
        self._trailing, self._prompt_from = bytearray(), prompt_from

    def go_on(self) -> None:
        trailing, self._trailing, self._prompt_from = self._trailing, None, None
        if trailing:
            self.record(bytes(trailing))

    def close(self) -> None:
        """Note that nothing follows."""
        self._release()
        self.recording = False
        self._trailing = None
        self._closed = True
        if self._waiting is not None:
            return
        if self._shells_own is not None and _TORN.search(self._begun):
            self._shells_own = None  # the program's own, of which the end never came
            self._store(self._begun)
        self.end_answer()
        if self.spool is not None:
            self.spool.finish()

    def end_answer(self) -> None:
        """What a REPL printed for one line of a command is all there."""
        if self.cut is not None:
            self._store(self.cut.finish())

    def text(self, budget: int) -> tuple[str, int]:
        """Return the output as a reader would see it, within the budget, and the lines left out."""
        return self.rendered().within(budget)

    async def prepare(self, free: asyncio.Semaphore) -> None:
        """Render what is there in a thread, for the next call that asks for it.

        An engine draws it, and what is short to print can be slow to draw. `free` is the number of
        threads that may do so at the same time.
        """
        printed = self._freeze()
        if printed.is_slow:
            async with free:
                loop = asyncio.get_running_loop()
                self._prepared = await loop.run_in_executor(None, printed.render)

    def rendered(self) -> "Rendered":
        prepared, self._prepared = self._prepared, None
        return self._freeze().render() if prepared is None else prepared

    def _freeze(self) -> "_Printed":
        self._release()
        head, tail, between = self._capture.parts()
        end = head if tail is None else tail
        end = without_prompt_mark(self._without_prompt(end) if self._closed else end)
        if self.cut is not None:
            end += self.cut.rest()
        first = None if tail is None else head
        return _Printed(first, end, self.cols, self._capture.lines, between)

    def _without_prompt(self, end: bytes) -> bytes:
        if self._prompt_from is None or self._prompt_from not in end:
            return end
        return end.rpartition(self._prompt_from)[0]

    @property
    def size(self) -> tuple[int, int]:
        """Return the rows and characters that it takes at most when read from a screen."""
        rows = self._capture.lines + self._capture.total // self.cols + _AROUND
        # In JSON a quote, a backslash and a line's end are two characters each.
        return rows, 2 * (self._capture.total + _AROUND * self.cols) + _FACTS

    @property
    def last(self) -> bytes:
        """What was printed last, as it came: a prompt, where the run has brought one up."""
        return self._capture.last(_HELD)

    @property
    def lost(self) -> int:
        """Return how many bytes cannot be read again, of what this daemon saw."""
        return self._capture.cut if self.spool is None else self.spool.lost

    def lose(self, lost: Lost, begun: int, over: int) -> None:
        """Note what an earlier daemon saw and nobody has any more; the run began and ended there.

        -1: it is not known where, or the run goes on.
        """
        if lost.end <= lost.begin or begun >= lost.end or 0 <= over < lost.begin:
            return
        self.incomplete = True
        if begun >= 0:
            end = lost.end if over < 0 else min(over, lost.end)
            self.lost_before += max(0, end - max(begun, lost.begin))

    def lose_beginning(self, begin: int | None, begun: int) -> None:
        """Note that what an earlier daemon saw is left from `begin` on alone."""
        self.incomplete = True
        if begin is not None and begun >= 0:
            self.lost_before += max(0, begin - begun)

    @property
    def missing(self) -> str | None:
        """Return what is to be told of an output that is not whole."""
        if not self.incomplete:
            return None
        much = f"about {self.lost_before} bytes" if self.lost_before else "a part"
        return (
            f"{much} of its output is lost: the journal did not have it when the daemon was "
            "restarted"
        )

    # --- as it was printed -----------------------------------------------------------------

    def end(self, prompt: str = "") -> int:
        """Return how many bytes are known to be output.

        A last line that may be this prompt is not: no mark says where an unmarked one begins.
        """
        last = self._capture.last(_HELD)
        begun = _INVISIBLE.sub(b"", last.rpartition(b"\n")[2]).decode(errors="replace").strip()
        if begun and prompt.strip().startswith(begun):
            last_line = len(last) - len(last.rpartition(b"\n")[2])
            return self._capture.total - len(last) + last_line
        if self._closed:
            kept = without_prompt_mark(self._without_prompt(last))
        else:
            kept = without_beginning_mark(last)
        return self._capture.total - len(last) + len(kept)

    def show_all(self) -> None:
        """Take what was held back as output too: its program waits, and nothing follows."""
        self._release()

    def bytes_from(self, position: int, end: int) -> tuple[int, bytes]:
        """Return bytes from a position on, and where they begin: later if those are not kept.

        Blocks if they are on disk.
        """
        most = end - position
        if most <= 0:
            return position, b""
        if self.spool is not None and (found := self.spool.bytes_from(position, most)):
            return position, found
        return self._capture.bytes_from(position, most)

    # --- as it reads -----------------------------------------------------------------------

    def lines(self) -> list[str]:
        """Return all of an output that memory has room for."""
        rendered = self.rendered()
        if rendered.tail is None:
            return rendered.head
        return rendered.within(1 << 60)[0].split("\n")

    def _release(self) -> None:
        held, self._held = self._held, b""
        self._pass_on(held)

    # --- the earlier part ------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """Whether a part from an earlier daemon must still be read from the journal."""
        return self._waiting is not None

    def fall_behind(self) -> None:
        self._waiting = []

    def record_earlier(self, parts: Iterable[bytes]) -> None:
        for part in parts:
            self._write(part)

    def catch_up(self) -> None:
        """The earlier part is complete: continue with what came meanwhile."""
        waiting, self._waiting = self._waiting or [], None
        self.record_earlier(waiting)
        if self._closed:
            self.close()

    def _write(self, data: bytes) -> None:
        if self._shells_own is not None:
            data = self._without_shells_own(self._begun + data)
        self._store(data if self.cut is None else self.cut.take(data))

    def _without_shells_own(self, data: bytes) -> bytes:
        assert self._shells_own is not None
        found = self._shells_own.match(data)
        rest = data if found is None else data[found.end() :]
        if len(data) < _HELD and (not rest or _TORN.match(rest)):
            self._begun = data
            return b""
        self.leave_out(None)
        return rest

    def _store(self, data: bytes) -> None:
        if not data:
            return
        if self.on_overflow is not None and self._capture.total + len(data) > self._memory:
            self.spool = self.on_overflow()
            self.on_overflow = None
            if self.spool is not None:
                self.spool.write(self._capture.parts()[0])
        self._capture.write(data)
        if self.spool is not None:
            self.spool.write(data)
            if not self.spool.size:  # the disk is full, and memory has more
                self.spool.remove()
                self.spool = None
