"""Answer a host while the daemon starts, with what an earlier daemon wrote down.

Rule 1: no I/O. The caller passes lines and writes the answers.
Rule 2: only what the daemon would answer in the same words. Whatever else comes, and all that comes
after it, waits for the daemon.
"""

import json
from typing import Any

_HANDSHAKE = "initialize"
_REVISION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_KEYS = frozenset(("jsonrpc", "id", "method", "params"))
_IDLE = frozenset(("progressToken",))  # a list is there at once
_NOTED = ("notifications/initialized", "notifications/cancelled")

_json = json.JSONDecoder()


class Early:
    """One host's first requests. The keys of the answers are those of doors/mcp/standing.py."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        self._answers = answers
        self._shaken = False

    def answer(self, line: bytes) -> bytes | None:
        """Return the answer to a line, or b"" if it needs none; None if a daemon must see it."""
        try:
            message = _json.decode(line.decode())
        except (ValueError, RecursionError):
            return None
        if (
            not isinstance(message, dict)
            or message.get("jsonrpc") != "2.0"
            or message.keys() - _KEYS
        ):
            return None
        method, params = message.get("method"), message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            return None
        if "id" not in message:
            return b"" if self._shaken and method in _NOTED else None
        request = message["id"]
        if isinstance(request, bool) or not isinstance(request, str | int):
            return None
        key = self._key(method, params)
        found = None if key is None else self._answers.get(key)
        if found is None:
            return None
        self._shaken = self._shaken or method == _HANDSHAKE
        identifier = json.dumps(request).encode()
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (identifier, found)

    def _key(self, method: str, params: dict[str, Any]) -> str | None:
        if self._shaken:
            # Of a list there is one page; what a request says beyond that is the daemon's to read.
            return method if _says_nothing(params) else None
        if method == _HANDSHAKE:
            return _handshake_key(params)
        meta = params.get("_meta")
        if params.keys() != {"_meta"} or not isinstance(meta, dict):
            return None
        if not isinstance(meta.get(_CAPABILITIES), dict) or not isinstance(
            meta.get(_REVISION), str
        ):
            return None
        return f"{meta[_REVISION]} {method}"


def _says_nothing(params: dict[str, Any]) -> bool:
    meta = params.get("_meta", {})
    return params.keys() <= {"_meta"} and isinstance(meta, dict) and meta.keys() <= _IDLE


def _handshake_key(params: dict[str, Any]) -> str | None:
    """Return the key of the answer to a handshake that is whole."""
    revision, client = params.get("protocolVersion"), params.get("clientInfo")
    if not isinstance(revision, str) or not isinstance(params.get("capabilities"), dict):
        return None
    if not isinstance(client, dict):
        return None
    if not isinstance(client.get("name"), str) or not isinstance(client.get("version"), str):
        return None
    return f"{revision} {_HANDSHAKE}"
