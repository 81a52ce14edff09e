"""The tool read: lines of a run, the screen, or all that a terminal has; and a search in them.

Rule: it touches nothing, and what it shows does not count as seen: a later wait has it again.
"""

from msgspec.structs import replace

from nacre.core.agent.cut import (
    LONGEST_LINE,
    NO_OUTPUT,
    KnownLines,
    cut,
    cut_around,
    cut_line,
)
from nacre.core.agent.status import status_line
from nacre.core.agent.tools import AgentAnswer, AgentRead
from nacre.core.operations.results import FoundLine, Output, RunPage
from nacre.core.operations.runs import ReadRun
from nacre.core.operations.terminal import MOST_LINES, ReadOutput
from nacre.core.text.pattern import LineFinder
from nacre.services.agent.answers import Answers
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import KnownRun, KnownSession
from nacre.services.agent.outputs import MOST_MATCHES, expression, is_expression, page_of

_WHOLE = 50_000_000  # characters: whatever a terminal has
_AROUND = 200_000  # characters: a match with all lines around it; what is too much is cut here
_FOR_LINE = 120  # characters of the first line of an answer about what was found
_LEAST = 40  # characters of a line that are shown however little room there is
_ALONE = "the lines around it are left out: more of them fit with a higher max_chars"


class OutputReading:
    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def last(self, call: AgentCall, session: KnownSession, request: AgentRead) -> AgentAnswer:
        """Read the session's last run; the whole terminal where this client has run nothing."""
        if session.last is None:
            return await self.all(call, session, request)
        return await self.run(call, session.last, request)

    async def run(self, call: AgentCall, run: KnownRun, request: AgentRead) -> AgentAnswer:
        if request.search is not None:
            return await self._search_run(call, run, request, request.search)
        known = await page_of(call, run, request.first, request.lines)
        total = await self._total(call, run)
        line = status_line(f"run {run.number}", _which(known, total.total_lines), _state(total))
        return self._answer(call, line, self._page(call, line, known, request), run)

    async def screen(
        self, call: AgentCall, session: KnownSession, request: AgentRead
    ) -> AgentAnswer:
        screen = await self._answers.screen_of(call, session)
        if request.search is not None:
            return self._searched(call, session, screen.split("\n"), request, request.search)
        details = await self._answers.details(call, session)
        line = status_line("screen", details.asks or details.state, details.title, session.name)
        rest = f'{call.caller.prefix}read(what="screen") with a higher max_chars'
        room = self._answers.room(call, line, request.max_chars)
        text = cut(KnownLines(screen.split("\n")), room, rest)
        return self._answers.answer(call, line, text, self._answers.facts(session, None, None))

    async def all(self, call: AgentCall, session: KnownSession, request: AgentRead) -> AgentAnswer:
        """Read the scrollback and the screen."""
        wanted = ReadOutput(session=session.id, lines=MOST_LINES, max_chars=_WHOLE)
        output = await call(wanted, Output)
        lines = output.output.split("\n") if output.output else []
        if request.search is not None:
            return self._searched(call, session, lines, request, request.search)
        first = request.first or max(1, len(lines) - request.lines + 1)
        known = KnownLines(lines[first - 1 : first - 1 + request.lines], first=first)
        line = status_line("all", session.name, _which(known, len(lines)))
        text = self._page(call, line, known, request)
        return self._answers.answer(call, line, text, self._answers.facts(session, None, None))

    # --- searches --------------------------------------------------------------------------

    async def _search_run(
        self, call: AgentCall, run: KnownRun, request: AgentRead, wanted: str
    ) -> AgentAnswer:
        # The expression alone is quicker to find than both; the text is looked for if it fails.
        regex = is_expression(wanted)
        asked = ReadRun(
            run_id=run.run_id,
            find=wanted,
            regex=regex,
            context=request.context,
            max_matches=MOST_MATCHES,
            offset=(request.first or 1) - 1,
            max_chars=max(2 * request.max_chars, _AROUND),
        )
        page = await call(asked, RunPage)
        if regex and not page.matches and page.next_offset is None:
            regex = False
            page = await call(replace(asked, regex=regex), RunPage)
        found = page.matches or []
        finder = LineFinder(wanted, regex=regex)
        text, shown = self._matches(call, found, request.max_chars, finder)
        more = None
        if shown < len(found):
            more = found[shown].line
        elif page.next_offset is not None:
            more = page.next_offset
        count = f"{shown} match{'' if shown == 1 else 'es'}"
        line = status_line(
            count if more is None else f"first {count}",
            f"run {run.number}",
            f"{page.total_lines:,} lines",
            _state(page),
            None if more is None else f"from {more + 1} has more",
        )
        return self._answer(call, line, text or "(no match)", run)

    def _searched(
        self,
        call: AgentCall,
        session: KnownSession,
        lines: list[str],
        request: AgentRead,
        wanted: str,
    ) -> AgentAnswer:
        find, regex = expression(wanted)
        finder, text = LineFinder(find, regex=regex), "\n".join(lines).encode()
        numbers = [text.count(b"\n", 0, begin) for begin, _, _ in finder.lines(text)]
        around = request.context
        found = [
            FoundLine(
                line=number,
                text=lines[number],
                before=tuple(lines[max(0, number - around) : number]),
                after=tuple(lines[number + 1 : number + 1 + around]),
            )
            for number in dict.fromkeys(numbers)
            if number >= (request.first or 1) - 1
        ]
        text_, shown = self._matches(call, found[:MOST_MATCHES], request.max_chars, finder)
        more = found[shown].line + 1 if shown < len(found) else None
        line = status_line(
            f"{len(found)} match{'' if len(found) == 1 else 'es'}",
            session.name,
            f"{len(lines):,} lines",
            None if more is None else f"from {more} has more",
        )
        facts = self._answers.facts(session, None, None)
        return self._answers.answer(call, line, text_ or "(no match)", facts)

    # --- parts -----------------------------------------------------------------------------

    async def _total(self, call: AgentCall, run: KnownRun) -> RunPage:
        return await call(ReadRun(run_id=run.run_id, limit=1), RunPage)

    def _page(self, call: AgentCall, line: str, known: KnownLines, request: AgentRead) -> str:
        rest = f"{call.caller.prefix}read(from={known.first}, …) with fewer lines"
        return cut(known, self._answers.room(call, line, request.max_chars), rest) or NO_OUTPUT

    def _matches(
        self, call: AgentCall, found: list[FoundLine], max_chars: int, finder: LineFinder
    ) -> tuple[str, int]:
        """Return what was found within max_chars, and how many of the matches that is.

        The first is there in any case: without the lines around it, if there is no room for them.
        """
        room = self._answers.room(call, "", max_chars) - _FOR_LINE
        text, shown = _matches(found, room, finder)
        if shown != 1 or len(text) <= room:
            return text, shown
        if found[0].before or found[0].after:
            call.told.append(_ALONE)
            room -= len(_ALONE)
        alone = [replace(found[0], before=(), after=())]
        return _matches(alone, room, finder, min(LONGEST_LINE, max(_LEAST, room)))[0], 1

    def _answer(self, call: AgentCall, line: str, text: str, run: KnownRun) -> AgentAnswer:
        facts = {"run": run.number, "run_id": run.run_id, "session_id": run.session}
        return self._answers.answer(call, line, text, facts)


def _which(known: KnownLines, total: int) -> str:
    if not total:
        return "0 lines"
    if not known.total:
        return f"{total:,} lines"
    return f"lines {known.first:,}–{known.first + known.total - 1:,} of {total:,}"


def _state(page: RunPage) -> str:
    if not page.finished:
        return "running"
    return "ended" if page.exit_code is None else f"exit {page.exit_code}"


def _matches(
    found: list[FoundLine], room: int, finder: LineFinder, longest: int = LONGEST_LINE
) -> tuple[str, int]:
    """Return matches with their lines' numbers, no line twice, and how many there was room for.

    A line that matches has > before its number, and what was found in it is to be seen.
    """
    matching = {one.line: one.text for one in found}
    told: list[str] = []
    last = -1  # the number of the last line that stands there
    shown = 0
    for one in found:
        first = one.line - len(one.before)
        lines = [*one.before, one.text, *one.after]
        rows: list[str] = []
        until = last
        for number, text in enumerate(lines, first):
            if number > until:
                if rows == [] and until >= 0 and number > until + 1:
                    rows.append("--")
                if (match := matching.get(number)) is not None:
                    rows.append(f">{number + 1}  {_with_match(match, finder, longest)}")
                else:
                    rows.append(f" {number + 1}  {cut_line(text)}")
                until = number
        room -= sum(len(row) + 1 for row in rows)
        if room < 0 and shown:
            break
        told += rows
        last, shown = until, shown + 1
    return "\n".join(told), shown


def _with_match(text: str, finder: LineFinder, longest: int) -> str:
    """Return a line that matches, of a long one what stands around the match."""
    line = text.encode()
    _, start, end = next(finder.lines(line), (0, 0, 0))
    return cut_around(text, len(line[:start].decode()), len(line[:end].decode()), longest)
