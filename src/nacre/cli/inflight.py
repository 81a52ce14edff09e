"""What an AI host waits for: the requests of its that the daemon has not answered yet.

Rule 1: no I/O: it is told what was sent and received, in whatever pieces that went.
Rule 2: of an answer only the head is looked at: the rest may be megabytes.
Rule 3: what may have been carried out is never sent again: the host is told, and decides. Only what
reads, and a line that was not wholly sent, goes to the next daemon by itself.
Rule 4: what the host subscribed to, it stays subscribed to: the next daemon is asked for it.
"""

import json
from typing import Any, NamedTuple

from nacre.errors import WIRE, DaemonRestarted

# As doors/mcp/lines.py writes them: pydantic keeps the order of the fields.
_ANSWER = b'{"jsonrpc":"2.0","id":'
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_HEAD = 128  # bytes after that in which an id and what follows it is looked for

# Requests that change nothing but what a daemon knows of the host: the next one answers them as
# well as the one before.
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
_KEPT_LINE = 65536  # bytes of a reading request that is kept to be asked again

# The daemon's own default for max_message_bytes: a longer line is refused whole or in pieces.
_LONGEST_LINE = 32 * 1024 * 1024

# A host that cancels in other ways leaves requests behind; the oldest are forgotten.
_MOST_WAITING = 4096
_MOST_STANDING = 1000  # subscriptions, as many as the daemon takes of one client

_LIST = ""  # whoever has read the list of resources hears of its changes

_json = json.JSONDecoder()  # json.loads would guess the encoding first


class _Request(NamedTuple):
    tool: str | None  # of tools/call
    line: bytes | None  # to ask it again with


class InFlight:
    """One host's requests, over all the connections that it takes to answer them."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix  # of the tools' names
        self._begun = bytearray()  # of a line that is not wholly sent
        self._unended = bytearray()  # of a line that is not wholly received
        self._waiting: dict[Any, _Request] = {}
        self._initialize: Any = None  # the id of the handshake that was made, or is under way
        self._handshake: list[bytes] = []  # its lines
        self._standing: dict[str, tuple[Any, bytes]] = {}  # URI → the request that subscribed
        self._swallow: set[Any] = set()  # ids of what only the daemon needs again

    def sent(self, data: bytes) -> None:
        """Take note of what was written to the daemon."""
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
        """Take note of what the daemon wrote; return the whole lines of it that the host gets."""
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
        """Return what the host gets instead of a line; None: the line as it is."""
        answer = _read_answer(lines, start, end)
        if answer is None:
            return None
        request, succeeded = answer
        if request is None:  # to a line that was no request
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
        """Return what the host is told of a subscription that is in place again, or drop it.

        While there was none, everything may have changed.
        """
        found = [uri for uri, (asked, _) in self._standing.items() if asked == request]
        if not succeeded:
            for uri in found:
                del self._standing[uri]
            return b""
        return b"".join(map(_update, found))

    def again(self) -> bytes:
        """Return the lines that a new daemon gets first; asked for at each attempt to reach one."""
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

    def unsent(self) -> bytes:
        """Return the beginning of a line that the daemon before never got whole, and forget it."""
        begun = bytes(self._begun)
        self._begun.clear()
        return begun

    def apologies(self) -> bytes:
        """Return an error for each request that the daemon before took along, and forget those."""
        lost = {key: request for key, request in self._waiting.items() if request.line is None}
        for identifier in lost:
            del self._waiting[identifier]
        return b"".join(
            self._apology(identifier, request.tool) for identifier, request in lost.items()
        )

    def _apology(self, request: Any, tool: str | None) -> bytes:
        error = DaemonRestarted(self._explain(tool), retry=True)
        body = {
            "code": WIRE[error.code].jsonrpc,
            "message": error.message,
            "data": error.as_dict(),
        }
        return json.dumps({"jsonrpc": "2.0", "id": request, "error": body}).encode() + b"\n"

    def _explain(self, tool: str | None) -> str:
        p = self._prefix
        happened = "the daemon was restarted before it answered; the sessions go on"
        if tool is None:
            return f"{happened}: try again"
        if tool in (f"{p}run", f"{p}run_command"):
            return (
                f"{happened}. The command may have been started, and may still run: look at the "
                f"session first ({p}get_status or {p}get_screen); {p}wait_for with its run_id, or "
                "with state prompt, waits for its end. Else try again"
            )
        return (
            f"{happened}. It may have been carried out: look first ({p}list_sessions, "
            f"{p}get_screen), else try again"
        )


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
    """Return which request the line from start to end answers, and whether with a result."""
    if lines.startswith(_ANSWER, start):
        begin = start + len(_ANSWER)
        # A character that is cut at the head's end stands after what is looked at.
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
