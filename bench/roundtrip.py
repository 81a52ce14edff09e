"""How long from a key press to the screen: `echo x` typed until its output shows.

The floor is a bare PTY with the same shell in this process; the peer is tmux's command line.
"""

import os
import pty
import subprocess
import sys
import uuid
from collections.abc import Callable

from scratch import measure, p50, p95, scratch_environment, table
from stdio_client import StdioClient

SHELL = ["bash", "--norc", "--noprofile"]
ROUNDS = 200


def marks() -> Callable[[], tuple[str, str]]:
    """Give a command and what it prints, never twice the same, never visible in the echo."""
    number = 0

    def give() -> tuple[str, str]:
        nonlocal number
        number += 1
        return f"echo a''{number:05d}", f"a{number:05d}"

    return give


def bare_pty() -> list[float]:
    pid, master = pty.fork()
    if pid == 0:
        os.environ["PS1"] = "$ "
        os.execvp(SHELL[0], SHELL)
    give = marks()

    def once() -> None:
        command, printed = give()
        os.write(master, command.encode() + b"\r")
        seen = b""
        while printed.encode() not in seen:
            seen += os.read(master, 65536)

    times = measure(once, ROUNDS)
    os.close(master)
    os.waitpid(pid, 0)
    return times


def nacre_stdio(env: dict[str, str]) -> dict[str, list[float]]:
    give = marks()
    with StdioClient(env) as client:
        client.call("create_session", name="bench", command=" ".join(SHELL), env={"PS1": "$ "})
        client.call("await_quiesce", session="bench", timeout_ms=200)

        def once() -> None:
            command, printed = give()
            client.call("send_input", session="bench", input=command + "\r")
            while (
                printed not in client.call("get_screen", session="bench", format="plain")["lines"]
            ):
                pass

        def screen(style: str) -> Callable[[], object]:
            return lambda: client.call("get_screen", session="bench", format=style)

        return {
            "nacre mcp: send_input until the screen shows it": measure(once, ROUNDS),
            "nacre mcp: get_screen plain": measure(screen("plain"), ROUNDS),
            "nacre mcp: get_screen styled": measure(screen("styled"), ROUNDS),
        }


def tmux() -> list[float]:
    server = f"nacre-bench-{uuid.uuid4().hex[:8]}"
    base = ["tmux", "-L", server, "-f", "/dev/null"]
    env = {**os.environ, "PS1": "$ "}
    subprocess.run(
        [*base, "new-session", "-d", "-x", "80", "-y", "24", *SHELL], env=env, check=True
    )
    give = marks()

    def once() -> None:
        command, printed = give()
        subprocess.run([*base, "send-keys", command, "Enter"], check=True)
        while True:
            shown = subprocess.run([*base, "capture-pane", "-p"], check=True, capture_output=True)
            if printed.encode() in shown.stdout.splitlines():
                return

    try:
        return measure(once, ROUNDS // 4)
    finally:
        subprocess.run([*base, "kill-server"], check=False)


def main() -> int:
    floor = bare_pty()
    with scratch_environment() as env:
        ours = nacre_stdio(env)
    peer = tmux()
    rows: list[tuple[object, ...]] = [("", "p50 ms", "p95 ms", "above the floor ms")]
    for name, times in {"bare PTY (floor)": floor, **ours, "tmux command line": peer}.items():
        above = "" if "get_screen" in name else f"{p50(times) - p50(floor):.3f}"
        rows.append((name, p50(times), p95(times), above))
    table(*rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
