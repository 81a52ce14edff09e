"""A whole host with a scripted model: what it hands on of each answer.

The model is a server on loopback. It calls nacre's tools one after the other by the host, and keeps
what the host sends back: that is what a model would read.

Rule: nothing but this machine is contacted. A host gets an empty home, its telemetry and updates
are off, and for everything else there is a proxy that does not exist.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from clients.installs import Scratch
from clients.story import Report

CLAUDE = "@anthropic-ai/claude-code@2.1.197"
CODEX = "@openai/codex@0.169.0"

_NOWHERE = "http://127.0.0.1:9"  # the discard port: connecting fails at once
_LONGEST = 240  # seconds for a host's whole turn
_WAITS = "WaitForMcpServers"  # what Claude Code has as long as a server is not connected
_NAMED = ("run", "type", "wait", "read", "sessions", "screenshot")

# Tool, arguments, what of the answer must reach the model, and in which column it is shown.
STEPS: list[tuple[str, dict[str, Any], tuple[str, ...], str]] = [
    ("run", {"command": "echo hello; false"}, ("[exit 1 · ", "hello"), "text"),
    ("run", {"command": "seq 20000"}, ("[exit 0", "\n20000", "cut: read(what="), "long"),
    ("read", {"search": "17171", "context": 1}, ("[1 match", ">17171  17171"), "search"),
    ("run", {"command": "printf 'Go? [y/n] '; read x"}, ("[asks confirm", "Go?"), "question"),
    ("type", {"text": "y"}, ("[exit 0",), "answer"),
    ("wait", {"session": "nosuch"}, ("no session 'nosuch'",), "error"),
    ("screenshot", {}, ("image",), "picture"),
    ("run", {"command": "sleep 600", "wait": 0.3}, ("[running", "wait continues"), "running"),
    ("type", {"keys": ["C-c"]}, ("[exit 130",), "stopped"),
]
COLUMNS = ("tools", *(step[3] for step in STEPS))


class Said(NamedTuple):
    """A tool's answer as the model has it."""

    text: str
    pictures: int
    failed: bool | None  # None where the host does not tell


class Model:
    def __init__(self) -> None:
        self.tools: list[str] = []
        self.said: list[Said] = []
        self.lock = threading.Lock()
        self.address = ""

    def next_call(self, answers: list[Said], tools: list[str]) -> tuple[str, dict[str, Any]] | None:
        with self.lock:
            self.tools = self.tools or tools
            self.said = answers if len(answers) >= len(self.said) else self.said
            if len(answers) >= len(STEPS):
                return None
            tool, arguments, _, _ = STEPS[len(answers)]
            return tool, arguments


@contextmanager
def scripted() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:  # the name that http.server asks for
            self._send("application/json", '{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self._send("application/json", "")

        def do_POST(self) -> None:
            body = json.loads(
                self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
            )
            if "count_tokens" in self.path:
                self._send("application/json", '{"input_tokens": 10}')
            elif self.path.split("?")[0].endswith("/messages"):
                self._send("text/event-stream", "".join(_messages(model, body)))
            elif self.path.split("?")[0].endswith("/responses"):
                self._send("text/event-stream", "".join(_responses(model, body)))
            else:
                self._send("application/json", "{}")

        def _send(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


# --- the Messages API ----------------------------------------------------------------------------


def _messages(model: Model, body: dict[str, Any]) -> Iterator[str]:
    blocks = [
        block
        for message in body.get("messages", ())
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    ours = {one["id"] for one in blocks if one.get("name", "").startswith("mcp__nacre")}
    answers = [_of_block(one) for one in blocks if one.get("tool_use_id") in ours]
    every = [tool["name"] for tool in body.get("tools", ())]
    names = [name for name in every if name.startswith("mcp__nacre")]
    waits = _WAITS in every
    call = model.next_call(answers, names) if names else ((_WAITS, {}) if waits else None)

    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{len(answers)}", "type": "message", "role": "assistant", "content": []}
    named = {"model": body.get("model", "scripted"), "stop_reason": None, "stop_sequence": None}
    yield event("message_start", message={**message, **named, "usage": usage})
    if call is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "done"}
        reason = "end_turn"
    else:
        tool, arguments = call
        identifier = f"toolu_{len(blocks):04}"
        full = tool if tool == _WAITS else f"mcp__nacre__{tool}"
        block = {"type": "tool_use", "id": identifier, "name": full, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        reason = "tool_use"
    yield event("content_block_start", index=0, content_block=block)
    yield event("content_block_delta", index=0, delta=delta)
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
    yield event("message_stop")


def _of_block(block: dict[str, Any]) -> Said:
    content = block.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    pictures = sum(part["type"] == "image" for part in parts)
    return Said(text, pictures, bool(block.get("is_error", False)))


# --- the Responses API ---------------------------------------------------------------------------


def _responses(model: Model, body: dict[str, Any]) -> Iterator[str]:
    answers = [_of_output(item) for item in body.get("input", ()) if "_output" in item["type"]]
    names: list[str] = []
    spaces: dict[str, str] = {}
    for tool in body.get("tools", ()):
        if tool["type"] == "namespace" and "nacre" in tool["name"]:
            names += [one["name"] for one in tool["tools"]]
            spaces |= {one["name"]: tool["name"] for one in tool["tools"]}
        elif tool.get("name", "").startswith("mcp__nacre"):
            names.append(tool["name"])
    call = model.next_call(answers, names)

    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    answer = f"resp_{len(answers)}"
    yield event("response.created", response={"id": answer})
    if call is None:
        text = [{"type": "output_text", "text": "done"}]
        item: dict[str, Any] = {"type": "message", "role": "assistant", "content": text}
    else:
        tool, arguments = call
        full = next((one for one in names if one.endswith(tool)), tool)
        item = {"type": "function_call", "name": full, "call_id": f"call_{len(answers)}"}
        item |= {"arguments": json.dumps(arguments)}
        if full in spaces:
            item["namespace"] = spaces[full]
    yield event("response.output_item.done", item={"id": f"item_{len(answers)}", **item})
    counted = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage = {**counted, "input_tokens_details": None, "output_tokens_details": None}
    yield event("response.completed", response={"id": answer, "usage": usage})


def _of_output(item: dict[str, Any]) -> Said:
    output = item.get("output") or ""
    parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
    text = "\n".join(part["text"] for part in parts if "text" in part)
    return Said(text, sum("image" in part["type"] for part in parts), None)


# --- the hosts -----------------------------------------------------------------------------------


def claude(scratch: Scratch, env: dict[str, str]) -> Report:
    program = scratch.npm("claude-hosted", CLAUDE) / "node_modules" / ".bin" / "claude"
    home = Path(env["NACRE_HOME"]) / "claude"
    home.mkdir()
    server = {"command": sys.executable, "args": ["-m", "nacre", "mcp"], "env": _own(env)}
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"nacre": server}}))
    allowed = ",".join(f"mcp__nacre__{name}" for name in _NAMED)
    with scripted() as model:
        own = {
            **_alone(scratch, env),
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": model.address,
            "ANTHROPIC_API_KEY": "sk-ant-scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }
        argv = [str(program), "-p", "go", "--mcp-config", str(config), "--strict-mcp-config"]
        said = _ran([*argv, "--allowedTools", allowed], own, home)
        return _judged(model, said)


def codex(scratch: Scratch, env: dict[str, str]) -> Report:
    program = scratch.npm("codex-hosted", CODEX) / "node_modules" / ".bin" / "codex"
    home = Path(env["NACRE_HOME"]) / "codex"
    home.mkdir()
    with scripted() as model:
        given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in _own(env).items())
        (home / "config.toml").write_text(
            'model = "gpt-5"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n'
            "[analytics]\nenabled = false\n"
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model.address}/v1"\n'
            'wire_api = "responses"\n'
            f"[mcp_servers.nacre]\ncommand = {json.dumps(sys.executable)}\n"
            f'args = ["-m", "nacre", "mcp"]\nenv = {{ {given} }}\n'
            "required = true\nstartup_timeout_sec = 60\n"
        )
        own = {**_alone(scratch, env), "HOME": str(home), "CODEX_HOME": str(home)}
        argv = [str(program), "exec", "--skip-git-repo-check"]
        said = _ran([*argv, "--dangerously-bypass-approvals-and-sandbox", "go"], own, home)
        return _judged(model, said)


def _judged(model: Model, said: str) -> Report:
    report = Report()
    report.cells["tools"] = str(len(model.tools))
    if len(model.tools) != len(_NAMED):
        report.failed.append(f"tools: {model.tools}; the host said: {said[-1500:]}")
    for number, (tool, _, wanted, column) in enumerate(STEPS):
        if number >= len(model.said):
            report.cells[column] = "–"
            report.failed.append(f"{column}: never called; the host said: {said[-1500:]}")
            break
        one = model.said[number]
        if wanted == ("image",):
            right = one.pictures == 1
        else:
            right = all(text in one.text for text in wanted)
        told = {None: "", True: ", as error", False: ""}[one.failed]
        shown = f"{one.pictures} picture" if one.pictures else f"{len(one.text)} chars"
        report.cells[column] = f"{shown}{told}" if right else "FAILED"
        if not right:
            report.failed.append(f"{column} ({tool}): {one.text[:600]!r}, {one.pictures} pictures")
    return report


def _alone(scratch: Scratch, env: dict[str, str]) -> dict[str, str]:
    away = {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
    return {**env, **away, "PATH": f"{scratch.node().parent}:{env['PATH']}"}


def _own(env: dict[str, str]) -> dict[str, str]:
    """Return what the bridge needs; hosts hand little of their environment on."""
    return {
        name: value for name, value in env.items() if name.startswith(("NACRE_", "PYTHON", "PATH"))
    }


def _ran(argv: list[str], env: dict[str, str], cwd: Path) -> str:
    try:
        done = subprocess.run(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return f"it did not end: {(late.stderr or b'')[-1500:]!r}"
    return done.stdout + done.stderr
