"""A ten-step task over MCP, each server by its own tools: calls, characters received, wall time.

The task: make a folder, write a program with a bug, run it, read the error, fix it, run it and
check the exit code, start a server and curl it, find one line in 20,000, two lines in a Python
REPL, answer a yes/no question, stop. A server's steps are what a careful model would call. One that
cannot say when something is done is polled, with a pause between two looks; a model's is longer.
    python bench/agent_task.py [nacre] [desktop-commander] [tmux-mcp]
The others are installed from registries into a scratch folder (--scratch FOLDER keeps it); one that
cannot be installed is named, and left out.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from scratch import scratch_environment, table

MOST_CALLS, MOST_CHARS, MOST_LIST = 14, 2500, 6000
_MOST_LOOKS = 60  # of one task; then it is given up
_LOOK = 0.5  # seconds between two looks of a model that must poll; a real one needs longer

DESKTOP_COMMANDER, _VERSION = "@wonderwhy-er/desktop-commander", "0.2.15"
TMUX_MCP = ("tmux-mcp==0.3.3", "mcp<2")  # from PyPI; it needs the SDK of before

PROGRAM = "def mean(xs):\n    return sum(xs) / len(x)\n\nprint(mean([1, 2, 3]))\n"


class Wire:
    """A bare MCP client over stdio that counts what its model would read."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: str) -> None:
        self._process = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.folder = cwd
        self._number = 0
        self.calls = self.chars = self.polls = 0
        self.slept = 0.0
        client = {"name": "bench", "version": "1"}
        given = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.instructions = self.ask("initialize", given).get("instructions", "")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.listed = len(json.dumps(self.ask("tools/list", {}), separators=(",", ":")))

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if isinstance(answer, dict) and answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
        raise RuntimeError("the server has ended")

    def __call__(self, tool: str, *, big: bool = False, **arguments: Any) -> str:
        """Call a tool; `big` is the one output whose size is not counted."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(block.get("text", "") for block in result["content"])
        self.calls += 1
        self.chars += 0 if big else len(text)
        return text

    def until(self, look: Callable[[], str], wanted: str) -> str:
        """Look again and again, as who cannot wait must."""
        while not re.search(wanted, text := look(), re.MULTILINE):
            if self.polls == _MOST_LOOKS:
                raise RuntimeError(f"{wanted!r} does not come: {text!r}")
            self.polls += 1
            self.slept += _LOOK
            time.sleep(_LOOK)
        return text

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def must(text: str, *wanted: str) -> str:
    for one in wanted:
        if not re.search(one, text, re.MULTILINE):
            raise RuntimeError(f"{one!r} is not in {text!r}")
    return text


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def heredoc(folder: str) -> str:
    return f"mkdir {folder} && cd {folder} && cat > mean.py <<'EOF'\n{PROGRAM}EOF"


FIX = "sed -i 's/len(x)/len(xs)/' mean.py"
ASKS = "read -p 'Remove it? [y/n] ' x; echo answered $x"


def nacre(call: Wire) -> None:
    port = free_port()
    must(call("run", command=heredoc("task")), r"^\[exit 0")
    must(call("run", command="python3 mean.py"), r"^\[exit 1", "NameError")
    must(call("run", command=f"{FIX} && python3 mean.py"), r"^\[exit 0", "^2.0$")
    server = f"python3 -u -m http.server {port}"
    must(call("run", command=server, session="server", cwd="task", wait=0), r"^\[running")
    must(call("wait", session="server", **{"for": "Serving HTTP"}), r"^\[matched")
    fetched = call("run", command=f"curl -s localhost:{port}/mean.py | head -1")
    must(fetched, r"^\[exit 0", "^def mean")
    must(call("run", big=True, command="seq 20000 | sed 's/^17171$/needle/'"), r"^\[exit 0")
    must(call("read", search="needle", context=0), "^>17171  needle")
    must(call("run", command="python3 -q"), r"^\[repl")
    must(call("run", command="x = 6 * 7\nprint(x)"), "^42$")
    must(call("type", keys=["C-d"]), r"^\[exit 0")
    must(call("run", command=ASKS), r"^\[asks confirm", "Remove it")
    must(call("type", text="y"), r"^\[exit 0", "^answered y$")
    must(call("type", session="server", keys=["C-c"]), r"^\[exit")


def desktop_commander(call: Wire) -> None:
    port = free_port()
    start, read, send = "start_process", "read_process_output", "interact_with_process"
    folder = os.path.join(call.folder, "task")

    def run(command: str, wanted: str, *, big: bool = False) -> str:
        text = call(start, big=big, command=command, timeout_ms=5000)
        pid = must(text, r"PID (\d+)") and re.search(r"PID (\d+)", text)
        assert pid is not None
        if not re.search(wanted, text, re.MULTILINE):
            text = call.until(lambda: call(read, big=big, pid=int(pid[1]), timeout_ms=1000), wanted)
        return text

    run(f"mkdir {folder} && echo made", "made")
    call("write_file", path=f"{folder}/mean.py", content=PROGRAM)
    run(f"cd {folder} && python3 mean.py; echo exit=$?", "NameError")
    edited = {"old_string": "len(x)", "new_string": "len(xs)"}
    call("edit_block", file_path=f"{folder}/mean.py", **edited)
    run(f"cd {folder} && python3 mean.py; echo exit=$?", "exit=0")
    server = run(f"cd {folder} && python3 -u -m http.server {port}", "Serving")
    run(f"curl -s localhost:{port}/mean.py | head -1", "def mean")
    run("seq 20000 | sed 's/^17171$/needle/' > /tmp/big-$$ ; cat /tmp/big-$$", "20000", big=True)
    run("seq 20000 | sed 's/^17171$/needle/' | grep -n needle", "17171:needle")
    repl = run("python3 -i -q", ">>>")
    pid = _pid(repl)
    call(send, pid=pid, input="x = 6 * 7")
    must(call(send, pid=pid, input="print(x)"), "42")
    call("force_terminate", pid=pid)
    # Its processes have no terminal, and bash shows no prompt of read there.
    asks = run("bash -c \"printf 'Remove it? [y/n] '; read x; echo answered \\$x\"", "Remove it")
    must(call(send, pid=_pid(asks), input="y"), "answered y")
    call("force_terminate", pid=_pid(server))


def _pid(text: str) -> int:
    found = re.search(r"PID (\d+)", text)
    assert found is not None, text
    return int(found[1])


def tmux_mcp(call: Wire) -> None:
    port = free_port()
    send, read = "tmux_send_keys", "tmux_read_pane"
    call("tmux_create_session", name="task")
    call("tmux_create_session", name="server")

    def run(command: str, wanted: str, pane: str = "task", *, big: bool = False) -> str:
        call(send, target=pane, keys=command, literal=True)
        call(send, target=pane, keys="Enter")
        return call.until(lambda: call(read, target=pane, big=big), wanted)

    run("clear; mkdir task && cd task && echo ma''de", "^made")
    encoded = PROGRAM.replace("\n", "\\n")
    run(f"clear; printf '{encoded}' > mean.py && echo wri''tten", "^written")
    run("clear; python3 mean.py; echo exit=$?", "^exit=1")
    run(f"clear; {FIX}; python3 mean.py; echo exit=$?", "^exit=0")
    run(f"cd task; python3 -u -m http.server {port}", "^Serving", "server")
    run(f"clear; curl -s localhost:{port}/mean.py | head -1", "^def mean")
    run("clear; seq 20000 | sed 's/^17171$/needle/' > big; tail -3 big", "^20000", big=True)
    run("clear; grep -n needle big", "^17171:needle")
    run("clear; python3 -q", "^>>>")
    run("x = 6 * 7", "^>>> *$")
    run("print(x)", "^42")
    call(send, target="task", keys="C-d")
    run(f"clear; {ASKS}", r"^Remove it\?")
    run("y", "^answered y")
    call(send, target="server", keys="C-c")
    call("tmux_kill", target="server", type="session")
    call("tmux_kill", target="task", type="session")


def install_desktop_commander(scratch: Path) -> list[str]:
    folder = scratch / "desktop-commander"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')  # else npm takes a folder above
    if not (folder / "node_modules").exists():
        npm = ["npm", "install", "--no-audit", "--no-fund"]
        npm += [f"{DESKTOP_COMMANDER}@{_VERSION}"]
        subprocess.run(npm, cwd=folder, check=True, capture_output=True, timeout=300)
    entry = folder / "node_modules" / DESKTOP_COMMANDER / "dist" / "index.js"
    return ["node", str(entry)]


def install_tmux_mcp(scratch: Path) -> list[str]:
    folder = scratch / "tmux-mcp"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", *TMUX_MCP]
        subprocess.run(pip, check=True, capture_output=True, timeout=300)
    return [str(folder / "bin" / "tmux-mcp"), "serve"]


SERVERS: dict[str, tuple[Callable[[Wire], None], Callable[[Path], list[str]]]] = {
    "nacre": (nacre, lambda _: [sys.executable, "-m", "nacre", "mcp"]),
    "desktop-commander": (desktop_commander, install_desktop_commander),
    "tmux-mcp": (tmux_mcp, install_tmux_mcp),
}


class Figures(NamedTuple):
    listed: int  # characters of tools/list
    calls: int
    chars: int
    polls: int
    slept: float
    wall: float


def perform(name: str, task: Callable[[Wire], None], command: list[str]) -> Figures | None:
    """Do the task once; None where the server did not."""
    with scratch_environment() as env, tempfile.TemporaryDirectory() as work:
        env = {**env, "PS1": "$ ", "TMUX_TMPDIR": work}
        if name != "nacre":
            del env["PYTHONPATH"]
        try:
            wire = Wire(command, env, work)
            began = time.perf_counter()
            task(wire)
            seconds = time.perf_counter() - began
            wire.close()
        except RuntimeError as error:
            print(f"{name} did not do the task: {error}")
            return None
        return Figures(wire.listed, wire.calls, wire.chars, wire.polls, wire.slept, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("servers", nargs="*", default=list(SERVERS), metavar="SERVER")
    parser.add_argument("--scratch", type=Path, help="where servers are installed, and kept")
    parser.add_argument("--rounds", type=int, default=3, help="the median's wall time counts")
    arguments = parser.parse_args()
    commands: dict[str, list[str]] = {}
    done: dict[str, list[Figures]] = {}
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as temporary:
        scratch = (arguments.scratch or Path(temporary)).resolve()
        scratch.mkdir(exist_ok=True)
        for name in arguments.servers:
            try:
                commands[name] = SERVERS[name][1](scratch)
            except (subprocess.SubprocessError, OSError) as error:
                print(f"{name} cannot be installed here: {error}")
        for _ in range(arguments.rounds):  # in turns: the machine may be busier now than then
            for name, command in commands.items():
                figures = perform(name, SERVERS[name][0], command)
                if figures is not None:
                    done.setdefault(name, []).append(figures)
    walls = {name: statistics.median(one.wall for one in rounds) for name, rounds in done.items()}
    rows = [(name, *rounds[-1][:5], walls[name]) for name, rounds in done.items()]
    if rows:
        table(("server", "tools/list", "calls", "chars", "polls", "slept s", "wall s"), *rows)
    return 0 if "nacre" not in arguments.servers or _is_ahead(done, walls) else 1


def _is_ahead(done: dict[str, list[Figures]], walls: dict[str, float]) -> bool:
    ours = done.get("nacre")
    if ours is None:
        return False
    one = ours[-1]
    within = one.calls <= MOST_CALLS and one.chars <= MOST_CHARS and one.listed < MOST_LIST
    return within and not one.polls and walls["nacre"] == min(walls.values())


if __name__ == "__main__":
    sys.exit(main())
