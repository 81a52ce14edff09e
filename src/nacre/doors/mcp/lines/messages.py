"""What the messages of a client hold, as far as they are answered without the library.

Rule: only what is needed is looked at. What does not fit is left to the library, which says why.
"""

from typing import Any

import msgspec

from nacre.doors.mcp.halves import LATER
from nacre.doors.mcp.identifiers import UNREADABLE, Message


class CallParams(msgspec.Struct, frozen=True):
    """The parameters of tools/call."""

    name: str
    arguments: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Paged(msgspec.Struct, frozen=True):
    """The parameters of a list, of which there is one page."""

    cursor: str | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Client(msgspec.Struct, frozen=True):
    name: str
    version: str


class _Envelope(msgspec.Struct, frozen=True):
    """What a request without a handshake says of its client."""

    revision: str = msgspec.field(name="io.modelcontextprotocol/protocolVersion")
    capabilities: dict[str, Any] = msgspec.field(name="io.modelcontextprotocol/clientCapabilities")
    client: _Client | None = msgspec.field(name="io.modelcontextprotocol/clientInfo", default=None)


class EnvelopedParams(msgspec.Struct, frozen=True):
    """The parameters of such a request, of which there is one page."""

    meta: _Envelope = msgspec.field(name="_meta")
    cursor: str | None = None


class HandshakeParams(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any]
    client_info: _Client
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class HostResponse(msgspec.Struct, frozen=True):
    """An answer to a request of ours."""

    id: str | int
    result: Any = None
    error: Any = None

    @property
    def told(self) -> dict[str, Any]:
        """What the host answered; an error, and what is no object, tells nothing."""
        return self.result if self.error is None and isinstance(self.result, dict) else {}


class NewValuesParams(msgspec.Struct, frozen=True):
    """What a bridge hands over when the config names other variables."""

    values: dict[str, str]


class CancelledParams(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str | int


def is_plain(message: Message) -> bool:
    """Whether a request asks for nothing beyond what it names."""
    if not message.params:
        return True
    try:
        paged = msgspec.json.decode(message.params, type=_Paged)
    except UNREADABLE:
        return False
    return paged.cursor is None and LATER not in (paged.meta or {})
