"""Requests with half a character in them: "\\ud83d", as a model writes that was cut short.

JSON allows it, UTF-8 does not, and the quick parsers refuse the whole message.

Rule: who sent it is told as of any other wrong parameter: in a result, but for toolset `terminal`
(server.py). Without an answer the sender would wait for ever.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from nacre.core.catalog.catalog import half_a_character
from nacre.doors.mcp.tools.answers import shape_failure
from nacre.doors.mcp.tools.tool import Tool
from nacre.doors.mcp.words import ToolWords
from nacre.errors import WIRE

# In _meta it says that a request is of a revision without a handshake.
LATER = "io.modelcontextprotocol/protocolVersion"


class Halved(NamedTuple):
    answer: bytes
    refused: bool  # it is an error of the protocol, not a result


def answer_halves(line: bytes, tools: Mapping[str, Tool]) -> Halved | None:
    """Return the answer to a request that only the standard library reads; None for all others."""
    if b"\\ud" not in line.lower():
        return None
    try:
        found = json.loads(line.decode())
        identifier = found["id"] if "method" in found else None
        raw = msgspec.json.encode(identifier)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(identifier, str | int):
        return None
    words = ToolWords(tools)
    error = words.error(half_a_character())
    called = _called(found, tools)
    if called is None or called.raises:
        code = WIRE[error["code"]].jsonrpc
        told = msgspec.json.encode({"code": code, "message": error["message"], "data": error})
        return Halved(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (raw, told), refused=True)
    shaped = shape_failure(error, words, as_text=called.plain)
    if not _is_later(found):
        del shaped["resultType"]
    result = msgspec.json.encode(shaped)
    return Halved(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (raw, result), refused=False)


def _called(found: dict[str, Any], tools: Mapping[str, Tool]) -> Tool | None:
    params = found.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return tools.get(name) if found["method"] == "tools/call" and isinstance(name, str) else None


def _is_later(found: dict[str, Any]) -> bool:
    meta = found["params"].get("_meta")
    return isinstance(meta, dict) and LATER in meta
