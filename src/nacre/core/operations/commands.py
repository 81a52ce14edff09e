"""The operations on commands of the catalog, and on their executions."""

from typing import Annotated, Any

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation, unlisted
from nacre.core.catalog.limits import milliseconds
from nacre.core.operations.parameters import MaxChars

CommandName = Annotated[str, Meta(description="Name or alias of a command.")]
ExecutionId = Annotated[str, Meta(description="The execution_id that a call was answered with.")]
ContextName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        description="A name of your choice for a context of your own: its folder, variables, "
        "history and jobs. Without it: the one of your connection.",
    ),
]
Offset = Annotated[int, Meta(ge=0, description="Characters of the output to leave out.")]


class CommandList(Result, frozen=True, kw_only=True):
    commands: list[dict[str, Any]]
    warnings: list[str]


class CommandDescribed(Result, frozen=True, kw_only=True):
    name: str
    description: str
    schema: dict[str, Any]
    aliases: list[str]
    group: str
    risk: str
    examples: list[dict[str, Any]]


class ExecutionOutcome(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Small fields stand before long ones."""

    execution_id: str
    tool: str
    status: str
    exit_code: int | None
    execution_time_ms: int
    output_bytes: int
    next_offset: int | None = None  # where the rest of the output begins
    left_out: int = 0  # characters in the middle that are not kept
    error: str | None = None
    exit_codes: tuple[int, ...] = ()  # of a pipeline
    context_ended: bool = False
    argv: tuple[list[str], ...] = ()  # of a dry run
    output: str
    stdout: str | None = None  # these two where something was printed on standard error
    stderr: str | None = None


class ExecutionCancelled(Result, frozen=True, kw_only=True):
    cancelled: bool


class ContextEnded(Result, frozen=True, kw_only=True):
    ended: bool = True


@operation(
    "list_commands", "GET /commands", result=CommandList, scope=Scope.OBSERVE, idempotent=True
)
class ListCommands(Operation, frozen=True, kw_only=True):
    """List the commands of the catalog with their arguments."""


@operation(
    "describe_command",
    "GET /commands/{command}",
    result=CommandDescribed,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class DescribeCommand(Operation, frozen=True, kw_only=True):
    """Get a command's description, its arguments as a JSON schema, and examples."""

    command: CommandName


@operation(
    "call_command",
    "POST /commands/call",
    result=ExecutionOutcome,
    scope=Scope.DRIVE,
    destructive=True,
)
class CallCommand(Operation, frozen=True, kw_only=True):
    """Run a command of the catalog, without a shell, and return its output and exit code.

    If it takes longer than wait_ms, the answer has the status running; it goes on.
    """

    tool: Annotated[str, Meta(description="Name or alias of a command.")] = ""
    args: (
        Annotated[dict[str, Any], Meta(description="Its arguments by name, as its schema says.")]
        | None
    ) = None
    pipeline: (
        Annotated[
            list[list[str]],
            Meta(
                min_length=1,
                max_length=16,
                description="Instead of tool and args: commands with their words, each of which "
                "feeds the next.",
            ),
        ]
        | None
    ) = None
    stdin: Annotated[str, Meta(description="Text for the command to read.")] | None = None
    dry_run: Annotated[bool, Meta(description="Check it and return its words; run nothing.")] = (
        False
    )
    context: ContextName | None = None
    wait_ms: Annotated[int, milliseconds("Longest wait in ms.", deadline=True)] = 60_000
    max_chars: MaxChars | None = None


@operation(
    "get_execution_status",
    "GET /executions/{execution_id}",
    result=ExecutionOutcome,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetExecutionStatus(Operation, frozen=True, kw_only=True):
    """Get the status of an execution, and its output from an offset on."""

    execution_id: ExecutionId
    wait_ms: Annotated[int, milliseconds("Wait in ms for its end.", deadline=True)] = 0
    offset: Offset = 0
    max_chars: MaxChars | None = None


@operation(
    "cancel_execution",
    "POST /executions/{execution_id}/cancel",
    result=ExecutionCancelled,
    scope=Scope.DRIVE,
    destructive=True,
    idempotent=True,
)
class CancelExecution(Operation, frozen=True, kw_only=True):
    """End a running execution with all that it started; false if it has ended already."""

    execution_id: ExecutionId


@unlisted("end_context", scope=Scope.DRIVE)
class EndContext(Operation, frozen=True, kw_only=True):
    """Forget the context of a connection that has closed."""
