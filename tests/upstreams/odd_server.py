"""A server of the standard library alone, quick to start, that does what its argument says.

plain: works. crash: exits with 3 and a last word. silent: answers nothing. garbage: prints a
greeting first. babble: prints nothing but garbage. endless: one line without an end. late: dies
when it is called. hang: answers no call, and nothing after it. asking: its tool asks a question;
with the text together, only when a second call waits; with sample, one to the model. stubborn:
ignores the end of its input. growing: its tool adds another one.
The variable TOOLS has the tools' names, DESCRIPTION what they say of themselves.
"""

import json
import os
import signal
import subprocess
import sys

HOW = sys.argv[1] if len(sys.argv) > 1 else "plain"
USUAL = {"asking": "ask", "growing": "grow"}.get(HOW, "echo,where,die")
TOOLS = os.environ.get("TOOLS", USUAL).split(",")


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request: dict) -> None:  # type: ignore[type-arg]
    method, params = request.get("method"), request.get("params") or {}
    result: dict[str, object]
    if method == "initialize":
        result = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {"listChanged": HOW == "growing"}},
            "serverInfo": {"name": "odd", "version": "1"},
        }
    elif method == "tools/list":
        about = os.environ.get("DESCRIPTION", "An odd tool.")
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        tools = [{"name": name, "description": about, "inputSchema": schema} for name in TOOLS]
        result = {"tools": tools}
    elif method == "tools/call":
        result = call(params["name"], params.get("arguments") or {})
    elif method == "ping":
        result = {}
    else:
        error = {"code": -32601, "message": f"no {method}"}
        send({"jsonrpc": "2.0", "id": request["id"], "error": error})
        return
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


waiting: list[dict] = []  # type: ignore[type-arg]


def ask(request: dict) -> None:  # type: ignore[type-arg]
    """Ask a question, and answer the calls that wait with what came of it."""
    waiting.append(request)
    together = request["params"]["arguments"]["text"] == "together"
    if together and len(waiting) < 2:
        return
    if request["params"]["arguments"]["text"] == "sample":
        said = {"role": "user", "content": {"type": "text", "text": "Say hello."}}
        wanted = {"messages": [said], "maxTokens": 10}
        send({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": wanted})
        content = [json.loads(sys.stdin.readline())["result"]["content"]]
        send({"jsonrpc": "2.0", "id": request["id"], "result": {"content": content}})
        waiting.clear()
        return
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    params = {"message": "Is it ok?", "requestedSchema": schema}
    send({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params})
    answer = json.loads(sys.stdin.readline())
    content = [{"type": "text", "text": answer["result"]["action"]}]
    for one in waiting:
        send({"jsonrpc": "2.0", "id": one["id"], "result": {"content": content}})
    waiting.clear()


def call(name: str, given: dict[str, object]) -> dict[str, object]:
    if name == "die" or HOW == "late":
        print("goodbye", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "grow":
        TOOLS.append("grown")
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    text = str(given.get("text", ""))
    if name == "where":
        text = f"{os.getpid()} {os.getcwd()} {os.environ.get('TOKEN', '')}"
    return {"content": [{"type": "text", "text": text}]}


def main() -> None:
    if HOW == "crash":
        print("cannot find the database", file=sys.stderr, flush=True)
        sys.exit(3)
    if HOW in ("garbage", "babble"):
        print("Welcome to the odd server!", flush=True)
    if HOW == "endless":
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()
    if HOW == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "1000"])
        print(f"child {child.pid}", file=sys.stderr, flush=True)
    if token := os.environ.get("TOKEN"):
        print(f"my token is {token}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        if HOW in ("silent", "babble"):
            continue
        request = json.loads(line)
        if HOW == "hang" and request.get("method") == "tools/call":
            sys.stdin.read()
        if HOW == "asking" and request.get("method") == "tools/call":
            ask(request)
            continue
        if "id" in request and "method" in request:
            answer(request)
    while HOW == "stubborn":
        signal.pause()


main()
