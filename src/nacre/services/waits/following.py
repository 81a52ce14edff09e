"""The operation follow_run: what a run prints, as it is printed.

Rule 1: a part is returned as soon as there is one. Nothing is asked for twice, and who was cut off,
by a daemon's death or a network's, goes on at its position.
Rule 2: only people get bytes. An agent's answers are redacted, and bytes cannot be; it has
read_run.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import RunPart
from nacre.core.operations.runs import FollowRun
from nacre.core.shell.state import State
from nacre.errors import Forbidden
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.run import TrackedRun
from nacre.wording import Hint, Use

_READERS = 2  # threads that read outputs at once; others have threads left


class RunFollowing:
    def __init__(
        self, ledger: Ledger, host: Host, revisit: Callable[[TrackedRun], Awaitable[None]]
    ) -> None:
        """`revisit` finds out whether a run is over that nobody waits for."""
        self._ledger = ledger
        self._host = host
        self._revisit = revisit
        self._readers = asyncio.Semaphore(_READERS)

    def handlers(self) -> Handlers:
        return Handlers().on(FollowRun, self.follow)

    async def follow(self, caller: Caller, request: FollowRun) -> RunPart:
        """Raises Forbidden for an agent, InvalidInput for a run that is unknown or too old."""
        if not caller.person:
            raise Forbidden("the bytes of a run are for people alone", _read_lines(request.run_id))
        run = await self._ledger.with_output(request.run_id)
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        state = await self._news(run, request.position, deadline)
        done, last = run.done, _end(run)  # while they are read, it may print more, and end
        begin, data = await self._bytes(run, request, last)
        end = begin + len(data)
        finished = done and end >= last
        return RunPart(
            run_id=run.id,
            position=begin,
            next_position=end,
            cols=run.output.cols,
            finished=finished,
            incomplete=run.output.incomplete,
            lost_bytes=run.output.lost_before,
            started=not (finished and run.may_be_unsent),
            exit_code=run.exit_code if finished else None,
            ended_by=run.ended_by if finished else None,
            state=state,
            hint=_hint(state),
            data=base64.b64encode(data).decode(),
        )

    async def _news(self, run: TrackedRun, position: int, deadline: float) -> State | None:
        """Return when there is something to tell; the state if the program waits for somebody."""

        def told() -> bool:
            return run.done or _end(run) > position

        def asks(state: State) -> bool:
            # Until it has started, the prompt is still the one at which it was typed.
            started = run.state.started_by_mark or run.request.context == "repl"
            started = started or run.may_be_unsent
            return waits_for_somebody(state) and (started or state.state != "prompt")

        if told():
            return None
        how, state = await settle(run.session, told, deadline, asks=asks)
        if how != "needs_input":
            return None
        await self._revisit(run)
        if not told():
            run.output.show_all()
        return None if told() else state

    async def _bytes(self, run: TrackedRun, request: FollowRun, last: int) -> tuple[int, bytes]:
        read, begin = run.output.bytes_from, request.position
        end = min(last, begin + request.max_bytes)
        if run.output.spool is None:
            return read(begin, end)
        async with self._readers:
            return await self._host.loop.run_in_executor(None, read, begin, end)


def _read_lines(run_id: str) -> Use:
    return Use("read_run", "read its lines", {"run_id": run_id})


def _end(run: TrackedRun) -> int:
    """Return how many bytes of a run are its output: the prompt at which it was sent is not."""
    marked = run.request.context == "native" or run.ended_by == "mark"
    return run.output.end("" if marked else run.request.prompt)


def _hint(state: State | None) -> str | Hint | None:
    if state is None:
        return None
    if state.state == "prompt":
        return "it started a shell; the next run goes into that shell, and exit leaves it"
    return state.hint
