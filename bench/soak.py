"""All doors for a while, with faults; then everything is ended, and compared with the start.

Each door has a caller that makes sessions, uses them and ends them, while others break off in the
middle, send nonsense, read nothing, and kill what runs. In the end all sessions are ended: memory,
descriptors, threads, processes and files must be what they were. What is loaded only when it is
first used is used once before the start is noted.

    python bench/soak.py [--minutes 1] [--allowed-mb 30]
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from scratch import SOURCE, memory_of, scratch_environment, table
from stdio_client import StdioClient

sys.path.insert(0, SOURCE)

from nacre.client.calls import AnsweredError, Client
from nacre.settings.paths import find_paths

SETTLE = 90.0  # seconds in which memory and files must be what they were
STEADY = 5.0  # seconds in which nothing grows: what is loaded late has been
CALL = 60.0  # seconds; a call that takes longer has failed
POOL = min(32, (os.cpu_count() or 1) + 4)  # threads that asyncio makes when they are needed


class Held(NamedTuple):
    memory: float
    descriptors: int
    threads: int
    processes: int
    files: int


class Soak:
    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self.home = env["NACRE_HOME"]
        os.environ["NACRE_HOME"] = self.home
        self.paths = find_paths(env)
        self.keeper = subprocess.Popen(
            [sys.executable, "-m", "nacre", "server"], env=env, stderr=subprocess.DEVNULL
        )
        self.state = self._when_up()
        self.pid, self.port = self.state["pid"], self.state["port"]
        self.token = Path(self.paths.token_file).read_text().strip()
        self.stop = threading.Event()
        self.counts: dict[str, int] = {}
        self.failures: list[str] = []

    def _when_up(self) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while True:
            try:
                Client.open(timeout=30).close()
                return dict(json.loads(Path(self.paths.state_file).read_text()))
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    # --- what is held ----------------------------------------------------------------------

    def held(self) -> Held:
        proc = Path(f"/proc/{self.pid}")
        files = len(self.files())
        return Held(
            memory_of(self.pid),
            len(os.listdir(proc / "fd")),
            len(os.listdir(proc / "task")),
            len(_below(self.keeper.pid)),
            files,
        )

    def files(self) -> set[str]:
        return {
            os.path.relpath(os.path.join(folder, name), self.home)
            for folder, _, names in os.walk(self.home)
            for name in names
        }

    # --- the doors -------------------------------------------------------------------------

    def by_socket(self) -> None:
        with Client.open(timeout=CALL) as client:
            name = f"cli-{random.randrange(10**9)}"
            client.call("create_session", name=name)
            ran = client.call("run", session=name, command="seq 30000", timeout_ms=30_000)
            client.call("read_run", run_id=ran["run_id"], offset=100)
            client.call("wait_for", session=name, regex="2999.$", timeout_ms=1000)
            client.call("get_scrollback", session=name, limit=3000, max_chars=1_000_000)
            client.call("resize_session", session=name, rows=30, cols=100)
            client.call("manage_session", session=name, action="kill")

    def by_stdio(self) -> None:
        with StdioClient(self.env) as client:
            for _ in range(3):
                made = client.call("create_session", command="bash --norc")
                name = made["session"]
                client.call("run_command", session=name, input="ls -la /", timeout_ms=500)
                client.call("get_screen", session=name)
                client.call("manage_session", session=name, action="kill")

    def by_rest(self) -> None:
        name = f"rest-{random.randrange(10**9)}"
        made = self._rest("POST", "/sessions", {"name": name})
        self._rest("POST", f"/sessions/{name}/run", {"command": "seq 1000"})
        self._rest("GET", f"/sessions/{name}/screenshot")
        self._rest("POST", f"/sessions/{name}/recording", {})
        self._rest("GET", "/status", port=made["port"], prefix="")
        self._rest("POST", f"/sessions/{name}/manage", {"action": "kill"})

    def by_websocket(self) -> None:
        name = f"ws-{random.randrange(10**9)}"
        self._rest("POST", "/sessions", {"name": name, "command": "yes", "args": []})
        headers = {"Authorization": f"Bearer {self.token}"}
        for path in (f"/ws/raw/{name}", "/ws/json"):
            address = f"ws://127.0.0.1:{self.port}{path}"
            with connect(address, additional_headers=headers) as one:
                one.recv(30) if "raw" in path else one.send('{"id":1,"method":"list_sessions"}')
                one.recv(30)
        self._rest("POST", f"/sessions/{name}/manage", {"action": "kill"})

    def _rest(
        self, method: str, path: str, body: Any = None, port: int = 0, prefix: str = "/api"
    ) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port or self.port}{prefix}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=CALL) as answer:
            data = answer.read()
        return json.loads(data) if data[:1] in b"{[" else data

    # --- faults ----------------------------------------------------------------------------

    def break_off(self) -> None:
        """Leave in the middle: of a request over TCP, of a call, of answers that nobody reads."""
        with socket.create_connection(("127.0.0.1", self.port)) as half:
            half.sendall(b"POST /api/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 5000)
        with socket.create_connection(("127.0.0.1", self.port)) as noise:
            noise.sendall(random.randbytes(2000))
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(self.paths.socket)
            greeting = {"nacre": 1, "door": "call", "version": "0"}
            asked = {"id": 1, "operation": "list_sessions", "params": {}}
            lines = [greeting, *[asked] * 50]
            silent.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        with socket.socket(socket.AF_UNIX) as noise:
            noise.connect(self.paths.socket)
            noise.sendall(random.randbytes(500) + b"\n")
        with suppress(urllib.error.HTTPError):
            self._rest("POST", "/sessions/nobody/run", {"command": "true"})

    def kill_programs(self) -> None:
        """Kill a session's shell, and start a run that its session does not outlive."""
        with Client.open(timeout=CALL) as client:
            name = f"doomed-{random.randrange(10**9)}"
            pid = client.call("create_session", name=name)["pid"]
            client.call("run", session=name, command="sleep 1000 & seq 5000", timeout_ms=10_000)
            os.kill(pid, signal.SIGKILL)
            with suppress(AnsweredError):  # it has ended, and may be forgotten already
                client.call("run", session=name, command="true", timeout_ms=5000)
                client.call("manage_session", session=name, action="kill")

    @property
    def callers(self) -> tuple[Callable[[], None], ...]:
        doors = (self.by_socket, self.by_stdio, self.by_rest, self.by_websocket)
        return (*doors, self.break_off, self.kill_programs)

    def keep_calling(self, call: Callable[[], None]) -> None:
        name = call.__name__
        while not self.stop.is_set():
            try:
                call()
            except (AnsweredError, OSError, RuntimeError, WebSocketException) as error:
                self.failures.append(f"{name}: {error!r}"[:200])
            self.counts[name] = self.counts.get(name, 0) + 1

    def load_mcp(self) -> None:
        """Have the MCP library loaded now: it would count as growth else."""
        with suppress(urllib.error.HTTPError):  # there is no such MCP session
            self._rest("DELETE", "/mcp", prefix="")

    def end_all(self) -> None:
        with Client.open(timeout=CALL) as client:
            for session in client.call("list_sessions", max_chars=10_000_000)["sessions"]:
                with suppress(AnsweredError):  # it has just been forgotten
                    client.call("manage_session", session=session["name"], action="kill")


def _below(pid: int) -> set[int]:
    """Return the processes below one: sessions' orphans are the keeper's children."""
    parents: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found: set[int] = set()
    wanted = [pid]
    while wanted:
        children = parents.get(wanted.pop(), [])
        found.update(children)
        wanted += children
    return found


def steady(soak: Soak) -> Held:
    """Return what is held when it does not grow any more: what is loaded late is there."""
    deadline = time.monotonic() + SETTLE
    now = soak.held()
    while True:
        time.sleep(STEADY)
        before, now = now, soak.held()
        if not _grown(before, now, 1) or time.monotonic() > deadline:
            return now


def settled(soak: Soak, start: Held, allowed: float) -> Held:
    """Return what is held when it is what it was, or after a while."""
    deadline = time.monotonic() + SETTLE
    while True:
        now = soak.held()
        if not _grown(start, now, allowed) or time.monotonic() > deadline:
            return now
        time.sleep(1)


def _grown(start: Held, end: Held, allowed: float) -> list[str]:
    """Name what is more than it was."""
    limits = {**start._asdict(), "memory": start.memory + allowed, "threads": start.threads + POOL}
    return [name for name, limit in limits.items() if getattr(end, name) > limit]


def say(what: str) -> None:
    """Who waits sees that something goes on, and for how long."""
    print(f"{time.strftime('%T')} {what}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--allowed-mb", type=float, default=30.0)
    options = parser.parse_args()
    # Ended sessions are forgotten at once, and the output of runs with them.
    with scratch_environment(ended_keep=1, max_ended=0, shell="/bin/bash", max_runs=10) as env:
        env["HISTFILE"] = ""  # a bash that is killed as it writes its history leaves half of it
        soak = Soak(env)
        try:
            say("once through all doors")
            for call in soak.callers:
                call()
            soak.load_mcp()
            soak.end_all()
            start, files = steady(soak), soak.files()
            say(f"all doors for {options.minutes:g} minutes")
            callers = [
                threading.Thread(target=soak.keep_calling, args=(call,)) for call in soak.callers
            ]
            for caller in callers:
                caller.start()
            time.sleep(options.minutes * 60)
            during = soak.held()
            say(f"the last calls, at most {CALL:g} s")
            soak.stop.set()
            for caller in callers:
                caller.join()
            soak.end_all()
            say(f"what was used is given back, at most {SETTLE:g} s")
            end = settled(soak, start, options.allowed_mb)
            more = sorted(soak.files() - files)
        finally:
            soak.keeper.terminate()
            soak.keeper.wait(60)
    table(("", *Held._fields), ("start", *start), ("meanwhile", *during), ("end", *end))
    print("\nrounds:", ", ".join(f"{name} {count}" for name, count in soak.counts.items()))
    print(f"calls that failed: {len(soak.failures)}", *soak.failures[:10], sep="\n  ")
    grown = _grown(start, end, options.allowed_mb)
    print("files that were not there:", ", ".join(more) or "none")
    print("more than at the start:", ", ".join(grown) or "nothing")
    return 1 if grown or soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
