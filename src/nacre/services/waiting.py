"""Wait for one of several conditions, in one or several sessions: by events and timers.

Rule 1: with after_generation only what came later counts, so that a match cannot be an old one:
text that stood there at that generation, and still stands there unchanged, is old.
Rule 2: text is looked for on the screen and in the lines that scrolled off it since the wait began.
"""

import asyncio
import re
from dataclasses import dataclass

from nacre.core.caller import Caller
from nacre.core.operations import WaitFor
from nacre.core.results import WaitOutcome
from nacre.core.state import State
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.ledger import Ledger
from nacre.services.memory import numbered
from nacre.services.registry import Registry
from nacre.services.runs import Runs
from nacre.services.session import Session
from nacre.services.settling import LOOKS
from nacre.services.states import look
from nacre.services.views import NOWHERE, position


@dataclass(slots=True)
class _Watch:
    """One session under a wait."""

    session: Session
    line: int  # lines below are not searched yet, or are on the screen
    old: dict[int, str]  # what does not count, by the number of its line
    seen: int = -1  # the generation that was searched last
    outcome: WaitOutcome | None = None
    looked: tuple[int, str, str | None] | None = None  # what the look before saw

    def confirms(self, state: State) -> bool:
        """Tell whether a state is sure: it has a mark, or the look before saw the same.

        Between its last command and its prompt a shell looks for a moment as if it asked.
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

    async def wait(self, caller: Caller, request: WaitFor) -> WaitOutcome:
        pattern = _pattern(request)
        watches = self._watches(request)
        if request.timeout_ms > self._host.settings.max_wait * 1000:
            raise InvalidInput("timeout_ms is over the setting max_wait")
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
        first = next(watch.session for watch in watches if watch.outcome is None)
        return WaitOutcome(
            matched=False,
            session=first.identity.name,
            generation=first.hand_out(),
            matches=every,
            state=look(first),
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
        sessions = {session.identity.id: session for session in found}  # each of them once
        if run is not None and list(sessions) != [run.session.identity.id]:
            name = run.session.identity.name
            raise InvalidInput(f"run {run.id!r} is one of session {name!r}; leave the session out")
        return [_begin(session, request.after_generation) for session in sessions.values()]

    async def _watch(
        self,
        watch: _Watch,
        request: WaitFor,
        pattern: "re.Pattern[str] | None",
        deadline: float,
    ) -> None:
        session = watch.session
        looks = 0
        generation = session.generation
        while True:
            if session.generation != generation:
                generation, looks = session.generation, 0
            if request.run_id is not None:
                await self._runs.revisit(self._ledger.find(request.run_id))
            now = self._host.loop.time()
            watch.outcome = self._check(watch, request, pattern, now, last=now >= deadline)
            if watch.outcome is not None or now >= deadline:
                return
            if not session.alive:
                # Nothing changes any more, except that a run may be waited for.
                return
            until = deadline
            if request.quiet_ms is not None:
                until = min(until, self._quiet_at(watch, request))
            if request.state is not None or request.run_id is not None:
                # The kernel has no event for it: looked for with a back-off.
                until = min(until, now + LOOKS[min(looks, len(LOOKS) - 1)])
                looks += 1
            await session.next_change(max(until, now + 0.001), output=True)

    def _check(
        self,
        watch: _Watch,
        request: WaitFor,
        pattern: "re.Pattern[str] | None",
        now: float,
        *,
        last: bool,
    ) -> WaitOutcome | None:
        session = watch.session
        if request.exit and not session.alive:
            return self._found(session, "exit")
        if request.run_id is not None:
            run = self._ledger.find(request.run_id)
            if session.ending is not None:
                run.finish("exit", session.ending.exit_code)
            if run.done:
                outcome = run.outcome("completed", self._host.settings.max_result_chars)
                return self._found(session, "run", run=outcome)
        if request.state is not None and "exited" in request.state and not session.alive:
            return self._found(session, "state", state=look(session))
        after = request.after_generation
        if after is not None and session.generation <= after:
            return None
        if pattern is not None and (match := self._search(watch, pattern)) is not None:
            return self._found(session, "regex" if request.regex else "text", match=match)
        if request.cursor is not None:
            cursor = session.terminal.cursor()
            if [cursor.row, cursor.col] == request.cursor:
                return self._found(session, "cursor")
        if request.quiet_ms is not None and (
            # What has ended is quiet for good.
            not session.alive or now >= self._quiet_at(watch, request)
        ):
            return self._found(session, "quiet")
        if request.state is not None:
            session.read_now()
            state = look(session)
            if state.state in request.state and (watch.confirms(state) or last):
                return self._found(session, "state", state=state)
        return None

    def _quiet_at(self, watch: _Watch, request: WaitFor) -> float:
        assert request.quiet_ms is not None
        return watch.session.last_output + request.quiet_ms / 1000

    def _search(self, watch: _Watch, pattern: "re.Pattern[str]") -> str | None:
        """Search the screen, and what scrolled off it since the wait began."""
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
        offset = total if watch.line == NOWHERE else min(total, max(0, watch.line - evicted))
        lines = terminal.scrollback_plain(offset, total - offset) + terminal.plain_lines()
        watch.line = evicted + total
        return _first_new(pattern, lines, evicted + offset, watch.old)

    def _found(self, session: Session, condition: str, **more: object) -> WaitOutcome:
        known = {key: value for key, value in more.items() if value is not None}
        return WaitOutcome(
            matched=True,
            session=session.identity.name,
            condition=condition,
            generation=session.hand_out(),
            **known,  # type: ignore[arg-type]  # match, state and run, each of its own type
        )


def _begin(session: Session, after: int | None) -> _Watch:
    terminal = session.terminal
    old = session.memory.screen(after) if after is not None else None
    if old is None and after is not None and session.generation <= after and not terminal.alternate:
        old = numbered(terminal)
    return _Watch(session, position(session), old or {})


def _first_new(
    pattern: "re.Pattern[str]", lines: list[str], number: int, old: dict[int, str]
) -> str | None:
    """Return the first match with something in it that is not old; lines are numbered on."""
    new: list[tuple[int, int]] = []  # from where to where in the text
    at = 0
    for index, line in enumerate(lines, number):
        before = old.get(index, "")
        if not line.startswith(before):
            del old[index]  # written over: whatever comes there from now on is new
            before = ""
        new.append((at + len(before), at + len(line)))
        at += len(line) + 1
    for found in pattern.finditer("\n".join(lines)):
        if any(start < found.end() and found.start() < end for start, end in new if start < end):
            return found.group(0)
    return None


def _pattern(request: WaitFor) -> "re.Pattern[str] | None":
    conditions = (request.text, request.regex, request.quiet_ms, request.run_id, request.state)
    if not request.exit and all(known is None for known in (*conditions, request.cursor)):
        raise InvalidInput("name a condition: text, regex, quiet_ms, run_id, state, exit or cursor")
    if request.cursor is not None and len(request.cursor) != 2:
        raise InvalidInput("cursor is a row and a column, as in [0, 5]")
    if request.text is not None and request.regex is not None:
        raise InvalidInput("text and regex are two ways of one condition; give one of them")
    if request.text is not None:
        return re.compile(re.escape(request.text))
    if request.regex is None:
        return None
    try:
        return re.compile(request.regex, re.MULTILINE)
    except re.error as error:
        raise InvalidInput(f"regex is not valid: {error}") from error
