"""The operations on MCP servers behind nacre, and on their tools."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation, unlisted
from nacre.core.catalog.limits import cut_at
from nacre.core.operations.parameters import MaxChars

ServerName = Annotated[str, Meta(description="Name of an upstream server.")]
ToolName = Annotated[
    str, Meta(description="Name of a tool: as its server calls it, or mcp_<server>_<tool>.")
]
Texts = dict[str, str]


class UpstreamSummary(Result, frozen=True, kw_only=True):
    name: str
    transport: str | None  # null: its table is wrong
    enabled: bool
    state: Literal["disabled", "idle", "connecting", "connected", "failed"]
    error: str | None
    tools: int | None  # null: it was never connected to
    calls: int
    p50_ms: float | None
    failures: int
    target: str  # its command and arguments, or its url, as they are configured


class UpstreamList(Result, frozen=True, kw_only=True):
    servers: list[UpstreamSummary]
    file: str  # where they are configured
    error: str | None = None  # why that file cannot be read


class UpstreamTested(Result, frozen=True, kw_only=True):
    name: str
    server: str  # what it calls itself
    revision: str
    transport: str
    tools: int
    prompts: int
    resources: int
    ms: float


class UpstreamToolInfo(Result, frozen=True, kw_only=True):
    name: str  # what it is called in MCP
    server: str
    tool: str  # what its server calls it
    description: str
    schema: dict[str, Any] | None = None


class UpstreamToolList(Result, frozen=True, kw_only=True):
    tools: list[UpstreamToolInfo]
    left_out: int = 0
    failed: tuple[str, ...] = ()  # servers that list nothing, and why


class UpstreamAnswer(Result, frozen=True, kw_only=True):
    """What a tool answered, as its server sent it."""

    content: list[dict[str, Any]]
    is_error: bool = False
    server: str | None = None  # whose resources its links lead to; null: it has none
    structured_content: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    result_id: str | None = None  # the whole text, if it was too long
    left_out: int = 0  # characters


class UpstreamText(Result, frozen=True, kw_only=True):
    chars: int  # of the whole
    next_offset: int | None = None
    text: str


class UpstreamLog(Result, frozen=True, kw_only=True):
    lines: list[str]


class UpstreamsChanged(Result, frozen=True, kw_only=True):
    names: list[str]
    file: str


class ImportedUpstream(Result, frozen=True, kw_only=True):
    name: str
    notes: list[str]


class LeftOutUpstream(Result, frozen=True, kw_only=True):
    name: str
    why: str


class UpstreamsImported(Result, frozen=True, kw_only=True):
    added: list[ImportedUpstream]
    left_out: list[LeftOutUpstream]
    file: str


class UpstreamMessages(Result, frozen=True, kw_only=True):
    """What a prompt or a resource of a server holds, as it sent it."""

    content: dict[str, Any]


@operation(
    "list_upstreams", "GET /upstreams", result=UpstreamList, scope=Scope.OBSERVE, idempotent=True
)
class ListUpstreams(Operation, frozen=True, kw_only=True):
    """List the MCP servers behind nacre with their states."""


@operation("add_upstream", "POST /upstreams", result=UpstreamsChanged, scope=Scope.ADMIN)
class AddUpstream(Operation, frozen=True, kw_only=True):
    """Add an MCP server to the config. Values such as $TOKEN are written as they are."""

    name: ServerName
    command: Annotated[str, Meta(description="Program to run (transport stdio).")] | None = None
    args: Annotated[list[str], Meta(description="Its arguments.")] | None = None
    env: Annotated[Texts, Meta(description="Variables for it.")] | None = None
    cwd: Annotated[str, Meta(description="Its folder; your home without it.")] | None = None
    url: Annotated[str, Meta(description="Address of a server that runs already.")] | None = None
    headers: Annotated[Texts, Meta(description="Headers of requests to it.")] | None = None
    transport: (
        Annotated[Literal["stdio", "sse", "http"], Meta(description="How it is reached.")] | None
    ) = None
    enabled: Annotated[bool, Meta(description="Use it.")] = True
    start_timeout: Annotated[float, Meta(gt=0, description="Seconds for its start.")] | None = None
    call_timeout: Annotated[float, Meta(gt=0, description="Seconds for a call.")] | None = None
    enabled_tools: Annotated[list[str], Meta(description="Patterns of its tools.")] | None = None
    disabled_tools: Annotated[list[str], Meta(description="Patterns to leave out.")] | None = None
    client_id: Annotated[str, Meta(description="Registered client for logins.")] | None = None
    client_secret: Annotated[str, Meta(description="Its secret; $NAME is best.")] | None = None
    callback_port: (
        Annotated[int, Meta(ge=1, le=65_535, description="Port that its browser returns to.")]
        | None
    ) = None
    replace: Annotated[bool, Meta(description="Replace a server of that name.")] = False


@operation(
    "remove_upstream",
    "POST /upstreams/{server}/remove",
    result=UpstreamsChanged,
    scope=Scope.ADMIN,
    destructive=True,
)
class RemoveUpstream(Operation, frozen=True, kw_only=True):
    """Remove an MCP server from the config and end its process."""

    server: ServerName


@operation(
    "enable_upstream",
    "POST /upstreams/{server}/enable",
    result=UpstreamsChanged,
    scope=Scope.ADMIN,
    idempotent=True,
)
class EnableUpstream(Operation, frozen=True, kw_only=True):
    """Enable or disable an MCP server in the config; disabling ends its process."""

    server: ServerName
    enabled: Annotated[bool, Meta(description="false disables it.")] = True


@operation(
    "reload_upstreams",
    "POST /upstreams/reload",
    result=UpstreamsChanged,
    scope=Scope.ADMIN,
    idempotent=True,
)
class ReloadUpstreams(Operation, frozen=True, kw_only=True):
    """Read the config again, end connections to MCP servers, and reconnect when needed."""

    server: Annotated[str, Meta(description="Only this one.")] | None = None


@operation(
    "test_upstream",
    "POST /upstreams/{server}/test",
    result=UpstreamTested,
    scope=Scope.ADMIN,
    idempotent=True,
)
class TestUpstream(Operation, frozen=True, kw_only=True):
    """Connect to an MCP server and read its lists, or say why that fails."""

    __test__ = False  # no test of pytest

    server: ServerName


@operation(
    "list_upstream_tools",
    "GET /upstreams/tools",
    result=UpstreamToolList,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ListUpstreamTools(Operation, frozen=True, kw_only=True):
    """List the tools of MCP servers, of one or of all."""

    server: ServerName | None = None
    schemas: Annotated[bool, Meta(description="With the schemas of their parameters.")] = False
    max_chars: MaxChars | None = None


@operation(
    "search_upstream_tools",
    "GET /upstreams/search",
    result=UpstreamToolList,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class SearchUpstreamTools(Operation, frozen=True, kw_only=True):
    """Find tools of the connected MCP servers by keywords, the best first."""

    query: Annotated[str, Meta(min_length=1, description="What the tool should do.")]
    most: Annotated[int, cut_at(100, "Most tools to return.", least=1)] = 10


@operation(
    "describe_upstream_tool",
    "GET /upstreams/tools/{tool}",
    result=UpstreamToolInfo,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class DescribeUpstreamTool(Operation, frozen=True, kw_only=True):
    """Get a tool's whole description and the schema of its parameters."""

    tool: Annotated[str, Meta(description="Its name: mcp_<server>_<tool>.")]


@operation(
    "call_upstream_tool",
    "POST /upstreams/call",
    result=UpstreamAnswer,
    scope=Scope.DRIVE,
    destructive=True,
)
class CallUpstreamTool(Operation, frozen=True, kw_only=True):
    """Call a tool of an MCP server."""

    tool: ToolName
    server: Annotated[str, Meta(description="Its server, if the name does not say it.")] = ""
    arguments: (
        Annotated[dict[str, Any], Meta(description="Its arguments, as its schema says.")] | None
    ) = None
    max_chars: MaxChars | None = None


@operation(
    "read_upstream_result",
    "GET /upstreams/results/{result_id}",
    result=UpstreamText,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ReadUpstreamResult(Operation, frozen=True, kw_only=True):
    """Read more of a tool's result that was too long for an answer."""

    result_id: Annotated[str, Meta(description="The result_id of the answer.")]
    offset: Annotated[int, Meta(ge=0, description="Characters to leave out.")] = 0
    max_chars: MaxChars | None = None


@operation(
    "read_upstream_log",
    "GET /upstreams/{server}/logs",
    result=UpstreamLog,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ReadUpstreamLog(Operation, frozen=True, kw_only=True):
    """Show what an MCP server printed on its standard error, and what became of its connections."""

    server: ServerName


@operation(
    "import_upstreams", "POST /upstreams/import", result=UpstreamsImported, scope=Scope.ADMIN
)
class ImportUpstreams(Operation, frozen=True, kw_only=True):
    """Add the MCP servers of another host's file to the config."""

    text: Annotated[str, Meta(description="The file: JSON, also with comments.")]
    host: Annotated[
        Literal["claude-desktop", "claude-code", "cursor", "vscode"],
        Meta(description="Whose file it is."),
    ] = "claude-code"
    folder: Annotated[str, Meta(description="What ${workspaceFolder} stands for.")] = ""
    replace: Annotated[bool, Meta(description="Replace servers of the same name.")] = False


@unlisted("get_upstream_prompt", scope=Scope.DRIVE)
class GetUpstreamPrompt(Operation, frozen=True, kw_only=True):
    """Get a prompt of an MCP server."""

    server: str
    prompt: str
    arguments: dict[str, str] | None = None


@unlisted("read_upstream_resource", scope=Scope.DRIVE)
class ReadUpstreamResource(Operation, frozen=True, kw_only=True):
    """Read a resource of an MCP server."""

    server: str
    uri: str


@unlisted("complete_upstream_argument", scope=Scope.DRIVE)
class CompleteUpstreamArgument(Operation, frozen=True, kw_only=True):
    """Say what an argument of an MCP server's prompt or resource template may be."""

    server: str
    ref: dict[str, Any]  # as the protocol has it, with the server's own name or URI
    argument: dict[str, str]
    context: dict[str, Any] | None = None


class UpstreamWatched(Result, frozen=True, kw_only=True):
    watched: bool


@unlisted("watch_upstream_resource", scope=Scope.DRIVE)
class WatchUpstreamResource(Operation, frozen=True, kw_only=True):
    """Have an MCP server tell of updates of a resource, or have it stop that."""

    server: str
    uri: str
    watch: bool = True


@unlisted("gather_upstream_tools", scope=Scope.OBSERVE)
class GatherUpstreamTools(Operation, frozen=True, kw_only=True):
    """Wait a moment for the lists of servers that were never connected to; a door lists them."""
