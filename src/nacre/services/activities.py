"""What ran in sessions: the list, and what one command printed.

Rule: of a run that is still known the ledger has the output. What else ran is read from the
journal, in a thread, between the generations of its begin and its end.
"""

from functools import partial

from nacre.core.catalog.caller import Caller
from nacre.core.journal.activity import ActivityLog
from nacre.core.operations.recordings import (
    ActivityEntry,
    ActivityList,
    ActivityOutput,
    ListActivity,
    ReadActivityOutput,
)
from nacre.errors import Failed, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.session.session import Session
from nacre.system.storage.segments import command_output

_FACTS = 300  # characters of the other fields of the answer


class Activities:
    def __init__(self, registry: Registry, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._host = host

    def handlers(self) -> Handlers:
        return Handlers().on(ListActivity, self.list).on(ReadActivityOutput, self.output)

    async def list(self, caller: Caller, request: ListActivity) -> ActivityList:
        session = self._registry.find(request.session)
        log = await self._known(session)
        entries = log.entries
        return ActivityList(
            session=session.identity.name,
            session_id=session.identity.id,
            total=len(entries),
            earlier=log.earlier,
            entries=tuple(entries[-request.limit :]),
        )

    async def output(self, caller: Caller, request: ReadActivityOutput) -> ActivityOutput:
        """Raises InvalidInput for what is not listed, and Failed where nothing has the output."""
        session = self._registry.find(request.session)
        found = (await self._known(session)).find(request.id)
        if found is None:
            raise InvalidInput(
                f"no command {request.id!r} in this session: it is unknown, or too old",
                "take the id from the list of what ran",
            )
        entry, cols = found
        budget = self._host.budget(request.max_chars) - _FACTS
        run = entry.run_id and self._ledger.session_of(entry.run_id)
        if run:
            known = await self._ledger.with_output(entry.id)
            return await self._rendered(entry, known.output, budget)
        return await self._rendered(entry, await self._recorded(session, entry, cols), budget)

    async def _recorded(self, session: Session, entry: ActivityEntry, cols: int) -> RunOutput:
        folder = session.recorder.folder
        if folder is None or not self._host.settings.journal:
            raise Failed("this session has no journal", "the setting journal turns it on")
        if not entry.running and entry.last_generation is None:
            raise Failed("nobody saw where this command ended", "look at the replay")
        await session.recorder.settled()
        read = partial(command_output, folder, entry.generation, entry.last_generation)
        parts, whole, _ = await self._host.loop.run_in_executor(None, read)
        output = RunOutput(cols, self._host.settings.run_memory_bytes)
        output.incomplete = not whole
        for part in parts:
            output.record(part)
        output.close()
        return output

    async def _rendered(
        self, entry: ActivityEntry, output: RunOutput, budget: int
    ) -> ActivityOutput:
        await output.prepare(self._host.renderers)
        text, omitted = output.text(max(1, budget))
        return ActivityOutput(
            id=entry.id,
            lines=len(text.splitlines()) + omitted,
            omitted_lines=omitted,
            incomplete=output.incomplete,
            running=entry.running,
            output=text,
        )

    async def _known(self, session: Session) -> ActivityLog:
        """Return the list, without what only seems to run: nobody saw how that ended."""
        log = await session.activity.known()
        for entry in log.entries:
            if entry.running and not self._still_runs(session, entry):
                log.lose(entry.id)
        return log

    def _still_runs(self, session: Session, entry: ActivityEntry) -> bool:
        if not session.alive:
            return False
        if entry.run_id is None:
            return session.stream.prompting.phase == "running"
        known = self._ledger.session_of(entry.run_id)
        return known is not None and not self._ledger.find(entry.run_id).done
