"""The lines of the NDJSON door: requests that come in, answers and notifications that go out.

Rule 1: what goes out is ASCII without blanks between tokens, one message a line: scripts search it
for `"exit_code":0`.
Rule 2: an error is a string that begins with what happened; its code stands beside it.
"""

import json
from typing import Any

import msgspec

from nacre.core.operations.commands import ExecutionOutcome
from nacre.errors import NacreError
from nacre.wording import Takes, Words

PROTOCOL_VERSION = "1.0"
NO_ID: Any = None

UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError, ValueError)


class NdjsonWords(Words):
    """Names methods of this door: call_tool is the operation call_command."""

    def takes(self, step: Takes) -> str | None:
        if step.operation != "call_command":
            return super().takes(step)
        own = tuple(name for name in step.parameters if name != "wait_ms")
        return super().takes(Takes("call_tool", own))


_WORDS = NdjsonWords()


class NdjsonRequest(msgspec.Struct, frozen=True):
    """A line. Fields that it may have besides (jsonrpc) say nothing."""

    method: str
    id: Any = None
    params: dict[str, Any] | None = None


class BadLine(Exception):
    """A line that is no request; `identifier` is its id as far as it could be read."""

    def __init__(self, message: str, identifier: Any = None, *, is_object: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.identifier = identifier
        self.is_object = is_object


def read_request(line: bytes) -> NdjsonRequest:
    """Raises BadLine."""
    try:
        found = msgspec.json.decode(line)
    except UNREADABLE as error:
        deep = isinstance(error, RecursionError)
        raise BadLine(
            "Invalid JSON: it is nested too deeply"
            if deep
            else "Invalid JSON: send one message a line"
        ) from error
    if not isinstance(found, dict):
        raise BadLine("Invalid request: a message is a JSON object")
    identifier = found.get("id")
    if isinstance(identifier, dict | list):
        raise BadLine("Invalid request: id must be a scalar", is_object=True)
    try:
        return msgspec.convert(found, NdjsonRequest)
    except msgspec.ValidationError as error:
        what = "method is missing or no text" if "method" in str(error) else "params is an object"
        raise BadLine(f"Invalid request: {what}", identifier, is_object=True) from error


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def response(identifier: Any, result: dict[str, Any]) -> bytes:
    return encode({"id": identifier, "type": "response", "result": result})


def failure(identifier: Any, message: str, code: str) -> bytes:
    return encode({"id": identifier, "type": "error", "error": message, "code": code})


def failure_of(identifier: Any, error: NacreError) -> bytes:
    return failure(identifier, _WORDS.message(error), error.code)


def notification(event: str, outcome: ExecutionOutcome, **fields: Any) -> bytes:
    told = {"tool": outcome.tool, "execution_id": outcome.execution_id, **fields}
    return encode({"type": "notification", "event": event, **told})


def progress(outcome: ExecutionOutcome) -> bytes:
    done = {"elapsed_ms": outcome.execution_time_ms, "output_bytes": outcome.output_bytes}
    return notification("tool_progress", outcome, progress=done)


def ended(outcome: ExecutionOutcome) -> bytes:
    if outcome.status == "completed":
        return notification("tool_completed", outcome, exit_code=outcome.exit_code)
    why = outcome.error or f"{outcome.status}: exit code {outcome.exit_code}"
    return notification("tool_failed", outcome, error=why, exit_code=outcome.exit_code)


def called(outcome: ExecutionOutcome) -> dict[str, Any]:
    """Return the result of call_tool: the document's fields first."""
    told = msgspec.to_builtins(outcome)
    first = {name: told.pop(name) for name in ("output", "exit_code", "execution_id")}
    return {**first, **told}


def status_of(outcome: ExecutionOutcome) -> dict[str, Any]:
    told = msgspec.to_builtins(outcome)
    first = {name: told.pop(name) for name in ("status", "exit_code", "output")}
    return {**first, **told}
