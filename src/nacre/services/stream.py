"""A session's stream: from what was read off its terminal to its screen.

Rule 1: marks are taken out and noted, what a veil hides is left out, the rest is shown, in order.
Rule 2: what was shown is told to the journal up to the byte, so that the next daemon shows the rest
of what the ring has, and nothing twice.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from nacre.core.columns import from_column
from nacre.core.events import RunEvent
from nacre.core.marks import Mark, MarkScanner, Prompting
from nacre.core.screen import Cursor
from nacre.core.veil import Veil
from nacre.errors import LimitReached
from nacre.services.host import Host
from nacre.services.kept import KeptVeil, pack_short
from nacre.services.life import Life
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.services.session import Session

_VEIL_PATIENCE = 3.0  # seconds for the mark that a former daemon waited for


class Stream:
    def __init__(self, session: "Session", ring: Ring, host: Host) -> None:
        self._session = session
        self._ring = ring
        self._host = host
        self._nonce = self._tag = ""  # of the session's own marks; the tag stands in the journal
        self.scanner = MarkScanner("")
        self.prompting = Prompting()
        self.prompt_end: tuple[int, int] | None = None
        self._prompt_line: int | None = None  # counted from the session's first line
        self.taps: list[Callable[[bytes | Mark], None]] = []
        self.tracked = 0  # runs under way, which tell of themselves
        self._command: tuple[str | None, float] | None = None  # that was typed, and since when
        self._veil: Veil | None = None
        self._veiled_from = 0
        self._kept_runs: list[bytes] = []

    def begin(self, nonce: str, prompting: Prompting | None = None) -> None:
        """Read a new child, or one that a former daemon has read up to this prompt."""
        self._nonce, self._tag = nonce, _tag(nonce)
        self.scanner = MarkScanner(nonce)
        self.prompting = prompting or Prompting()
        self._veil = None

    # --- output ----------------------------------------------------------------------------

    def absorb(
        self, life: Life | None, data: bytes, *, answer: bool = True, end: int | None = None
    ) -> None:
        """`end` is the data's in the stream, when more of it is there already."""
        session, ring = self._session, self._ring
        marked = False
        for piece in self.scanner.scan(data):
            marked = marked or isinstance(piece, Mark)
            if self._veil is None:
                self._show(piece)
            else:
                for seen in self._veil.pass_on(piece):
                    self._show(seen)
        if (replies := session.terminal.take_replies()) and answer and life is not None:
            # A program that asks without ever reading the answers loses them, nobody else.
            with suppress(LimitReached):
                life.input.write(replies)
        ring.answered = max(ring.answered, ring.end if end is None else end)
        ring.generation = session.generation
        self._commit(end)
        if marked:
            # What is known of runs must not be ahead of the journal for long.
            session.recorder.flush()
        session.note_change()

    def absorb_again(
        self, life: Life | None, offset: int, veil: Veil | None, veiled_from: int
    ) -> None:
        """Show what a former daemon read from this offset on, and perhaps showed.

        Its program is not answered twice, and a veil hides what it hid.
        """
        ring = self._ring
        data, end, answered = ring.since(offset), ring.end, ring.answered
        begin = at = end - len(data)
        edges = {edge for edge in (answered, veiled_from) if begin < edge < end}
        for edge in (*sorted(edges), end):
            if veil is not None and at == veiled_from:
                self._veil_from(veil, veiled_from)
            if edge > at:
                part = data[at - begin : edge - begin]
                self.absorb(life, part, answer=at >= answered, end=edge)
            at = edge
        if veil is not None and veiled_from == end and not veil.lifted:
            self._veil_from(veil, veiled_from)

    def flush(self) -> None:
        """Show what was held back: the child has ended, nothing follows it."""
        if held := self.scanner.flush():
            self._show(held)
            self._commit()

    def _show(self, piece: bytes | Mark) -> None:
        if isinstance(piece, bytes):
            self._session.show(piece)
        else:
            self._note_mark(piece)
        for tap in self.taps:
            tap(piece)

    def _commit(self, end: int | None = None) -> None:
        veiled = self._veil is not None and not self._veil.lifted
        end = self._ring.end if end is None else end
        shown = self._veiled_from if veiled else end - self.scanner.held
        self._session.recorder.commit(shown)

    # --- marks -----------------------------------------------------------------------------

    def _note_mark(self, mark: Mark) -> None:
        session = self._session
        if mark.kind in "ABCDP":
            self.prompting.note(mark)
        if mark.kind == "B":
            terminal, cursor = session.terminal, session.terminal.cursor()
            self.prompt_end = (cursor.row, cursor.col)
            self._prompt_line = terminal.evicted + terminal.scrollback_total + cursor.row
        if mark.kind in "CD" and not self.tracked:
            self._tell_command(mark)
        tag = self._tag if mark.nonce == self._nonce else _tag(mark.nonce)
        session.recorder.mark(mark, tag, session.generation)

    def _tell_command(self, mark: Mark) -> None:
        """Tell of a command that somebody typed."""
        session, events, now = self._session, self._host.events, self._host.loop.time()
        if mark.kind == "C":
            command = self.command_line if events.wanted("runs") else None
            self._command = (command, now)
            events.tell("runs", session, lambda: RunEvent(status="started", command=command))
        elif self._command is not None:
            (typed, begun), self._command = self._command, None
            ended = RunEvent(
                status="ended",
                command=typed,
                exit_code=mark.exit_code,
                duration_ms=round((now - begun) * 1000),
            )
            events.tell("runs", session, lambda: ended)

    @property
    def command_line(self) -> str:
        """What stands between the last prompt and the cursor: a command that starts just now."""
        terminal = self._session.terminal
        if terminal.alternate or self.prompt_end is None or self._prompt_line is None:
            return ""
        row = self._prompt_line - terminal.evicted - terminal.scrollback_total
        first = max(0, row)
        lines = terminal.unwrapped_rows(first, terminal.cursor().row - first)
        if row >= 0 and lines:
            lines[0] = from_column(lines[0], self.prompt_end[1])
        return "\n".join(lines).strip()

    @property
    def line_is_typed(self) -> bool:
        """Whether something stands behind the prompt already: a person began to type."""
        if self.prompting.phase != "prompt" or self.prompt_end is None:
            return False
        now: Cursor = self._session.terminal.cursor()
        return (now.row, now.col) != self.prompt_end

    @property
    def folder(self) -> str | None:
        """Where the shell says that it is, as text."""
        folder = self.prompting.folder
        return folder and os.fsencode(folder).decode(errors="replace")

    # --- the veil --------------------------------------------------------------------------

    def hide_echo(self, veil: Veil) -> None:
        self._session.recorder.flush()  # one veil at a time is known to the next daemon
        self._veil = veil
        self._veiled_from = self._ring.end - self.scanner.held
        self.keep_runs(self._kept_runs)

    def lift_veil(self) -> None:
        """Show what was hidden: the mark that it waited for does not come."""
        if self._veil is not None:
            held = self._veil.release()
            self._veil = None
            if held:
                self._show(held)
                self._commit()
                self._session.note_change()
            self.keep_runs(self._kept_runs)

    def expect_mark(self) -> None:
        """Give a former daemon's veil up after a while: who would have done so is gone."""
        if self._veil is not None and not self._veil.lifted:
            self._host.loop.call_later(_VEIL_PATIENCE, self._give_up, self._veil)

    def _give_up(self, veil: Veil) -> None:
        if self._veil is veil and not veil.lifted:
            self.lift_veil()

    def _veil_from(self, veil: Veil, offset: int) -> None:
        self._veil, self._veiled_from = veil, offset
        self.scanner.accept(veil.nonce)

    def keep_runs(self, runs: list[bytes]) -> None:
        """Leave these packed runs for the next daemon; the last ones that fit."""
        self._kept_runs = runs
        veil, known, recorded = None, self._veil, self._session.recorder.offset
        # Until the journal is past it, what it hid would be shown from the ring.
        if known is not None and not (known.lifted and recorded > self._veiled_from):
            veil = KeptVeil(
                nonce=known.nonce, shown=known.shown, until=known.until, begin=self._veiled_from
            )
        limit = self._ring.short_limit
        try:
            self._ring.short = pack_short(veil, runs, limit)
        except ValueError:  # a veil over a command that is too long to be kept
            self._ring.short = pack_short(None, runs, limit)


def _tag(nonce: str) -> str:
    """Tell marks apart in the journal without telling how to make them."""
    return hashlib.sha256(nonce.encode()).hexdigest()[:8]
