"""What an AI host waits for: the requests of its that the daemon has not answered yet.

Rule 1: no I/O: it is told what was sent and received, in whatever pieces that went.
Rule 2: of an answer only the head is looked at: the rest may be megabytes.
Rule 3: what may have been carried out is never sent again: the host is told, and decides. Only what
reads, and a line that was not wholly sent, goes to the next daemon by itself.
"""

import json
from typing import Any, NamedTuple

from nacre.errors import WIRE, DaemonRestarted

# As doors/mcp/lines.py writes them: pydantic keeps the order of the fields.
_ANSWER = b'{"jsonrpc":"2.0","id":'
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_HEAD = 128  # bytes after that in which an id and what follows it is looked for

# Requests that change nothing: the next daemon answers them as well as the one before.
_READING = frozenset(
    (
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
    )
)
_KEPT_LINE = 65536  # bytes of a reading request that is kept to be asked again

# The daemon's own default for max_message_bytes: a longer line is refused whole or in pieces.
_LONGEST_LINE = 32 * 1024 * 1024

# A host that cancels in other ways leaves requests behind; the oldest are forgotten.
_MOST_WAITING = 4096

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
        self._swallow: Any = None  # the id of a handshake that only the daemon needs again

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
        tool = _params(message).get("name") if method == "tools/call" else None
        self._waiting[request] = _Request(tool, line if again else None)

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
            if self._is_for_host(whole, start, end):
                start = end
            else:
                whole = whole[:start] + whole[end:]
        return whole

    def _is_for_host(self, lines: bytes, start: int, end: int) -> bool:
        answer = _read_answer(lines, start, end)
        if answer is None:
            return True
        request, succeeded = answer
        if request is None:  # to a line that was no request
            return True
        if request == self._swallow:
            self._swallow = None
            return False
        self._waiting.pop(request, None)
        if request == self._initialize and not succeeded:
            self._initialize, self._handshake = None, []
        return True

    def again(self) -> bytes:
        """Return the lines that a new daemon gets first; asked for at each attempt to reach one."""
        self._unended.clear()
        lines = list(self._handshake)
        if lines and self._initialize not in self._waiting:
            self._swallow = self._initialize
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
