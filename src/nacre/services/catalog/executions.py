"""The executions that are known: those that run, and the last ones that have ended.

Rule 1: an execution belongs to its owner, not to its connection: whoever has the same token can ask
for it and cancel it.
Rule 2: what a killed daemon left behind is ended by the next one, which says so of each.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from signal import SIGTERM

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.commands import ExecutionOutcome
from nacre.core.text.budget import first_characters, json_chars, json_size
from nacre.core.text.redaction import note_part, searchable
from nacre.errors import InvalidInput
from nacre.services.catalog.execution import Execution
from nacre.services.host.host import Host
from nacre.system.processes.ending import end_trees
from nacre.system.processes.tree import Tree
from nacre.system.unfinished import Unfinished, UnfinishedCommand

_LEAST = 200  # characters of an output that are sent also where other fields use the budget up
_APART = 30  # characters: the names of stdout and stderr, with their quotes
_KILLED = (
    "the daemon was killed or replaced while this ran; it was ended with all that it started, and "
    "its output is lost"
)


class Executions:
    def __init__(
        self, host: Host, unfinished: Unfinished, note: Callable[[Execution], None]
    ) -> None:
        """`note` is called once for each that has ended."""
        self._host = host
        self._unfinished = unfinished
        self._note = note
        self._running: dict[str, Execution] = {}
        self._done: OrderedDict[str, Execution] = OrderedDict()  # the oldest first
        self._chars = 0  # that those have printed
        self._clearing: asyncio.Task[None] | None = None

    # --- knowing them ----------------------------------------------------------------------

    def keep(self, execution: Execution) -> None:
        """Remember it, also for a while after its end."""
        execution.on_end = self._ended
        self._running[execution.id] = execution

    def write_down(self, execution: Execution) -> None:
        """Let the next daemon know of it, before its programs run."""
        self._unfinished.began(
            UnfinishedCommand(
                id=execution.id,
                owner=execution.owner,
                tool=execution.tool,
                name=execution.name,
                words=execution.words,
                cookie=execution.cookie,
            )
        )

    def _ended(self, execution: Execution) -> None:
        settings = self._host.settings
        self._unfinished.ended(execution.id)
        self._running.pop(execution.id, None)
        self._done[execution.id] = execution
        self._chars += execution.captured.chars
        # Its caller is still to be told of the last one.
        while len(self._done) > 1 and (
            len(self._done) > settings.command_results
            or self._chars > settings.command_results_chars
        ):
            _, oldest = self._done.popitem(last=False)
            self._chars -= oldest.captured.chars
        self._note(execution)

    def find(self, caller: Caller, identifier: str) -> Execution:
        """Raises InvalidInput for one that is not known to this caller."""
        execution = self._running.get(identifier) or self._done.get(identifier)
        if execution is None or execution.owner != caller.owner:
            raise InvalidInput(
                f"no execution {identifier!r}",
                f"the last {self._host.settings.command_results} that ended are kept, "
                "until the daemon ends",
            )
        return execution

    def describe(
        self, execution: Execution, offset: int, max_chars: int | None, *, ended: bool = False
    ) -> ExecutionOutcome:
        """`ended`: its context has, with it."""
        captured = execution.captured
        # As long as it was: an offset means the same for everybody, at any time.
        plain, whole = captured.text(), captured.text(hide=searchable)
        facts = ExecutionOutcome(
            execution_id=execution.id,
            tool=execution.tool,
            status=execution.state,
            exit_code=execution.exit_code,
            execution_time_ms=execution.milliseconds,
            output_bytes=captured.bytes,
            next_offset=len(whole),
            left_out=captured.left_out,
            error=execution.error,
            exit_codes=tuple(execution.exit_codes) if len(execution.exit_codes) > 1 else (),
            context_ended=ended,
            output="",
        )
        most = self._host.budget(max_chars)
        room = max(most - json_size(facts), min(most, _LEAST))
        part = first_characters(whole[offset : offset + max(room, 1)], room)
        after = offset + len(part)
        if not offset and after == len(whole) and not captured.left_out:
            part = plain  # nothing is cut: the whole answer is redacted
        else:
            note_part(plain, offset, part)
        answer = replace(facts, output=part, next_offset=after if after < len(whole) else None)
        if offset or answer.next_offset is not None or not captured.has_errors:
            return answer
        hide = searchable if captured.left_out else None
        apart = captured.text("stdout", hide), captured.text("stderr", hide)
        if sum(map(json_chars, (part, *apart))) + _APART > room:
            return answer
        return replace(answer, stdout=apart[0], stderr=apart[1])

    # --- ending them -----------------------------------------------------------------------

    def cancel_all(self) -> None:
        for execution in list(self._running.values()):
            execution.cancel(self._host.settings.kill_grace)

    def clear_up(self) -> None:
        """End what an earlier daemon left behind; each of them is known from now on."""
        left = self._unfinished.take()
        if not left:
            return
        lost = [self._lost(one) for one in left]
        self._clearing = asyncio.create_task(self._end(lost), name="left commands")

    async def cleared(self) -> None:
        """Return when what was left behind has ended."""
        if self._clearing is not None:
            await self._clearing

    def _lost(self, left: UnfinishedCommand) -> Execution:
        most = self._host.settings.command_output_chars
        execution = Execution(left.tool, left.name, left.words, left.owner, "", most)
        execution.id, execution.cookie, execution.state = left.id, left.cookie, "running"
        self.keep(execution)
        return execution

    async def _end(self, lost: list[Execution]) -> None:
        trees = [Tree(None, execution.cookie) for execution in lost]
        await end_trees(lambda: trees, self._host.settings.kill_grace, SIGTERM)
        for execution in lost:
            execution.end(None, _KILLED)
