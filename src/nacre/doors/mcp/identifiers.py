"""The head of a JSON-RPC message: what it is, and whether its id is one.

Rule 1: a request's id is a string or an integer (the protocol's base, "Requests"). One with any
other is answered with an error: the library takes it for a notification, and its sender would wait
for ever.
Rule 2: an id is echoed as it was written; null stands for what cannot be one.
"""

import msgspec

_NULL = b"null"

# What reading JSON raises.
UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Message(msgspec.Struct, frozen=True):
    jsonrpc: str
    method: str = ""
    id: msgspec.Raw = msgspec.Raw()  # empty: there is none
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_decoder = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | None:
    """Return the message; None for what is none."""
    try:
        message = _decoder.decode(line)
    except UNREADABLE:
        return None
    return message if message.jsonrpc == "2.0" else None


def is_request(message: Message) -> bool:
    return bool(message.method and message.id)


def misfit(message: Message) -> str | None:
    """Return what is wrong with a request: its id, or that it asks for nothing."""
    if not (message.method or message.result or message.error):
        return "the request has no method"
    if not is_request(message) or _kind(message.id) in ("string", "integer"):
        return None
    return "the id of a request must be a string or an integer"


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
