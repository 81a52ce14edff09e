"""A model for the tests: an endpoint on loopback that speaks both APIs, as it is scripted."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Piece = str | tuple[str, dict[str, Any]]  # words, or a tool with its arguments


class ScriptedModel:
    """Answers the requests in their order; each answer is a list of words and tool calls."""

    def __init__(self) -> None:
        self.answers: list[list[Piece]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.refuse: tuple[int, str] | None = None  # answer with this status and text instead
        self.hold: threading.Event | None = None  # before the end of an answer, wait for this
        self.break_off = False  # end in the middle of the answer
        self.url = ""

    def told(self, api: str) -> list[Any]:
        """Return the last request's messages."""
        messages: list[Any] = self.requests[-1]["messages"]
        return messages[1:] if api == "openai" else messages


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            model.requests.append(json.loads(body))
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            if model.refuse is not None:
                status, text = model.refuse
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            nothing: list[Piece] = ["(nothing scripted)"]
            answer = model.answers.pop(0) if model.answers else nothing
            events = _anthropic if self.path.endswith("/messages") else _openai
            try:
                for event in events(answer, model):
                    self.wfile.write(event.encode())
                    self.wfile.flush()
            except ConnectionError:
                pass  # the chat has stopped listening

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        if model.hold is not None:
            model.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _anthropic(answer: list[Piece], model: ScriptedModel) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    yield event("message_start", message={"usage": {"input_tokens": 11}})
    yield event("ping")
    for index, piece in enumerate(answer):
        if isinstance(piece, str):
            yield event(
                "content_block_start", index=index, content_block={"type": "text", "text": ""}
            )
            for part in (piece[: len(piece) // 2], piece[len(piece) // 2 :]):
                delta = {"type": "text_delta", "text": part}
                yield event("content_block_delta", index=index, delta=delta)
        else:
            name, arguments = piece
            block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
            yield event("content_block_start", index=index, content_block=block)
            text = json.dumps(arguments)
            for part in (text[: len(text) // 2], text[len(text) // 2 :]):
                delta = {"type": "input_json_delta", "partial_json": part}
                yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    if model.hold is not None:
        model.hold.wait()
    if model.break_off:
        return
    reason = "end_turn" if all(isinstance(piece, str) for piece in answer) else "tool_use"
    yield event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 7})
    yield event("message_stop")


def _openai(answer: list[Piece], model: ScriptedModel) -> Iterator[str]:
    def chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return f"data: {json.dumps({'choices': choices, **fields})}\n\n"

    index = 0
    for piece in answer:
        if isinstance(piece, str):
            for part in (piece[: len(piece) // 2], piece[len(piece) // 2 :]):
                yield chunk({"content": part})
            continue
        name, arguments = piece
        text = json.dumps(arguments)
        first = {"index": index, "id": f"call_{index}", "type": "function"}
        half = text[: len(text) // 2]
        yield chunk({"tool_calls": [{**first, "function": {"name": name, "arguments": half}}]})
        rest = {"index": index, "function": {"arguments": text[len(text) // 2 :]}}
        yield chunk({"tool_calls": [rest]})
        index += 1
    if model.hold is not None:
        model.hold.wait()
    if model.break_off:
        return
    yield chunk({}, "tool_calls" if index else "stop")
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    yield f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"
