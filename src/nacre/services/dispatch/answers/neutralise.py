"""Give callers the output of programs as data: without characters that nobody sees.

Rule 1: every answer passes, at every door; also an error, and the events of who follows.
Rule 2: what was taken out is counted in the answer's notice.
Rule 3: it takes some microseconds for each such character, so many of them are left to a thread.
Rule 4: a recording is what was printed, byte by byte, and a question to a person is the very
command: these are not changed. Who shows them writes such characters as escapes. So is what was
asked for byte by byte; the format raw takes them out of the text itself, and keeps its colours.
"""

import asyncio
from typing import Any

from nacre.core.catalog.catalog import Operation
from nacre.core.operations.apps.programs import ViewScreen
from nacre.core.operations.follow import ApprovalEvent, Event
from nacre.core.operations.recordings import ExportRecording, FilmRecording
from nacre.core.operations.safety.approvals import AnswerApproval, ListApprovals
from nacre.core.text.unseen import (
    Counts,
    count_suspects,
    neutralise,
    neutralise_all,
    told,
)
from nacre.errors import NacreError
from nacre.services.dispatch.call import Call, Onward

_AT_ONCE = 1000  # characters, in about 3 ms

_AS_IT_IS = (ExportRecording, FilmRecording, ListApprovals, AnswerApproval)


class Neutralise:
    async def __call__(self, call: Call, onward: Onward) -> Any:
        try:
            result = await onward(call)
        except NacreError as error:
            _clean(error)
            raise
        if _is_as_it_is(call.operation) or not hasattr(result, "__struct_fields__"):
            return result
        suspects = count_suspects(result)
        if not suspects:
            return result
        counts = Counts()
        result = await _cleaned(result, suspects, counts)
        if counts:
            call.notices.append(told(counts))
        return result


def _is_as_it_is(operation: Operation) -> bool:
    if isinstance(operation, ViewScreen):
        return operation.format in ("raw", "passthrough")
    return isinstance(operation, _AS_IT_IS)


def _clean(error: NacreError) -> None:
    counts = Counts()
    error.message = neutralise(error.message, counts)
    error.problem = neutralise(error.problem, counts)
    error.details = neutralise_all(error.details, counts)
    if counts:
        notice = [told(counts), *filter(None, [error.details.get("notice")])]
        error.details["notice"] = "; ".join(notice)


async def _cleaned(value: Any, suspects: int, counts: Counts) -> Any:
    """Return a value without such characters; where there are many, a thread looks for them."""
    if suspects > _AT_ONCE:
        return await asyncio.to_thread(neutralise_all, value, counts)
    return neutralise_all(value, counts)


async def clean_event(event: Event) -> Event:
    """Return an event without such characters; events have no place to count them in."""
    if isinstance(event, ApprovalEvent) or not (suspects := count_suspects(event)):
        return event
    clean: Event = await _cleaned(event, suspects, Counts())
    return clean
