"""Real MCP servers behind nacre: that each works, that broken ones hold nobody up, what it costs.

    python bench/upstreams.py [--scratch FOLDER]

Servers come from their registries into a scratch folder; one that cannot be installed is told of.
1. Each is listed and called through `nacre mcp`, and must answer as it does by itself.
2. 50 servers are configured, 10 of them broken in different ways: the first list must come within
   5 s, the next ones at once, and the 40 must answer.
3. A call through nacre against the same call to the server itself: under 2 ms more at the median.
It exits with 1 when one of these fails.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clients.installs import CannotInstall, Scratch
from scratch import cpu_of, measure, p50, p95, scratch_environment, table
from stdio_client import StdioClient

_TESTS = Path(__file__).resolve().parent.parent / "tests"
_ODD = str(_TESTS / "upstreams" / "odd_server.py")
_SERVERS = ("everything", "filesystem", "memory")

LIST_WITHIN, OVERHEAD = 5.0, 2.0  # seconds, milliseconds
MANY, BROKEN = 50, 10
ROUNDS = 1000


class Real:
    """One server: its table, a call, and what its answer must hold."""

    def __init__(self, keys: dict[str, Any], tool: str, given: dict[str, Any], held: str) -> None:
        self.keys, self.tool, self.given, self.held = keys, tool, given, held


def write(env: dict[str, str], tables: dict[str, dict[str, Any]]) -> None:
    lines: list[str] = []
    for name, keys in tables.items():
        lines.append(f"[mcp_servers.{name}]")
        for key, value in keys.items():
            if isinstance(value, dict):
                value = "{" + ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items()) + "}"
                lines.append(f"{key} = {value}")
            else:
                lines.append(f"{key} = {json.dumps(value)}")
    Path(env["NACRE_HOME"], "config.toml").write_text("\n".join([*lines, ""]))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(argv: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(
        argv,
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def real_servers(scratch: Scratch, stack: ExitStack, folder: Path) -> dict[str, Real]:
    """Install the servers, and start those that are reached over HTTP."""
    found: dict[str, Real] = {}
    (folder / "note.txt").write_text("pearl")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    try:
        names = [f"@modelcontextprotocol/server-{name}" for name in _SERVERS]
        node, place = str(scratch.node()), scratch.npm("servers", *names)
    except CannotInstall as error:
        print(f"npm: {error}")
    else:

        def program(name: str) -> str:
            script = place / "node_modules" / ".bin" / f"mcp-server-{name}"
            return str(script.resolve())

        echo = ("echo", {"message": "pearl"}, "pearl")
        all_of_it = program("everything")
        stdio = {"command": node, "args": [all_of_it, "stdio"]}
        found["everything-stdio"] = Real(stdio, *echo)
        for kind, transport, path in (("sse", "sse", "sse"), ("streamableHttp", "http", "mcp")):
            port = free_port()
            stack.enter_context(serving([node, all_of_it, kind], port))
            url = f"http://127.0.0.1:{port}/{path}"
            keys = {"url": url, "transport": transport}
            found[f"everything-{transport}"] = Real(keys, *echo)
        files = {"command": node, "args": [program("filesystem"), str(folder)]}
        note = {"path": str(folder / "note.txt")}
        found["filesystem"] = Real(files, "read_text_file", note, "pearl")
        env = {"MEMORY_FILE_PATH": str(folder / "memory.json")}
        memory = {"command": node, "args": [program("memory")], "env": env}
        entity = {"name": "pearl", "entityType": "thing", "observations": ["round"]}
        found["memory"] = Real(memory, "create_entities", {"entities": [entity]}, "pearl")
    for label, pin in (("2025", "mcp<2"), ("2026", "mcp>=2")):
        try:
            python = str(scratch.python(f"pypi-{label}", "mcp-server-git", "mcp-server-time", pin))
        except CannotInstall as error:
            print(f"PyPI, {pin}: {error}")
            continue
        git = {"command": python, "args": ["-m", "mcp_server_git", "-r", str(folder)]}
        status = {"repo_path": str(folder)}
        found[f"git-{label}"] = Real(git, "git_status", status, "note.txt")
        clock = {"command": python, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
        zone = {"timezone": "UTC"}
        found[f"time-{label}"] = Real(clock, "get_current_time", zone, "UTC")
    home = folder / "second"
    home.mkdir()
    env = {"NACRE_HOME": str(home), "NACRE_PORT": "0", "NACRE_GRACE": "0"}
    args = ["-m", "nacre", "mcp", "--toolsets", "terminal"]
    second = {"command": sys.executable, "args": args, "env": env}
    found["nacre"] = Real(second, "list_sessions", {}, "[]")
    return found


def broken() -> dict[str, dict[str, Any]]:
    python = sys.executable
    ways = {
        how: {"command": python, "args": [_ODD, how]}
        for how in ("crash", "silent", "babble", "endless")
    }
    ways |= {f"{how}2": dict(keys) for how, keys in ways.items() if how in ("crash", "silent")}
    ways["missing"] = {"command": "no-such-program"}
    ways["unset"] = {"command": python, "env": {"A": "$NO_SUCH_VARIABLE"}}
    ways["refused"] = {"url": "http://127.0.0.1:1/mcp"}
    ways["wrong"] = {"comand": "x"}
    assert len(ways) == BROKEN
    return ways


def each_works(scratch: Scratch) -> bool:
    good = True
    rows: list[tuple[object, ...]] = [("server", "revision", "tools", "start ms", "call ms", "")]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-real-")))
        servers = real_servers(scratch, stack, folder)
        env = stack.enter_context(scratch_environment(max_upstream_tools=500))
        write(env, {name: one.keys for name, one in servers.items()})
        client = stack.enter_context(StdioClient(env, "--toolsets", "upstream"))
        for name, one in servers.items():
            words = [sys.executable, "-m", "nacre", "upstream", "test", name, "--json"]
            tested = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
            if tested.returncode:
                good = False
                rows.append((name, "-", "-", "-", "-", tested.stderr.strip()[:120]))
                continue
            told = json.loads(tested.stdout)
            began = time.perf_counter()
            request = {"name": f"mcp_{name}_{one.tool}", "arguments": one.given}
            answer = client.request("tools/call", request)
            ms = (time.perf_counter() - began) * 1000
            right = not answer.get("isError") and one.held in json.dumps(answer)
            good &= right
            verdict = "ok" if right else json.dumps(answer)[:120]
            counted = f"{told['tools']}+{told['prompts']}+{told['resources']}"
            rows.append((name, told["revision"], counted, told["ms"], ms, verdict))
    table(*rows)
    return good


def broken_ones_hold_nobody_up() -> bool:
    plain = {"command": sys.executable, "args": [_ODD, "plain"], "env": {"TOOLS": "echo"}}
    tables: dict[str, dict[str, Any]] = {f"good{n}": plain for n in range(MANY - BROKEN)}
    with scratch_environment(max_upstream_tools=500) as env:
        write(env, {**broken(), **tables})
        with StdioClient(env, "--toolsets", "upstream") as client:
            lists = []
            for _ in range(3):
                began = time.perf_counter()
                listed = client.request("tools/list", {})["tools"]
                lists.append((time.perf_counter() - began, len(listed) - 1))
            answered = 0
            for name in tables:
                answered += _call(client, name) == "pearl"
            again = time.perf_counter()
            last = len(client.request("tools/list", {})["tools"]) - 1
            lists.append((time.perf_counter() - again, last))
    table(
        ("list", "seconds", "tools"),
        *((f"{n + 1}.", seconds, count) for n, (seconds, count) in enumerate(lists)),
    )
    print(f"{answered} of {len(tables)} answer")
    soon = lists[0][0] < LIST_WITHIN and all(seconds < 0.5 for seconds, _ in lists[1:])
    return soon and answered == len(tables) == last


def _call(client: StdioClient, name: str) -> str:
    """Call a tool, when its list has come."""
    until = time.monotonic() + 60
    while True:
        try:
            request = {"name": f"mcp_{name}_echo", "arguments": {"text": "pearl"}}
            answer = client.request("tools/call", request)
            return str(answer["content"][0]["text"])
        except RuntimeError:
            if time.monotonic() > until:
                return "it is not listed"
            time.sleep(0.2)


def overhead() -> bool:
    argv = [sys.executable, _ODD, "plain"]
    # Without the library's load at leisure, a second of a processor in the middle of it.
    with scratch_environment(mcp_load_after=0) as env, ExitStack() as stack:
        write(env, {"odd": {"command": argv[0], "args": argv[1:]}})
        direct = stack.enter_context(StdioClient(env, argv=argv))
        ours = stack.enter_context(StdioClient(env, "--toolsets", "upstream"))
        ours.request("tools/list", {})
        if (said := _call(ours, "odd")) != "pearl":
            words = [sys.executable, "-m", "nacre", "upstream", "logs", "odd"]
            subprocess.run(words, env=env, check=False)
            raise RuntimeError(said)
        calls = {
            "direct": lambda: direct.call("echo", text="pearl"),
            "through nacre": lambda: ours.call("mcp_odd_echo", text="pearl"),
        }
        for call in calls.values():
            measure(call, 50)
        times: dict[str, list[float]] = {name: [] for name in calls}
        told = subprocess.run(
            [sys.executable, "-m", "nacre", "status", "--json"],
            env=env,
            capture_output=True,
            check=True,
        )
        pids = {"daemon": json.loads(told.stdout)["pid"], "bridge": ours.pid}
        before = {name: cpu_of(pid) for name, pid in pids.items()}
        for _ in range(ROUNDS // 50):  # in turns: a busy machine is busy for both
            for name, call in calls.items():
                times[name] += measure(call, 50)
        spent = {name: (cpu_of(pid) - before[name]) * 1000 / ROUNDS for name, pid in pids.items()}
    more = p50(times["through nacre"]) - p50(times["direct"])
    table(
        ("a call", "p50 ms", "p95 ms"),
        *((name, p50(taken), p95(taken)) for name, taken in times.items()),
        ("more", more, ""),
    )
    # What does not depend on who else is busy; the system counts in hundredths of a second.
    print("processor ms a call:", ", ".join(f"{name} {ms:.2f}" for name, ms in spent.items()))
    return more < OVERHEAD


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, help="Keep what is installed in this folder.")
    parser.add_argument("--only", choices=("real", "many", "overhead"))
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="nacre-servers-") as temporary:
        scratch = Scratch((given.scratch or Path(temporary)).resolve())
        scratch.folder.mkdir(parents=True, exist_ok=True)
        parts = {
            "real": lambda: each_works(scratch),
            "many": broken_ones_hold_nobody_up,
            "overhead": overhead,
        }
        for name, part in parts.items():
            if given.only in (None, name):
                right = part()
                print(f"{name}: {'ok' if right else 'FAILED'}\n", flush=True)
                good &= right
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
