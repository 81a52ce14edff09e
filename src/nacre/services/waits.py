"""The operation wait_for: one of several conditions, in one or more sessions.

Rule 1: with after_generation only later output counts: text that was on the screen at that
generation, and is still there unchanged, is no match.
Rule 2: text is searched on the screen and in the lines that have scrolled off since the generation,
or since the wait began. Lines that were dropped from the scrollback before they could be searched
are counted, so that no answer says that the text never came.
Rule 3: the echo of a command is no output. It is known by the shell's marks, else by what the
caller says that it typed.
Rule 4: no turn of the loop takes long: a long scrollback is searched in parts.
"""

import asyncio
from dataclasses import dataclass, field

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import WaitOutcome
from nacre.core.operations.runs import WaitFor
from nacre.core.shell.quiet import NEVER, Until
from nacre.core.shell.state import State
from nacre.core.terminal.echoes import Echo
from nacre.core.text.budget import shortened
from nacre.core.text.pattern import RE2, Pattern, PatternError, compile_pattern, escaped
from nacre.core.text.widths import from_column
from nacre.errors import BadParameter, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.observe.settle import LOOKS
from nacre.services.observe.state import look
from nacre.services.observe.views import NOWHERE, position
from nacre.services.observe.wait import Turn, refuse_longer_waits, wait_until
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.service import Runs
from nacre.services.session.seen_screens import numbered
from nacre.services.session.session import Session

_FACTS = 500  # characters of the other fields of an answer
_PART = 1000  # lines that are searched in one turn of the loop: a few milliseconds

_FORGOTTEN = "that generation is not remembered: what matches may have stood there before"
_MISSED = "lines that were printed since are no longer kept, and were not searched"


@dataclass(slots=True)
class _Watch:
    """One session of a wait."""

    session: Session
    line: int  # lines from here on are not searched yet, or are on the screen
    old: dict[int, str]  # lines that do not count, by their numbers
    typed: list[str] = field(default_factory=list)  # by the caller: their echo does not count
    echoed: dict[int, tuple[int, int]] = field(default_factory=dict)  # where it was found
    forgotten: bool = False  # nobody knows what is old
    missed: int = 0  # lines that were dropped before they were searched
    seen: int = -1  # the generation that was searched last
    outcome: WaitOutcome | None = None
    looked: tuple[int, str, str | None] | None = None  # what the last check saw
    looks: int = 0  # checks since the last output
    printed: int = -1  # the generation of the last output

    def pause(self) -> float:
        """Return the seconds until the next check; output resets them."""
        if self.session.generation != self.printed:
            self.printed, self.looks = self.session.generation, 0
        self.looks += 1
        return LOOKS[min(self.looks, len(LOOKS)) - 1]

    def confirms(self, state: State) -> bool:
        """Return whether a state is certain: a mark says so, or the last check saw the same.

        Between a command and its prompt a shell looks for a moment as if it asked for input.
        """
        session = self.session
        marked = state.state == "prompt" and session.stream.prompting.phase == "prompt"
        if marked or state.state in ("running", "exited", "lost"):
            return True
        before, self.looked = self.looked, (session.generation, state.state, state.asks)
        return before == self.looked


class Waiting:
    def __init__(self, registry: Registry, ledger: Ledger, runs: Runs, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._runs = runs
        self._host = host

    def handlers(self) -> Handlers:
        return Handlers().on(WaitFor, self.wait)

    async def wait(self, caller: Caller, request: WaitFor) -> WaitOutcome:
        pattern = _pattern(request)
        watches = self._watches(request)
        refuse_longer_waits(self._host, "timeout_ms", request.timeout_ms, "wait several times")
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        tasks = [
            asyncio.create_task(self._watch(watch, request, pattern, deadline)) for watch in watches
        ]
        when = asyncio.FIRST_COMPLETED if request.match == "any" else asyncio.ALL_COMPLETED
        try:
            pending = set(tasks)
            while pending:
                done, pending = await asyncio.wait(pending, return_when=when)
                for task in done:
                    task.result()
                matched = [watch for watch in watches if watch.outcome is not None]
                if request.match == "any" and matched:
                    break
        finally:
            for task in tasks:
                task.cancel()
        return self._result(request, watches)

    def _result(self, request: WaitFor, watches: list[_Watch]) -> WaitOutcome:
        matched = [watch.outcome for watch in watches if watch.outcome is not None]
        names = [outcome.session for outcome in matched if outcome.session is not None]
        every = names if request.match == "all" else None
        if matched and (request.match == "any" or len(matched) == len(watches)):
            if every is None:
                return matched[0]
            return WaitOutcome(matched=True, condition=matched[-1].condition, matches=every)
        first = next(watch for watch in watches if watch.outcome is None)
        return WaitOutcome(
            matched=False,
            session=first.session.identity.name,
            generation=first.session.hand_out(),
            missed_lines=first.missed,
            matches=every,
            state=look(first.session),
            hint=_MISSED if first.missed else None,
        )

    def _watches(self, request: WaitFor) -> list[_Watch]:
        references = list(request.sessions or ())
        if request.session is not None:
            references.append(request.session)
        run = self._ledger.find(request.run_id) if request.run_id is not None else None
        if run is not None and not references:
            references = [run.session.identity.id]
        if not references:
            raise InvalidInput("name the session (or sessions) to wait for")
        found = [self._registry.find(reference) for reference in references]
        sessions = {session.identity.id: session for session in found}  # without duplicates
        if run is not None and list(sessions) != [run.session.identity.id]:
            name = run.session.identity.name
            raise InvalidInput(f"run {run.id!r} belongs to session {name!r}", "name that session")
        return [_begin(session, request) for session in sessions.values()]

    async def _watch(
        self,
        watch: _Watch,
        request: WaitFor,
        pattern: Pattern | None,
        deadline: float,
    ) -> None:
        session = watch.session

        async def check(turn: Turn) -> bool | Until:
            if request.run_id is not None:
                await self._runs.revisit(await self._ledger.with_output(request.run_id))
            if pattern is not None and (match := await self._search_earlier(watch, pattern)):
                watch.outcome = self._matched(watch, request, match)
                return True
            now = self._host.loop.time()
            watch.outcome = self._check(watch, request, pattern, now, last=turn.last)
            if watch.outcome is not None or not session.alive:
                return True  # an ended session cannot change any more
            return Until(self._look_again(watch, request, now))

        await wait_until(check, deadline, session.next_change)

    def _look_again(self, watch: _Watch, request: WaitFor, now: float) -> float:
        """Return when to check again for what has no event."""
        times = [NEVER]
        if request.quiet_ms is not None and _is_newer(watch.session, request):
            times.append(_quiet_at(watch, request))
        if request.state is not None or request.run_id is not None:
            # The kernel has no event for it: check with a back-off.
            times.append(now + watch.pause())
        return min(times)

    def _check(
        self,
        watch: _Watch,
        request: WaitFor,
        pattern: Pattern | None,
        now: float,
        *,
        last: bool,
    ) -> WaitOutcome | None:
        session = watch.session
        if request.exit and not session.alive:
            return self._found(session, "exit")
        if request.run_id is not None:
            run = self._ledger.find(request.run_id)
            if run.done:
                outcome = run.outcome("completed", self._host.budget(None) - _FACTS)
                return self._found(session, "run", run=outcome)
        if request.state is not None and "exited" in request.state and not session.alive:
            return self._found(session, "state", state=look(session))
        if not _is_newer(session, request):
            return None
        if pattern is not None and (match := self._search(watch, pattern)) is not None:
            return self._matched(watch, request, match)
        if request.cursor is not None:
            cursor = session.terminal.cursor()
            if [cursor.row, cursor.col] == request.cursor:
                return self._found(session, "cursor")
        if request.quiet_ms is not None and (
            # An ended session stays quiet.
            not session.alive or now >= _quiet_at(watch, request)
        ):
            return self._found(session, "quiet")
        if request.state is not None:
            session.read_now()
            state = look(session)
            if state.state in request.state and (watch.confirms(state) or last):
                return self._found(session, "state", state=state)
        return None

    def _matched(self, watch: _Watch, request: WaitFor, match: str) -> WaitOutcome:
        condition = "regex" if request.regex else "text"
        hint = _FORGOTTEN if watch.forgotten else None
        match = shortened(match, self._host.budget(None) - _FACTS)
        return self._found(watch.session, condition, match=match, hint=hint)

    async def _search_earlier(self, watch: _Watch, pattern: Pattern) -> str | None:
        """Search what has scrolled off the screen, as far as it is long, part by part."""
        while not watch.session.terminal.alternate and watch.line != NOWHERE:
            terminal = watch.session.terminal
            _count_missed(watch)
            offset = watch.line - terminal.evicted
            if terminal.scrollback_total - offset <= _PART:
                return None  # the rest is searched with the screen
            lines = terminal.scrollback_plain(offset, _PART)
            if (match := _first_new(pattern, lines, watch)) is not None:
                return match
            watch.line += _PART - terminal.rows  # a match may lie on both sides of a cut
            await asyncio.sleep(0)  # others get their turn
        return None

    def _search(self, watch: _Watch, pattern: Pattern) -> str | None:
        """Search the screen and what has scrolled off since the generation or the wait began."""
        session = watch.session
        if watch.seen == session.generation:
            return None
        watch.seen = session.generation
        terminal = session.terminal
        if terminal.alternate:
            watch.old = {}
            found = pattern.search("\n".join(terminal.plain_lines()))
            return found.group(0) if found else None
        total, evicted = terminal.scrollback_total, terminal.evicted
        _count_missed(watch)
        offset = total if watch.line == NOWHERE else min(total, watch.line - evicted)
        lines = terminal.scrollback_plain(offset, total - offset) + terminal.plain_lines()
        watch.line = evicted + offset
        match = _first_new(pattern, lines, watch)
        watch.line = evicted + total
        return match

    def _found(self, session: Session, condition: str, **more: object) -> WaitOutcome:
        known = {key: value for key, value in more.items() if value is not None}
        return WaitOutcome(
            matched=True,
            session=session.identity.name,
            condition=condition,
            generation=session.hand_out(),
            **known,  # type: ignore[arg-type]  # match, state and run, each of its own type
        )


def _is_newer(session: Session, request: WaitFor) -> bool:
    return request.after_generation is None or session.generation > request.after_generation


def _quiet_at(watch: _Watch, request: WaitFor) -> float:
    assert request.quiet_ms is not None
    return watch.session.last_active + request.quiet_ms / 1000


def _begin(session: Session, request: WaitFor) -> _Watch:
    after, seen, terminal = request.after_generation, session.seen_screens, session.terminal
    watch = _Watch(session, position(session), {}, _lines_typed(request.typed))
    if after is None or terminal.alternate:
        return watch
    if after == 0:
        watch.line = 0
        return watch
    if session.generation <= after:
        watch.old = numbered(terminal)
    elif (screen := seen.screen(after)) is not None:
        watch.line, watch.old = min(screen), screen
    elif (place := seen.place(after)) is not None:
        watch.line, watch.old = place.line, {place.line: place.text}
        # What stood above the cursor then is old, as far as it is still on the screen.
        shown = numbered(terminal)
        watch.old |= {number: text for number, text in shown.items() if number < place.line}
    else:
        watch.forgotten = True
    return watch


def _lines_typed(typed: str | None) -> list[str]:
    return [line.strip() for line in (typed or "").splitlines() if line.strip()]


def _count_missed(watch: _Watch) -> None:
    """Go on with the oldest line that is kept; those before it cannot be searched."""
    if watch.line != NOWHERE and (dropped := watch.session.terminal.evicted - watch.line) > 0:
        watch.missed += dropped
        watch.line += dropped


def _first_new(pattern: Pattern, lines: list[str], watch: _Watch) -> str | None:
    """Return the first match with something in it that is new; the first line is `watch.line`."""
    first, old = watch.line, watch.old
    echoes = watch.session.stream.echoes.within(first, first + len(lines))
    typed = _note_typed(lines, watch)
    new: list[tuple[int, int]] = []  # from where to where in the text
    at = 0
    for index, line in enumerate(lines):
        before = old.get(first + index, "")
        if not line.startswith(before):
            del old[first + index]  # overwritten: from now on this line counts
            before = ""
        end = _output_end(line, echoes.get(first + index))
        begin, echo_end = typed.get(first + index, (len(line), len(line)))
        new.append((at + len(before), at + min(begin, end)))
        new.append((at + max(len(before), echo_end), at + end))
        at += len(line) + 1
    for found in pattern.finditer("\n".join(lines)):
        if any(start < found.end() and found.start() < end for start, end in new if start < end):
            return found.group(0)
    return None


def _output_end(line: str, echo: Echo | None) -> int:
    """Return up to where a line is output; what follows is the echo of a command."""
    if echo is None or (echo.text is not None and echo.text != line):
        return len(line)
    return len(line) - len(from_column(line, echo.col))


def _note_typed(lines: list[str], watch: _Watch) -> dict[int, tuple[int, int]]:
    """Return where lines that were typed stand, by number; each of them is looked for once.

    The width of the terminal may part one: its rows follow each other without anything between.
    """
    found: dict[int, tuple[int, int]] = {}
    index = 0
    while watch.typed and index < len(lines):
        number = watch.line + index
        is_old = watch.old.get(number) == lines[index] or number in watch.echoed
        spans = None if is_old else _spans(lines[index:], watch.typed[0])
        if spans is not None:
            by_number = {number + row: span for row, span in spans.items()}
            if sum(end - begin for begin, end in spans.values()) < len(watch.typed[0]):
                found = by_number  # it is still being echoed
                break
            watch.echoed |= by_number
            del watch.typed[0]
        index += 1
    return watch.echoed | found


def _spans(lines: list[str], typed: str) -> dict[int, tuple[int, int]] | None:
    """Return where a typed line stands that begins in the first row; None: it does not.

    At the end of the text it may be there in part only.
    """
    row = lines[0]
    begin = row.find(typed)
    if begin >= 0:
        return {0: (begin, begin + len(typed))}
    for cut in range(min(len(typed), len(row)), 0, -1):
        if not row.endswith(typed[:cut]):
            continue
        rest, spans = typed[cut:], {0: (len(row) - cut, len(row))}
        for below, line in enumerate(lines[1:], 1):
            taken = line[: len(rest)]
            if not taken or not rest.startswith(taken):
                break
            spans[below] = (0, len(taken))
            rest = rest[len(taken) :]
            if not rest:
                return spans
        if not any(lines[max(spans) + 1 :]):
            return spans
    return None


def _pattern(request: WaitFor) -> Pattern | None:
    conditions = (request.text, request.regex, request.quiet_ms, request.run_id, request.state)
    if not request.exit and all(known is None for known in (*conditions, request.cursor)):
        raise InvalidInput("name a condition: text, regex, quiet_ms, run_id, state, exit or cursor")
    if request.cursor is not None and len(request.cursor) != 2:
        raise BadParameter("cursor", "must be a row and a column, as in [0, 5]")
    if request.text is not None and request.regex is not None:
        raise BadParameter(("text", "regex"), "cannot be combined", "give one of them")
    if request.text is not None:
        return compile_pattern(escaped(request.text))
    if request.regex is None:
        return None
    try:
        return compile_pattern(request.regex)
    except PatternError as error:
        raise BadParameter("regex", f"is not valid: {error}", RE2) from error
