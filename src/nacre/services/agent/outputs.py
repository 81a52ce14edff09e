"""What a run printed, as far as an answer shows it: all of it, only what is new, or a part.

Rule 1: lines are asked for by their numbers (read_run), never more than an answer can show.
Rule 2: the last line may not be complete: it is new again when it has changed.
"""

from nacre.core.agent.cut import KnownLines
from nacre.core.operations.results import RunOutcome, RunPage
from nacre.core.operations.runs import ReadRun
from nacre.core.text.pattern import PatternError, compile_pattern, escaped
from nacre.late_pattern import late_pattern
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import KnownRun

_ENDS = 300  # lines of the end that are asked for at first
_ENOUGH = 400_000  # characters of an inner answer: only a few of them are sent
MOST_MATCHES = 50
_SPECIAL = late_pattern(r"[\\^$.|?*+()\[\]{}]")


def room_inside(max_chars: int) -> int:
    """Return max_chars for a run: whatever is shown of its ends must be in its answer."""
    return 2 * max_chars + 4000


def known_lines(outcome: RunOutcome) -> KnownLines | None:
    """Return the lines of a run's answer; None where it cannot be told what was cut."""
    text = outcome.output
    if not outcome.omitted_lines:
        return KnownLines(text.split("\n") if text else [])
    words = "line" if outcome.omitted_lines == 1 else "lines"
    mark = f"\n[… {outcome.omitted_lines} {words} left out …]\n"  # core/text/budget.py
    if text.count(mark) != 1:
        return None
    head, _, tail = text.partition(mark)
    return KnownLines(head.split("\n"), outcome.omitted_lines, tail.split("\n"))


async def whole(call: AgentCall, run: KnownRun, outcome: RunOutcome, max_chars: int) -> KnownLines:
    """Return a run's lines, and note that the client has seen them."""
    known = known_lines(outcome)
    if known is None:
        known = await _from(call, run, 0, max_chars)
    _note(run, known)
    return known


async def news(call: AgentCall, run: KnownRun, max_chars: int) -> KnownLines:
    """Return the lines that the client has not seen."""
    if run.shown is None:  # it was told of them by the runs that printed them
        page = await call(ReadRun(run_id=run.run_id, limit=1), RunPage)
        run.shown, run.last_line = page.total_lines, ""
        return KnownLines([], first=page.total_lines + 1)
    first = max(0, run.shown - 1)
    known = await _from(call, run, first, max_chars)
    if run.shown and known.head and known.head[0] == run.last_line:
        known = known._replace(head=known.head[1:], first=known.first + 1)
    _note(run, known, before=known.first - 1)
    return known


async def _from(call: AgentCall, run: KnownRun, offset: int, max_chars: int) -> KnownLines:
    """Return all lines from one on: the first that fit, and the last."""
    room = room_inside(max_chars)
    request = ReadRun(run_id=run.run_id, offset=offset, limit=1000, max_chars=room)
    page = await call(request, RunPage)
    head = _lines(page)
    left = page.total_lines - offset - len(head)
    if left <= 0:
        return KnownLines(head, first=offset + 1)
    ends = await _last(call, run, page.total_lines, min(left, _ENDS))
    return KnownLines(head, left - len(ends), ends, first=offset + 1)


async def _last(call: AgentCall, run: KnownRun, total: int, count: int) -> list[str]:
    while True:
        request = ReadRun(run_id=run.run_id, offset=total - count, limit=count, max_chars=_ENOUGH)
        page = await call(request, RunPage)
        if page.lines >= count or count == 1:
            return _lines(page)
        count = max(1, count // 4)


async def page_of(call: AgentCall, run: KnownRun, first: int | None, lines: int) -> KnownLines:
    """Return lines from a number on, else the last ones."""
    if first is None:
        end = await call(ReadRun(run_id=run.run_id, limit=1, max_chars=_ENOUGH), RunPage)
        if not end.total_lines:
            return KnownLines([])
        last = await _last(call, run, end.total_lines, min(lines, end.total_lines))
        return KnownLines(last, first=end.total_lines - len(last) + 1)
    request = ReadRun(run_id=run.run_id, offset=first - 1, limit=lines, max_chars=_ENOUGH)
    return KnownLines(_lines(await call(request, RunPage)), first=first)


def is_expression(wanted: str) -> bool:
    """Tell whether a text can be meant as a regular expression."""
    if not _SPECIAL.search(wanted):
        return False
    try:
        compile_pattern(wanted)
    except PatternError:
        return False
    return True


def expression(wanted: str) -> tuple[str, bool]:
    """Return what to look for, and whether it is a regular expression.

    Who writes "done (3)" means the text, who writes "ready|error" does not: both are found.
    """
    regex = is_expression(wanted)
    return (f"{wanted}|{escaped(wanted)}" if regex else wanted), regex


def _lines(page: RunPage) -> list[str]:
    return page.output.split("\n") if page.lines else []


def _note(run: KnownRun, known: KnownLines, before: int = 0) -> None:
    run.shown = before + known.total
    last = known.tail or known.head
    if last:
        run.last_line = last[-1]
