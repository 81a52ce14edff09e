"""What many idle sessions cost: memory each, and processor time while nothing happens."""

import json
import sys
import time
from pathlib import Path

from scratch import cpu_of, memory_of, scratch_environment, table
from stdio_client import StdioClient

SESSIONS = 500
WATCHED = 20.0  # seconds


def main() -> int:
    with scratch_environment(max_sessions=SESSIONS + 1) as env, StdioClient(env) as client:
        first = client.call("create_session", command="bash --norc --noprofile")
        pid = json.loads(Path(env["NACRE_HOME"], "state", "daemon.json").read_text())["pid"]
        client.call("await_quiesce", session=first["session"], timeout_ms=300)
        before = memory_of(pid)
        started = time.perf_counter()
        for _ in range(SESSIONS):
            last = client.call("create_session", command="bash", args=["--norc", "--noprofile"])
        created = (time.perf_counter() - started) / SESSIONS * 1000
        client.call("await_quiesce", session=last["session"], timeout_ms=3000)
        each = (memory_of(pid) - before) / SESSIONS
        used, begun = cpu_of(pid), time.perf_counter()
        client.call("await_quiesce", session=last["session"], timeout_ms=int(WATCHED * 1000))
        client.call(
            "await_quiesce",
            session=last["session"],
            timeout_ms=int(WATCHED * 1000) + 3000,
            max_wait_ms=60_000,
        )
        load = (cpu_of(pid) - used) / (time.perf_counter() - begun)
        listed = time.perf_counter()
        client.call("list_sessions")
        table(
            ("idle bash sessions", SESSIONS),
            ("daemon memory each, MB", each),
            ("daemon processor while idle, % of a core", load * 100),
            ("create one, ms", created),
            ("list all, ms", (time.perf_counter() - listed) * 1000),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
