"""Commands of the catalog: check, run, tell what came of it.

Rule 1: every call passes the same checks in the same order, whichever door it came by, and each
execution or refusal is audited exactly once.
Rule 2: an execution belongs to its owner, not to its connection: whoever has the same token can ask
for it and cancel it.
"""

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.commands.arguments import Bound, argv_of, bind, from_words
from nacre.core.commands.book import CommandBook
from nacre.core.commands.checks import Checks
from nacre.core.commands.entry import CommandEntry
from nacre.core.operations.commands import (
    CallCommand,
    CancelExecution,
    CommandDescribed,
    CommandList,
    ContextEnded,
    DescribeCommand,
    EndContext,
    ExecutionCancelled,
    ExecutionOutcome,
    GetExecutionStatus,
    ListCommands,
)
from nacre.core.policy.decide import Policy
from nacre.core.policy.rules import RuleBook
from nacre.errors import (
    CommandNotFound,
    Forbidden,
    Internal,
    InvalidInput,
    LimitReached,
    NacreError,
)
from nacre.services.catalog.assistant import Assistant
from nacre.services.catalog.audit import AuditFile, AuditStatus, ExecutionAudit, audited
from nacre.services.catalog.builtins import Builtins, ContextOutput
from nacre.services.catalog.contexts import CommandContext, Contexts
from nacre.services.catalog.execution import Execution
from nacre.services.catalog.places import Places
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import set_by
from nacre.system.command_files import CommandFiles
from nacre.system.policy_files import shipped
from nacre.system.processes.one_shot import ResourceLimits, start
from nacre.system.processes.pty import find_program

_log = logging.getLogger("nacre.catalog")


# They wait, or read much: others are served meanwhile.
_SLOW = frozenset(("fg", "type", "search_commands", "suggest_command"))


class CommandSurroundings(NamedTuple):
    """Where programs run."""

    cwd: str
    env: dict[str, str]


class PipeStage(NamedTuple):
    """One command of a call, checked and ready to run."""

    entry: CommandEntry
    called: str
    bound: list[Bound]
    argv: list[str]

    @property
    def at_once(self) -> bool:
        """Whether it is done before the next call is looked at: a cd counts for what follows."""
        return self.entry.builtin and self.entry.name not in _SLOW

    @property
    def values(self) -> dict[str, Any]:
        """What a command of the context itself takes."""
        return {one.name: list(values) if one.many else values[0] for one, values in self.bound}


class CommandCatalog:
    """The service. What it needs is loaded with the first call of it."""

    def __init__(
        self,
        host: Host,
        files: CommandFiles,
        *,
        home: str,
        private: tuple[str, ...] = (),
        audit: ExecutionAudit | None = None,
    ) -> None:
        """`home` is where contexts begin, `private` are nacre's own folders."""
        settings = host.settings
        self._host = host
        self._files = files
        private = tuple(os.path.realpath(one) for one in private)
        self._contexts = Contexts(settings.command_contexts, home, private)
        self._places = Places(settings.command_places, settings.command_queue)
        self._assistant = Assistant(settings.sampling_wait)
        self._audit = audit or AuditFile(settings.audit_log)
        self._executions: OrderedDict[str, Execution] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        names = (one.strip() for one in (settings.commands_whitelist or "").split(","))
        rules = shipped("commands")
        self._checks = Checks(
            rules,
            frozenset(filter(None, names)),
            settings.commands_allow_patterns,
            private,
        )
        book = RuleBook()
        book.add(rules)
        self._policy = Policy("open", book)

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(ListCommands, self.list_all)
            .on(DescribeCommand, self.describe)
            .on(CallCommand, self.call)
            .on(GetExecutionStatus, self.status)
            .on(CancelExecution, self.cancel)
            .on(EndContext, self.end_context)
        )

    def book(self) -> CommandBook:
        return self._files.book()

    # --- what there is ---------------------------------------------------------------------

    async def list_all(self, caller: Caller, request: ListCommands) -> CommandList:
        book = self.book()
        return CommandList(
            commands=[entry.as_listed() for entry in book], warnings=list(book.warnings)
        )

    async def describe(self, caller: Caller, request: DescribeCommand) -> CommandDescribed:
        """Raises CommandNotFound."""
        entry = self.book().get(request.command)
        return CommandDescribed(
            name=entry.name,
            description=entry.description,
            schema=entry.schema(),
            aliases=[*entry.aliases],
            group=entry.group,
            risk=entry.risk,
            examples=[dict(one.args) for one in entry.examples],
        )

    # --- calls -----------------------------------------------------------------------------

    async def call(self, caller: Caller, request: CallCommand) -> ExecutionOutcome:
        """Raises Forbidden, InvalidInput, CommandNotFound, LimitReached."""
        context = self._context(caller, request.context)
        stages = self._checked(caller, request, context)
        execution = self._execution(caller, stages)
        if request.dry_run:
            return _dry(execution, stages)
        context.note(execution.line, self._host.settings.command_history)
        if not stages[0].entry.builtin:
            try:
                self._admit(execution)
            except LimitReached:
                self._audit.record(audited(execution.tool, execution.words, "denied"))
                raise
            context.forget_jobs()
            context.add_job(execution)
        self._keep(execution)
        execution.on_end = self._note
        stdin = None if request.stdin is None else request.stdin.encode("utf-8", "replace")
        # The folder that the paths were checked in: another call may change it before this runs.
        surroundings = CommandSurroundings(context.cwd, context.environment(self._given(caller)))
        if execution.state == "running":
            # At once: the next call may already send it a signal.
            self._begin(execution, stages, surroundings, stdin)
        running = self._run(caller, execution, stages, context, surroundings, stdin)
        if len(stages) == 1 and stages[0].at_once:
            await running
        else:
            task = asyncio.create_task(running, name=execution.id)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await self._ended(execution, request.wait_ms)
        if execution.refusal is not None:
            raise execution.refusal
        if context.ended:
            self._contexts.end(context.key)
        return self._outcome(execution, 0, request.max_chars, ended=context.ended)

    def _begin(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        try:
            self._start(execution, stages, surroundings, stdin)
        except NacreError as error:
            execution.refuse(error)  # told by who waits for it

    def _admit(self, execution: Execution) -> None:
        """Take a place for it, or let it wait for one. Raises LimitReached."""
        if self._places.at_once(execution.client):
            execution.state = "running"
        else:
            execution.turn = self._places.join(execution.client)

    def _checked(
        self, caller: Caller, request: CallCommand, context: CommandContext
    ) -> list[PipeStage]:
        """Return what is to be run. What is refused is audited here, once for a call."""
        called, words = request.tool, [str(value) for value in (request.args or {}).values()]
        if request.pipeline is not None:
            if request.tool or request.args:
                raise InvalidInput("a call has a tool or a pipeline", "give one of them")
            called, *words = request.pipeline[0] or [""]
        try:
            return self._stages(caller, request, context)
        except (Forbidden, InvalidInput) as error:
            self._audit.record(audited(called, words, "denied"))
            raise error

    def _stages(
        self, caller: Caller, request: CallCommand, context: CommandContext
    ) -> list[PipeStage]:
        book = self.book()
        if request.pipeline is None:
            if not request.tool:
                raise InvalidInput("the call names no command", "give its name as tool")
            return [self._stage(caller, request.tool, request.args or {}, context, book)]
        stages = []
        for words in request.pipeline:
            if not words:
                raise InvalidInput("a command of the pipeline is empty")
            entry = book.get(words[0])
            self._checks.check_name(entry, words[0])
            given = from_words(entry, words[1:])
            stages.append(self._stage(caller, words[0], given, context, book))
        for stage in stages[1:] if len(stages) > 1 else ():
            if stage.entry.builtin:
                raise InvalidInput(
                    f"{stage.called} reads no input", "put it first, or leave it out"
                )
        return stages

    def _stage(
        self,
        caller: Caller,
        called: str,
        given: Mapping[str, Any],
        context: CommandContext,
        book: CommandBook,
    ) -> PipeStage:
        entry = book.get(called)
        where = context.where(self._contexts.home, self._contexts.private)
        self._checks.check_name(entry, called)
        bound = bind(entry, given)
        if not (entry.group == "assistant" or entry.name == "kill"):
            self._checks.check_values(entry, bound, where)
        argv = argv_of(entry, bound)
        if not entry.trusted:
            self._checks.check_program(called, argv, self._policy, where)
        if not entry.builtin:
            argv[0] = self._program(entry, caller, context, where=where)
        return PipeStage(entry, called, bound, argv)

    def _program(
        self, entry: CommandEntry, caller: Caller, context: CommandContext, *, where: Any
    ) -> str:
        """Return the program's path. Raises CommandNotFound, and Forbidden for a hidden rm."""
        path = context.environment(self._given(caller)).get("PATH")
        found = find_program(entry.program, cwd=context.cwd, path=path)
        if found is None:
            raise CommandNotFound(
                f"{entry.name} needs the program {entry.program!r}, which is not installed",
                "install it, or use another command",
            )
        if not entry.trusted:
            # A link of another name leads to the same program.
            self._checks.check_program(entry.name, [os.path.realpath(found)], self._policy, where)
        return found

    def _execution(self, caller: Caller, stages: list[PipeStage]) -> Execution:
        first = stages[0]
        words = first.argv[1:]
        for stage in stages[1:]:
            words = [*words, "|", stage.called, *stage.argv[1:]]
        settings = self._host.settings
        most = settings.command_output_chars
        called = first.called
        return Execution(called, first.entry.name, words, _owner(caller), caller.agent, most)

    # --- running ---------------------------------------------------------------------------

    async def _run(
        self,
        caller: Caller,
        execution: Execution,
        stages: list[PipeStage],
        context: CommandContext,
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        try:
            if stages[0].entry.builtin:
                printed = await self._builtin(caller, execution, stages[0], context)
                if len(stages) == 1 or execution.done.is_set():
                    _finish(execution, printed)
                    return
                stages, stdin = stages[1:], printed.text.encode()
                execution.state = "queued"
                self._admit(execution)
            await self._programs(execution, stages, surroundings, stdin)
        except NacreError as error:
            execution.refuse(error)
        except Exception:  # noqa: BLE001  # nobody awaits this task: logged, the caller is told
            _log.exception("a command failed", extra={"command": execution.name})
            execution.end(1, str(Internal("unexpected error", "the daemon's log says why")))

    async def _builtin(
        self, caller: Caller, execution: Execution, stage: PipeStage, context: CommandContext
    ) -> ContextOutput:
        execution.state = "running"
        given, book = self._given(caller), self.book()
        acting = Builtins(context, book, self._checks, self._contexts.home, given)
        if act := acting.of(stage.entry.name):
            return await act(stage.values)
        answer = self._assistant.answer
        return ContextOutput(await answer(stage.entry.name, stage.values, context, given, book))

    async def _programs(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        """Run programs in a place of theirs, from when one is free to their end."""
        if execution.state == "queued" and not await self._queue(execution):
            return
        try:
            self._start(execution, stages, surroundings, stdin)
            settings = self._host.settings
            wall = settings.command_wall_seconds
            late = f"it was ended after {wall:g} s (command_wall_seconds)"
            timer = self._host.loop.call_later(
                wall, lambda: execution.cancel(settings.kill_grace, late)
            )
            try:
                await execution.done.wait()
            finally:
                timer.cancel()
        finally:
            self._places.leave(execution.client)

    def _start(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        """Start the programs, unless that was done. Raises LimitReached, Internal."""
        if execution.started or execution.done.is_set():
            return
        started = start(
            [stage.argv for stage in stages],
            cwd=surroundings.cwd,
            env={**surroundings.env, **execution.environment},
            limits=self._limits(),
            feed=stdin is not None,
            umask=self._host.umask,
        )
        execution.run(started, stdin or b"")

    async def _queue(self, execution: Execution) -> bool:
        """Return whether it has its place; not if it was cancelled before its turn."""
        turn = execution.turn
        assert turn is not None
        ended = asyncio.ensure_future(execution.done.wait())
        await asyncio.wait((turn, ended), return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if execution.done.is_set():
            self._places.give_up(execution.client, turn)
            return False
        execution.state = "running"
        return True

    def _limits(self) -> ResourceLimits:
        settings = self._host.settings
        return ResourceLimits(
            settings.command_cpu_seconds,
            settings.command_memory_bytes,
            settings.command_processes,
            settings.command_file_bytes,
            settings.command_descriptors,
        )

    def _note(self, execution: Execution) -> None:
        self._audit.record(
            audited(
                execution.tool,
                execution.words,
                _audited_as(execution),
                exit_code=execution.exit_code,
                milliseconds=execution.milliseconds,
            )
        )

    # --- executions ------------------------------------------------------------------------

    async def status(self, caller: Caller, request: GetExecutionStatus) -> ExecutionOutcome:
        """Raises InvalidInput for an execution that is not known."""
        execution = self._find(caller, request.execution_id)
        await self._ended(execution, request.wait_ms)
        return self._outcome(execution, request.offset, request.max_chars)

    async def cancel(self, caller: Caller, request: CancelExecution) -> ExecutionCancelled:
        """Raises InvalidInput for an execution that is not known."""
        execution = self._find(caller, request.execution_id)
        return ExecutionCancelled(cancelled=execution.cancel(self._host.settings.kill_grace))

    async def end_context(self, caller: Caller, request: EndContext) -> ContextEnded:
        self._contexts.end(_context_key(caller, None))
        return ContextEnded()

    async def end_all(self) -> None:
        """End what runs: the daemon stops."""
        for execution in self._executions.values():
            execution.cancel(self._host.settings.kill_grace)
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _ended(self, execution: Execution, milliseconds: int) -> None:
        """Return when it has ended, or after this time."""
        if milliseconds and not execution.done.is_set():
            await set_by(execution.done, self._host.loop.time() + milliseconds / 1000)

    def _find(self, caller: Caller, identifier: str) -> Execution:
        execution = self._executions.get(identifier)
        if execution is None or execution.owner != _owner(caller):
            raise InvalidInput(
                f"no execution {identifier!r}",
                f"the last {self._host.settings.command_results} that ended are kept",
            )
        return execution

    def _keep(self, execution: Execution) -> None:
        """Remember it, and forget the oldest that have ended."""
        settings = self._host.settings
        self._executions[execution.id] = execution
        ended = [one for one in self._executions.values() if one.done.is_set()]
        chars = sum(one.captured.chars for one in ended)
        over = len(ended) - settings.command_results
        for oldest in ended:
            if over <= 0 and chars <= settings.command_results_chars:
                return
            over -= 1
            chars -= oldest.captured.chars
            del self._executions[oldest.id]

    def _outcome(
        self, execution: Execution, offset: int, max_chars: int | None, *, ended: bool = False
    ) -> ExecutionOutcome:
        most = self._host.budget(max_chars)
        whole = execution.captured.text()
        part = whole[offset : offset + most]
        apart = not offset and len(part) == len(whole) and execution.captured.has_errors
        return ExecutionOutcome(
            execution_id=execution.id,
            tool=execution.tool,
            status=execution.state,
            exit_code=execution.exit_code,
            execution_time_ms=execution.milliseconds,
            output_bytes=execution.captured.bytes,
            next_offset=offset + len(part) if offset + len(part) < len(whole) else None,
            left_out=execution.captured.left_out,
            error=execution.error,
            exit_codes=tuple(execution.exit_codes) if len(execution.exit_codes) > 1 else (),
            context_ended=ended,
            output=part,
            stdout=execution.captured.text("stdout") if apart else None,
            stderr=execution.captured.text("stderr") if apart else None,
        )

    # --- who asks --------------------------------------------------------------------------

    def _context(self, caller: Caller, name: str | None) -> CommandContext:
        key = _context_key(caller, name)
        if name is None and caller.door == "cli":
            return self._contexts.alone(key, caller.cwd)  # each command line has its own folder
        return self._contexts.get(key, caller.cwd)

    def _given(self, caller: Caller) -> Mapping[str, str]:
        return {**os.environ, **caller.env}


def _context_key(caller: Caller, name: str | None) -> str:
    return f"name:{_owner(caller)}:{name}" if name is not None else f"of:{caller.agent}"


def _owner(caller: Caller) -> str:
    """Return whose executions these are. All who have the daemon's token are one.

    A client that came in without one (ndjson_auth off) is nobody's.
    """
    return caller.owner


def _audited_as(execution: Execution) -> AuditStatus:
    if isinstance(execution.refusal, Forbidden | LimitReached):
        return "denied"
    return "success" if execution.state == "completed" else "failed"


def _finish(execution: Execution, printed: ContextOutput) -> None:
    execution.captured.add("stdout", printed.text.encode("utf-8", "replace"))
    if printed.error:
        execution.captured.add("stderr", printed.error.encode("utf-8", "replace"))
    execution.end(printed.exit_code)


def _dry(execution: Execution, stages: list[PipeStage]) -> ExecutionOutcome:
    return ExecutionOutcome(
        execution_id=execution.id,
        tool=execution.tool,
        status="checked",
        exit_code=None,
        execution_time_ms=0,
        output_bytes=0,
        argv=tuple(stage.argv for stage in stages),
        output=f"{execution.line}\n",
    )
