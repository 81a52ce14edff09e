"""Search over all sessions: what they showed, now or ever, as far as their journals reach.

Rule 1: a process of its own searches (worker.py); the loop only makes sure that the journals are
written, and adds what it knows of the hits.
Rule 2: for a caller whose token is limited to some sessions, there are no others.
Rule 3: what was not searched is said, and why.
"""

import asyncio
import time
from collections.abc import Iterable

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import (
    NotSearched,
    SearchResult,
    SearchSessions,
    SessionHit,
)
from nacre.core.text.budget import json_size
from nacre.core.text.pattern import RE2, PatternError
from nacre.core.text.redaction import redaction_of_call
from nacre.errors import BadParameter
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.run import TrackedRun
from nacre.services.search.messages import RawHit, SearchAnswer, SearchTask
from nacre.services.search.process import SearchProcess
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint, also

_NO_JOURNAL = "it has no journal (the setting journal)"
_HEAD = 400  # characters of an answer beside its hits
_ALONE = Hint("the lines around the hit are left out", Higher("max_chars", "get them"))
_LEAST = 40  # characters of a line that are shown however little room there is


class Searching:
    def __init__(self, registry: Registry, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._host = host
        self._process = SearchProcess(host.settings.search_idle)

    def handlers(self) -> Handlers:
        return Handlers().on(SearchSessions, self.search)

    async def end(self) -> None:
        """End the process that searches."""
        await self._process.end()

    async def search(self, caller: Caller, request: SearchSessions) -> SearchResult:
        """Raises BadParameter for an expression that is none, and Failed."""
        self._check(request)
        sessions = self._sessions(caller, request)
        journals: dict[str, str] = {}
        skipped: dict[str, str] = {}
        for session in sessions:
            folder = session.recorder.folder
            if folder is None or not self._host.settings.journal:
                skipped[session.identity.id] = _NO_JOURNAL
                continue
            journals[session.identity.id] = folder
        recorders = [one.recorder for one in sessions if one.identity.id in journals]
        await asyncio.gather(*(recorder.settled() for recorder in recorders))
        answer = await self._process.search(self._task(request, journals))
        skipped.update(answer.failed)
        known = {session.identity.id: session for session in sessions}
        return self._result(request, answer, known, skipped)

    def _sessions(self, caller: Caller, request: SearchSessions) -> list[Session]:
        if request.session is not None:
            return [self._registry.find(request.session)]
        return [one for one in self._registry.all() if caller.sees(one.identity.name)]

    def _check(self, request: SearchSessions) -> None:
        from nacre.core.journal.shown_search import text_finder  # it loads the engine

        most = self._host.settings.max_pattern_chars
        if len(request.text) > most:
            raise BadParameter("text", f"must be at most {most} characters (max_pattern_chars)")
        if "\n" in request.text or "\r" in request.text:
            raise BadParameter("text", "is looked for in each line", "leave out the line's end")
        try:
            text_finder(request.text, regex=request.regex, exact=request.exact)
        except PatternError as error:
            raise BadParameter("text", f"is not valid: {error}", RE2) from error
        since, until = _absolute(request.since), _absolute(request.until)
        if since is not None and until is not None and since >= until:
            raise BadParameter("since", "must be before the end of the span")

    def _task(self, request: SearchSessions, journals: dict[str, str]) -> SearchTask:
        settings, redaction = self._host.settings, redaction_of_call()
        return SearchTask(
            journals=list(journals.items()),
            text=request.text,
            regex=request.regex,
            exact=request.exact,
            since=_absolute(request.since),
            until=_absolute(request.until),
            most=request.offset + request.limit,
            context=request.context,
            seconds=settings.search_time,
            memory=settings.search_memory_bytes,
            scrollback=settings.scrollback,
            secrets=None if redaction is None else dict(redaction.values),
        )

    def _result(
        self,
        request: SearchSessions,
        answer: SearchAnswer,
        known: dict[str, Session],
        skipped: dict[str, str],
    ) -> SearchResult:
        hits: list[SessionHit] = []
        alone = False  # there was no room for the lines around the first one
        room = self._host.budget(request.max_chars) - _HEAD
        runs = {identifier: self._ledger.of_session(identifier) for identifier in known}
        for raw in answer.hits[request.offset :]:
            hit = _hit(raw, known[raw.session], runs[raw.session])
            size = json_size(hit) + 1
            if size > room and hits:
                break
            if size > room:  # the first is there in any case, or nobody would get beyond it
                alone, hit = bool(hit.before or hit.after), _alone(hit, room)
            room -= size
            hits.append(hit)
        reached = request.offset + len(hits)
        complete = answer.searched_since is None and not skipped
        return SearchResult(
            total=answer.total,
            searched_sessions=len(known) - len(skipped),
            complete=complete,
            searched_since=answer.searched_since,
            next_offset=reached if hits and answer.total > reached else None,
            hint=also(_hint(answer), _ALONE if alone else None),
            not_searched=tuple(
                NotSearched(
                    session=known[identifier].identity.name, session_id=identifier, reason=reason
                )
                for identifier, reason in skipped.items()
            ),
            hits=tuple(hits),
        )


def _hit(raw: RawHit, session: Session, runs: Iterable[TrackedRun]) -> SessionHit:
    return SessionHit(
        session=session.identity.name,
        session_id=raw.session,
        time=raw.time,
        generation=raw.generation,
        text=raw.text,
        start=raw.start,
        end=raw.end,
        line=None if raw.alternate else raw.line,
        row=raw.line if raw.alternate else None,
        run_id=_run_at(runs, raw.generation),
        versions=raw.versions,
        before=tuple(raw.before),
        after=tuple(raw.after),
    )


def _alone(hit: SessionHit, room: int) -> SessionHit:
    """Return a hit without the lines around it, with what there is room for of its own."""
    hit = replace(hit, before=(), after=())
    most = len(hit.text)
    while json_size(hit) + 1 > room and most > _LEAST:
        most = max(_LEAST, most // 2)
        first = max(0, min(hit.start - most // 2, len(hit.text) - most))
        text, start = hit.text[first : first + most], hit.start - first
        hit = replace(hit, text=text, start=start, end=min(hit.end - first, most))
    return hit


def _run_at(runs: Iterable[TrackedRun], generation: int) -> str | None:
    """Return the innermost run that printed at a generation."""
    found = None
    for run in runs:
        state = run.state
        if state.first < generation and (state.last is None or generation <= state.last):
            found = run.id
    return found


def _hint(answer: SearchAnswer) -> str | None:
    if answer.searched_since is None:
        return None
    return (
        "older output was not searched in time (search_time): search again to go on, "
        "or narrow it down with session and since"
    )


def _absolute(moment: float | None) -> float | None:
    return time.time() + moment if moment is not None and moment < 0 else moment
