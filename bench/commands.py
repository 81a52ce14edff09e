"""How long a command of the catalog takes over the NDJSON door: `uname`, from request to answer.

The floor is a bare subprocess in this process, measured in turns with it: what else the machine
does falls on both then. The MCP library is not loaded meanwhile (mcp_load_after): that takes a
second of processor time, once in a daemon's life.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from scratch import measure, p50, p95, scratch_environment, table

SETTINGS = {
    "NACRE_NDJSON_ENABLED": "1",
    "NACRE_NDJSON_PORT": "0",
    "NACRE_NDJSON_AUTH": "off",
    "NACRE_MCP_LOAD_AFTER": "0",
}

ROUNDS = 300


def bare() -> None:
    subprocess.run(["uname"], stdout=subprocess.PIPE, check=True)


def in_turns(env: dict[str, str]) -> tuple[list[float], list[float]]:
    """Return the times of the floor and of the door."""
    env = {**env, **SETTINGS}
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [sys.executable, "-m", "nacre", "server", "--ready-fd", str(writing)],
        env=env,
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    os.read(reading, 1)
    state = json.loads((Path(env["NACRE_HOME"]) / "state" / "daemon.json").read_text())
    try:
        with socket.create_connection(("127.0.0.1", state["ndjson_port"])) as wire:
            lines = wire.makefile("rb")

            def once() -> None:
                wire.sendall(b'{"id":1,"method":"call_tool","params":{"tool":"uname"}}\n')
                while b'"type":"response"' not in lines.readline():
                    pass

            once()  # loads the catalog
            floor: list[float] = []
            door: list[float] = []
            for _ in range(ROUNDS):
                floor += measure(bare, 1)
                door += measure(once, 1)
            return floor, door
    finally:
        with suppress(ProcessLookupError):
            server.send_signal(signal.SIGTERM)
        server.wait()


def main() -> int:
    with scratch_environment() as env:
        floor, door = in_turns(env)
    rows: list[tuple[object, ...]] = [
        ("uname", "p50 ms", "p95 ms", "p50 above the floor", "best", "best above the floor")
    ]
    for name, times in {"bare subprocess (floor)": floor, "NDJSON": door}.items():
        above, best = p50(times) - p50(floor), min(times) - min(floor)
        rows.append((name, p50(times), p95(times), above, min(times), best))
    table(*rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
