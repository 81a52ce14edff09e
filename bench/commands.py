"""How long a command of the catalog takes over the NDJSON door: `uname`, from request to answer.

The floor is a bare subprocess in this process.
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

ROUNDS = 200


def bare() -> None:
    subprocess.run(["uname"], stdout=subprocess.PIPE, check=True)


def over_the_door(env: dict[str, str]) -> list[float]:
    env = {**env, "NACRE_NDJSON_ENABLED": "1", "NACRE_NDJSON_PORT": "0", "NACRE_NDJSON_AUTH": "off"}
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
            return measure(once, ROUNDS)
    finally:
        with suppress(ProcessLookupError):
            server.send_signal(signal.SIGTERM)
        server.wait()


def main() -> int:
    with scratch_environment() as env:
        floor, door = measure(bare, ROUNDS), over_the_door(env)
    rows: list[tuple[object, ...]] = [("uname", "p50 ms", "p95 ms", "above the floor ms")]
    for name, times in {"bare subprocess (floor)": floor, "NDJSON": door}.items():
        rows.append((name, p50(times), p95(times), f"{p50(times) - p50(floor):.3f}"))
    table(*rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
