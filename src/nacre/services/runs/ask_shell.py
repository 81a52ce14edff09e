"""Ask a session's own shell where it is: its marks are gone, or somebody has pressed keys.

Rule: only a key is pressed (marks.ASK_KEY). The shell's line editor answers it with a mark, shows
nothing and keeps what is typed, so that nothing can go wrong where it was not at its prompt. Where
no line editor reads (`unsetopt zle`, `set +o emacs`) the key would be text: it is not pressed.
"""

import asyncio
from functools import partial

from nacre.core.shell.dialects import dialect_of
from nacre.core.shell.marks import ASK_KEY
from nacre.core.shell.quiet import NEVER
from nacre.core.shell.state import State
from nacre.services.dispatch.permit import may_type
from nacre.services.observe.settle import settle
from nacre.services.observe.state import look
from nacre.services.runs.run import TrackedRun
from nacre.services.session.session import Session

# Seconds: a shell that waits for keys would have answered at the second of these checks. An answer
# takes a millisecond, and some ten on a busy machine.
_NO_ANSWER = (0.1, 0.4)
TRIES = 3  # without an answer: somebody has taken the key away
QUICK = (0.0005, 0.001, 0.004, 0.03, 0.2)  # seconds; it takes a key at once


async def ask_shell(session: Session, deadline: float = NEVER) -> None:
    """Return when it has answered, and its marks are there again; or when it does not answer.

    At the deadline of its caller nobody knows: that is no answer that failed to come.
    """
    prompting = session.stream.prompting
    before = prompting.answers
    patience = asyncio.get_running_loop().time() + session.settings.shell_answer_wait
    if not await _line_editor_reads(session, min(deadline, patience)):
        prompting.unanswered += 1
        return
    session.write(ASK_KEY, recorded=b"")
    how, _ = await settle(
        session,
        lambda: prompting.answers > before,
        min(deadline, patience),
        asks=lambda state: waits_for_keys(session),
        looks_at=_NO_ANSWER,
    )
    if prompting.answers == before and (how != "deadline" or patience <= deadline):
        prompting.unanswered += 1


async def _line_editor_reads(session: Session, deadline: float) -> bool:
    """Return False where the kernel puts lines together for who waits: no key gets through then."""

    def takes_keys() -> bool:
        facts = session.facts()
        return facts is None or not facts.canonical

    if not takes_keys():  # a line editor that is about to read switches that off
        asks = partial(_waits_for_line, session)
        await settle(session, takes_keys, deadline, asks=asks, looks_at=QUICK)
    return takes_keys()


def _waits_for_line(session: Session, _: State) -> bool:
    facts = session.facts()
    return facts is not None and facts.canonical and facts.waits is True


async def state_told(session: Session, deadline: float = NEVER) -> State:
    """Ask it, and return the state when it waits again: it answers before it reads on."""
    await ask_shell(session, deadline)
    soon = asyncio.get_running_loop().time() + session.settings.shell_answer_wait
    await settle(
        session,
        lambda: session.stream.prompting.phase == "prompt",
        min(deadline, soon),
        asks=lambda state: waits_for_keys(session),
        looks_at=QUICK,
    )
    return look(session)


async def state_told_of(run: TrackedRun, deadline: float = NEVER) -> State:
    """Ask it about a run.

    Its line editor erases the prompt and draws it again. Where that stands behind output without a
    line's end, readline erases that too: what came before is the output then.
    """
    opens_prompt = dialect_of(run.session.launch.program).opens_prompt
    if not run.output.recording or opens_prompt is None:
        return await state_told(run.session, deadline)
    parts = run.state.parts
    run.output.printed_all(opens_prompt)
    told = await state_told(run.session, deadline)
    if not run.done and run.state.parts == parts:
        run.output.go_on()
    return told


async def await_typed(session: Session, deadline: float) -> bool:
    """Wait until its shell is through with the keys that somebody pressed at its prompt.

    Return whether it was still at that prompt then; else the rest of the keys may come to another.
    Else the end of their line would be taken for that of a command that is typed behind them, and
    Ctrl+C would take its first letters along. The kernel tells when it waits for more; that nothing
    is left on the way to it, only its own answer does. Behind a lone Escape the key would be
    another one.
    """
    prompting = session.stream.prompting

    def reads_line() -> bool:
        return prompting.phase == "prompt" and session.in_foreground

    how, _ = await settle(
        session,
        lambda: not reads_line(),
        deadline,
        asks=lambda state: waits_for_keys(session),
        looks_at=QUICK,
    )
    if not reads_line():
        return False
    answers = prompting.unanswered < TRIES and not session.in_escape
    if how != "deadline" and answers and may_type(session):
        before, inputs = prompting.answers, session.inputs + 1
        await ask_shell(session, deadline)
        if prompting.answers > before and session.inputs == inputs:
            session.typed.learn(prompting.line, inputs)
    return prompting.phase != "drawing"


def waits_for_keys(session: Session) -> bool:
    """Whether somebody waits for keys, as far as the kernel tells."""
    facts = session.facts()
    return facts is None or facts.waits is not False
