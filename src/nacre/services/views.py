"""What is read of a session: screen, scrollback, output, details. Nothing is changed here."""

from collections.abc import Sequence

from nacre.core.columns import from_column
from nacre.core.events import Summary
from nacre.core.operations import (
    GetScreen,
    GetScrollback,
    ReadOutput,
)
from nacre.core.results import (
    Output,
    Screen,
    Scrollback,
    SessionDetails,
)
from nacre.core.screen import Line, ScreenMode
from nacre.services.session import Session
from nacre.services.states import glance

NOWHERE = -1  # the position in a full-screen program


def view_screen(
    session: Session, request: GetScreen, budget: int, *, handed_out: bool = True
) -> Screen:
    """Not handed out: who is shown this will not ask for what came after it."""
    terminal = session.terminal
    lines: Sequence[str | Line] = ()
    unchanged = _is_unchanged(session, request.since_generation)
    if not unchanged:
        lines = terminal.plain_lines() if request.format == "plain" else terminal.styled_lines()
    lines, omitted = within_budget(lines, budget)
    return Screen(
        lines=lines,
        cursor=terminal.cursor(),
        rows=terminal.rows,
        cols=terminal.cols,
        mode=screen_mode(session),
        generation=session.hand_out() if handed_out else session.generation,
        title=terminal.title,
        unchanged=unchanged,
        omitted_lines=omitted,
    )


def view_scrollback(session: Session, request: GetScrollback, budget: int) -> Scrollback:
    """Over the budget the later lines are left out: the caller reads on at the next offset."""
    terminal = session.terminal
    lines: Sequence[str | Line] = ()
    unchanged = _is_unchanged(session, request.since_generation)
    if not unchanged:
        read = (
            terminal.scrollback_plain if request.format == "plain" else terminal.scrollback_styled
        )
        lines = read(request.offset, request.limit)[::-1]
    lines, omitted = within_budget(lines, budget)
    lines = lines[::-1]
    return Scrollback(
        lines=lines,
        total=terminal.scrollback_total,
        generation=session.hand_out(),
        unchanged=unchanged,
        omitted_lines=omitted,
    )


def view_output(session: Session, request: ReadOutput, budget: int) -> Output:
    if _is_unchanged(session, request.since_generation):
        return Output(output="", lines=0, generation=session.hand_out(), unchanged=True)
    wanted = request.lines
    lines = _trim_end(session.terminal.plain_lines())
    if (missing := wanted - len(lines)) > 0:
        total = session.terminal.scrollback_total
        first = max(0, total - missing)
        lines = session.terminal.scrollback_plain(first, total - first) + lines
    kept, omitted = within_budget(lines[max(0, len(lines) - wanted) :], budget)
    return Output(
        output="\n".join(str(line) for line in kept),
        lines=len(kept),
        generation=session.hand_out(),
        omitted_lines=omitted,
    )


def view_details(session: Session, now: float, *, handed_out: bool = True) -> SessionDetails:
    identity, ending = session.identity, session.ending
    idle = max(0.0, now - max(session.last_output, session.last_input))
    state = glance(session)
    return SessionDetails(
        name=identity.name,
        session_id=identity.id,
        port=identity.port,
        pid=session.pid,
        command=session.launch.command,
        shell=session.launch.program,
        cwd=session.cwd,
        rows=session.terminal.rows,
        cols=session.terminal.cols,
        running=session.alive,
        alive=session.alive,
        exit_code=ending.exit_code if ending else None,
        signal=ending.signal if ending else None,
        idle_seconds=int(idle),
        created=round(session.created, 3),
        generation=session.hand_out() if handed_out else session.generation,
        title=session.terminal.title,
        mode=screen_mode(session),
        keep=identity.keep,
        tags=list(identity.tags),
        state=state.state,
        asks=state.asks,
        viewers=len(session.viewers),
        driver=session.stage.control.driver,
        notice=session.notice,
    )


def summarise(session: Session, now: float) -> Summary:
    details = view_details(session, now, handed_out=False)
    fields = {name: getattr(details, name) for name in details.__struct_fields__}
    return Summary(**fields, last_line=session.last_line)


def screen_mode(session: Session) -> ScreenMode:
    return "alt" if session.terminal.alternate else "normal"


def position(session: Session) -> int:
    """Return the number of the line the cursor is in, counted from the session's first line.

    A full-screen program's lines have no number: NOWHERE.
    """
    terminal = session.terminal
    if terminal.alternate:
        return NOWHERE
    return terminal.evicted + terminal.scrollback_total + terminal.cursor().row


def text_since(session: Session, line: int, col: int) -> str:
    """Return what was rendered from a position on; empty while a full-screen program shows."""
    terminal = session.terminal
    if terminal.alternate or line == NOWHERE:
        return ""
    total = terminal.scrollback_total
    offset = max(0, line - terminal.evicted)
    lines = terminal.scrollback_plain(offset, max(0, total - offset))
    lines += terminal.plain_lines()[max(0, offset - total) :]
    if lines and line >= terminal.evicted:
        lines[0] = from_column(lines[0], col)
    return "\n".join(_trim_end(lines))


def within_budget(lines: Sequence[str | Line], max_chars: int) -> tuple[Sequence[str | Line], int]:
    """Keep the last lines that fit; return them and how many were left out."""
    used, first = 0, len(lines)
    while first > 0:
        line = lines[first - 1]
        size = len(line) if isinstance(line, str) else sum(len(span.text) for span in line)
        used += size + 1
        if used > max_chars + 1:
            break
        first -= 1
    return lines[first:], first


def _is_unchanged(session: Session, since: int | None) -> bool:
    return since is not None and session.generation == since


def _trim_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]
