"""`cat` of a large file through a session, against a bare loop and against tmux in the same run.

The bare loop reads a PTY into the engine and does nothing else: what is lost against it is what the
daemon costs. Rounds alternate, and the best of each counts, for the machine is shared.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from pyghostty import Terminal

from scratch import memory_of, scratch_environment, table
from stdio_client import StdioClient

SIZE = 50 * 1024 * 1024
ROUNDS = 3


def make_file(folder: str) -> str:
    """A log-like text with colours, so that the engine has something to do."""
    path = os.path.join(folder, "big.txt")
    line = "\x1b[32m2026-01-01 12:00:00\x1b[0m service[%d]: request %08x took 12 ms, all is well\n"
    with open(path, "w", encoding="utf-8") as file:
        written = 0
        number = 0
        while written < SIZE:
            chunk = "".join(line % (n % 97, n) for n in range(number, number + 1000))
            number += 1000
            written += file.write(chunk)
    return path


def bare_loop(path: str) -> float:
    import pty

    started = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.execvp("cat", ["cat", path])
    terminal = Terminal(80, 24, scrollback=10_000)
    while True:
        select.select([master], [], [])
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        terminal.feed(data)
    os.waitpid(pid, 0)
    os.close(master)
    return time.perf_counter() - started


def nacre(client: StdioClient, path: str) -> float:
    started = time.perf_counter()
    session = client.call("create_session", command="cat", args=[path])["session_id"]
    generation = 0
    while True:
        details = client.call("list_sessions", session=session)
        if not details["running"]:
            break
        # The next answer is wanted when the child ends: the wait returns then, not at a beat.
        client.call("await_quiesce", session=session, timeout_ms=60_000, max_wait_ms=60_000)
        generation = details["generation"]
    took = time.perf_counter() - started
    client.call("manage_session", session=session, action="kill")
    assert generation >= 0
    return took


def tmux(path: str) -> float:
    server = f"nacre-bench-{uuid.uuid4().hex[:8]}"
    base = ["tmux", "-L", server, "-f", "/dev/null"]
    subprocess.run([*base, "new-session", "-d", "-x", "80", "-y", "24", "sh"], check=True)
    subprocess.run([*base, "set-option", "-g", "history-limit", "10000"], check=True)
    started = time.perf_counter()
    command = f"cat {path}; {' '.join(base)} wait-for -S done"
    subprocess.run([*base, "new-window", command], check=True)
    subprocess.run([*base, "wait-for", "done"], check=True)
    took = time.perf_counter() - started
    subprocess.run([*base, "kill-server"], check=False)
    return took


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder, scratch_environment() as env:
        path = make_file(folder)
        size = Path(path).stat().st_size / 1e6
        best = {"bare loop into the engine": 1e9, "nacre session": 1e9, "tmux": 1e9}
        with StdioClient(env) as client:
            small = client.call("create_session", command="true")["session_id"]
            client.call("manage_session", session=small, action="kill")
            # Only the MCP library answers this. It takes 34 MB, and would be loaded meanwhile.
            client.request("resources/list", {})
            state = Path(env["NACRE_HOME"], "state", "daemon.json").read_text()
            pid = int(state.partition('"pid": ')[2].partition(",")[0])
            before = memory_of(pid)
            for _ in range(ROUNDS):
                for name, took in (
                    ("bare loop into the engine", bare_loop(path)),
                    ("nacre session", nacre(client, path)),
                    ("tmux", tmux(path)),
                ):
                    best[name] = min(best[name], took)
            growth = memory_of(pid) - before
    floor = best["bare loop into the engine"]
    table(
        ("", "s", "MB/s", "of the bare loop"),
        *((name, took, size / took, f"{floor / took:.0%}") for name, took in best.items()),
    )
    print(f"daemon memory growth over {ROUNDS} x {size:.0f} MB: {growth:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
