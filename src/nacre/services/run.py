"""One run: a command from the moment it was sent to its exit code, and what it printed between."""

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from nacre.core.capture import Capture
from nacre.core.marks import Mark
from nacre.core.results import RunOutcome
from nacre.core.state import State
from nacre.core.transcript import render
from nacre.core.wrapper import ShellKind
from nacre.services.kept import KeptRun
from nacre.services.session import Session
from nacre.services.spool import Spool

Context = Literal["native", "wrapped", "repl"]
EndedBy = Literal["mark", "prompt", "exit"]

# zsh shows an output without a final newline by a mark and blanks before its prompt (PROMPT_SP).
_PROMPT_SP = re.compile(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r?\Z")


_ECHO = 64 * 1024  # bytes kept of what comes before the start mark


class Run:
    def __init__(self, session: Session, context: Context, memory: int) -> None:
        self.id = secrets.token_hex(6)
        self.nonce = secrets.token_hex(16)
        self.session = session
        self.context = context
        self.cols = session.terminal.cols
        self.started = asyncio.get_running_loop().time()
        self.ended: float | None = None
        self.exit_code: int | None = None
        self.ended_by: EndedBy | None = None
        self.folder: str | None = None
        self.recording = False  # between the start mark and the end
        self.starts_by_wrapper = False
        self.started_by_mark = False
        self.outer: frozenset[str] = frozenset()  # nonces of the runs that it runs inside of
        self.before: Run | None = None  # the session's last one
        self.kind: ShellKind = "sh"
        self.pid: int | None = None  # of the shell that a wrapped command was sent to, if local
        self.program: str | None = None  # its name, or ssh's
        self.shell_id = ""  # the same by its own word, also at the other end of ssh
        self.prompt = ""  # the line that the command was sent after
        self.elsewhere = False  # asked for its end, another shell answered
        self.reads_parts = False  # a long command's shell waits for it
        self.capture = Capture(memory // 2, memory // 2)
        self.spool: Spool | None = None
        self.on_overflow: Callable[[], Spool | None] | None = None
        self.first = 0  # the generation after which its output begins
        self.last: int | None = None  # the one that it ends with
        self.inputs = 0  # what had been typed into the session when it ended
        self.stale = False  # a former daemon's, whose output is still to be read from the journal
        self.when_changed: Callable[[], None] = _nothing
        self.when_done: Callable[[], None] = _nothing
        self._memory = memory
        self._known_end: tuple[EndedBy, int | None, str | None] | None = None
        self._unstarted = bytearray()  # what came before the start mark: the echo

    @property
    def done(self) -> bool:
        return self.ended is not None

    def record(self, data: bytes) -> None:
        if self.on_overflow is not None and self.capture.total + len(data) > self._memory:
            self.spool = self.on_overflow()
            self.on_overflow = None
            if self.spool is not None:
                self.spool.write(self.capture.parts()[0])
        self.capture.write(data)
        if self.spool is not None:
            self.spool.write(data)

    def finish(self, by: EndedBy, exit_code: int | None, folder: str | None = None) -> None:
        if self.done:
            return
        self.recording = False
        self.last = self.session.generation
        self.inputs = self.session.inputs
        self.ended = asyncio.get_running_loop().time()
        self.ended_by = by
        self.exit_code = exit_code
        self.folder = folder
        if self.spool is not None:
            self.spool.finish()
        self.when_changed()
        self.when_done()

    def text(self, budget: int) -> tuple[str, int]:
        """Return what a reader would have seen, within the budget, and the lines cut out of it."""
        head, tail, between = self.capture.parts()
        whole = _PROMPT_SP.sub(b"", head if tail is None else tail)
        if tail is None:
            return head_and_tail(render(whole, self.cols), budget)
        first, _ = _keep(render(head, self.cols), budget // 2, first=True)
        last, _ = _keep(render(whole, self.cols), budget // 2, first=False)
        cut = self.capture.lines - len(first) - len(last)
        return _joined(first, last, max(cut, between)), max(cut, between)

    def outcome(
        self, status: Literal["completed", "timeout"], budget: int, state: State | None = None
    ) -> RunOutcome:
        now = self.ended if self.ended is not None else asyncio.get_running_loop().time()
        output, omitted = self.text(budget)
        if self.ended_by == "prompt" and self.prompt:
            # Back at the prompt without an end mark: the prompt is no output.
            output = output.removesuffix(self.prompt.rstrip()).rstrip("\n")
        return RunOutcome(
            output=output,
            exit_code=self.exit_code,
            status=status,
            run_id=self.id,
            cwd=self.folder or self.session.cwd,
            duration_ms=round((now - self.started) * 1000),
            context=self.context,
            ended_by=self.ended_by,
            omitted_lines=omitted,
            state=state,
        )

    def kept(self) -> bytes:
        """Return what the next daemon must know of it."""
        now, wall = asyncio.get_running_loop().time(), time.time()
        return msgspec.json.encode(
            KeptRun(
                id=self.id,
                nonce=self.nonce,
                context=self.context,
                cols=self.cols,
                started=wall - now + self.started,
                first=self.first,
                last=self.last,
                ended=None if self.ended is None else wall - now + self.ended,
                exit_code=self.exit_code,
                ended_by=self.ended_by,
                folder=self.folder and _text(self.folder),
                recording=self.recording,
                starts_by_wrapper=self.starts_by_wrapper,
                started_by_mark=self.started_by_mark,
                outer=list(self.outer),
                kind=self.kind,
                pid=self.pid,
                program=self.program,
                shell_id=_text(self.shell_id),
                prompt=_text(self.prompt),
            )
        )

    @classmethod
    def restored(cls, kept: KeptRun, session: Session, memory: int) -> "Run":
        """Return a former daemon's run; its output is still to be recorded."""
        run = cls(session, kept.context, memory)
        now, wall = asyncio.get_running_loop().time(), time.time()
        for name in _KEPT_AS_IT_IS:
            setattr(run, name, getattr(kept, name))
        run.started = now - (wall - kept.started)
        run.ended = None if kept.ended is None else now - (wall - kept.ended)
        run.outer = frozenset(kept.outer)
        run.stale = True
        return run

    def reopen(self, journaled: int) -> None:
        """Take back what will be seen once more: what came after this generation."""
        if self.last is not None and self.last > journaled:
            self._known_end = (self.ended_by or "mark", self.exit_code, self.folder)
            self.ended = self.last = None
            self.recording = True
        if self.first > journaled and self.context != "repl":
            self.recording = self.started_by_mark = False

    def settle_again(self) -> None:
        """End it as it was known to have ended, if nothing told it once more."""
        if self._known_end is not None:
            self.finish(*self._known_end)
            self._known_end = None

    def tap(self, piece: bytes | Mark) -> None:
        """Follow the session's output; given to Session.taps."""
        if isinstance(piece, bytes):
            if self.recording:
                self.record(piece)
            elif not self.started_by_mark and len(self._unstarted) < _ECHO:
                self._unstarted += piece
        elif piece.nonce == self.nonce:
            self._wrapped(piece)
        elif self.context == "native" and piece.kind in "CD":
            self._native(piece)
        elif piece.kind == "E" and piece.nonce in self.outer:
            # What brought up the shell that this ran in has ended, and the shell with it.
            self.finish("exit", piece.exit_code)
        elif piece.kind == "D":
            # The session's own shell is back: whatever this ran in is gone.
            self.finish("exit", piece.exit_code)

    def _wrapped(self, mark: Mark) -> None:
        if mark.kind == "S" and mark.value == "read":
            self.reads_parts = True
        elif mark.kind == "S":
            self.shell_id = mark.value
            self._start()
        elif mark.kind == "E" and self.context == "wrapped":
            self._end_wrapped(mark)
        elif mark.kind == "E":
            # In the native shell the prompt's own mark follows, with the folder.
            self.recording = False

    def _start(self) -> None:
        self.started_by_mark = self.recording = True
        self.first = self.session.generation
        self.when_changed()

    def _end_wrapped(self, mark: Mark) -> None:
        _, asked, shell_id = mark.value.partition(";")
        if not asked:
            self.finish("mark", mark.exit_code)
        elif shell_id == self.shell_id:
            self.finish("prompt", mark.exit_code)
        else:
            self.elsewhere = True

    def _native(self, mark: Mark) -> None:
        if mark.kind == "C" and not self.starts_by_wrapper:
            self._start()
        elif mark.kind == "D":
            if not self.started_by_mark:
                # A syntax error: the shell ran nothing, and says why below the echo of the line.
                self.record(bytes(self._unstarted).partition(b"\n")[2])
            self.finish("mark", mark.exit_code, mark.folder)


_KEPT_AS_IT_IS = (
    *("id", "nonce", "cols", "first", "last", "exit_code", "ended_by", "folder", "recording"),
    *("starts_by_wrapper", "started_by_mark", "kind", "pid", "program", "shell_id", "prompt"),
)


def _text(text: str) -> str:
    """A folder's name may be bytes that are no text."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _nothing() -> None:
    return None


def head_and_tail(lines: list[str], budget: int) -> tuple[str, int]:
    """Return the first and the last lines that fit, and how many were cut out between them."""
    if sum(map(len, lines)) + len(lines) <= budget + 1:
        return "\n".join(lines), 0
    first, at = _keep(lines, budget // 2, first=True)
    last, _ = _keep(lines[at:], budget // 2, first=False)
    cut = len(lines) - len(first) - len(last)
    return _joined(first, last, cut), cut


def _keep(lines: list[str], budget: int, *, first: bool) -> tuple[list[str], int]:
    """Return the first or last lines that fit; one that alone is too long is cut."""
    kept: list[str] = []
    used = 0
    for line in lines if first else reversed(lines):
        if used + len(line) + 1 > budget:
            if not kept:
                kept.append(line[:budget] if first else line[-budget:])
            break
        used += len(line) + 1
        kept.append(line)
    return (kept if first else kept[::-1]), len(kept)


def _joined(first: list[str], last: list[str], cut: int) -> str:
    return "\n".join([*first, f"[… {cut} lines left out; read_run has them …]", *last])
