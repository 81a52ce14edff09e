"""Bring a command to the shell that is to run it: typed, wrapped into one line, or part by part.

Rule 1: what is shown is the command, never the wrapper: its echo is hidden until the start mark.
Rule 2: nothing that a line editor would read otherwise than it stands is typed.
"""

import os
import re

from nacre.core.programs import OPAQUE, SHELLS
from nacre.core.state import State
from nacre.core.veil import Veil
from nacre.core.wrapper import SHORT_LINE, ShellKind, wrap, wrap_long
from nacre.services.host import Host
from nacre.services.run import Run
from nacre.services.session import Session
from nacre.services.settling import read_on, settle
from nacre.services.states import line_before_cursor

START_MARK = 3.0  # seconds for a wrapper's start mark, also over a slow line
_PROMPT_ON_ITS_WAY = 0.02  # seconds for a prompt that is printed but not yet read
_PASTE_MODE = 0.1  # seconds between a prompt's mark and the switching on of bracketed paste

# What a shell would read otherwise than it stands: history expansion, completion, control keys.
_NOT_TYPED = re.compile(r"[!\x00-\x1f\x7f]")
_LONGEST_TYPED = 1000  # characters; a longer line is wrapped, which no line editor has to redraw
_LONGEST_PASTED = 4000  # characters; more is read past the line editor, which draws it slowly

_KILL_LINE = b"\x05\x15"  # to the end of the line, and delete it (readline, zle, fish)


class Sender:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._kinds: dict[tuple[str, int], ShellKind] = {}  # by session id and foreground process

    def forget_session(self, identifier: str) -> None:
        self._kinds = {key: kind for key, kind in self._kinds.items() if key[0] != identifier}

    async def native(self, session: Session, run: Run, command: str) -> None:
        if self._line_may_be_typed(session, run):
            session.write(_KILL_LINE)
        if _NOT_TYPED.search(command) or len(command) > _LONGEST_TYPED:
            run.starts_by_wrapper = True
            kind = _kind_of(session.launch.program)
            await self._write_line(session, run, command, kind, _LONGEST_PASTED)
        else:
            session.write(session.terminal.encode_paste(command) + b"\r")

    def _line_may_be_typed(self, session: Session, run: Run) -> bool:
        """Whether something may stand at the prompt, seen or not: what was typed ahead shows late.

        fish leaves a line with a syntax error standing, and draws it after its prompt's mark.
        """
        before = run.before
        typed_ahead = before is not None and before.done and session.inputs > before.inputs
        return session.stream.line_is_typed or typed_ahead or session.launch.program == "fish"

    async def wrapped(self, session: Session, run: Run, command: str, deadline: float) -> None:
        facts = session.facts()
        program = (facts.program if facts else None) or "sh"
        key = (session.identity.id, facts.group if facts and facts.group else 0)
        kind = _kind_of(program)
        if program not in SHELLS:
            kind = self._kinds.get(key, kind)
        run.program = program
        if program in SHELLS and facts is not None:
            run.pid = facts.pid
        for attempt in (kind, "fish" if kind != "fish" else "bash"):
            run.kind = attempt
            await self._write_wrapped(session, run, command, attempt)
            until = min(deadline, self._host.loop.time() + START_MARK)
            how, _ = await settle(session, lambda: run.started_by_mark or run.done, until)
            if how != "deadline" or program in SHELLS:
                self._kinds[key] = attempt
                return
            if self._host.loop.time() >= deadline:
                return  # it may only be slow: a second try would be typed into the first
            session.stream.lift_veil()
            run.nonce = os.urandom(16).hex()
            session.write(_KILL_LINE)  # fish leaves a line that it cannot parse

    async def _write_wrapped(
        self, session: Session, run: Run, command: str, kind: ShellKind
    ) -> None:
        await read_on(session)  # a prompt that was printed but not read yet is no part of the echo
        run.prompt = line_before_cursor(session)
        if not run.prompt.strip():
            await session.next_change(self._host.loop.time() + _PROMPT_ON_ITS_WAY, output=True)
            run.prompt = line_before_cursor(session)
        await self._write_line(session, run, command, kind, SHORT_LINE)

    async def _write_line(
        self, session: Session, run: Run, command: str, kind: ShellKind, longest: int
    ) -> None:
        self._veil(session, run, command)
        line = wrap(command, kind, run.nonce)
        if len(line) > longest and kind != "fish":
            await self._write_parts(session, run, command, kind)
            return
        if len(line) > _LONGEST_TYPED:
            # Key by key it would need seconds; zsh takes pastes a little after its prompt's mark.
            soon = self._host.loop.time() + _PASTE_MODE
            await settle(session, lambda: session.terminal.modes().bracketed_paste, soon)
        session.write(pasted(session, line), recorded=command.encode(errors="replace") + b"\r")

    async def _write_parts(self, session: Session, run: Run, command: str, kind: ShellKind) -> None:
        head, parts = wrap_long(command, kind, run.nonce)
        session.write(pasted(session, head), recorded=command.encode(errors="replace") + b"\r")
        until = self._host.loop.time() + START_MARK
        await settle(session, lambda: run.reads_parts or run.started_by_mark, until, asks=never)
        for part in parts:
            session.write(part.encode() + b"\r", recorded=b"")

    def _veil(self, session: Session, run: Run, command: str) -> None:
        session.stream.scanner.accept(run.nonce)
        run.when_changed()
        shown = command.replace("\n", "\r\n").encode(errors="replace") + b"\r\n"
        session.stream.hide_echo(Veil(run.nonce, shown))


def pasted(session: Session, line: str) -> bytes:
    """A wrapper as input. Its leading blank keeps it out of histories: fish drops a pasted one."""
    return b" " + session.terminal.encode_paste(line.removeprefix(" ")) + b"\r"


def never(state: State) -> bool:
    return False


def _kind_of(program: str) -> ShellKind:
    if program in ("bash", "zsh", "fish"):
        return program  # type: ignore[return-value]  # narrowed by the test above
    # At the other end of ssh any shell may stand; bash's line suits all of the Bourne family.
    return "bash" if program in OPAQUE else "sh"
