"""The Messages API of Anthropic, and of what is compatible with it.

Rule: no I/O. `request` says what to send, the reader reads the events that come back.
Source: Anthropic's API reference, Messages and Streaming.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from nacre.cli.chat.apis.arguments import CallInPieces
from nacre.cli.chat.apis.events import (
    BadAnswer,
    Calls,
    Done,
    ModelEvent,
    ModelTool,
    TextPiece,
    Usage,
)
from nacre.cli.chat.conversation import ChatMessage

PATH = "v1/messages"
_VERSION = "2023-06-01"


def headers(key: str) -> dict[str, str]:
    return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}


def request(
    model: str, system: str, messages: Sequence[ChatMessage], tools: Sequence[ModelTool], most: int
) -> dict[str, Any]:
    """Return the body of a request; `most` tokens are answered at the most."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": most,
        "stream": True,
        "system": system,
        "messages": list(_turns(messages)),
    }
    if tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in tools
        ]
    return body


def _turns(messages: Sequence[ChatMessage]) -> Iterator[dict[str, Any]]:
    """Yield turns. Results are the user's turn, all those of one answer together."""
    results: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            results.append(_result(message))
            continue
        if results:
            yield {"role": "user", "content": results}
            results = []
        if message.role == "user":
            yield {"role": "user", "content": message.text}
        else:
            yield {"role": "assistant", "content": _answer(message)}
    if results:
        yield {"role": "user", "content": results}


def _answer(message: ChatMessage) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if message.text or not message.calls:
        blocks.append({"type": "text", "text": message.text or "(no answer)"})
    for call in message.calls:
        blocks.append(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        )
    return blocks


def _result(message: ChatMessage) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": message.text or "(no output)"}]
    for image in message.images:
        source = {"type": "base64", "media_type": image.media_type, "data": image.data}
        content.append({"type": "image", "source": source})
    return {
        "type": "tool_result",
        "tool_use_id": message.call_id,
        "content": content,
        "is_error": message.failed,
    }


class AnthropicReader:
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self._calls: dict[int, CallInPieces] = {}
        self._reason: str | None = None
        self.finished: str | None = None  # why it ended, when the endpoint has said that it did

    def read(self, data: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield what an event says. Raises BadAnswer when it is an error."""
        kind = data.get("type")
        if kind == "error":
            error = data.get("error", {})
            raise BadAnswer(f"{error.get('type', 'error')}: {error.get('message', '')}")
        if kind == "message_start":
            yield _usage(data["message"].get("usage", {}))
        elif kind == "content_block_start" and data["content_block"]["type"] == "tool_use":
            block = data["content_block"]
            self._calls[data["index"]] = CallInPieces(block["id"], block["name"])
        elif kind == "content_block_start" and data["content_block"].get("text"):
            yield TextPiece(data["content_block"]["text"])
        elif kind == "content_block_delta":
            yield from self._delta(data["index"], data["delta"])
        elif kind == "content_block_stop" and data["index"] in self._calls:
            yield Calls(self._calls.pop(data["index"]).whole())
        elif kind == "message_delta":
            self._reason = data["delta"].get("stop_reason")
            yield Usage(None, data.get("usage", {}).get("output_tokens"))
        elif kind == "message_stop":
            self.finished = self._reason or "end_turn"

    def _delta(self, index: int, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        if delta["type"] == "text_delta":
            yield TextPiece(delta["text"])
        elif delta["type"] == "input_json_delta" and index in self._calls:
            self._calls[index].add(delta["partial_json"])

    def end(self) -> Iterator[ModelEvent]:
        """Yield what is left when the endpoint has said that it is done."""
        yield Done(self.finished == "max_tokens")


def _usage(usage: dict[str, Any]) -> Usage:
    """What was read from the endpoint's cache counts too: it fills the model's window as well."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    found = [usage[name] for name in names if usage.get(name) is not None]
    return Usage(sum(found) if found else None, None)
