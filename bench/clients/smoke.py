"""Hosts that cannot be driven without a model: what they tell of nacre by themselves.

Rule: nothing but this machine is contacted. A host gets an empty home and a proxy that does not
exist for everything else.
"""

import http.client
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from clients.installs import Scratch
from clients.story import Report, Server

_NOWHERE = "http://127.0.0.1:9"  # the discard port: connecting fails at once
_CLAUDE = "@anthropic-ai/claude-code@2.1.326"
_CODEX = "@openai/codex@0.169.0"
_GEMINI = "@google/gemini-cli@0.61.0"
_CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"

# Scenarios that ask for no tool, resource or prompt of the suite's own.
_SCENARIOS = (
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


def claude(scratch: Scratch, env: dict[str, str]) -> Report:
    """`claude mcp list` connects to each server it knows."""
    program = scratch.npm("claude", _CLAUDE) / "node_modules" / ".bin" / "claude"
    alone = {**_alone(scratch, env), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    Server(alone, "stdio").nacre("setup", "--host", "claude-code", "--install")
    return _seen(_ask([str(program), "mcp", "list"], alone), r"nacre: .*(Connected)")


def codex(scratch: Scratch, env: dict[str, str]) -> Report:
    """`codex mcp list` shows what it would start."""
    program = scratch.npm("codex", _CODEX) / "node_modules" / ".bin" / "codex"
    alone = _alone(scratch, env)
    Server(alone, "stdio").nacre("setup", "--host", "codex", "--install")
    return _seen(_ask([str(program), "mcp", "list"], alone), r"nacre .*(enabled)")


def gemini(scratch: Scratch, env: dict[str, str]) -> Report:
    """`gemini mcp list` connects to each server it knows, in a folder that is trusted."""
    program = scratch.npm("gemini", _GEMINI) / "node_modules" / ".bin" / "gemini"
    alone = {**_alone(scratch, env), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    Server(alone, "stdio").nacre("setup", "--host", "gemini", "--install")
    return _seen(_ask([str(program), "mcp", "list"], alone), r"nacre: .*(Connected)")


def conformance(scratch: Scratch, env: dict[str, str]) -> Report:
    """The official suite, over HTTP: it has no way to send a token, so that is added on the way."""
    suite = scratch.npm("conformance", _CONFORMANCE) / "node_modules" / ".bin" / "conformance"
    server = Server(env, "http")
    server.nacre("new", "held", "--keep")
    report = Report()
    passed = 0
    with _with_token(server) as url:
        for scenario in _SCENARIOS:
            asked = [str(scratch.node()), str(suite), "server", "--url", url]
            said = _ask([*asked, "--scenario", scenario], {**env, "HOME": env["NACRE_HOME"]})
            if re.search(r"Passed: [1-9]\d*/\d+, 0 failed", said):
                passed += 1
            else:
                report.failed.append(f"{scenario}: {said[-800:]}")
    report.cells["opened"] = f"{passed} of {len(_SCENARIOS)} scenarios"
    return report


def _alone(scratch: Scratch, env: dict[str, str]) -> dict[str, str]:
    away = {"HTTP_PROXY": _NOWHERE, "HTTPS_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
    return {**env, **away, "PATH": f"{scratch.node().parent}:{env['PATH']}"}


def _ask(argv: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def _seen(said: str, pattern: str) -> Report:
    report = Report()
    if found := re.search(pattern, said):
        report.cells["opened"] = found[1]
    else:
        report.cells["opened"] = "FAILED"
        report.failed.append(said)
    return report


@contextmanager
def _with_token(server: Server) -> Iterator[str]:
    """An address that passes requests on to nacre's own, with the token."""
    address = server.address()
    target = address["url"].split("/")[2]
    forward = ThreadingHTTPServer(("127.0.0.1", 0), _forwarding(target, address["headers"]))
    port = forward.server_address[1]
    threading.Thread(target=forward.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        forward.shutdown()
        forward.server_close()


def _forwarding(target: str, added: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    class Forward(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            own = f":{self.server.server_address[1]}"  # type: ignore[index]
            theirs = f":{target.rpartition(':')[2]}"
            # A foreign Host or Origin stays one; only our port is that of nacre.
            headers = {name: value.replace(own, theirs) for name, value in self.headers.items()}
            headers |= {**added, "Connection": "close"}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            connection = http.client.HTTPConnection(target)
            connection.putrequest(
                self.command, self.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while part := answer.read1():
                self.wfile.write(part)
                self.wfile.flush()
            connection.close()

        do_GET = do_POST = do_DELETE = _pass_on  # the names that http.server asks for

        def log_message(self, *_: Any) -> None: ...

    return Forward
