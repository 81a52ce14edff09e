"""The operation wait_for: one of several conditions, in one or more sessions.

Rule 1: with after_generation only what came later counts; new_text.py knows what is new.
Rule 2: a condition without an event is checked at times that grow with the silence.
"""

import asyncio

from msgspec import Struct

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import WaitOutcome
from nacre.core.operations.runs import WaitFor
from nacre.core.shell.quiet import NEVER, Until
from nacre.core.shell.state import State
from nacre.core.text.budget import shortened
from nacre.core.text.pattern import RE2, Pattern, PatternError, compile_pattern, escaped
from nacre.errors import BadParameter, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, refuse_longer_waits, wait_until
from nacre.services.observe.settle import LOOKS
from nacre.services.observe.state import look
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.service import Runs
from nacre.services.session.session import Session
from nacre.services.waits.new_text import NewText

_FACTS = 500  # characters of the other fields of an answer

_FORGOTTEN = "that generation is not remembered: what matches may have stood there before"
_MISSED = "lines that were printed since are no longer kept, and were not searched"


class _Watch(Struct):
    """One session of a wait."""

    session: Session
    text: NewText
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
        pattern = _pattern(request, self._host.settings.max_pattern_chars)
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
            missed_lines=first.text.missed,
            matches=every,
            state=look(first.session),
            hint=_MISSED if first.text.missed else None,
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
        after, typed = request.after_generation, request.typed
        return [_Watch(session, NewText(session, after, typed)) for session in sessions.values()]

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
                run = await self._ledger.with_output(request.run_id)
                await self._runs.revisit(run)
                if run.done:
                    await run.output.prepare(self._host.renderers)
            sought = pattern
            if pattern is not None:
                if match := await watch.text.search_earlier(pattern, last=turn.last):
                    watch.outcome = self._matched(watch, request, match)
                    return True
                sought = None if watch.text.is_behind else pattern
            now = self._host.loop.time()
            watch.outcome = self._check(watch, request, sought, now, last=turn.last)
            if watch.outcome is None and sought is not pattern:
                return Until(now)  # at once, if the deadline has not come meanwhile
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
                budget = self._host.budget(None) - _FACTS
                outcome = run.outcome("completed", budget, hint=run.what_is_unknown)
                return self._found(session, "run", run=outcome)
        if request.state is not None and "exited" in request.state and not session.alive:
            return self._found(session, "state", state=look(session))
        if not _is_newer(session, request):
            return None
        if pattern is not None and (match := watch.text.search(pattern)) is not None:
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
            told = state.state in request.state and not session.is_behind
            if told and (watch.confirms(state) or last):
                return self._found(session, "state", state=state)
        return None

    def _matched(self, watch: _Watch, request: WaitFor, match: str) -> WaitOutcome:
        condition = "regex" if request.regex else "text"
        hint = _FORGOTTEN if watch.text.forgotten else None
        match = shortened(match, self._host.budget(None) - _FACTS)
        return self._found(watch.session, condition, match=match, hint=hint)

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


def _pattern(request: WaitFor, most: int) -> Pattern | None:
    """`most` is how many characters a text or pattern may have."""
    conditions = (request.text, request.regex, request.quiet_ms, request.run_id, request.state)
    if not request.exit and all(known is None for known in (*conditions, request.cursor)):
        raise InvalidInput("name a condition: text, regex, quiet_ms, run_id, state, exit or cursor")
    if request.cursor is not None and len(request.cursor) != 2:
        raise BadParameter("cursor", "must be a row and a column, as in [0, 5]")
    if request.text is not None and request.regex is not None:
        raise BadParameter(("text", "regex"), "cannot be combined", "give one of them")
    for name, wanted in (("text", request.text), ("regex", request.regex)):
        if wanted is not None and len(wanted) > most:
            raise BadParameter(name, f"must be at most {most} characters (max_pattern_chars)")
    if request.text is not None:
        return compile_pattern(escaped(request.text))
    if request.regex is None:
        return None
    try:
        return compile_pattern(request.regex)
    except PatternError as error:
        raise BadParameter("regex", f"is not valid: {error}", RE2) from error
