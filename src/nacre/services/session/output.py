"""A session's stream: from the bytes of its terminal to its screen.

Rule 1: marks are taken out and noted, what a veil hides is left out, the rest is shown, in order.
Rule 2: only this file tells the journal what was shown, exact to the byte. So the next daemon shows
the rest of the ring, and nothing twice.
Rule 3: what is slow to draw is shown in several turns of the loop, and so is what follows the end
of a run: its caller gets the answer first. Until then it is unshown: read, in the ring, and nowhere
else.
"""

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress

from nacre.core.screen.screen import Cursor
from nacre.core.shell.echo import Veil
from nacre.core.shell.marks import Mark, MarkScanner, Prompting
from nacre.core.terminal.echoes import Echoes
from nacre.core.text.widths import from_column
from nacre.errors import LimitReached
from nacre.services.host.host import Host
from nacre.services.session.activity import Activity
from nacre.services.session.child import ChildProcess
from nacre.services.session.record import KeptVeil, pack_short
from nacre.services.session.recorder import Recorder
from nacre.services.session.screen import Beginning, LiveScreen
from nacre.system.storage.ring import Ring

_ESCAPE = b"\x1b"
_OSC = b"\x1b]"  # our marks begin with it (core/shell/marks.py)
_NO_PASTES = b"\x1b[?2004l"  # xterm ctlseqs, "Bracketed Paste Mode"
_ENDED, _BELL = b"\x1b]133;D;", b"\x07"  # the mark of a command's end, up to its terminator
_AFTER_MARK = 0.005  # seconds until what a mark ends is in the journal
_VEIL_PATIENCE = 3.0  # seconds for a mark that nobody waits for any more


class OutputStream:
    def __init__(
        self,
        begin: Beginning,
        nonce: str,
        screen: LiveScreen,
        recorder: Recorder,
        ring: Ring,
        host: Host,
        *,
        activity: Activity,
        changed: Callable[[], None],
    ) -> None:
        """`activity` gets what is typed and run, `changed` wakes waits for a new screen."""
        self._screen = screen
        self._recorder = recorder
        self._ring = ring
        self._host = host
        self.activity = activity
        self._changed = changed
        self._unshown = b""  # read, and left for the next turn
        self._behind = 0  # how many bytes that is, also while some of them are being shown
        self.begin(nonce, begin.prompting)
        self.prompt_end = begin.prompt_end
        self._prompt_line: int | None = None  # counted from the session's first line
        self.taps: list[Callable[[bytes | Mark], None]] = []
        self.tracked = 0  # running runs, which send their own events
        self._titles: tuple[str, str] | None = None  # before a command, and what it left
        self._veiled_from = 0
        self._kept_runs: list[bytes] = []
        self._takes = False  # within output that was read
        self._to_keep: list[Callable[[], None]] = []
        self._flushes = False  # soon
        recorder.before_flush = self._keep_now

    def begin(self, nonce: str, prompting: Prompting | None = None) -> None:
        """Read a new child, or one that an earlier daemon has read up to this prompt.

        The child's marks have this nonce; in the journal they have a tag instead.
        """
        self.drop_unshown()
        self._nonce, self._tag = nonce, _tag(nonce)
        self.scanner = MarkScanner(nonce)
        self.prompting = prompting or Prompting()
        self.echoes = Echoes()
        self.prompts_drawn = 0  # so far, continued ones too; themes draw them again
        self.line_refused = False  # the last line was not run: a syntax error
        self._line_started = False
        self._veil: Veil | None = None

    # --- output ----------------------------------------------------------------------------

    def take(self, child: ChildProcess, data: bytes, until: float) -> bool:
        """Show new bytes, after what is left of former ones, until a time of the turn's clock.

        Return whether some of them are left for the next call.
        """
        if self._unshown:
            data, self._unshown = self._unshown + data, b""
        at, length, base = 0, len(data), self._ring.end - len(data)
        tracked, marked = self.tracked, False
        try:
            while at < length:
                at, has_marks = self._take_some(data, at, until)
                marked = marked or has_marks
                over = self.tracked < tracked or time.perf_counter() >= until
                if over or child.is_held_back:
                    break
            if length:
                self._settle(child, base + at, answer=True, marked=marked)
        finally:
            self._unshown = data[length - self._behind :] if self._behind else b""
        return bool(self._unshown)

    def _take_some(self, data: bytes, at: int, until: float) -> tuple[int, bool]:
        """Show some of the data from `at` on; return up to where, and whether there were marks."""
        end, marked = self._end_of_plain(data, at), False
        if end > at:
            self._behind = len(data) - end
            size, cost = self._screen.feed(
                data[at:end] if (at, end) != (0, len(data)) else data, until
            )
            end = at + size
            self._behind = len(data) - end
            self._pass_on(data[at:end], cost)
        else:
            end = self._end_of_hidden(data, at)
            if end == at:
                end = self._screen.end_of_slice(data, at)
            if self.tracked:
                end = _end_of_command(data, at, end)
            self._behind = len(data) - end
            marked = self._scan(data[at:end])
        return end, marked

    def _end_of_plain(self, data: bytes, at: int) -> int:
        """Return up to where no mark can begin, so that it can be cut anywhere."""
        veiled = self._veil is not None and not self._veil.lifted
        if veiled or self.scanner.held:
            return at
        if (found := data.find(_OSC, at)) >= 0:
            return found
        return len(data) - data.endswith(_ESCAPE)

    def _end_of_hidden(self, data: bytes, at: int) -> int:
        """Return up to where a veil hides all, so that nothing is drawn."""
        if self._veil is None or self._veil.lifted or self.scanner.held:
            return at
        found = data.find(_OSC, at)
        return len(data) if found < 0 else found

    @property
    def is_behind(self) -> bool:
        """Whether something was read that is not shown yet."""
        return self._behind > 0

    def drop_unshown(self) -> None:
        """Forget what is not shown yet: the terminal it is for is gone."""
        if self._behind:
            self._unshown, self._behind = b"", 0
            self._recorder.offset = self._ring.end

    def close(self) -> None:
        """Take nothing more: what a veil still hides has no terminal to be shown in."""
        self.drop_unshown()
        self._veil = None

    def absorb(
        self,
        child: ChildProcess | None,
        data: bytes,
        *,
        answer: bool = True,
        end: int | None = None,
    ) -> None:
        """`end` is the offset of the data's end, if the stream has more already."""
        marked = self._scan(data)
        self._settle(child, self._end if end is None else end, answer=answer, marked=marked)

    def _scan(self, data: bytes) -> bool:
        """Show bytes that marks may be in, and note these; return whether there were any."""
        marked, self._takes = False, True
        try:
            for piece in self.scanner.scan(data):
                marked = marked or isinstance(piece, Mark)
                if self._veil is None:
                    self._show(piece)
                else:
                    for seen in self._veil.pass_on(piece):
                        self._show(seen)
        finally:
            self._takes = False
        return marked

    def _settle(self, child: ChildProcess | None, end: int, *, answer: bool, marked: bool) -> None:
        """Do what follows output that was shown up to this offset of the stream."""
        ring = self._ring
        if (replies := self._screen.terminal.take_replies()) and answer and child is not None:
            # If a program sends queries but never reads the answers, only it loses them.
            with suppress(LimitReached):
                child.answers.give(replies)
        ring.answered = max(ring.answered, end)
        self._commit(end)
        self._changed()
        if marked and not self._flushes:
            # The record of runs must not be ahead of the journal for long. Who waits for the mark
            # gets an answer first.
            self._flushes = True
            self._host.loop.call_later(_AFTER_MARK, self._flush_marks)

    def _flush_marks(self) -> None:
        self._flushes = False
        self._recorder.flush()

    def keep_later(self, put_down: Callable[[], None]) -> None:
        """Have something stored for the next daemon before the journal is ahead of it.

        What was read since is in the ring, where the next daemon would find it again.
        """
        if not self._takes:
            put_down()
        elif put_down not in self._to_keep:
            self._to_keep.append(put_down)

    def _keep_now(self) -> None:
        to_keep, self._to_keep = self._to_keep, []
        for put_down in to_keep:
            put_down()

    def absorb_again(self, child: ChildProcess | None, kept: KeptVeil | None) -> None:
        """Show what an earlier daemon read, and perhaps showed, but did not write to the journal.

        The program gets no answer twice, and a veil hides what it hid before.
        """
        ring = self._ring
        data, end, answered = ring.since(self._recorder.offset), ring.end, ring.answered
        begin = at = end - len(data)
        veil, veiled_from = (None, 0) if kept is None else (_veil(kept), kept.begin)
        edges = {edge for edge in (answered, veiled_from) if begin < edge < end}
        for edge in (*sorted(edges), end):
            if veil is not None and at == veiled_from:
                self._veil_from(veil, veiled_from)
            if edge > at:
                part = data[at - begin : edge - begin]
                self.absorb(child, part, answer=at >= answered, end=edge)
            at = edge
        if veil is not None and veiled_from == end and not veil.lifted:
            self._veil_from(veil, veiled_from)

    def flush(self) -> None:
        """Show what was held back, because the child has ended and nothing follows."""
        if held := self.scanner.flush():
            self._show(held)
            self._commit()

    def _show(self, piece: bytes | Mark) -> None:
        if isinstance(piece, bytes):
            self._pass_on(piece, self._screen.feed(piece)[1])
        elif (mark := self._note_mark(piece)) is not None:
            for tap in self.taps:
                tap(mark)
            if mark.kind == "E" and self._screen.terminal.modes().bracketed_paste:
                # A command has left it on. A line editor that knows pastes asks for them at its
                # prompt; one that does not would take the brackets for text.
                self._show(_NO_PASTES)

    def _pass_on(self, shown: bytes, cost: float) -> None:
        self._recorder.output(shown, self._screen.generation, cost)
        for tap in self.taps:
            tap(shown)

    @property
    def _end(self) -> int:
        """The offset in the terminal's stream up to which everything was taken."""
        return self._ring.end - self._behind

    def _commit(self, end: int | None = None) -> None:
        veiled = self._veil is not None and not self._veil.lifted
        end = self._end if end is None else end
        shown = self._veiled_from if veiled else end - self.scanner.held
        self._recorder.commit(shown)

    # --- marks -----------------------------------------------------------------------------

    def _note_mark(self, mark: Mark) -> Mark | None:
        """Return the mark as others should take it; None for what says nothing new."""
        ran = self.prompting.phase == "running"
        if mark.kind in "ABCDLOPQRSV":
            noted = self.prompting.note(mark)
            if noted is None:
                return None
            mark = noted
        if mark.kind == "B":
            terminal = self._screen.terminal
            cursor = terminal.cursor()
            self.prompt_end = (cursor.row, cursor.col)
            self._prompt_line = terminal.evicted + terminal.scrollback_total + cursor.row
            self.echoes.begin(self._prompt_line, cursor.col)
            self.activity.prompted()
        elif mark.kind in "CD":
            self.echoes.end(self._screen.terminal, started=mark.kind == "C")
            self.line_refused = mark.kind == "D" and not self._line_started
            self._line_started = mark.kind == "C"
            self._note_title(ended=mark.kind == "D")
        if mark.kind in "BP":
            self.prompts_drawn += 1
        tag = self._tag if mark.nonce == self._nonce else _tag(mark.nonce)
        self._recorder.mark(mark, tag, self._screen.generation)
        if mark.kind in "CD" and not self.tracked:  # after it: one group of the journal has both
            self._note_typed(mark, ran=ran)
        return mark

    def _note_title(self, *, ended: bool) -> None:
        """Note the title around a command: many programs set one, and leave it behind."""
        title = self._screen.terminal.title
        if not ended:
            self._titles = (self.title, title)
        elif self._titles is not None:
            self._titles = (self._titles[0], title)

    @property
    def title(self) -> str:
        """The title, without that of a program that has ended."""
        title = self._screen.terminal.title
        if self._titles is not None and self._line_started is False and title == self._titles[1]:
            return self._titles[0]
        return title

    def _note_typed(self, mark: Mark, *, ran: bool) -> None:
        """Note the begin or end of a command that somebody typed."""
        if mark.kind == "C":
            self.activity.typed_begins(self.command_line, self._prompt_line)
        elif ran:
            self.activity.typed_ends(mark.exit_code)

    def note_typing(self) -> None:
        """Input is on its way to the program: what it echoes is no output."""
        self.echoes.note_typing(self._screen.terminal)

    @property
    def command_line(self) -> str:
        """Return the text between the last prompt and the cursor: a command that is starting."""
        terminal = self._screen.terminal
        if terminal.alternate or self.prompt_end is None or self._prompt_line is None:
            return ""
        row = self._prompt_line - terminal.evicted - terminal.scrollback_total
        first = max(0, row)
        lines = terminal.unwrapped_rows(first, terminal.cursor().row - first)
        if row >= 0 and lines:
            lines[0] = from_column(lines[0], self.prompt_end[1])
        return "\n".join(lines).strip()

    @property
    def shown_line(self) -> str:
        """Return what stands between the prompt's end and the cursor, as it is shown."""
        terminal = self._screen.terminal
        if terminal.alternate or self.prompt_end is None or self._prompt_line is None:
            return ""
        row = self._prompt_line - terminal.evicted - terminal.scrollback_total
        cursor = terminal.cursor().row
        if row < 0 or row > cursor:
            return ""
        lines = terminal.unwrapped_rows(row, cursor - row + 1)
        if lines:
            lines[0] = from_column(lines[0], self.prompt_end[1])
        return "\n".join(lines).rstrip()

    @property
    def last_prompt(self) -> str:
        """The line of the last prompt that had its marks, if the terminal still has it."""
        terminal = self._screen.terminal
        if terminal.alternate or self.prompt_end is None or self._prompt_line is None:
            return ""
        row = self._prompt_line - terminal.evicted
        above = terminal.scrollback_total
        if row < 0:
            return ""
        lines = (
            terminal.scrollback_plain(row, 1)
            if row < above
            else terminal.plain_lines()[row - above :]
        )
        return lines[0][: self.prompt_end[1]] if lines else ""

    @property
    def line_is_typed(self) -> bool:
        """Whether there is text after the prompt already: a person began to type."""
        if self.prompting.phase != "prompt" or self.prompt_end is None:
            return False
        now: Cursor = self._screen.terminal.cursor()
        return (now.row, now.col) != self.prompt_end

    @property
    def folder(self) -> str | None:
        """The folder that the shell reported, as text."""
        folder = self.prompting.folder
        return folder and os.fsencode(folder).decode(errors="replace")

    # --- the veil --------------------------------------------------------------------------

    def hide_echo(self, veil: Veil) -> None:
        self.drop_veil(prompt=False)  # what another one hides is the echo of a line of ours, too
        self._recorder.flush()  # the next daemon can know only one veil
        self._veil = veil
        self._veiled_from = self._end - self.scanner.held
        self.keep_runs(self._kept_runs)

    def lift_veil(self) -> None:
        """Show what was hidden, because the mark that the veil waited for does not come."""
        if self._veil is not None:
            self._take_off(self._veil.uncover())

    def drop_veil(self, *, prompt: bool) -> None:
        """Leave out what was hidden, because a shell did not understand it (Veil.drop)."""
        if self._veil is not None and not self._veil.lifted:
            self._take_off(self._veil.drop(prompt=prompt))

    def _take_off(self, shown: bytes) -> None:
        self._veil = None
        if shown:
            self._show(shown)
            self._commit()
            self._changed()
        self.keep_runs(self._kept_runs)

    def expect_mark(self) -> None:
        """Lift a veil after a while: nobody waits for its mark, the daemon or the call is gone."""
        if self._veil is not None and not self._veil.lifted:
            self._host.loop.call_later(_VEIL_PATIENCE, self._give_up, self._veil)

    def _give_up(self, veil: Veil) -> None:
        if self._veil is veil and not veil.lifted:
            self.lift_veil()

    def _veil_from(self, veil: Veil, offset: int) -> None:
        self._veil, self._veiled_from = veil, offset
        self.scanner.accept(veil.nonce)

    def keep_runs(self, runs: list[bytes]) -> None:
        """Store these packed runs for the next daemon; the last ones that fit."""
        self._kept_runs = runs
        veil, known, recorded = None, self._veil, self._recorder.offset
        # Before the journal is past the veil, hidden bytes would be shown from the ring.
        if known is not None and not (known.lifted and recorded > self._veiled_from):
            veil = KeptVeil(
                nonce=known.nonce, shown=known.shown, until=known.until, begin=self._veiled_from
            )
        limit = self._ring.short_limit
        try:
            self._ring.short = pack_short(veil, runs, limit)
        except ValueError:  # a veil over a command that is too long to store
            self._ring.short = pack_short(None, runs, limit)


def _veil(kept: KeptVeil) -> Veil:
    return Veil(kept.nonce, kept.shown, kept.until)


def _end_of_command(data: bytes, begin: int, end: int) -> int:
    """Return where the mark ends that ends a command; `end` if there is none before that."""
    mark = data.find(_ENDED, begin, end)
    bell = data.find(_BELL, mark, end) if mark >= 0 else -1
    return end if bell < 0 else bell + 1


def _tag(nonce: str) -> str:
    """Return a tag for marks in the journal, which does not reveal the nonce."""
    return hashlib.sha256(nonce.encode()).hexdigest()[:8]
