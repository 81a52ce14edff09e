"""An MCP server over HTTP that wants logins in many ways, with its authorization server.

It runs in a thread. Whoever opens its page has logged in, with all the scopes that were asked for.
"""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}


@dataclass
class LoginServer:
    """What it wants, and what it was told."""

    wants: dict[str, str] = field(default_factory=dict)  # method → the scope that it needs
    publishes: bool = True  # says where to log in (RFC 9728)
    issuer: str = ""  # what it says of itself; a path is one of its own
    takes_urls: bool = False  # as clients' ids
    clients: dict[str, str] = field(default_factory=dict)  # registered beforehand: id → secret
    methods: tuple[str, ...] = ("none", "client_secret_basic", "client_secret_post")
    url: str = ""
    logins: list[dict[str, str]] = field(default_factory=list)  # what was asked for in the browser
    tokens: dict[str, str] = field(default_factory=dict)  # → its scopes
    proofs: list[str] = field(default_factory=list)  # how clients proved themselves
    seen: list[dict[str, str]] = field(default_factory=list)  # headers of MCP requests

    def answer(self, method: str, path: str, body: bytes, headers: Any) -> tuple[int, Any, Any]:
        """Return status, headers and what goes out as JSON."""
        parts = urlsplit(path)
        if parts.path == "/mcp":
            return self._mcp(json.loads(body), headers) if method == "POST" else (405, {}, {})
        if parts.path == "/.well-known/oauth-protected-resource/mcp" and self.publishes:
            told = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url]}
            return 200, {}, told
        if parts.path == "/.well-known/oauth-authorization-server" and self.wants:
            return 200, {}, self._metadata()
        if parts.path == "/register" and not self.clients:
            told = json.loads(body)
            return 201, {}, {**told, "client_id": "made"}
        if parts.path == "/authorize":
            asked = dict(parse_qsl(parts.query))
            self.logins.append(asked)
            code = f"code-{len(self.logins)}"
            back = f"{asked['redirect_uri']}?code={code}&state={asked['state']}"
            return 302, {"Location": back}, {}
        if parts.path == "/token":
            return self._token(dict(parse_qsl(body.decode())), headers)
        return 404, {}, {}

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": urljoin(self.url, self.issuer),
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "token_endpoint_auth_methods_supported": self.methods,
            "client_id_metadata_document_supported": self.takes_urls,
            "code_challenge_methods_supported": ["S256"],
            **({} if self.clients else {"registration_endpoint": f"{self.url}/register"}),
        }

    def _token(self, form: dict[str, str], headers: Any) -> tuple[int, Any, Any]:
        basic = (headers.get("Authorization") or "").removeprefix("Basic ")
        proof = base64.b64decode(basic).decode() if basic else form.get("client_secret", "")
        self.proofs.append(("basic " if basic else "post ") + proof if proof else "none")
        scope = self.logins[-1].get("scope", "")
        token = f"token-{len(self.tokens) + 1}"
        self.tokens[token] = scope
        return 200, {}, {"access_token": token, "token_type": "Bearer", "scope": scope}

    def _mcp(self, message: dict[str, Any], headers: Any) -> tuple[int, Any, Any]:
        self.seen.append(dict(headers.items()))
        method = message["method"]
        needed = self.wants.get(method)
        token = (headers.get("Authorization") or "").removeprefix("Bearer ")
        if needed is not None and token not in self.tokens:
            return 401, {"WWW-Authenticate": f'Bearer scope="{needed}"' if needed else "Bearer"}, {}
        if needed is not None and not set(needed.split()) <= set(self.tokens[token].split()):
            why = f'Bearer error="insufficient_scope", scope="{needed}"'
            return 403, {"WWW-Authenticate": why}, {}
        if "id" not in message:
            return 202, {}, {}
        told: Any = {}
        if method == "initialize":
            told = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "login", "version": "1"},
            }
        elif method == "tools/list":
            told = {"tools": [TOOL]}
        elif method == "tools/call":
            told = {"content": [{"type": "text", "text": "done"}]}
        else:
            error = {"code": -32601, "message": "no such method"}
            return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "result": told}


@contextmanager
def serving(server: LoginServer) -> Iterator[LoginServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, told = server.answer(self.command, self.path, body, self.headers)
            out = json.dumps(told).encode() if status != 202 else b""
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        do_GET = do_POST = do_DELETE = _answer  # the names that http.server asks for

        def log_message(self, *_: Any) -> None: ...

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
