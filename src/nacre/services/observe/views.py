"""What callers can read of a session: screen, scrollback, output, details.

Reading changes nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from nacre.core.operations.follow import Summary
from nacre.core.operations.results import (
    EarlierScreen,
    Output,
    Screen,
    Scrollback,
    SessionBrief,
    SessionDetails,
    SessionList,
    SessionShort,
)
from nacre.core.operations.terminal import GetScreen, GetScrollback, ReadOutput
from nacre.core.screen.screen import Line, ScreenMode, Span
from nacre.core.text.budget import (
    first_lines,
    fitting,
    item_size,
    json_size,
    last_lines,
    last_text,
    shortened,
)
from nacre.core.text.widths import from_column
from nacre.services.observe.state import glance
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint, NextStep, Use, also

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

NOWHERE = -1  # stands for a position in a full-screen program

_STYLED_PART = 100  # lines of scrollback that are decoded before their size is looked at
_SHORT_COMMAND = 100  # characters of a command in a long list

ScreenT = TypeVar("ScreenT", Screen, EarlierScreen)


def view_screen(
    session: Session, request: GetScreen, budget: int | None, *, handed_out: bool = True
) -> Screen:
    """Return the screen. Not `handed_out`: the reader will not ask for what came after it."""
    terminal = session.terminal
    unchanged = _is_unchanged(session, request.since_generation)
    facts = Screen(
        cursor=terminal.cursor(),
        rows=terminal.rows,
        cols=terminal.cols,
        mode=screen_mode(session),
        generation=session.hand_out() if handed_out else session.generation,
        title=terminal.title,
        unchanged=unchanged,
        lines=(),
    )
    if unchanged:
        return facts
    return fill_screen(facts, terminal, request.format, budget)


def fill_screen(facts: ScreenT, terminal: "Terminal", form: str, budget: int | None) -> ScreenT:
    """Add the lines. Over the budget the text stays and the styles go; then the upper lines."""
    styled = form == "styled"
    lines: Sequence[str | Line] = terminal.styled_lines() if styled else terminal.plain_lines()
    if budget is None or sum(map(item_size, lines)) <= budget - json_size(facts):
        return replace(facts, lines=lines)
    if styled:
        lines = [unstyled(line) for line in terminal.plain_lines()]
    noted = replace(facts, **_left_out(styled, len(lines)))
    kept, omitted = last_lines(lines, budget - json_size(noted))
    return replace(facts, **_left_out(styled, omitted), lines=kept)


def unstyled(line: str) -> Line:
    return (Span(line),) if line else ()


def _left_out(styles: bool, lines: int, *steps: NextStep) -> dict[str, Any]:
    """Return the fields that tell what an answer is without."""
    told = [] if not lines else [f"{lines} lines are left out"]
    told += ["the styles are left out"] if styles else []
    hint = Hint(f"{' and '.join(told)}: the answer would be too long", *steps, _HIGHER)
    return {"omitted_lines": lines, "omitted_styles": styles, "hint": hint}


_HIGHER = Higher("max_chars", "get all")


def view_scrollback(session: Session, request: GetScrollback, budget: int) -> Scrollback:
    """Return scrollback lines.

    Over the budget the styles are left out, then later lines; callers use the next offset.
    """
    terminal = session.terminal
    total = terminal.scrollback_total
    unchanged = _is_unchanged(session, request.since_generation)
    facts = Scrollback(total=total, generation=session.hand_out(), unchanged=unchanged, lines=())
    wanted = max(0, min(request.limit, total - request.offset))
    if unchanged or not wanted:
        return facts
    if request.format == "styled":
        fitting = _styled_within(terminal, request.offset, wanted, budget - json_size(facts))
        if fitting is not None:
            return replace(facts, lines=fitting)
    styled = request.format == "styled"
    plain = terminal.scrollback_plain(request.offset, wanted)
    lines: Sequence[str | Line] = [unstyled(line) for line in plain] if styled else plain
    kept = first_lines(lines, budget - json_size(facts))
    if not styled and len(kept) == wanted:
        return replace(facts, lines=kept)

    def noted(omitted: int) -> Scrollback:
        rest = {"session": session.identity.name, "offset": request.offset + wanted - omitted}
        steps = [Use("get_scrollback", "read on", rest)] if omitted else []
        return replace(facts, **_left_out(styled, omitted, *steps))

    kept = first_lines(lines, budget - json_size(noted(wanted)))
    return replace(noted(wanted - len(kept)), lines=kept)


def _styled_within(
    terminal: "Terminal", offset: int, wanted: int, room: int
) -> Sequence[Line] | None:
    """Return styled lines, None when they are too long; not more are decoded than need be."""
    lines: list[Line] = []
    while len(lines) < wanted:
        part = terminal.scrollback_styled(
            offset + len(lines), min(_STYLED_PART, wanted - len(lines))
        )
        room -= sum(map(item_size, part))
        if room < 0 or not part:
            return None
        lines += part
    return lines


def view_output(session: Session, request: ReadOutput, budget: int) -> Output:
    unchanged = _is_unchanged(session, request.since_generation)
    facts = Output(output="", lines=0, generation=session.hand_out(), unchanged=unchanged)
    if unchanged:
        return facts
    wanted = request.lines
    lines = _trim_end(session.terminal.plain_lines())
    if (missing := wanted - len(lines)) > 0:
        total = session.terminal.scrollback_total
        first = max(0, total - missing)
        lines = session.terminal.scrollback_plain(first, total - first) + lines
    lines = lines[max(0, len(lines) - wanted) :]
    facts = replace(facts, lines=len(lines))
    kept, omitted = last_text(lines, budget - json_size(facts))
    if omitted:
        hint = Hint(f"{omitted} earlier lines are left out", Higher("max_chars", "get them"))
        facts = replace(facts, omitted_lines=omitted, hint=hint)
        kept, omitted = last_text(lines, budget - json_size(facts))
        hint = Hint(f"{omitted} earlier lines are left out", *hint.next)
        facts = replace(facts, omitted_lines=omitted, hint=hint)
    return replace(facts, output="\n".join(kept), lines=len(kept))


# --- lists -------------------------------------------------------------------------------------


def fit_list(sessions: list[SessionDetails], budget: int) -> SessionList:
    """Over the budget each session has its main facts; then those that run come before the ended.

    What is left out is counted.
    """
    whole = SessionList(sessions=sessions)
    if json_size(whole) <= budget:
        return whole
    short: list[Any] = [_short(session) for session in sessions]  # a part of the same fields
    running_first = sorted(range(len(short)), key=lambda index: not short[index].alive)
    room = budget - json_size(_list_of([], len(short)))
    count = fitting((json_size(short[index]) + 1 for index in running_first), room)
    kept = [short[index] for index in sorted(running_first[:count])]
    return _list_of(kept, len(short) - count)


def fit_details(details: SessionDetails, budget: int) -> SessionDetails:
    """Over the budget the command is shortened, and tags are left out; the notice says so."""
    if json_size(details) <= budget:
        return details
    told = Hint("its command is shortened and tags are left out", _HIGHER)
    short = replace(
        details,
        command=shortened(details.command, _SHORT_COMMAND),
        tags=[],
        notice=also(details.notice, told),
    )
    count = fitting(map(item_size, details.tags), budget - json_size(short))
    return replace(short, tags=details.tags[:count])


def _list_of(kept: list[Any], left_out: int) -> SessionList:
    told = f"{left_out} sessions are left out; " if left_out else ""
    hint = Hint(
        f"{told}of each only the main facts are here",
        Use("list_sessions", "get all about one", {"session": "its name"}),
        _HIGHER,
    )
    return SessionList(sessions=kept, omitted_sessions=left_out, hint=hint)


def _short(session: SessionDetails) -> SessionShort:
    fields = {name: getattr(session, name) for name in SessionBrief.__struct_fields__}
    return SessionShort(**{**fields, "command": shortened(session.command, _SHORT_COMMAND)})


def view_details(session: Session, now: float, *, handed_out: bool = True) -> SessionDetails:
    identity, ending = session.identity, session.ending
    idle = max(0.0, now - session.last_active)
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
        driver=session.display.control.driver,
        notice=session.notice,
    )


def summarise(session: Session, now: float) -> Summary:
    details = view_details(session, now, handed_out=False)
    fields = {name: getattr(details, name) for name in details.__struct_fields__}
    return Summary(**fields, last_line=session.last_line)


def screen_mode(session: Session) -> ScreenMode:
    return "alt" if session.terminal.alternate else "normal"


def position(session: Session) -> int:
    """Return the number of the cursor's line, counted from the session's first line.

    A full-screen program's lines have no number: NOWHERE.
    """
    terminal = session.terminal
    if terminal.alternate:
        return NOWHERE
    return terminal.evicted + terminal.scrollback_total + terminal.cursor().row


def text_since(session: Session, line: int, col: int) -> tuple[str, int]:
    """Return the text after a position, and how many lines of it are no longer kept.

    It is empty while a full-screen program is active.
    """
    terminal = session.terminal
    if terminal.alternate or line == NOWHERE:
        return "", 0
    if position(session) < line:
        # The screen was cleared: all that it shows is newer.
        return "\n".join(_trim_end(terminal.plain_lines())), 0
    total = terminal.scrollback_total
    offset = max(0, line - terminal.evicted)
    lines = terminal.scrollback_plain(offset, max(0, total - offset))
    lines += terminal.plain_lines()[max(0, offset - total) :]
    if lines and line >= terminal.evicted:
        lines[0] = from_column(lines[0], col)
    return "\n".join(_trim_end(lines)), max(0, terminal.evicted - line)


def _is_unchanged(session: Session, since: int | None) -> bool:
    return since is not None and session.generation == since


def _trim_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]
