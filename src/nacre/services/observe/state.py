"""Find out what a session is doing now."""

from typing import Literal

from nacre.core.operations.steps import restore
from nacre.core.shell.state import Seen, State, judge
from nacre.core.text.widths import from_column, text_width
from nacre.services.session.session import Session
from nacre.system.processes.integration import is_integrated
from nacre.wording import Hint


def look(session: Session) -> State:
    """Judge by marks, kernel and screen. It takes about 0.3 ms, so only on request or in a wait."""
    if session.ending is not None:
        if session.ending.lost:
            hint = Hint("the session was lost", restore(session.identity.name))
            return State(state="lost", evidence=[str(session.ending)], hint=hint)
        return State(state="exited", evidence=[str(session.ending)])
    if session.stream.prompting.phase == "prompt" and session.in_foreground:
        # The shell's own mark is enough; anything else costs a hundred times as much.
        return State(
            state="prompt",
            evidence=["mark: prompt", "foreground: the shell itself"],
            program=session.launch.program,
        )
    facts = session.facts()
    if facts is None:
        return State(state="running", evidence=["its terminal is closed"], sure=False)
    modes = session.terminal.modes()
    repl = session.typed_repl
    if repl is not None and repl.program != facts.program:
        repl = None
    reader = None
    if repl is not None:
        # A console that is a script, or has its own line editor, is run by the interpreter itself.
        steady = facts.timeout is None and not facts.scripted
        reader = repl.whose(facts.pid, facts.reader, steady=steady)
    marked = _marked(session)
    in_shell = session.launch.is_shell and facts.group == session.leader
    if marked == "running" and in_shell and not is_integrated(session.leader):
        marked, in_shell = None, False  # after `exec zsh` its marks will never come
    own = marked == "running" and in_shell and facts.waits is not False
    if own and _has_more(session):
        return look(session)
    state = judge(
        Seen(
            marked=marked,
            in_shell=in_shell,
            program=facts.program,
            echo=facts.echo,
            canonical=facts.canonical,
            waits=facts.waits,
            alternate=modes.alternate_screen,
            bracketed_paste=modes.bracketed_paste,
            line=line_before_cursor(session),
            scripted=facts.scripted,
            known_prompt=_known_prompt(session) if marked == "running" and in_shell else "",
            repl_prompt=repl.prompt if repl is not None else "",
            repl_runs=repl is not None and repl.runs,
            timeout=facts.timeout,
            edits=facts.edits,
            reader=reader,
            quiet=session.now - session.last_output,
            unasked=session.last_output - session.last_input,
        )
    )
    if state.unmarked and session.is_behind:
        evidence = [*state.evidence, "more is printed than is shown yet"]
        return State(state="running", evidence=evidence, program=state.program, sure=False)
    return state


def _has_more(session: Session) -> bool:
    """Read what is printed already: return whether that changes what is known.

    A daemon that was held up, or has just begun, sees the kernel's facts before the shell's marks.
    A command that is then sent as to a shell without marks would end with the mark of the last one.
    """
    before = session.generation, session.stream.prompting.phase
    session.read_now()
    return before != (session.generation, session.stream.prompting.phase)


def glance(session: Session) -> State:
    """Judge like `look`, but reuse the last result if nothing was printed, typed or started since.

    For lists: a full check of 500 sessions would hold up everyone else.
    """
    sign = (session.generation, session.last_input, session.foreground, session.alive)
    if session.glanced is None or session.glanced[0] != sign:
        session.glanced = (sign, look(session))
    return session.glanced[1]


def line_before_cursor(session: Session) -> str:
    """Return the text left of the cursor, which is the prompt if one is shown."""
    terminal = session.terminal
    cursor, rows = terminal.cursor(), terminal.plain_lines()
    line = rows[cursor.row]
    shown = line.removesuffix(from_column(line, cursor.col))
    if cursor.col > text_width(line):
        shown += " "
    above, row = "", cursor.row
    # A prompt behind text may lie over two rows.
    while row > 0 and rows[row] and not terminal.alternate:
        if len(terminal.unwrapped_rows(row - 1, 2)) > 1:
            break
        row -= 1
        above = rows[row] + above
    return above + shown


def question_of(session: Session, state: State) -> str | None:
    """Return what the program asks, as it stands left of the cursor; None if it asks nothing."""
    if state.state != "needs_input" or state.asks in _AT_WORK or session.terminal.alternate:
        return None
    if state.unmarked or session.stream.prompting.phase == "continuation":
        return None  # the rest of a command, which its shell would run
    return line_before_cursor(session).strip()[-_MOST_ASKED:]


_AT_WORK = ("editor", "pager", "repl", "multiplexer")  # they wait for keys, and ask nothing
_MOST_ASKED = 2000  # characters of a question


def _marked(session: Session) -> Literal["prompt", "continuation", "running"] | None:
    phase = session.stream.prompting.phase
    # Between two commands the kernel decides: a theme may have drawn its prompt without our marks.
    return None if phase == "drawing" else phase


def _known_prompt(session: Session) -> str:
    """Return the last prompt's text; nothing where the shell itself says that it is at none."""
    return "" if session.stream.prompting.reads_line else session.stream.last_prompt
