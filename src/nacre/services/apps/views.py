"""What a program shows, in each format of view_screen. Reading changes nothing.

Rule 1: line n of the content is row n, unless the answer says otherwise: by changed_rows, or by how
many lines were cut from the top.
Rule 2: no format but passthrough has a control character that the program chose.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from nacre.core.operations.apps.programs import AppScreen, CursorPosition, ViewScreen
from nacre.core.screen.screen import Line, Span
from nacre.core.text.budget import json_chars, json_size, last_characters, last_text
from nacre.core.text.sgr import styled_text
from nacre.core.text.unseen import Counts, is_suspect, neutralise, told
from nacre.core.text.widths import char_width
from nacre.services.apps.shown import SeenRows
from nacre.services.session.session import Session
from nacre.system.storage.segments import last_output
from nacre.wording import Higher, Hint

_ESCAPE, _SHOWN_ESCAPE, _SHOWN_CURSOR = "\x1b", "␛", "▮"
_SCROLLBACK_PART = 500  # lines that are read at once
_COUNTS = 60  # characters of an answer's counts of what is left out

_NOT_REMEMBERED = "the screen of that generation is not remembered: these are all rows"


def facts_of(session: Session, matched: bool | None) -> AppScreen:
    """Return all but the content."""
    terminal, ending = session.terminal, session.ending
    return AppScreen(
        cursor=position_of(session),
        rows=terminal.rows,
        cols=terminal.cols,
        generation=session.hand_out(),
        alive=session.alive,
        exit_code=ending.exit_code if ending else None,
        matched=matched,
        content="",
    )


def position_of(session: Session) -> CursorPosition:
    cursor = session.terminal.cursor()
    return CursorPosition(row=cursor.row, col=cursor.col, visible=cursor.visible)


# --- the screen --------------------------------------------------------------------------------


def view_rows(
    session: Session,
    request: ViewScreen,
    facts: AppScreen,
    now: SeenRows,
    before: SeenRows | None,
    budget: int,
) -> AppScreen:
    """Return the rows, or those that have changed since `before` if the request asks for that."""
    since = request.since_generation
    if since is not None and since == session.generation:
        return replace(facts, unchanged=True, changed_rows=[])
    if request.format == "raw":
        lines, facts = _without_unseen(now, facts)
    else:
        lines = rows_as(request.format, session, now)
    if since is None:
        return fitted(facts, lines, budget)
    changed = None if before is None else before.changes_to(now)
    if changed is None:
        return fitted(replace(facts, hint=Hint(_NOT_REMEMBERED)), lines, budget)
    shown = fitted(replace(facts, changed_rows=changed), [lines[row] for row in changed], budget)
    return replace(shown, changed_rows=changed[shown.omitted_lines :])


def rows_as(form: str, session: Session, now: SeenRows) -> list[str]:
    if form == "plain":
        return session.terminal.plain_lines()
    cursor = session.terminal.cursor()
    rows: list[Line] = list(now.rows)
    if cursor.visible:
        rows[cursor.row] = with_cursor(rows[cursor.row], cursor.col)
    return [_colored(line).replace(_ESCAPE, _SHOWN_ESCAPE) for line in rows]


def _without_unseen(now: SeenRows, facts: AppScreen) -> tuple[list[str], AppScreen]:
    """Return the rows in their colours, without characters that nobody sees, and say how many."""
    counts = Counts()
    seen = [
        tuple(_with_text(span, neutralise(span.text, counts)) for span in line)
        if is_suspect(line)
        else line
        for line in now.rows
    ]
    lines = [_colored(line) for line in seen]
    return lines, replace(facts, hint=told(counts)) if counts else facts


def _colored(line: Line) -> str:
    return "".join(map(styled_text, line))


def with_cursor(line: Line, col: int) -> Line:
    """Return a line with the sign of the cursor before what stands at its column."""
    at = 0
    spans: list[Span] = []
    for index, span in enumerate(line):
        for place, char in enumerate(span.text):
            if at >= col and char_width(char):
                parted = (_with_text(span, span.text[:place]), _with_text(span, span.text[place:]))
                around = (parted[0], Span(_SHOWN_CURSOR), parted[1])
                return (*spans, *(one for one in around if one.text), *line[index + 1 :])
            at += char_width(char)
        spans.append(span)
    blanks = " " * max(0, col - at)
    return (*spans, Span(blanks + _SHOWN_CURSOR))


def _with_text(span: Span, text: str) -> Span:
    return replace(span, text=text)


def fitted(facts: AppScreen, lines: Sequence[str], budget: int) -> AppScreen:
    """Add as many of the last lines as there is room for."""
    kept, omitted = last_text(list(lines), budget - json_size(facts) - _COUNTS)
    if not omitted:
        return replace(facts, content="\n".join(kept))
    hint = Hint(f"{omitted} lines above these are left out", Higher("max_chars", "get them"))
    noted = replace(facts, omitted_lines=omitted, hint=hint)
    kept, omitted = last_text(list(lines), budget - json_size(noted) - _COUNTS)
    return replace(noted, omitted_lines=omitted, content="\n".join(kept))


# --- more than the screen ----------------------------------------------------------------------


def view_scrollback(session: Session, facts: AppScreen, budget: int) -> AppScreen:
    """Return the newest lines above the screen that fit, and the screen."""
    terminal = session.terminal
    lines = terminal.plain_lines()
    first = terminal.scrollback_total
    # No more is read than can be sent.
    while first and sum(map(len, lines)) + 2 * len(lines) <= budget:
        begin = max(0, first - _SCROLLBACK_PART)
        lines = terminal.scrollback_plain(begin, first - begin) + lines
        first = begin
    shown = fitted(facts, lines, budget - _COUNTS)
    if not first:
        return shown
    omitted = shown.omitted_lines + first
    hint = Hint(f"{omitted} lines above these are left out", Higher("max_chars", "get them"))
    return replace(shown, omitted_lines=omitted, hint=hint)


def view_output(folder: str, facts: AppScreen, budget: int) -> AppScreen:
    """Return the program's last bytes as they came, from the journal; what is no text is replaced.

    It reads files: not on the loop. nacre's own marks are not in the journal's output.
    """
    text = last_output(folder, budget).decode(errors="replace")
    room = budget - json_size(facts) - _COUNTS
    if json_chars(text) <= room:
        return replace(facts, content=text)
    hint = Hint("what was printed before is left out", Higher("max_chars", "get more of it"))
    noted = replace(facts, omitted_chars=len(text), hint=hint)
    kept = last_characters(text, budget - json_size(noted) - _COUNTS)
    return replace(noted, omitted_chars=len(text) - len(kept), content=kept)
