"""What an AI host waits for: its requests that the daemon has not answered yet.

Rule 1: no I/O. The caller passes what was sent and received, in pieces of any size.
Rule 2: only the head of an answer is parsed: the rest may be megabytes.
Rule 3: a request that may have taken effect is never sent again; the host gets an error and
decides. Only requests that read, and a line that was not completely sent, go to the next daemon.
Rule 4: the host stays subscribed: the subscriptions are sent to the next daemon again.
"""

import json
from typing import Any, NamedTuple

from nacre.errors import WIRE, DaemonRestarted
from nacre.wording import OPERATIONS

# As doors/mcp/lines/wire.py writes answers: pydantic keeps the order of the fields.
_ANSWER = b'{"jsonrpc":"2.0","id":'
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_HEAD = 128  # bytes after that, in which the id and the next field are searched

# Requests that change nothing except what a daemon knows about the host, so the next daemon can
# answer them too.
_READING = frozenset(
    (
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "prompts/get",
    )
)
_KEPT_LINE = 65536  # bytes; a longer reading request is not kept to be asked again

# The daemon's own default for max_message_bytes: a longer line is refused whole or in pieces.
_LONGEST_LINE = 32 * 1024 * 1024

# A host that cancels in its own way leaves requests behind; the oldest are forgotten.
_MOST_WAITING = 4096
_MOST_STANDING = 1000  # subscriptions; the daemon accepts as many from one client

# Tools that change nothing: the host just calls them again. The bridge does not repeat them itself:
# a wait would start again from zero, and its host may have given up.
_READS = frozenset(
    (
        *("list_sessions", "get_screen", "get_scrollback", "await_quiesce", "read", "get_status"),
        *("wait_for", "read_run", "screenshot", "screen_at", "await_input"),
        *("view_screen", "get_cursor_position", "get_screen_size"),
        *("snapshot", "get_cells", "screen_hash", "screen_diff", "search"),
    )
)

# The tool that was called, and the tools that show its effect.
_SESSIONS, _SCREEN = ("list_sessions",), ("get_screen", "read", "view_screen", "screenshot")
_LOOKS = {
    **dict.fromkeys(("run_command", "send_input"), _SCREEN),
    **dict.fromkeys(("create_session", "manage_session"), _SESSIONS),
    **dict.fromkeys(("start_session", "close_session"), _SESSIONS),
    **dict.fromkeys(("send", "send_key"), ("read",)),
    **dict.fromkeys(("launch_app", "restart_app", "stop_app"), _SESSIONS),
    **dict.fromkeys(("send_keys", "resize_terminal"), ("view_screen",)),
    "run": ("get_status",),
}
_ELSE = ("list_sessions", *_SCREEN)  # for any other tool
_RUNS = ("run", "run_command")

# The toolsets in which those tools are that are named here.
_TOOLSETS = {
    "get_screen": ("terminal",),
    "list_sessions": ("terminal", "shell", "apps"),
    "read": ("shell",),
    "view_screen": ("apps",),
    "get_status": ("shell",),
    "screenshot": ("extra",),
    "wait_for": ("extra",),
}
_DEFAULT_TOOLSET = "agent"

# The tools of toolset `terminal`, whose errors are the protocol's; those of others are results.
_TERMINAL = frozenset(
    (
        *("create_session", "list_sessions", "manage_session", "send_input", "get_screen"),
        *("get_scrollback", "await_quiesce", "run_command", "overlay", "remove_overlay"),
        *("panel", "remove_panel", "input_mode", "screen_mode"),
    )
)

# The toolset whose answers are plain text, its tools, and which of them show the effect of another.
_PLAIN = "agent"
_PLAIN_LOOKS: dict[str, str | None] = {
    "run": "read",
    "type": "read",
    "sessions": "sessions",
    **dict.fromkeys(("wait", "read", "screenshot")),  # these change nothing
}

_LIST = ""  # stands for the list: a host that has read it is told of its changes

_json = json.JSONDecoder()  # json.loads would guess the encoding first


def _failure(told: dict[str, Any], *, plain: bool) -> dict[str, Any]:
    """Return an error as the result of a tool, as doors/mcp/tools/answers.py makes it."""
    text = f"error: {told['message']}" if plain else json.dumps(told, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "resultType": "complete",
        "_meta": {"nacre/error": {"code": told["code"], "message": told["message"]}},
    }


class _Request(NamedTuple):
    tool: str | None  # of tools/call
    line: bytes | None  # to ask again; None: it must not be repeated


class InFlight:
    """One host's requests, also across restarts of the daemon."""

    def __init__(self, prefix: str = "", toolsets: str = "") -> None:
        self._prefix = prefix  # of the tools' names
        named = [name.strip() for name in toolsets.split(",") if name.strip()]
        self._toolsets = set(named) or {_DEFAULT_TOOLSET}
        # Of tools with the same name that is offered whose toolset was named first.
        self._is_plain = (named or [_DEFAULT_TOOLSET])[0] == _PLAIN
        self._has_terminal = bool({"terminal", "all"} & self._toolsets)
        self._begun = bytearray()  # of a line that is not wholly sent
        self._unended = bytearray()  # of a line that is not wholly received
        self._waiting: dict[Any, _Request] = {}
        self._initialize: Any = None  # the id of the handshake that is done or in progress
        self._handshake: list[bytes] = []  # its lines
        self._standing: dict[str, tuple[Any, bytes]] = {}  # URI → the request that subscribed
        # Ids of requests that we repeated: the host must not see their answers.
        self._swallow: set[Any] = set()

    def sent(self, data: bytes) -> None:
        """Note what was written to the daemon."""
        if b"\n" not in data:
            self._begun += data
            if len(self._begun) > _LONGEST_LINE:
                self._begun.clear()
            return
        *lines, rest = (bytes(self._begun) + data if self._begun else data).split(b"\n")
        self._begun = bytearray(rest)
        for line in lines:
            if line:
                self._note(line)

    def _note(self, line: bytes) -> None:
        try:
            message = _json.decode(line.decode())
        except (ValueError, RecursionError):
            return  # the daemon will say so
        if not isinstance(message, dict):
            return
        method, request = message.get("method"), message.get("id")
        if method == "notifications/initialized" and self._handshake:
            self._handshake = [self._handshake[0], line]
        elif method == "notifications/cancelled":
            self._waiting.pop(_identifier(_params(message).get("requestId")), None)
        if _identifier(request) is None or not isinstance(method, str):
            return
        if method == "initialize":
            self._initialize, self._handshake = request, [line]
        if len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        again = method in _READING and len(line) <= _KEPT_LINE
        if again and self._handshake:
            self._note_standing(method, _params(message).get("uri"), request, line)
        tool = _params(message).get("name") if method == "tools/call" else None
        self._waiting[request] = _Request(tool, line if again else None)

    def _note_standing(self, method: str, uri: Any, request: Any, line: bytes) -> None:
        if method == "resources/list":
            uri = _LIST
        if not isinstance(uri, str):
            return
        if method == "resources/unsubscribe":
            self._standing.pop(uri, None)
        elif method in ("resources/list", "resources/subscribe") and (
            uri in self._standing or len(self._standing) < _MOST_STANDING
        ):
            self._standing[uri] = (request, line)

    def received(self, data: bytes) -> bytes:
        """Note what the daemon wrote. Return the complete lines that the host gets."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._unended += data
            return b""
        if self._unended or end < len(data):
            whole = bytes(self._unended) + data[:end]
            self._unended = bytearray(data[end:])
        else:
            whole = data
        start = 0
        while start < len(whole):
            end = whole.index(b"\n", start) + 1
            instead = self._for_host(whole, start, end)
            if instead is not None:
                whole = whole[:start] + instead + whole[end:]
                end = start + len(instead)
            start = end
        return whole

    def _for_host(self, lines: bytes, start: int, end: int) -> bytes | None:
        """Return what the host gets instead of a line; None: the line itself."""
        answer = _read_answer(lines, start, end)
        if answer is None:
            return None
        request, succeeded = answer
        if request is None:  # the answer to a line that was not a request
            return None
        if request in self._swallow:
            self._swallow.discard(request)
            return self._stand_again(request, succeeded=succeeded)
        self._waiting.pop(request, None)
        if not succeeded:
            self._stand_again(request, succeeded=False)
            if request == self._initialize:
                self._initialize, self._handshake = None, []
        return None

    def _stand_again(self, request: Any, *, succeeded: bool) -> bytes:
        """Return what to send the host about a subscription that was made again, or drop it.

        Meanwhile everything may have changed.
        """
        found = [uri for uri, (asked, _) in self._standing.items() if asked == request]
        if not succeeded:
            for uri in found:
                del self._standing[uri]
            return b""
        return b"".join(map(_update, found))

    def again(self) -> bytes:
        """Return the lines that a new daemon gets first; called at each attempt to reach one."""
        self._unended.clear()
        lines = list(self._handshake)
        answered = [
            (request, line)
            for request, line in self._standing.values()
            if request not in self._waiting
        ]
        lines += [line for _, line in answered]
        self._swallow = {request for request, _ in answered}
        if self._handshake and self._initialize not in self._waiting:
            self._swallow.add(self._initialize)
        reading = [
            request.line
            for identifier, request in self._waiting.items()
            if request.line is not None and identifier != self._initialize
        ]
        return b"".join(line + b"\n" for line in [*lines, *reading])

    def leave(self) -> None:
        """Note that the host has closed its input: it gets answers, and no news any more.

        The Python SDK 1 raises out of the host's shutdown when a notification comes in it.
        """
        self._standing.clear()

    def unsent(self) -> bytes:
        """Return the beginning of a line that the last daemon did not get whole, and forget it."""
        begun = bytes(self._begun)
        self._begun.clear()
        return begun

    def apologies(self) -> bytes:
        """Return an error for each request that the last daemon did not answer; forget them."""
        lost = {key: request for key, request in self._waiting.items() if request.line is None}
        for identifier in lost:
            del self._waiting[identifier]
        return b"".join(
            self._apology(identifier, request.tool) for identifier, request in lost.items()
        )

    def _apology(self, request: Any, tool: str | None) -> bytes:
        told = OPERATIONS.error(DaemonRestarted(self._explain(tool), retry=True))
        if tool is None or (self._has_terminal and tool.removeprefix(self._prefix) in _TERMINAL):
            code = WIRE[told["code"]].jsonrpc
            body = {"error": {"code": code, "message": told["message"], "data": told}}
        else:
            body = {"result": _failure(told, plain=self._plain(tool))}
        return json.dumps({"jsonrpc": "2.0", "id": request, **body}).encode() + b"\n"

    def _explain(self, tool: str | None) -> str:
        happened = "the daemon was restarted before it answered; the sessions are still running"
        if tool is None:
            return f"{happened}: try again"
        name = tool.removeprefix(self._prefix)
        if self._plain(tool):
            return self._explain_plain(happened, name)
        if name in _READS:
            return f"{happened}: try again"
        looks = self._offered(_LOOKS.get(name, _ELSE))
        look = f" with {' or '.join(looks)}" if looks else ""
        if name not in _RUNS:
            return f"{happened}. It may have been carried out: look first{look}, else try again"
        waits = self._offered(("wait_for",))
        waiting = f"; {waits[0]} with state prompt waits for its end" if waits else ""
        return (
            f"{happened}. The command may have been started, and may still run: look at the "
            f"session first{look}{waiting}. Else try again"
        )

    def _plain(self, tool: str) -> bool:
        return self._is_plain and tool.removeprefix(self._prefix) in _PLAIN_LOOKS

    def _explain_plain(self, happened: str, name: str) -> str:
        look = _PLAIN_LOOKS[name]
        if look is None:
            return f"{happened}: try again"
        shown = ' {"what": "screen"}' if look == "read" else ""
        started = "The command may have been started" if name == "run" else "It may have been done"
        return f"{happened}. {started}: look first with {self._prefix}{look}{shown}, else try again"

    def _offered(self, tools: tuple[str, ...]) -> list[str]:
        """Return the names of those that the host was given; of several that show a screen one."""
        given = [name for name in tools if {"all", *_TOOLSETS[name]} & self._toolsets]
        screens = [name for name in given if name in _SCREEN]
        return [self._prefix + name for name in given if name not in screens[1:]]


def _update(uri: str) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if uri == _LIST:
        message["method"] = "notifications/resources/list_changed"
    else:
        message["method"] = "notifications/resources/updated"
        message["params"] = {"uri": uri}
    return json.dumps(message).encode() + b"\n"


def _identifier(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) else None


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _read_answer(lines: bytes, start: int, end: int) -> tuple[Any, bool] | None:
    """Return which request the line from start to end answers, and whether it is a result."""
    if lines.startswith(_ANSWER, start):
        begin = start + len(_ANSWER)
        # A character that is cut at the end of the head comes after what we need.
        head = lines[begin : min(end, begin + _HEAD)].decode(errors="replace")
        try:
            request, at = _json.raw_decode(head)
        except ValueError:  # longer than the head
            pass
        else:
            if head.startswith(',"result":', at):
                return request, True
            if head.startswith(',"error":', at):
                return request, False
    elif lines.startswith(_NOTIFICATION, start):
        return None
    try:
        message = _json.decode(lines[start:end].decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" in message:
        return None
    request = _identifier(message.get("id"))
    return None if request is None else (request, "error" not in message)
