"""The Chat Completions API of OpenAI, and of what is compatible with it.

Rule: no I/O. `request` says what to send, the reader reads the events that come back.
Source: OpenAI's API reference, Chat Completions and its streaming chunks.
"""

import json
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
from nacre.cli.chat.conversation import ChatMessage, Image

PATH = "v1/chat/completions"


def headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def request(
    model: str, system: str, messages: Sequence[ChatMessage], tools: Sequence[ModelTool], most: int
) -> dict[str, Any]:
    """Return the body of a request; `most` tokens are answered at the most."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": most,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": system}, *_turns(messages)],
    }
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            }
            for tool in tools
        ]
    return body


def _turns(messages: Sequence[ChatMessage]) -> Iterator[dict[str, Any]]:
    """Yield turns. A tool's result is text alone here, so images follow as the user's."""
    images: list[Image] = []
    for message in messages:
        if message.role == "tool":
            text = message.text or "(no output)"
            content = f"Error: {text}" if message.failed else text
            yield {"role": "tool", "tool_call_id": message.call_id, "content": content}
            images += message.images
            continue
        if images:
            yield _pictures(images)
            images = []
        if message.role == "user":
            yield {"role": "user", "content": message.text}
        else:
            yield _answer(message)
    if images:
        yield _pictures(images)


def _pictures(images: Sequence[Image]) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [
            {
                "type": "image_url",
                "image_url": {"url": f"data:{image.media_type};base64,{image.data}"},
            }
            for image in images
        ],
    }


def _answer(message: ChatMessage) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.calls
        ]
    elif not message.text:
        turn["content"] = "(no answer)"
    return turn


class OpenAiReader:
    """Reads the chunks of one answer."""

    def __init__(self) -> None:
        self._calls: dict[int, CallInPieces] = {}
        self.finished: str | None = None  # why it ended, when the endpoint has said that it did

    def read(self, data: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield what a chunk says. Raises BadAnswer when it is an error."""
        if data.get("error"):
            error = data["error"]
            raise BadAnswer(error.get("message", str(error)) if isinstance(error, dict) else error)
        if usage := data.get("usage"):
            yield Usage(usage.get("prompt_tokens"), usage.get("completion_tokens"))
        for choice in data.get("choices") or ():
            delta = choice.get("delta") or {}
            if delta.get("content"):
                yield TextPiece(delta["content"])
            for piece in delta.get("tool_calls") or ():
                self._add(piece)
            self.finished = choice.get("finish_reason") or self.finished

    def _add(self, piece: dict[str, Any]) -> None:
        """Some endpoints number no pieces: then one with a name begins a call."""
        function = piece.get("function") or {}
        index = piece.get("index")
        if index is None:
            index = len(self._calls) - (0 if function.get("name") else 1)
        if index not in self._calls:
            if not function.get("name"):
                raise BadAnswer("the model called a tool without its name")
            call_id = piece.get("id") or f"call_{index}"
            self._calls[index] = CallInPieces(call_id, function["name"])
        self._calls[index].add(function.get("arguments") or "")

    def end(self) -> Iterator[ModelEvent]:
        """Yield what is left when the endpoint has said that it is done."""
        for index in sorted(self._calls):
            yield Calls(self._calls[index].whole())
        yield Done(self.finished == "length")
