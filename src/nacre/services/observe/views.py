"""What callers can read of a session: screen, scrollback, output, details.

Reading changes nothing.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from msgspec.structs import replace

from nacre.core.operations.follow import Summary
from nacre.core.operations.results import (
    EarlierScreen,
    Output,
    Screen,
    Scrollback,
    SessionDetails,
)
from nacre.core.operations.terminal import GetScreen, GetScrollback, ReadOutput
from nacre.core.policy.verdicts import stricter
from nacre.core.screen.screen import Line, ScreenMode, Span
from nacre.core.text.budget import (
    first_lines,
    item_size,
    json_size,
    last_lines,
    last_text,
)
from nacre.core.text.redaction import redact_lines, redact_rows, redaction_of_call
from nacre.core.text.widths import from_column
from nacre.services.observe.parts import Parts
from nacre.services.observe.state import glance, question_of
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint, NextStep, Use

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

NOWHERE = -1  # stands for a position in a full-screen program

# Lines of scrollback that are read in one turn of the loop, a millisecond or two.
_STYLED_PART = 100
_PLAIN_PART = 500
_AROUND = 64  # rows around a part that are looked at for secrets that begin or end outside of it
_ABOVE = 8  # the same, above a screen

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
    lines = _redacted(lines, terminal)
    if budget is None or sum(map(item_size, lines)) <= budget - json_size(facts):
        return replace(facts, lines=lines)
    if styled:
        lines = [unstyled(line) for line in _redacted(terminal.plain_lines(), terminal)]
    noted = replace(facts, **_left_out(styled, len(lines)))
    kept, omitted = last_lines(lines, budget - json_size(noted))
    return replace(facts, **_left_out(styled, omitted), lines=kept)


def _redacted(lines: Sequence[Any], terminal: "Terminal") -> Sequence[Any]:
    """Return the rows of a screen as the call's reader may see them, whatever is above it."""
    if redaction_of_call() is None:
        return lines
    above: list[str] = []
    if not terminal.alternate and (total := terminal.scrollback_total):
        above = terminal.scrollback_plain(max(0, total - _ABOVE), _ABOVE)
    return redact_rows([*above, *lines], terminal.cols)[len(above) :]


def unstyled(line: str) -> Line:
    return (Span(line),) if line else ()


def _left_out(styles: bool, lines: int, *steps: NextStep) -> dict[str, Any]:
    """Return the fields that tell what an answer is without."""
    told = [] if not lines else [f"{lines} lines are left out"]
    told += ["the styles are left out"] if styles else []
    told = told or ["a part of the line is left out"]
    hint = Hint(f"{' and '.join(told)}: the answer would be too long", *steps, _HIGHER)
    return {"omitted_lines": lines, "omitted_styles": styles, "hint": hint}


_HIGHER = Higher("max_chars", "get all")


async def view_scrollback(session: Session, request: GetScrollback, budget: int) -> Scrollback:
    """Return scrollback lines, read in parts, between which others have their turns.

    Over the budget the styles are left out, then later lines; callers use the next offset.
    """
    total = session.terminal.scrollback_total
    unchanged = _is_unchanged(session, request.since_generation)
    facts = Scrollback(total=total, generation=session.hand_out(), unchanged=unchanged, lines=())
    wanted = max(0, min(request.limit, total - request.offset))
    if unchanged or not wanted:
        return facts
    reading = _Reading(session, request.offset)
    styled = request.format == "styled"
    if styled:
        fitting = await reading.styled(wanted, budget - json_size(facts))
        if fitting is not None:
            return replace(facts, lines=fitting)
    lines = await reading.plain(wanted, budget, styled=styled)
    kept = first_lines(lines, budget - json_size(facts))
    if not styled and len(kept) == wanted and kept[0] == lines[0]:  # a first one may be cut
        return replace(facts, lines=kept)

    def noted(omitted: int) -> Scrollback:
        rest = {"session": session.identity.name, "offset": reading.offset_of(wanted - omitted)}
        steps = [Use("get_scrollback", "read on", rest)] if omitted else []
        return replace(facts, **_left_out(styled, omitted, *steps))

    kept = first_lines(lines, budget - json_size(noted(wanted)))
    return replace(noted(wanted - len(kept)), lines=kept)


class _Reading:
    """A part of the scrollback that is read in several turns of the loop.

    Lines that have scrolled off the screen do not change and keep their numbers; so what is read is
    as it was at the beginning, whatever is printed meanwhile. It ends early where lines were
    dropped or reflowed before they could be read.
    """

    def __init__(self, session: Session, offset: int) -> None:
        self._session = session
        self._terminal, self._cols = session.terminal, session.terminal.cols
        self._first = session.terminal.evicted + offset

    def offset_of(self, index: int) -> int:
        """Return the offset that the line at this index of the part has now."""
        return max(0, self._first + index - self._session.terminal.evicted)

    async def styled(self, wanted: int, room: int) -> list[Line] | None:
        """Return all of it styled; None when it is too long. Not more is decoded than need be."""
        lines: list[Line] = []
        parts = Parts(_STYLED_PART)
        while len(lines) < wanted:
            if lines:
                await asyncio.sleep(0)
            part = await self._read(len(lines), wanted - len(lines), parts, styled=True)
            room -= sum(map(item_size, part))
            if room < 0 or not part:
                return None
            lines += part
        return lines

    async def plain(self, wanted: int, room: int, *, styled: bool) -> "list[str | Line]":
        """Return as much of it as there is room for, and a little more; `styled`: as spans."""
        lines: list[str | Line] = []
        parts = Parts(_PLAIN_PART)
        while len(lines) < wanted and room >= 0:
            if lines:
                await asyncio.sleep(0)
            part = await self._read(len(lines), wanted - len(lines), parts, styled=False)
            if not part:
                break
            shown = [unstyled(line) for line in part] if styled else part
            room -= sum(map(item_size, shown))
            lines += shown
        return lines

    async def part(self, index: int, count: int, parts: Parts) -> list[str]:
        """Return some of its lines; fewer where they are gone."""
        return await self._read(index, count, parts, styled=False)

    @overload
    async def _read(
        self, index: int, most: int, parts: Parts, *, styled: Literal[True]
    ) -> list[Line]: ...
    @overload
    async def _read(
        self, index: int, most: int, parts: Parts, *, styled: Literal[False]
    ) -> list[str]: ...
    async def _read(
        self, index: int, most: int, parts: Parts, *, styled: bool
    ) -> list[Line] | list[str]:
        terminal, count = self._session.terminal, min(most, parts.size)
        offset = self._first + index - terminal.evicted
        same = terminal is self._terminal and terminal.cols == self._cols
        if not same or terminal.alternate or offset < 0:
            return []
        read: Any = terminal.scrollback_styled if styled else terminal.scrollback_plain
        with parts.timed(count):
            rows = read(offset, count)
        if redaction_of_call() is None:
            return rows  # type: ignore[no-any-return]
        # A secret that begins above or ends below is told only by all of its rows.
        above = terminal.scrollback_plain(max(0, offset - _AROUND), min(offset, _AROUND))
        below = terminal.scrollback_plain(offset + count, _AROUND)
        shown = await _without_secrets([*above, *rows, *below], terminal.cols)
        return list(shown[len(above) : len(above) + len(rows)])


async def _without_secrets(rows: list[Any], cols: int) -> Sequence[Any]:
    """Return rows as the call's reader may see them. What may have secrets is left to a thread."""
    redaction = redaction_of_call()
    if redaction is None or not redaction.may_find_in(rows):
        return rows
    return await asyncio.to_thread(redact_rows, rows, cols)


async def view_output(session: Session, request: ReadOutput, budget: int) -> Output:
    """Return the last lines, read in parts, between which others have their turns."""
    unchanged = _is_unchanged(session, request.since_generation)
    facts = Output(output="", lines=0, generation=session.hand_out(), unchanged=unchanged)
    if unchanged:
        return facts
    if request.join:
        around = 0 if redaction_of_call() is None else _AROUND
        lines = _last_joined(session.terminal, request.lines + around)
    else:
        lines = await _last_rows(session, request.lines)
    lines = lines[max(0, len(lines) - request.lines) :]
    facts = replace(facts, lines=len(lines))
    kept, omitted = last_text(lines, budget - json_size(facts))
    if omitted:
        hint = Hint(f"{omitted} earlier lines are left out", Higher("max_chars", "get them"))
        facts = replace(facts, omitted_lines=omitted, hint=hint)
        kept, omitted = last_text(lines, budget - json_size(facts))
        hint = Hint(f"{omitted} earlier lines are left out", *hint.next)
        facts = replace(facts, omitted_lines=omitted, hint=hint)
    return replace(facts, output="\n".join(kept), lines=len(kept))


async def _last_rows(session: Session, wanted: int) -> list[str]:
    """Return the last rows, the newest read first: old ones may be dropped meanwhile."""
    terminal = session.terminal
    total = terminal.scrollback_total
    parts = [_screen_rows(terminal, total)]
    left = min(total, wanted - len(parts[0]))
    reading, sizes = _Reading(session, total - max(0, left)), Parts(_PLAIN_PART)
    while left > 0:
        size = min(sizes.size, left)
        part = await reading.part(left - size, size, sizes)
        parts.append(part)
        left = left - size if len(part) == size else 0
        if left:
            await asyncio.sleep(0)
    return [row for part in reversed(parts) for row in part]


def _screen_rows(terminal: "Terminal", total: int) -> list[str]:
    rows = _trim_end(terminal.plain_lines())
    if redaction_of_call() is None:
        return rows
    above = terminal.scrollback_plain(max(0, total - _AROUND), min(total, _AROUND))
    return list(redact_rows(above + rows, terminal.cols))[len(above) :]


def _last_joined(terminal: "Terminal", wanted: int) -> list[str]:
    """Return the last lines, each whole however many rows it takes."""
    rows = wanted + terminal.rows
    while True:
        first = max(0, terminal.scrollback_total + terminal.rows - rows)
        lines = _trim_end(terminal.unwrapped_from(first))
        # The first of them may be the end of a line that begins above it.
        if not first or len(lines) > wanted:
            return redact_lines(lines)
        rows *= 2


# --- sessions ----------------------------------------------------------------------------------


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
        args=list(session.launch.argv[1:]),
        rows=session.terminal.rows,
        cols=session.terminal.cols,
        running=session.alive,
        alive=session.alive,
        exit_code=ending.exit_code if ending else None,
        signal=ending.signal if ending else None,
        idle_seconds=int(idle),
        created=round(session.created, 3),
        last_active=round(time.time() - idle, 3),
        generation=session.hand_out() if handed_out else session.generation,
        title=session.stream.title,
        mode=screen_mode(session),
        keep=identity.keep,
        sandbox=session.launch.sandbox,
        sandbox_backend=session.supervisor.sandbox_backend,
        cgroup=session.supervisor.cgroup,
        tags=list(identity.tags),
        state=state.state,
        asks=state.asks,
        viewers=len(session.viewers),
        driver=session.display.control.driver,
        policy=stricter(session.settings.policy, session.record.policy or "open"),
        notice=session.notice,
    )


def summarise(session: Session, now: float) -> Summary:
    details = view_details(session, now, handed_out=False)
    fields = {name: getattr(details, name) for name in details.__struct_fields__}
    ended = session.record.ended
    return Summary(
        **fields,
        last_line=session.last_line,
        question=question_of(session, glance(session)),
        last_command=session.activity.last,
        ended=None if ended is None else round(ended, 3),
        line=numbered_line(session),
    )


def numbered_line(session: Session) -> int | None:
    """Return the number of the cursor's line; None in a full-screen program."""
    line = position(session)
    return None if line == NOWHERE else line


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
        return "\n".join(_trim_end([*redact_rows(terminal.plain_lines(), terminal.cols)])), 0
    total = terminal.scrollback_total
    offset = max(0, line - terminal.evicted)
    lines = terminal.scrollback_plain(offset, max(0, total - offset))
    lines += terminal.plain_lines()[max(0, offset - total) :]
    lines = list(redact_rows(lines, terminal.cols))
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
