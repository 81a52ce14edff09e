"""The head of a JSON-RPC message: what it is, and whether its id is one.

Rule 1: a request's id is a string or an integer (the protocol's base, "Requests"). One with any
other is answered with an error: the library takes it for a notification, and its sender would wait
for ever.
Rule 2: an id is echoed as it was written; null stands for what cannot be one.
Rule 3: what is no message is refused in the same words over every transport.
"""

from typing import NamedTuple

import msgspec

_NULL = b"null"

# The codes of JSON-RPC 2.0, section 5.1.
PARSE_ERROR, INVALID_REQUEST = -32700, -32600

# What reading JSON raises.
UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Message(msgspec.Struct, frozen=True):
    jsonrpc: str
    method: str = ""
    id: msgspec.Raw = msgspec.Raw()  # empty: there is none
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class Refusal(NamedTuple):
    """The error that answers what is no message, and the id that its answer has."""

    code: int
    problem: str
    id: bytes


_decoder = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | None:
    """Return the message; None for what is none."""
    try:
        message = _decoder.decode(line)
    except UNREADABLE:
        return None
    return message if message.jsonrpc == "2.0" else None


def refusal(line: bytes) -> Refusal:
    """Return what is wrong with a line that `read_message` takes for none."""
    try:
        found = msgspec.json.decode(line)
    except UNREADABLE:
        return Refusal(PARSE_ERROR, "not valid JSON; send one JSON-RPC message", _NULL)
    if isinstance(found, list):
        return Refusal(
            INVALID_REQUEST,
            "not a JSON-RPC 2.0 message; send each message of a batch by itself",
            _NULL,
        )
    given = found.get("id") if isinstance(found, dict) else None
    raw = msgspec.json.encode(given) if isinstance(given, str | int | float) else _NULL
    return Refusal(INVALID_REQUEST, "not a JSON-RPC 2.0 message", echo(raw))


def is_request(message: Message) -> bool:
    return bool(message.method and message.id)


def misfit(message: Message) -> str | None:
    """Return what is wrong with a request: its id, its parameters, or that it asks for nothing."""
    if not (message.method or message.result or message.error):
        return "the request has no method"
    if not is_request(message):
        return None
    if _kind(message.id) not in ("string", "integer"):
        return "the id of a request must be a string or an integer"
    if bytes(message.params).strip()[:1] not in (b"", b"{", b"n"):  # none, an object, null
        return "params must be an object"
    return None


def echo(raw: bytes) -> bytes:
    """Return how an id stands in the answer."""
    return bytes(raw) if _kind(raw) in ("string", "integer", "number") else _NULL


def _kind(raw: bytes) -> str:
    text = bytes(raw).strip()
    if text[:1] == b'"':
        return "string"
    if text[:1].isdigit() or text[:1] == b"-":
        return "number" if set(text) & set(b".eE") else "integer"
    return "other"
