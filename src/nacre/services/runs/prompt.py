"""The prompt at which a command is sent: wait for it, find what is behind it, recognise it again.

Rule 1: a prompt is known by its mark if the shell makes one, else by the kernel and the screen.
Text that only looks like a prompt is not taken for one.
Rule 2: wait only for a prompt that is about to come; never wait for a running program.
"""

import asyncio

import msgspec

from nacre.core.shell.builtin_reads import wanted_by
from nacre.core.shell.dialects import dialect_of
from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.repl_prompts import is_same_prompt
from nacre.core.shell.state import State, asks_for_line
from nacre.core.shell.typed import is_command
from nacre.services.dispatch.permit import may_type, type_into
from nacre.services.observe.settle import LOOKS, settle, waits_for_somebody
from nacre.services.observe.state import line_before_cursor, look
from nacre.services.runs.ask_shell import QUICK, await_typed
from nacre.services.runs.request import Context
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session

NEXT_PROMPT = 1.0  # seconds for a shell to draw its prompt
_INTERRUPT_EFFECT = 0.3  # seconds for a program to end after a key, before it counts as busy
_BETWEEN_POLLS = 0.05  # seconds, for two checks


async def await_prompt(session: Session, last: TrackedRun | None, deadline: float) -> State:
    """Wait for a prompt that is about to come, of a shell that starts or has just ended a run.

    Return the state of the session then; `last` is its last run.
    """
    loop, prompting = asyncio.get_running_loop(), session.stream.prompting

    def at_prompt() -> bool:
        # A hook of the user's may run a program after the prompt is drawn.
        return prompting.phase in ("prompt", "continuation") and session.in_foreground

    typed = _typed_since(session, last)

    async def until_read() -> None:
        while session.marks_itself and prompting.phase in (None, "drawing", "prompt"):
            if not at_prompt():
                await settle(session, at_prompt, deadline, asks=_takes_commands)
            if not (typed and at_prompt()):
                break
            if await await_typed(session, deadline):
                break  # else there was an Enter, or a hook ran a program: there may be more keys

    def takes(state: State) -> bool:
        return _takes_commands(state) or _left_at_prompt(session, last, state)

    await until_read()
    state = look(session)
    soon = min(deadline, session.last_input + _INTERRUPT_EFFECT)
    looks_at: tuple[float, ...] = LOOKS
    if last is not None and last.state.ended is not None:
        soon, looks_at = min(deadline, max(soon, last.state.ended + NEXT_PROMPT)), QUICK
    enough = takes
    if state.state == "running" and session.generation == 0:
        soon = deadline  # it starts
        if not session.launch.is_shell:  # it need not become one: it may read at once, as cat does
            enough = waits_for_somebody
    if not takes(state) and loop.time() < soon:
        how, _ = await settle(session, at_prompt, soon, asks=enough, looks_at=looks_at)
        if how == "done" and typed:
            await until_read()  # a wrapped run ends before its shell's own mark and prompt
        state = look(session)
    if _left_at_prompt(session, last, state):
        return await _at_left_prompt(session, state, deadline)
    if state.state == "running":
        # It may be between two looks for a key: who polls waits most of the time.
        until = loop.time() + _BETWEEN_POLLS
        _, seen = await settle(session, at_prompt, until, asks=waits_for_somebody)
        state = seen or look(session)
    return state


async def _at_left_prompt(session: Session, state: State, deadline: float) -> State:
    """Return the state of a shell that is known to wait, when its prompt is shown."""
    if not line_before_cursor(session).strip():  # its prompt is still on its way
        soon = min(deadline, asyncio.get_running_loop().time() + NEXT_PROMPT)
        await settle(session, lambda: bool(line_before_cursor(session).strip()), soon)
    known = "the run before ended here, and no line was entered since"
    return msgspec.structs.replace(
        state, state="prompt", asks=None, hint=None, evidence=[*state.evidence, known]
    )


async def until_all_is_read(session: Session, deadline: float) -> None:
    """Wait until the session's own shell waits at its prompt: nothing that was typed is left.

    Without that, the end of a line that somebody typed ahead would be taken for another's.
    """
    soon = min(deadline, asyncio.get_running_loop().time() + NEXT_PROMPT)
    await settle(
        session,
        lambda: False,
        soon,
        asks=lambda state: state.state != "running" and has_read_all(session),
        looks_at=QUICK,
    )


def has_read_all(session: Session) -> bool:
    """Whether the shell has taken all that was typed, and waits for more."""
    child = session.supervisor.last
    if child is None or child.input.pending:
        return False
    facts = session.facts()
    # Where nobody may look, nobody knows better.
    return facts is None or (facts.group == session.leader and facts.waits is not False)


async def leave_vi_commands(session: Session, text: str) -> None:
    """Begin the line anew if somebody has pressed Escape there: vi takes letters for commands.

    What is no command of a shell is left alone: it may be meant for the line editor.
    """
    if session.in_vi_commands and is_command(text):
        await type_into(session, dialect_of(session.launch.program).begin_anew)


def context_at(session: Session, state: State) -> Context | None:
    """Return how to send a command to what waits there; None if nothing takes commands."""
    if state.state == "prompt":
        native = (
            session.stream.prompting.phase == "prompt" and state.program == session.launch.program
        )
        return "native" if native and session.launch.is_shell else "wrapped"
    return "repl" if state.asks == "repl" else None


def is_half_drawn(session: Session, state: State) -> bool:
    """Whether the session's own shell waits at a prompt whose marks begin and do not end.

    Ctrl+C that comes while it draws the prompt breaks that off (fish). In vi's command mode a line
    would be mangled there; asked, it answers that it is at its prompt.
    """
    drawing = session.marks_itself and session.stream.prompting.phase == "drawing"
    return drawing and state.state == "prompt" and session.in_foreground and may_type(session)


def tell_read(session: Session, run: TrackedRun | None, state: State) -> State:
    """Distinguish the `read` of a wrapped command from the prompt: in dash they look the same."""
    if run is None or run.done:
        return state
    if state.program in OPAQUE:
        return _tell_read_behind(session, run, state)
    if state.state != "prompt":
        return state
    facts = session.facts()
    if run.request.context != "wrapped" or facts is None:
        return state
    if not facts.canonical:  # with a line editor, as ksh93 and fish read
        return _tell_read_behind(session, run, state) if facts.pid == run.request.pid else state
    line = line_before_cursor(session).rstrip()
    if facts.pid != run.request.pid or line[-1:] == run.request.prompt.rstrip()[-1:]:
        return state
    return asks_for_line(state, line)


def _tell_read_behind(session: Session, run: TrackedRun, state: State) -> State:
    """Tell it where only the command says so: behind ssh, and from a line editor's prompt."""
    if not run.state.started_by_mark or state.state not in ("running", "prompt"):
        return state
    wanted = wanted_by(run.request.command or "")
    line = line_before_cursor(session)
    if wanted is None or (state.state == "prompt" and is_same_prompt(run.request.prompt, line)):
        return state
    return asks_for_line(state, line, wanted)


async def tell_read_soon(session: Session, run: TrackedRun | None, state: State) -> State:
    """As tell_read; after a key such as Ctrl+C the shell may read before its prompt is drawn."""
    told = tell_read(session, run, state)
    soon = session.last_input + _INTERRUPT_EFFECT
    if told is state or asyncio.get_running_loop().time() >= soon:
        return told

    def reads_commands() -> bool:
        return tell_read(session, run, state) is state

    await settle(session, reads_commands, soon, asks=lambda state: False)
    return tell_read(session, run, look(session))


def note_shown_prompt(run: TrackedRun) -> None:
    """Note the prompt that stands left of the cursor, without output that it stands behind.

    What the prompt is, is known by the run before.
    """
    session, request = run.session, run.request
    shown = line_before_cursor(session)
    request.group = session.foreground
    group, known = request.before
    same = group is not None and group == request.group and bool(known.strip())
    request.prompt = known if same and shown.rstrip().endswith(known.strip()) else shown


def _typed_since(session: Session, last: TrackedRun | None) -> bool:
    """Whether keys were pressed since the last run was over: its shell may not have read them.

    An earlier daemon may have typed the last run's line: then nothing was typed here, and the marks
    of that line, which are still to come, would be taken for those of the next command.
    """
    if last is not None and _is_on_its_way(last):
        return True
    return session.inputs > (last.state.inputs if last is not None and last.done else 0)


def _is_on_its_way(run: TrackedRun) -> bool:
    """Whether a line was typed at the shell's prompt, and the shell has not said that it runs."""
    return not (run.done or run.state.started_by_mark) and run.request.context == "native"


def _left_at_prompt(session: Session, last: TrackedRun | None, state: State) -> bool:
    """Whether a shell is known to wait: behind ssh, or here where the terminal's modes hide it."""
    if last is None or last.ended_by != "mark" or session.input.entered > last.state.inputs:
        return False
    if last.request.context != "wrapped" or last.request.program != state.program:
        return False
    if state.asks in ("password", "key"):  # `stty -echo`, `stty raw`
        facts = session.facts()
        return facts is not None and facts.waits is True and facts.pid == last.request.pid
    return state.state == "running" and state.program in OPAQUE


def _takes_commands(state: State) -> bool:
    return state.state == "prompt" or state.asks == "repl"
