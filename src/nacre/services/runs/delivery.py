"""Send a run's command to its shell: typed, wrapped into one line, or in parts.

Rule 1: the screen shows the command, never the wrapper, whose echo is hidden until the start mark.
Rule 2: text that a line editor would change is never typed.
"""

import asyncio
from typing import NamedTuple

from nacre.core.keys.sequences import PASTE_END
from nacre.core.screen.controls import ERASE_LINE
from nacre.core.shell.dialects import (
    SH,
    SHELLS,
    SHORT_LINE,
    Dialect,
    dialect_of,
    other_family,
    shown_dialect,
    without_words,
)
from nacre.core.shell.echo import Veil
from nacre.core.shell.state import State
from nacre.core.shell.wrapper import as_fed, mending, wrap, wrap_long
from nacre.core.text.placeholders import PLACE
from nacre.late_pattern import late_pattern
from nacre.services.dispatch.permit import may_type, turn, type_into, write_judged
from nacre.services.host.host import Host
from nacre.services.observe.settle import read_on, settle
from nacre.services.observe.state import line_before_cursor
from nacre.services.observe.unread import UnreadInput
from nacre.services.runs.ask_shell import ask_shell
from nacre.services.runs.prompt import NEXT_PROMPT, note_shown_prompt, until_all_is_read
from nacre.services.runs.request import new_nonce
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session
from nacre.system.processes.foreground import TerminalFacts

_PROMPT_ON_ITS_WAY = 0.02  # seconds for a prompt that is printed but not yet read
_PASTE_MODE = 0.1  # seconds between a prompt's mark and the start of bracketed paste

# What a line editor would change: history expansion (`^old^new` too), completion, control keys; and
# what zsh (U+E000 to E0FF) and fish (U+F600 to F8FF, U+FDD0 to FDEF) have for bytes and marks of
# their own.
_NOT_TYPED = late_pattern(r"[!\x00-\x1f\x7f-\x9f\ue000-\uf8ff\ufdd0-\ufdef]|\A\^")
_LONGEST_TYPED = 1000  # characters; a longer line is wrapped, so no line editor has to redraw it

_LINE_CLEARED = 0.2  # seconds for a line that is deleted to be gone from the screen, also elsewhere
_INTERRUPTED = 0.3  # seconds for a shell elsewhere to answer Ctrl+C
_DRAWN = 1500  # bytes of a line that fish draws in a second, on a busy machine
_SWALLOWED = 16  # bytes; busybox's KEYCODE_BUFFER_SIZE

_MOST_DIALECTS = 1000  # then all are forgotten: the next commands find out again
KILL_LINE = b"\x05\x15"  # go to the end of the line and delete it (readline, zle, fish)


class Delivery:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._unread = UnreadInput()
        self._dialects: dict[_ShellKey, Dialect] = {}

    def forget_session(self, identifier: str) -> None:
        for key in [key for key in self._dialects if key[0] == identifier]:
            del self._dialects[key]

    async def native(self, session: Session, run: TrackedRun, command: str) -> None:
        prompting = session.stream.prompting
        run.request.tells_start = True
        hurt = prompting.hurt
        if hurt:
            await ask_shell(session)
        dialect = dialect_of(session.launch.program)
        unended = dialect.keeps_bad_line and session.stream.line_is_typed
        if prompting.edits_like_vi or (unended and not prompting.unanswered):
            # Else the command's letters might be commands themselves, or stand below lines of a
            # block that has no end: the keys delete only the last of them.
            await turn(session)
            write_judged(session, dialect.begin_anew)
        elif self._line_may_be_typed(session, run):
            await type_into(session, KILL_LINE)
        # A wrapped line that was not understood once is no way out for the next command either.
        hurt = hurt and prompting.understands_wrapper
        # The line editor would show a secret; the wrapped line is hidden.
        hurt = hurt or PLACE in command or run.request.shown is not None
        hurt = hurt or run.request.fed_by is not None
        if dialect.takes_pastes_late:
            # Key by key, zsh makes question marks of what the locale does not have, and keys may be
            # bound to widgets that change the line: the space bar to one that expands $?.
            pastes = await self._takes_pastes(session)
            hurt = hurt or not (pastes or command.isascii())
        if hurt or _NOT_TYPED.search(command) or len(command) > _LONGEST_TYPED:
            run.request.starts_by_wrapper = True
            await self._write_line(session, run, command, dialect, dialect.longest_line)
        else:
            await type_into(session, session.terminal.encode_paste(command) + b"\r", runs=command)

    async def mend(self, session: Session, deadline: float) -> None:
        """Give the session's own shell its hooks back, by a line if the key has gone with them."""
        prompting = session.stream.prompting
        await ask_shell(session, deadline)
        nonce = new_nonce()
        dialect = dialect_of(session.launch.program)
        line = mending(dialect, nonce)
        if not (prompting.unanswered and line):
            return
        # A key without its function makes zsh complain, and draw the prompt again.
        soon = min(deadline, self._host.loop.time() + NEXT_PROMPT)
        await settle(session, lambda: prompting.phase == "prompt", soon, asks=never)
        if prompting.phase != "prompt" or not may_type(session):
            return
        ended = prompting.ended
        session.stream.scanner.accept(nonce)
        session.stream.hide_echo(Veil(nonce, ERASE_LINE, "E"))
        self._unread.note(session)
        # nacre's own line: it runs nothing of the caller's
        write_judged(session, pasted(session, line, dialect, b"\r"), recorded=b"")
        soon = min(deadline, self._host.loop.time() + self._host.settings.mark_wait)
        await settle(
            session,
            lambda: prompting.ended > ended and prompting.phase == "prompt",
            soon,
            asks=lambda state: waits_again(session, self._unread),
        )
        session.stream.scanner.refuse(nonce)
        session.stream.lift_veil()

    def _line_may_be_typed(self, session: Session, run: TrackedRun) -> bool:
        """Return whether there may be typed text at the prompt, visible or not.

        Text that was typed ahead, or is left from the line before, shows after the prompt's mark.
        Where the shell has just said that its line is empty, no key is needed that may be another.
        """
        if session.typed.told(session.inputs) == "" and not session.stream.line_is_typed:
            return False
        left = dialect_of(session.launch.program).keeps_bad_line
        return session.stream.line_is_typed or run.request.typed_ahead or left

    async def wrapped(
        self, session: Session, run: TrackedRun, command: str, deadline: float
    ) -> None:
        facts = session.facts()
        program = (facts.program if facts else None) or "sh"
        run.request.program = program
        key = _shell_key(run)
        dialect = self._dialects.get(key) or shown_dialect(run.request.came_with, program)
        if program in SHELLS and facts is not None:
            run.request.pid = facts.pid
            if dialect_of(program) is SH:  # their line editors take either
                run.request.enter = _line_end(facts)
        known = program in SHELLS
        if not known and run.request.typed_ahead:
            await _until_interrupted(session, deadline)
        await _clear_line(session, run, deadline, known=known)

        def over() -> bool:
            return run.state.started_by_mark or run.done

        def asks(state: State) -> bool:
            # A shell of this machine that waits again has read the line, and has not understood it.
            if state.state == "prompt":
                return known and waits_again(session, self._unread)
            return state.state == "needs_input"

        for attempt in (dialect, without_words(dialect) if known else other_family(dialect)):
            if attempt is None:
                break
            run.request.dialect = attempt
            typed = await self._write_wrapped(session, run, command, attempt)
            patience = self._host.settings.mark_wait + max(0, typed - SHORT_LINE) / _DRAWN
            until = min(deadline, self._host.loop.time() + patience)
            how, state = await settle(session, over, until, asks=asks)
            unread = how == "deadline" or (state is not None and state.state == "prompt")
            # A shell that reads the parts of a long command has understood the line before them.
            if not unread or (known and how == "deadline") or run.state.reads_parts:
                self._remember(key, attempt)
                return
            if self._host.loop.time() >= deadline:
                return  # it may just be slow: a second try would be typed into the first
            if not known:
                await type_into(session, KILL_LINE)  # what it cannot parse may still be there
            run.request.nonce = new_nonce()
        session.stream.drop_veil(prompt=True)
        run.prompt_is_back()

    async def leave_unread(self, run: TrackedRun, deadline: float) -> bool:
        """End a run at the other end of ssh whose line was not understood within its time-out.

        No second line was typed then, and nobody has waited for the mark of the first one. Return
        whether it was so.
        """
        request, session = run.request, run.session
        if run.done or request.pid is not None or request.context != "wrapped":
            return False
        if run.state.started_by_mark or run.state.restored or not may_type(session):
            return False

        def begun() -> bool:
            return run.done or run.state.started_by_mark

        heard_by = session.last_input + self._host.settings.mark_wait
        await settle(session, begun, min(deadline, heard_by), asks=never)
        if begun() or self._host.loop.time() < heard_by:
            return False
        session.stream.drop_veil(prompt=True)
        await type_into(session, KILL_LINE)  # it may stand there still
        run.prompt_is_back()
        self._remember(_shell_key(run), other_family(request.dialect))
        return True

    def _remember(self, key: "_ShellKey", dialect: Dialect) -> None:
        if len(self._dialects) >= _MOST_DIALECTS:
            self._dialects.clear()
        self._dialects[key] = dialect

    async def _write_wrapped(
        self, session: Session, run: TrackedRun, command: str, dialect: Dialect
    ) -> int:
        """Return how long a line was typed for it, which a line editor has to draw."""
        # A prompt that is printed but not read yet does not belong to the echo.
        await read_on(session)
        if not line_before_cursor(session).strip():
            await session.next_change(self._host.loop.time() + _PROMPT_ON_ITS_WAY, output=True)
        note_shown_prompt(run)
        longest = dialect.longest_line if run.request.pid is not None else SHORT_LINE
        return await self._write_line(session, run, command, dialect, longest)

    async def _write_line(
        self, session: Session, run: TrackedRun, command: str, dialect: Dialect, longest: int
    ) -> int:
        await turn(session)  # before the veil: who drives meanwhile sees what they type
        self._veil(session, run, command)
        command_line = session.with_secrets(command)
        fed_by, own = run.request.fed_by, run.in_own_shell
        line = wrap(command_line, dialect, run.request.nonce, own=own, fed_by=fed_by)
        if len(line) > longest and dialect.syntax.read is not None:
            await self._write_parts(session, run, command, dialect)
            return 0
        late = run.request.context == "native" and dialect.takes_pastes_late
        if late or len(line) > _LONGEST_TYPED:
            # Key by key it would take seconds; for a highlighter of zsh even a short line does.
            await self._takes_pastes(session)
        self._unread.note(session)
        await type_into(
            session,
            pasted(session, line, dialect, run.request.enter),
            recorded=_recorded(run, command),
            runs=_judged(run, command),
        )
        return len(line)

    async def _takes_pastes(self, session: Session) -> bool:
        """Return whether its line editor has asked for pastes; it may do so behind its prompt.

        When it takes a key it has done so, or it never will.
        """
        native = session.marks_itself and session.in_foreground
        soon = self._host.loop.time() + (_PROMPT_ON_ITS_WAY if native else _PASTE_MODE)
        await settle(session, lambda: session.terminal.modes().bracketed_paste, soon, asks=never)
        if native and not session.terminal.modes().bracketed_paste and may_type(session):
            await ask_shell(session)
        return session.terminal.modes().bracketed_paste

    async def _write_parts(
        self, session: Session, run: TrackedRun, command: str, dialect: Dialect
    ) -> None:
        command_line = session.with_secrets(command)
        fed_by, own = run.request.fed_by, run.in_own_shell
        head, parts = wrap_long(command_line, dialect, run.request.nonce, own=own, fed_by=fed_by)
        self._unread.note(session)
        await type_into(
            session,
            pasted(session, head, dialect, run.request.enter),
            recorded=_recorded(run, command),
            runs=_judged(run, command),
        )
        until = self._host.loop.time() + self._host.settings.mark_wait
        await settle(
            session, lambda: run.state.reads_parts or run.state.started_by_mark, until, asks=never
        )
        await read_on(session)
        if run.done or run.state.started_by_mark:
            return  # it could not read (a restricted zsh): it would run the parts one by one
        enter = _line_end(session.facts())  # its line editor has left the terminal
        for part in parts:
            await type_into(
                session, part.encode() + enter, recorded=b"", runs=_judged(run, command)
            )

    def _veil(self, session: Session, run: TrackedRun, command: str) -> None:
        session.stream.scanner.accept(run.request.nonce)
        run.when_changed()
        told = run.request.shown or command
        shown = told.replace("\n", "\r\n").encode(errors="replace") + b"\r\n"
        session.stream.hide_echo(Veil(run.request.nonce, shown))


async def _until_interrupted(session: Session, deadline: float) -> None:
    """Wait until a shell at the other end of ssh has answered keys that came right before.

    To Ctrl+C it answers by a new prompt. A line that comes to it together with the signal is lost.
    """
    soon = min(deadline, session.last_input + _INTERRUPTED)
    await settle(session, lambda: session.last_output > session.last_input, soon, asks=never)


class _ShellKey(NamedTuple):
    """A shell that lines were typed into; behind ssh it is known by what it was started in."""

    session: str
    group: int
    program: str
    outer: frozenset[str]


def _shell_key(run: TrackedRun) -> _ShellKey:
    request, group = run.request, run.session.foreground
    return _ShellKey(run.session.identity.id, group or 0, request.program or "sh", request.outer)


async def _clear_line(session: Session, run: TrackedRun, deadline: float, *, known: bool) -> None:
    """Delete what stands in the line of a shell: the line before the cursor is its prompt then.

    Somebody may have typed something and not entered it. An answer of the terminal that a program
    has left unread is taken for keys, too.
    """
    child = session.supervisor.last
    answered = known and child is not None and child.answers.may_be_typed
    if not (answered or session.typed.partial or run.request.typed_ahead):
        return
    if answered and child is not None:
        child.answers.may_be_typed = False
    # Ctrl+C empties the terminal's input: it may have taken the end of a paste.
    pasting = session.terminal.modes().bracketed_paste
    await type_into(session, (PASTE_END if pasting else b"") + KILL_LINE)
    if known:
        await until_all_is_read(session, deadline)
    prompt = run.request.before[1].strip()
    if not prompt:
        return
    soon = min(deadline, asyncio.get_running_loop().time() + _LINE_CLEARED)
    await settle(session, lambda: line_before_cursor(session).strip() == prompt, soon, asks=never)


def _judged(run: TrackedRun, command: str) -> str:
    return command if run.request.fed_by is None else as_fed(command)


def _recorded(run: TrackedRun, command: str) -> bytes:
    return (run.request.shown or command).encode(errors="replace") + b"\r"


def _line_end(facts: TerminalFacts | None) -> bytes:
    """Return what ends a line; after `stty raw` nobody turns Enter into that."""
    return b"\n" if facts is not None and facts.edits else b"\r"


def waits_again(session: Session, typed: UnreadInput) -> bool:
    """Whether all that was typed has been read, as the kernel knows for sure.

    Who waits as before has read nothing: the kernel hands a line on when it comes to it.
    """
    child, facts = session.supervisor.last, session.facts()
    if child is None or child.input.pending or typed.is_left(session):
        return False
    return facts is not None and facts.waits is True


def pasted(session: Session, line: str, dialect: Dialect, enter: bytes) -> bytes:
    """Return a wrapper as input, with what ends it there.

    A leading space keeps it out of the history; fish drops a pasted one. Where a shell knows no
    pastes, it was a program that switched them on and did not switch them off again.
    """
    line = line.removeprefix(" ")
    text = session.terminal.encode_paste(line) if dialect.takes_pastes else line.encode()
    return _behind_answers(session) + b" " + text + enter


def _behind_answers(session: Session) -> bytes:
    """Return blanks that a shell may swallow behind an answer of the terminal.

    busybox asks where the cursor is. In the first row, "1;5R" begins like a key (Ctrl and a cursor
    key), and is looked for in what follows.
    """
    child = session.supervisor.last
    if child is None or not child.answers.may_be_typed:
        return b""
    child.answers.may_be_typed = False
    return b" " * _SWALLOWED


def never(state: State) -> bool:
    return False
