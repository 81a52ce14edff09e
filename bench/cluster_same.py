"""Compare what each door answers for a session of its own host and for one of another host.

    python bench/cluster_same.py [--doors socket,ws,rest,ports,http,stdio,cli]

Two real hosts and a NATS server. Every operation of the catalog that names a session or a run, and
every tool of every toolset, is asked at one door, of a session here and of one there, which were
treated alike: with good parameters (the table below), and with each parameter wrong in many ways.
A new operation without a row in the table fails. The answers must be the same, but for what
differs between two sessions, of one host too: their names, and what ALLOWED lists, with the reason.
Prints each difference; exits with 1 if there is one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from websockets.sync.client import connect as connect_socket

from cluster_hosts import BenchHost, Nats, cluster
from nacre.core.agent.tools import AGENT
from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Spec
from nacre.core.operations.all import CATALOG
from nacre.doors.mcp.tools.toolsets import TOOLSETS
from nacre.errors import NacreError

from stdio_client import StdioClient

Json = dict[str, Any]
_RUN = "$RUN"  # stands for the id of a run of the session
_PNG = {"scale": 1}

# Good parameters beside the session; the first ones are those that the wrong ones stand beside.
GOOD: dict[str, list[Json]] = {
    "control": [{"action": "take"}, {"action": "release"}],
    "open_page": [{}],
    "overlay": [
        {"id": "box", "x": 1, "y": 1, "spans": [{"text": "hi"}]},
        {"id": "box", "x": 2},
        {"list": True},
    ],
    "remove_overlay": [{"id": "none"}, {"id": "box"}],
    "panel": [{"id": "bar", "position": "bottom", "height": 1}, {"list": True}],
    "remove_panel": [{"id": "none"}, {"id": "bar"}],
    "input_mode": [{"mode": "capture"}, {"mode": "release"}],
    "screen_mode": [{"action": "enter"}, {"action": "exit"}],
    "await_input": [{"max_wait_ms": 50}],
    "screen_at": [{}, {"time": -1}, {"format": "styled"}],
    "export_recording": [{}, {"idle_cap": 1, "markers": True, "max_chars": 300}],
    "film_recording": [{"scale": 1}],
    "list_activity": [{}, {"limit": 1}],
    "activity_output": [{"id": 1}, {"id": 99}],
    "search": [{"text": "hello"}, {"text": "h.l+o", "regex": True, "limit": 1}],
    "restore_sessions": [{}],
    "run": [
        {"command": "echo ran; false", "timeout_ms": 20000},
        {"command": "seq 500", "max_chars": 300},
        {"command": "sleep 9", "timeout_ms": 30},
        {"command": "echo busy", "timeout_ms": 30},
    ],
    "read_run": [{"run_id": _RUN}, {"run_id": _RUN, "find": "hel", "context": 1}],
    "follow_run": [{"run_id": _RUN, "timeout_ms": 50}, {"run_id": "nope"}],
    "send": [{"text": "echo sent", "timeout_ms": 200}],
    "send_key": [{"key": "ctrl+c"}, {"key": "nokey"}],
    "get_status": [{}],
    "wait_for": [
        {"text": "hello", "after_generation": 0, "timeout_ms": 50},
        {"text": "never", "timeout_ms": 50},
        {"state": ["prompt"], "timeout_ms": 5000},
        {"quiet_ms": 20, "timeout_ms": 5000},
    ],
    "await_quiesce": [{"timeout_ms": 20, "max_wait_ms": 5000}],
    "run_command": [{"input": "echo typed", "timeout_ms": 100, "max_wait_ms": 5000}],
    "list_sessions": [{}],
    "manage_session": [
        {"action": "resize", "rows": 30, "cols": 90},
        {"action": "rename", "new_name": "bad name"},
        {"action": "kill"},
    ],
    "resize_session": [{"rows": 25, "cols": 81}],
    "restart_session": [{}],
    "signal_session": [{"signal": "WINCH"}],
    "dismiss_session": [{}],
    "close_session": [{}],
    "send_input": [{"input": "echo in\n"}, {"input": "ZWNobwo=", "encoding": "base64"}],
    "press_keys": [{"keys": ["up", "ctrl+c"]}],
    "get_screen": [{}, {"format": "styled"}, {"format": "ansi"}, {"max_chars": 200}],
    "screenshot": [_PNG, {"format": "svg"}],
    "get_scrollback": [{}, {"offset": 0, "limit": 1}],
    "read_output": [{}, {"lines": 1, "join": True}],
    "put_file": [
        {"path": "file", "content": "one\ntwo\n", "overwrite": True},
        {"path": "file", "content": "x"},
        {"path": "no/such/folder", "content": "x"},
    ],
    "get_file": [{"path": "file"}, {"path": "none"}, {"path": "file", "encoding": "base64"}],
    "edit_file": [
        {"path": "file", "old": "one", "new": "1"},
        {"path": "file", "old": "9", "new": ""},
    ],
    "snapshot": [{}, {"lines": True}],
    "get_cells": [{"row": 0, "col": 0, "height": 2, "width": 5}, {"text": "hello"}],
    "screen_hash": [{}],
    "screen_diff": [{}, {"time": -1}],
    "focus": [{"text": "hello", "timeout_ms": 100}, {"ref": "nope"}],
    "mouse": [{"action": "click", "row": 1, "col": 1}, {"action": "click", "text": "nowhere"}],
    "view_screen": [{}, {"format": "raw"}, {"wait_text": "never", "timeout_ms": 50}],
    "send_keys": [{"keys": ["Enter"]}, {"keys": ["nokey"]}],
    "get_cursor_position": [{}],
    "get_screen_size": [{}],
    "resize_terminal": [{"rows": 26, "cols": 82}],
    "restart_app": [{}],
    "stop_app": [{}],
    "answer_question": [{"question": "none", "answer": "yes"}],
    "diff_session": [{}],
    "apply_session": [{}],
    "discard_session": [{}],
    # Those that make a session.
    "create_session": [{"command": "cat", "rows": 10, "cols": 40}, {"command": "/no/such"}],
    "start_session": [{"shell": "bash"}, {"shell": "nosuch"}],
    "launch_app": [{"command": "cat"}, {"command": "/no/such"}],
    # Tools that are made of several.
    "agent_run": [{"command": "echo ran", "wait": 20}, {"command": "seq 999", "max_chars": 300}],
    "agent_type": [{"text": "echo typed", "wait": 1}, {"keys": ["ctrl+c"]}],
    "agent_wait": [{"wait": 0.1}, {"pattern": "never", "wait": 0.1}],
    "agent_read": [{}, {"what": "screen"}, {"search": "hello"}],
    "agent_sessions": [{"action": "restart"}, {"action": "kill"}],
    "agent_screenshot": [{}],
}
_MAKE = ("create_session", "start_session", "launch_app")
_WRONG: tuple[Any, ...] = (-1, 10**9, "", "bogus", "a\u200bb\x1b", [], ["x"], {"a": 1}, True)
_FEW = (-1, "", "bogus", {"a": 1})  # where parameters are only worded otherwise
_WAITS = ("timeout_ms", "max_wait_ms", "wait_idle_ms", "quiet_ms", "wait")
# Commands of the command line; {} is the session, and {file} a file of ours.
LINES = (
    *(
        "screen {}",
        "snapshot {}",
        "scrollback {}",
        "read {} --lines 3",
        "run {} -- echo hi",
    ),
    *("run {} -- false", "run {} --timeout-ms 50 -- sleep 3", "keys {} ctrl+c", "keys {} nokey"),
    *("send {} 'echo yes'", "wait {} --text yes", "wait {} --text never --timeout-ms 50"),
    *("wait {} --exit --timeout-ms 50", "read {} --lines -1", "screen {} --format nosuch"),
    *("resize {} 30 90", "resize {} 0 90", "compare {}@-1"),
    *(
        "cp {file} {}:copied",
        "cp {}:copied -",
        "cp {}:none -",
        "signal {} WINCH",
        "signal {} NOSUCH",
    ),
    *("focus {} hello", "diff {}", "apply {}", "discard {}", "restart {}", "rename {} 'bad name'"),
    *("share {}", "screenshot {} -o -", "restore {}", "kill {}", "screen {}"),
    *("dismiss {}", "read {}", "run {} -- true", "attach {}", "record {}"),
)


class Pair:
    """A session of the door's host and one of the other, which are treated alike."""

    def __init__(self, stack: ExitStack, door: BenchHost, folder: Path) -> None:
        self._door = stack.enter_context(door.client())
        self._folder = folder
        self.runs: dict[str, str] = {}
        self._known: dict[str, dict[str, str]] = {"near": {}, "farr": {}}
        self.renew()

    def renew(self) -> None:
        """Make both anew."""
        for name, host in (("near", "a"), ("farr", "b")):
            with suppress(NacreError):
                self._door.call("close_session", session=name)
            self._known[name] = {}
            cwd = self._folder / name
            cwd.mkdir(exist_ok=True)
            for one in cwd.iterdir():
                one.unlink()
            made = self._door.call(
                "create_session",
                name=name,
                host=host,
                cwd=str(cwd),
                command="bash --norc --noprofile",
                env={"PS1": "$ "},
            )
            for key in ("session_id", "port", "pid"):
                assert made[key], made
                self._known[name][str(made[key])] = key
            self._door.call("wait_for", session=name, state=["prompt"])
            ran = self._door.call("run", session=name, command="printf 'hello\\nworld\\n'")
            self.runs[name] = ran["run_id"]

    @property
    def is_whole(self) -> bool:
        """Tell whether both are as they were, as far as that can be seen from outside."""
        try:
            for name in ("near", "farr"):
                self._door.call("wait_for", session=name, state=["prompt"], timeout_ms=300)
        except NacreError:
            return False
        return True

    def end_others(self) -> None:
        """End what was made besides."""
        for one in self._door.call("list_sessions")["sessions"]:
            if one["name"] not in ("near", "farr"):
                self._door.call("close_session", session=one["session_id"])

    def place(self, name: str, params: Json) -> Json:
        return {key: self.runs[name] if value == _RUN else value for key, value in params.items()}

    def plain(self, name: str, answer: Any) -> Any:
        """Return an answer without what must differ."""
        text = json.dumps(answer, sort_keys=True) if not isinstance(answer, str) else answer
        text = text.replace(name, "NAME").replace(self.runs[name], "RUN")
        for value, what in self._known[name].items():
            text = re.sub(rf"\b{value}\b", what.upper(), text)
        for pattern, put in _VOLATILE:
            text = pattern.sub(put, text)
        return text


# In answers as JSON, also inside of a text of JSON: \\".
_QUOTE = r'\\*"'
# Fields of one session at one moment: clocks, process numbers, counts of what its terminal was sent
# (a shell draws its prompt at moments of its own). Only numbers, and the texts of the last line.
_NUMBERS = (
    "generation|created|seconds|_ms|time|pid|port|age|started|ended|since|until|timestamp|cursor|"
    "seq|total_lines|bytes|size|duration|position|began|events|expires_in"
)
_TEXTS = "next_cursor|timestamp"
# All that may differ, as a pattern, what stands for it, and why.
ALLOWED = (
    (rf"{_QUOTE}(host|via){_QUOTE}: ?{_QUOTE}[ab]{_QUOTE},? ?", "", "the host is what is compared"),
    (r"\bhost '?[ab]'?\b", "host", "the same, in a sentence"),
    (
        rf"({_QUOTE}recording{_QUOTE}: ?){_QUOTE}.*",
        r"\1…",
        "a recording has the times at which each byte came",
    ),
    (rf"({_QUOTE}(film|data){_QUOTE}: ?){_QUOTE}[\w+/=-]*", r"\1…", "so does a film of it"),
    (rf"({_QUOTE}run{_QUOTE}: ?|\brun )\d+\b", r"\1N", "a daemon numbers its runs"),
    (r"\bnacre-bench-\w+(-\d+)?\b", "MADE", "a session without a name is called by its folder"),
    (r"127\.0\.0\.1:\d+", "ADDRESS", "of a page or a port"),
    (r"(code|token)=[\w-]+", "CODE", "a secret that holds once"),
    (r"\b1[678]\d{8}(\.\d+)?\b", "EPOCH", "a time of day"),
    (r"\b\d\d:\d\d(:\d\d)?\b", "TIME", "a time of day"),
    (r"\\*\[\d+\.\d+, ", "[T, ", "the time of an event"),
    (r"\b[0-9]+(\.[0-9]+)? ?(ms|s|seconds)\b", "N s", "how long something took"),
    (r"(is at|\bgen(eration)?s?:?) \d+", r"\1 N", "how often a screen has changed"),
    (r"\b(generation|gen)[ =]\d+", r"\1 N", "the same"),
    (
        rf"({_QUOTE}[a-z_]*(?:{_NUMBERS})[a-z_]*{_QUOTE}: ?)-?[0-9][0-9.e+-]*",
        r"\1N",
        "a number of one session at one moment",
    ),
    (rf"({_QUOTE}({_TEXTS}){_QUOTE}: ?){_QUOTE}[^\"\\]*", r"\1…", "the same, as a text"),
    (r"\b[0-9a-f]{8,64}\b", "HEX", "ids, and hashes of what has ids in it"),
    (r"\b2\d{4}\b", "PORT", "a port"),
)
_VOLATILE = [(re.compile(pattern), put) for pattern, put, _ in ALLOWED]


class Doors:
    """Each asks an operation of a session, and returns the answer, or the error."""

    def __init__(self, stack: ExitStack, host: BenchHost) -> None:
        self._stack = stack
        self._host = host
        state = json.loads(Path(host.paths.state_file).read_text())
        self._port = state["port"]
        self._token = Path(host.paths.token_file).read_text().strip()
        self._stdio: dict[str, StdioClient] = {}
        self._mcp: dict[str, str] = {}
        self._client = stack.enter_context(host.client())
        self._socket: Any = None

    def socket(self, spec: Spec, params: Json) -> Any:
        try:
            return self._client.call(spec.name, **params)
        except NacreError as error:
            return json.loads(json.dumps(vars(error), default=repr))

    def ws(self, spec: Spec, params: Json) -> Any:
        if self._socket is None:
            headers = {"Authorization": f"Bearer {self._token}"}
            url = f"ws://127.0.0.1:{self._port}/ws/json"
            self._socket = self._stack.enter_context(
                connect_socket(url, additional_headers=headers, max_size=None, proxy=None)
            )
            self._socket.recv(30)
        self._socket.send(json.dumps({"id": 1, "method": spec.name, "params": params}))
        return json.loads(self._socket.recv(60))

    def rest(self, spec: Spec, params: Json) -> Any:
        method, path = spec.route.split(" ")
        left = dict(params)
        for part in re.findall(r"\{(\w+)\}", path):
            value = urllib.parse.quote(str(left.pop(part, "none")) or "none", safe="")
            path = path.replace(f"{{{part}}}", value)
        return self._http(method, f"/api{path}", left, self._port)

    def _http(self, method: str, path: str, params: Json, port: int) -> Any:
        data = None
        if method == "GET":
            flat = {key: value for key, value in params.items() if isinstance(value, str | int)}
            query = urllib.parse.urlencode(flat)
            path = f"{path}?{query}" if query else path
        else:
            data = json.dumps(params).encode()
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", data=data, method=method, headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return _told(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return _told(error.code, error.headers, error.read())

    def at_port(self, port: int, method: str, path: str, params: Json) -> Any:
        return self._http(method, path, params, port)

    def stdio(self, toolset: str, tool: str, params: Json) -> Any:
        if toolset not in self._stdio:
            client = StdioClient(self._host.env, "--toolsets", toolset)
            self._stdio[toolset] = self._stack.enter_context(client)
        try:
            given = {"name": tool, "arguments": params}
            return self._stdio[toolset].request("tools/call", given)
        except RuntimeError as error:
            return {"error": str(error)}

    def http(self, toolset: str, tool: str, params: Json) -> Any:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "same", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": params, "_meta": meta},
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/mcp?toolsets={toolset}",
            data=json.dumps(message).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": tool,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return _told(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return _told(error.code, error.headers, error.read())

    def cli(self, line: str) -> Any:
        command = f"{sys.executable} -m nacre {line}"
        ran = subprocess.run(
            ["bash", "-c", command],
            env=self._host.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=90,
            check=False,
        )
        return f"{ran.returncode}\n{ran.stdout.decode(errors='replace')}\n{ran.stderr.decode()}"


def _told(status: int, headers: Any, body: bytes) -> Json:
    kept = {key: headers[key] for key in ("Nacre-Notice", "Content-Type") if headers[key]}
    try:
        text: Any = json.loads(body)
    except ValueError:
        text = body.decode(errors="replace")
        if text.startswith("event:"):
            text = [json.loads(one[6:]) for one in text.splitlines() if one.startswith("data: {")]
    return {"status": status, **kept, "body": text}


def cases(spec: Spec, wrong: tuple[Any, ...] = _WRONG) -> Iterator[Json]:
    """Good parameters, then each wrong in turn."""
    good = GOOD[spec.name]
    yield from good
    for field in spec.type.__struct_fields__:
        if field in ("session", "sessions", "host", "labels"):
            continue
        for value in wrong:
            if not (field in _WAITS and value == 10**9):
                yield {**good[0], field: value}
    yield {**good[0], "nosuch": 1}
    for missing in good[0]:
        yield {key: value for key, value in good[0].items() if key != missing}


class Comparison:
    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self.compared = 0
        self.differences = 0

    def compare(self, what: str, ask: Callable[[str], Any], spec: Spec | None = None) -> None:
        """Ask of both, and of both anew before it is called a difference."""
        for last in (False, True):
            near, farr = (self._answer(name, ask, spec) for name in ("near", "farr"))
            if near == farr:
                break
            self._pair.renew()
            if last:
                self._tell(what, near, farr)
        self.compared += 1
        if (spec is None or spec.scope is not Scope.OBSERVE) and not self._pair.is_whole:
            self._pair.renew()

    def _answer(self, name: str, ask: Callable[[str], Any], spec: Spec | None) -> str:
        try:
            found = self._pair.plain(name, ask(name))
            if spec is not None and spec.name in _MAKE:
                self._pair.end_others()
        except Exception as error:  # noqa: BLE001  # it is compared, too
            return f"{type(error).__name__}: {error}"
        return found

    def _tell(self, what: str, near: str, farr: str) -> None:
        self.differences += 1
        same = next(
            (at for at, pair in enumerate(zip(near, farr, strict=False)) if pair[0] != pair[1]), 0
        )
        first, last = max(0, same - 120), same + 200
        print(f"{what}\n   here:  {near[first:last]!r}\n   there: {farr[first:last]!r}", flush=True)


def compare_operations(comparison: Comparison, pair: Pair, doors: Doors, door: str) -> None:
    for spec in CATALOG.values():
        if not (spec.references or spec.name in _MAKE):
            continue
        ask = partial(getattr(doors, door), spec)
        for params in cases(spec, _WRONG if door == "socket" else _FEW):

            def asked(name: str, ask: Any = ask, spec: Spec = spec, params: Json = params) -> Any:
                return ask({**of_session(spec, name), **pair.place(name, params)})

            comparison.compare(f"{door} {spec.name} {params}", asked, spec)
        if "session" in spec.references:

            def lost(name: str, ask: Any = ask, spec: Spec = spec) -> Any:
                place = {"near": "a", "farr": "b"}[name]
                return ask({**GOOD[spec.name][0], "session": f"{place}/none"})

            comparison.compare(f"{door} {spec.name} of no session", lost, spec)


def of_session(spec: Spec, name: str) -> Json:
    if spec.name in _MAKE:
        return {"host": {"near": "a", "farr": "b"}[name]}
    if spec.name in ("read_run", "follow_run"):
        return {}
    return {"session": name}


def compare_tools(comparison: Comparison, pair: Pair, doors: Doors, door: str) -> None:
    for toolset, tool, entry in (
        (one, *item) for one in TOOLSETS for item in TOOLSETS[one].items()
    ):
        spec = AGENT.get(entry.operation) or CATALOG[entry.operation]
        named = {*spec.references, *spec.type.__struct_fields__} & {"session", "run_id"}
        if not (named or spec.name in _MAKE):
            continue
        ask = partial(getattr(doors, door), toolset, tool)
        renamed = {value: key for key, value in entry.renamed.items()}
        for params in cases(spec, _FEW):
            if spec.name == "agent_sessions" and "action" not in params:
                continue  # it lists both

            def asked(
                name: str,
                ask: Any = ask,
                spec: Spec = spec,
                params: Json = params,
                renamed: Any = renamed,
            ) -> Any:
                given = {**of_session(spec, name), **pair.place(name, params)}
                return ask({renamed.get(key, key): value for key, value in given.items()})

            comparison.compare(f"{door} {toolset}.{tool} {params}", asked, spec)


_AT_PORT: tuple[tuple[str, str, Json], ...] = (
    *(("GET", path, {}) for path in ("/", "/status", "/out", "/raw", "/nosuch")),
    *(
        ("GET", path, {"lines": value})
        for path in ("/out", "/raw")
        for value in (1, -1, "x", 10**9)
    ),
    ("POST", "/in", {"a": 1}),
    ("POST", "/key", {"key": "ctrl+c"}),
    ("POST", "/key", {"key": "nokey"}),
    ("POST", "/run", {"command": "echo ran; false"}),
    ("POST", "/run", {"command": "", "nosuch": 1}),
    ("POST", "/run", {"command": "sleep 5", "timeout_ms": 50}),
    ("POST", "/interrupt", {}),
    ("POST", "/resize", {"rows": 20, "cols": 70}),
    ("POST", "/resize", {"rows": 0, "cols": "x"}),
    ("GET", "/resize", {}),
    ("POST", "/sigterm", {}),
    ("POST", "/sigkill", {}),
    ("POST", "/close", {}),
)


def compare_ports(comparison: Comparison, doors: Doors, door: BenchHost) -> None:
    for method, path, params in _AT_PORT:

        def asked(name: str, method: str = method, path: str = path, params: Json = params) -> Any:
            port = door.call("list_sessions", session=name)["port"]
            return doors.at_port(port, method, path, params)

        comparison.compare(f"port {method} {path} {params}", asked)


def compare_lines(comparison: Comparison, doors: Doors, folder: Path) -> None:
    file = folder / "given"
    file.write_text("given\n")
    for line in LINES:
        for how in ("", " --json"):
            first, rest = line.partition(" ")[::2]
            command = f"{first}{how} {rest}"

            def asked(name: str, command: str = command) -> Any:
                return doors.cli(command.replace("{file}", str(file)).replace("{}", name))

            comparison.compare(f"cli {command}", asked)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--doors", default="socket,ws,rest,ports,http,stdio,cli")
    given = parser.parse_args()
    named = [one for one in CATALOG.values() if one.references]
    missing = {one.name for one in (*named, *AGENT.values())} - GOOD.keys()
    if missing:
        print(f"no good parameters for {', '.join(sorted(missing))}")
        return 1
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-bench-")))
        server = Nats(folder)
        stack.callback(server.kill)
        hosts = stack.enter_context(cluster("ab", server.url))
        pair = Pair(stack, hosts["a"], folder)
        os.chdir(folder)  # what is written into the caller's folder
        doors = Doors(stack, hosts["a"])
        comparison = Comparison(pair)
        for door in given.doors.split(","):
            before = comparison.compared, comparison.differences
            if door in ("socket", "ws", "rest"):
                compare_operations(comparison, pair, doors, door)
            elif door in ("http", "stdio"):
                compare_tools(comparison, pair, doors, door)
            elif door == "ports":
                compare_ports(comparison, doors, hosts["a"])
            else:
                compare_lines(comparison, doors, folder)
            made, other = comparison.compared - before[0], comparison.differences - before[1]
            print(f"{door}: {made} compared, {other} different", flush=True)
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
