"""Log the messages of every protocol, at the level debug: REST, MCP, WebSockets, session ports,
NDJSON, the Unix socket.

Rule 1: a message is logged as data, so that the log's own redaction sees each text as it was
written.
Rule 2: what is a credential by its name is never logged, nor anything of logins to the page. Of
bytes that people type, and of a terminal's output to viewers, the size is told. So it is of what a
request types: a door does not know whether the terminal shows it, and it may be a password. Of what
a file is to hold and what a host's user answered, it is the size too; of variables, the name.
Rule 3: below debug a message costs one comparison.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from nacre.late_pattern import late_pattern

if TYPE_CHECKING:  # a bridge is answered without it
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("nacre.messages")
_LONGEST = 16_384  # bytes; of a longer one its size is told
_DEEPEST = 50  # levels of a body that are looked through

_CREDENTIALS = frozenset(
    ("token", "ticket", "key", "password", "secret", "cookie", "authorization", "code_verifier")
)
# Parameters whose value reaches a terminal, a program or a file, and the answer to a form; `value`
# is that of a variable (export), which may also stand behind its name.
_TYPED = frozenset(("input", "text", "keys", "content", "old", "new", "stdin", "value"))
_VARIABLES = frozenset(("env", "values"))
_IN_ADDRESSES = late_pattern(r"([?&#](?:token|ticket|key|code|login)=)[^&\s\"']+")
_REDACTED = "[redacted]"
_EVENTS = b"text/event-stream"


def is_logged() -> bool:
    return _log.isEnabledFor(logging.DEBUG)


def log_message(door: str, direction: str, data: bytes, **facts: object) -> None:
    """`direction` is received or sent."""
    if not is_logged():
        return
    told: dict[str, object] = {"door": door, "bytes": len(data), **facts}
    if len(data) <= _LONGEST and data.strip():
        try:
            body = msgspec.json.decode(data)
            if direction == "received":
                body = _without_typed(body, _DEEPEST)
            told["body"] = _without_credentials(body, _DEEPEST)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            told["body"] = "no JSON"  # what it is instead may be anything
    _log.debug(direction, extra=told)


def log_size(door: str, direction: str, size: int) -> None:
    """Log that there was a message, and nothing of it."""
    if is_logged():
        _log.debug(direction, extra={"door": door, "bytes": size})


def _without_typed(value: Any, levels: int) -> Any:
    if levels == 0:
        return "…"
    if isinstance(value, dict):
        return {name: _told(name, one, levels) for name, one in value.items()}
    return [_without_typed(one, levels - 1) for one in value] if isinstance(value, list) else value


def _told(name: str, value: Any, levels: int) -> Any:
    if name in _TYPED and isinstance(value, str | list | dict):
        return f"[{len(value)} typed]"
    if name in _VARIABLES and isinstance(value, dict):
        return sorted(value)
    if name == "name" and isinstance(value, str) and "=" in value:
        return f"{value.partition('=')[0]}=[…]"
    return _without_typed(value, levels - 1)


def _without_credentials(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return _IN_ADDRESSES.sub(rf"\1{_REDACTED}", value)
    if levels == 0:
        return "…"
    if isinstance(value, dict):
        return {
            name: _REDACTED
            if name.lower() in _CREDENTIALS and isinstance(one, str)
            else _without_credentials(one, levels - 1)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_without_credentials(one, levels - 1) for one in value]
    return value


class LoggedRequests:
    """Passes requests to an application, and logs what they and their answers say."""

    def __init__(self, app: "ASGIApp", door: Callable[[str], str]) -> None:
        """`door` names the door that a path belongs to."""
        self._app = app
        self._door = door

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or not is_logged():
            await self._app(scope, receive, send)
            return
        door = self._door(scope["path"])
        exchange = _Exchange(door, f"{scope['method']} {scope['path']}", bare=door == "page")
        await self._app(scope, exchange.receiving(receive), exchange.sending(send))


class _Exchange:
    """One request and its answer. With `bare` nothing is told of their bodies."""

    def __init__(self, door: str, request: str, *, bare: bool) -> None:
        self._door, self._request, self._bare = door, request, bare
        self._body = b""
        self._answer = b""
        self._status = 0
        self._streams = False

    def receiving(self, receive: "Receive") -> "Receive":
        async def logged() -> "Message":
            message = await receive()
            if message["type"] == "http.request":
                self._body = _more(self._body, message)
                if not message.get("more_body"):
                    self._log("received", self._body)
            return message

        return logged

    def sending(self, send: "Send") -> "Send":
        async def logged(message: "Message") -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
                headers = dict(message.get("headers", ()))
                self._streams = headers.get(b"content-type", b"").startswith(_EVENTS)
            elif message["type"] == "http.response.body" and self._streams:
                for line in message.get("body", b"").splitlines():
                    if line.startswith(b"data:"):
                        self._log("sent", line.removeprefix(b"data:").strip())
            elif message["type"] == "http.response.body":
                self._answer = _more(self._answer, message)
                if not message.get("more_body"):
                    self._log("sent", self._answer)
            await send(message)

        return logged

    def _log(self, direction: str, body: bytes) -> None:
        facts: dict[str, object] = {"http": self._request}
        if direction == "sent":
            facts["status"] = self._status
        log_message(self._door, direction, b"" if self._bare else body, **facts)


def _more(body: bytes, message: "Message") -> bytes:
    """Return a body with its next part; of one that is too long no more is kept."""
    part: bytes = message.get("body", b"")
    return body + part if len(body) <= _LONGEST else body
