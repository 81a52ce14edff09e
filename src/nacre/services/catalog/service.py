"""Commands of the catalog: check, run, tell what came of it.

Rule: every call passes the same checks in the same order, whichever door it came by, and each
execution or refusal is audited exactly once.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Any

from nacre.core.catalog.caller import Caller
from nacre.core.commands.book import CommandBook, whitelist_of
from nacre.core.commands.checks import Checks
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
from nacre.core.policy.paths import Where
from nacre.core.policy.rulebook import RuleBook
from nacre.errors import (
    Forbidden,
    Internal,
    InvalidInput,
    LimitReached,
    NacreError,
    SandboxUnavailable,
)
from nacre.services.catalog.assistant import Assistant
from nacre.services.catalog.audit import AuditFile, AuditStatus, ExecutionAudit, audited
from nacre.services.catalog.builtins import Builtins, ContextOutput
from nacre.services.catalog.contexts import CommandContext, Contexts, without_secret
from nacre.services.catalog.execution import Execution
from nacre.services.catalog.executions import Executions
from nacre.services.catalog.programs import CommandSurroundings, Programs
from nacre.services.catalog.stages import CallChecks, PipeStage
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import set_by
from nacre.system.command_files import CommandFiles
from nacre.system.links import links_in
from nacre.system.policy_files import shipped
from nacre.system.unfinished import Unfinished

_log = logging.getLogger("nacre.catalog")


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
        unfinished: Unfinished | None = None,
    ) -> None:
        """`home` is where contexts begin, `private` are nacre's own folders.

        What `unfinished` says of an earlier daemon's commands is ended.
        """
        settings = host.settings
        self._host = host
        self._files = files
        self._environ = dict(os.environ)  # the daemon's own does not change
        private = tuple(os.path.realpath(one) for one in private)
        self._contexts = Contexts(settings.command_contexts, home, private)
        self._programs = Programs(host, self._where)
        self._assistant = Assistant(settings.sampling_wait)
        self._audit = audit or AuditFile(settings.audit_log, host.secrets.redaction_of_logs)
        self._executions = Executions(host, unfinished or Unfinished(None), self._note)
        self._tasks: set[asyncio.Task[None]] = set()
        rules = shipped("commands")
        self._checks = Checks(
            rules,
            whitelist_of(settings.commands_whitelist),
            settings.commands_allow_patterns,
            private,
            links_in,
        )
        book = RuleBook()
        book.add(rules)
        policy = Policy("open", book)
        self._calls = CallChecks(self._checks, policy, self._contexts.home, private)
        self._executions.clear_up()

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
        listed = [
            entry.as_listed() if book.may_run(entry) else {**entry.as_listed(), "refused": True}
            for entry in book
        ]
        return CommandList(commands=listed, warnings=list(book.warnings))

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
        """Raises Forbidden, InvalidInput, CommandNotFound, LimitReached, SandboxUnavailable."""
        context = self._context(caller, request.context)
        stages = self._checked(caller, request, context)
        execution = self._execution(caller, stages)
        if request.dry_run:
            return _dry(execution, stages)
        # The folder that the paths were checked in: another call may change it before this runs.
        surroundings = CommandSurroundings(context.cwd, context.environment(self._given(caller)))
        try:
            await self._programs.prepare(stages)
        except SandboxUnavailable:
            self._audit.record(audited(execution.tool, execution.words, "denied"))
            raise
        context.note(execution.line, self._host.settings.command_history)
        if not stages[0].entry.builtin:
            try:
                self._programs.admit(execution)
            except LimitReached:
                self._audit.record(audited(execution.tool, execution.words, "denied"))
                raise
            context.forget_jobs()
            context.add_job(execution)
        self._executions.keep(execution)
        stdin = None if request.stdin is None else request.stdin.encode("utf-8", "replace")
        if not (len(stages) == 1 and stages[0].entry.builtin):
            self._executions.write_down(execution)
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
        return self._executions.describe(execution, 0, request.max_chars, ended=context.ended)

    def _begin(
        self,
        execution: Execution,
        stages: list[PipeStage],
        surroundings: CommandSurroundings,
        stdin: bytes | None,
    ) -> None:
        try:
            self._programs.start(execution, stages, surroundings, stdin)
        except NacreError as error:
            execution.refuse(error)  # told by who waits for it

    def _checked(
        self, caller: Caller, request: CallCommand, context: CommandContext
    ) -> list[PipeStage]:
        """Return what is to be run. What is refused is audited here, once for a call."""
        called = request.tool
        words = without_secret(called, [str(value) for value in (request.args or {}).values()])
        if request.pipeline is not None:
            if request.tool or request.args:
                raise InvalidInput("a call has a tool or a pipeline", "give one of them")
            called, *words = _piped(request.pipeline)
        try:
            return self._calls.stages(request, context, self._given(caller), self.book())
        except (Forbidden, InvalidInput) as error:
            if called:  # who names no command is refused none
                self._audit.record(audited(called, words, "denied"))
            raise error

    def _execution(self, caller: Caller, stages: list[PipeStage]) -> Execution:
        first = stages[0]
        words = without_secret(first.entry.name, first.argv[1:])
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
                self._programs.admit(execution)
            await self._programs.run(execution, stages, surroundings, stdin)
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
            done = await act(stage.values)
            if (
                stage.entry.name == "export"
            ):  # a secret is taken out of answers and logs from now on
                self._host.secrets.learn_variables(context.exported)
            return done

        def runs(name: str, args: Mapping[str, Any]) -> bool:
            return self._calls.passes(name, args, context, given, book)

        answer = self._assistant.answer
        name, values = stage.entry.name, stage.values
        return ContextOutput(await answer(name, values, context, given, book, runs))

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
        execution = self._executions.find(caller, request.execution_id)
        await self._ended(execution, request.wait_ms)
        return self._executions.describe(execution, request.offset, request.max_chars)

    async def cancel(self, caller: Caller, request: CancelExecution) -> ExecutionCancelled:
        """Raises InvalidInput for an execution that is not known."""
        execution = self._executions.find(caller, request.execution_id)
        return ExecutionCancelled(cancelled=execution.cancel(self._host.settings.kill_grace))

    async def end_context(self, caller: Caller, request: EndContext) -> ContextEnded:
        self._contexts.end(_context_key(caller, None))
        return ContextEnded()

    async def end_all(self) -> None:
        """End what runs: the daemon stops."""
        self._executions.cancel_all()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._executions.cleared()

    async def _ended(self, execution: Execution, milliseconds: int) -> None:
        """Return when it has ended, or after this time."""
        if milliseconds and not execution.done.is_set():
            await set_by(execution.done, self._host.loop.time() + milliseconds / 1000)

    # --- who asks --------------------------------------------------------------------------

    def _context(self, caller: Caller, name: str | None) -> CommandContext:
        key = _context_key(caller, name)
        if name is None and caller.door == "cli":
            return self._contexts.alone(key, caller.cwd)  # each command line has its own folder
        return self._contexts.get(key, caller.cwd)

    def _where(self, cwd: str) -> Where:
        contexts = self._contexts
        return CommandContext("", cwd).where(contexts.home, contexts.private)

    def _given(self, caller: Caller) -> Mapping[str, str]:
        return {**self._environ, **caller.env} if caller.env else self._environ


def _context_key(caller: Caller, name: str | None) -> str:
    kind, known = ("of", caller.agent) if name is None else ("name", name)
    # Two tokens are two callers, also where their programs give themselves the same name.
    return f"{kind}:{_owner(caller)}:{known}"


def _owner(caller: Caller) -> str:
    """Return whose executions these are. All who have the daemon's token are one.

    A client that came in without one (ndjson_auth off) is nobody's.
    """
    return caller.owner


def _audited_as(execution: Execution) -> AuditStatus:
    if isinstance(execution.refusal, Forbidden | LimitReached):
        return "denied"
    return "success" if execution.state == "completed" else "failed"


def _piped(pipeline: list[list[str]]) -> list[str]:
    """Return the words of a pipeline, as the log of executions has them."""
    words: list[str] = []
    for called, *given in (stage or [""] for stage in pipeline):
        words += ["|", called, *without_secret(called, given)]
    return words[1:]


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
