"""The six tools of the toolset agent, as a model reads them.

Rule 1: each is composed of operations of the catalog (services/agent): nothing is done here that
another door cannot ask for.
Rule 2: a model pays for every word of every list. What the first answer tells anyway is not said
here, and numbers come from the code.
Rule 3: times are in seconds and lines count from one, as models write them.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, Spec, composed, unlisted
from nacre.core.catalog.limits import cut_at
from nacre.core.operations.parameters import Cols, Rows, SessionRef, TimeOut
from nacre.core.operations.results import Sent

AGENT: dict[str, Spec] = {}

MAIN = "main"  # the session of a client that names none

# Seconds. A command: most end within this, and hosts wait for 60. An answer to a program: it comes
# at once. A wait: as long as hosts let it.
RUN_WAIT, TYPE_WAIT, WAIT_WAIT = 45, 5, 60
ANSWER_CHARS, READ_CHARS = 12_000, 16_000  # an answer is cut to about 3,000 tokens, 4,000 if read
READ_LINES, CONTEXT = 200, 2

Session = Annotated[str | int, Meta(description=f"Terminal; default {MAIN}, yours alone.")]
MaxChars = Annotated[int, Meta(ge=200, description="Cut the text to this.")]


def _seconds(description: str) -> Meta:
    return Meta(ge=0, description=description)


class AgentAnswer(Result, frozen=True, kw_only=True):
    """What a tool answers with: one text whose first line is the state, or a picture."""

    text: str
    failed: bool = False  # nothing was done: the first line says what to do instead
    meta: dict[str, Any]  # the same for machines
    picture: str | None = None  # base64 of a PNG file


@composed("agent_run", AGENT, result=AgentAnswer, scope=Scope.DRIVE, destructive=True)
class AgentRun(Operation, frozen=True, kw_only=True):
    """Run a command in a persistent terminal; returns its output and exit code when it ends.

    Use it for every command: builds, tests, git, servers, ssh, REPLs. cd, variables and venvs stay.
    Several lines and heredocs are fine. What outlasts `wait` keeps running (wait 0: a server);
    questions and full-screen programs come back at once. No sleep or polling is needed.
    """

    command: Annotated[str, Meta(description="Shell command, or code if a REPL is open.")]
    session: Session = MAIN
    wait: Annotated[float, _seconds("Seconds until it is left running.")] = RUN_WAIT
    cwd: Annotated[str, Meta(description="cd there first.")] | None = None
    max_chars: MaxChars = ANSWER_CHARS


@composed("agent_type", AGENT, result=AgentAnswer, scope=Scope.DRIVE, destructive=True)
class AgentType(Operation, frozen=True, kw_only=True):
    """Type into the program that runs: answer a question, drive an editor or TUI, interrupt.

    Returns what came of it. Never type a password: a person does.
    """

    text: Annotated[str, Meta(description="Typed as it is.")] | None = None
    keys: (
        Annotated[
            list[str],
            Meta(
                min_length=1,
                description='Key names or text, as in ["Esc", ":wq", "Enter"] or ["C-c"].',
            ),
        ]
        | None
    ) = None
    enter: Annotated[bool, Meta(description="Press Enter after text.")] = True
    session: Session = MAIN
    wait: Annotated[float, _seconds("Most seconds to wait for what comes of it.")] = TYPE_WAIT
    max_chars: MaxChars = ANSWER_CHARS


@composed("agent_wait", AGENT, result=AgentAnswer, scope=Scope.OBSERVE, idempotent=True)
class AgentWait(Operation, frozen=True, kw_only=True):
    """Wait for the last run to end or ask, or for a text; returns only what is new.

    Of several sessions, the first that moves.
    """

    session: Session = MAIN
    sessions: Annotated[list[str | int], Meta(min_length=1)] | None = None
    pattern: (
        Annotated[
            str,
            Meta(min_length=1, description="Text or regex, as in ready|error; the end counts too."),
        ]
        | None
    ) = None
    wait: Annotated[float, _seconds("Most seconds.")] = WAIT_WAIT
    max_chars: MaxChars = ANSWER_CHARS


@composed("agent_read", AGENT, result=AgentAnswer, scope=Scope.OBSERVE, idempotent=True)
class AgentRead(Operation, frozen=True, kw_only=True):
    """Read or search output without touching anything: what was cut, an earlier run, the screen."""

    session: Session = MAIN
    what: Annotated[
        str, Meta(description='last (run), "run 7", screen, or all (the whole terminal).')
    ] = "last"
    search: Annotated[str, Meta(min_length=1, description="Text or regex.")] | None = None
    context: Annotated[int, cut_at(50, "Lines around a match.")] = CONTEXT
    first: Annotated[int, Meta(ge=1, description="First line; else the last lines.")] | None = None
    lines: Annotated[int, cut_at(10_000, least=1)] = READ_LINES
    max_chars: MaxChars = READ_CHARS


@composed("agent_sessions", AGENT, result=AgentAnswer, scope=Scope.DRIVE, destructive=True)
class AgentSessions(Operation, frozen=True, kw_only=True):
    """List terminals, or start, close, restart, rename or resize one.

    run starts a session that does not exist yet; start is for a program instead of a shell.
    """

    action: Literal["list", "start", "close", "restart", "rename", "resize"] = "list"
    session: str | int | None = None
    command: Annotated[str, Meta(description="start: program instead of the shell.")] | None = None
    cwd: str | None = None
    name: Annotated[str, Meta(description="start, rename: the new name.")] | None = None
    rows: Annotated[Rows, Meta(description="resize")] | None = None
    cols: Annotated[Cols, Meta(description="resize")] | None = None


@composed("agent_screenshot", AGENT, result=AgentAnswer, scope=Scope.OBSERVE, idempotent=True)
class AgentScreenshot(Operation, frozen=True, kw_only=True):
    """Take a PNG of the screen, for layout and colours; read with what=screen is cheaper."""

    session: Session = MAIN


# What hosts that search for tools find them by (anthropic/searchHint).
SEARCH_HINTS = {
    "agent_run": "shell terminal bash command execute run script build test git ssh server",
    "agent_type": "type keys answer prompt interrupt ctrl-c editor tui",
    "agent_wait": "wait background process finish output ready",
    "agent_read": "read output log search grep terminal screen",
    "agent_sessions": "terminal sessions list start close",
    "agent_screenshot": "terminal screenshot image",
}
# Hosts that put tools aside until they are searched for leave these where the model sees them.
ALWAYS_LOADED = frozenset(("agent_run", "agent_type", "agent_wait", "agent_read"))


@unlisted("type_keys", scope=Scope.DRIVE, types=True, result=Sent)
class TypeKeys(Operation, frozen=True, kw_only=True):
    """Type text and keys, wait until it is clear what came of it, and return what was printed.

    Waits as long as a program runs that asks for nothing, for a screen until it is drawn.
    """

    session: SessionRef
    text: str = ""
    keys: tuple[str, ...] = ()
    timeout_ms: TimeOut = 5000


class MainSession(Result, frozen=True, kw_only=True):
    session_id: str | None  # None as long as there is none


@unlisted("find_main", scope=Scope.OBSERVE)
class FindMain(Operation, frozen=True, kw_only=True):
    """Return which session a client means by main. It asks for nothing: no hand-over is told."""
