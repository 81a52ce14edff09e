"""Endless output in some sessions: memory stays flat, and others go on as if nothing was."""

from collections.abc import Callable
from pathlib import Path

from conftest import Daemon, load_all

GROWTH = 25_000  # kB; the floods print some hundred MB meanwhile


def resident(pid: int) -> int:
    """Return the resident memory of a process in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_memory_stays_flat_and_others_are_served_while_several_yes_run(
    own_daemon: Callable[..., Daemon],
) -> None:
    daemon = own_daemon(scrollback=2000)
    load_all(daemon.env)
    for number in range(3):
        daemon.rest("POST", "/sessions", {"name": f"yes-{number}", "command": "yes", "args": []})
    daemon.rest("POST", "/sessions", {"name": "dev", "command": "cat", "args": []})

    def generations() -> dict[str, int]:
        listed = daemon.rest("GET", "/sessions")["sessions"]
        return {session["name"]: session["generation"] for session in listed}

    def runs(count: int) -> None:
        for number in range(count):
            request = {
                "input": f"run {number}",
                "timeout_ms": 50,
                "last_generation": generations()["dev"],
            }
            ran = daemon.rest("POST", "/sessions/dev/command", request)
            assert f"run {number}" in ran["output"]

    runs(3)  # the scrollbacks are full after that
    memory, before = resident(daemon.pid), generations()
    runs(8)
    after = generations()
    assert all(after[name] > before[name] + 10 for name in after if name != "dev"), after
    assert resident(daemon.pid) - memory < GROWTH
