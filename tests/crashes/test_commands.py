"""Commands whose daemon is killed: the next one ends them, and says what became of each."""

import json
import os
from pathlib import Path

from crashing import call, crash, wait_gone
from nacre.settings.paths import find_paths

from crashes.conftest import Start

# It says who it is when its child has left the session, and ends by no signal but the last one.
STUBBORN = """#!/bin/sh
trap '' TERM HUP
setsid sleep 1000 &
echo $$ $! > "$1.new" && mv "$1.new" "$1"
exec cat "$1.fifo"
"""


def test_what_runs_is_ended_and_told(begin: Start, tmp_path: Path) -> None:
    script, said = tmp_path / "stubborn", tmp_path / "said"
    script.write_text(STUBBORN)
    script.chmod(0o755)
    os.mkfifo(f"{said}.fifo")
    daemon = begin(audit_log=tmp_path / "audit.log", command_places=1)
    entry = {"name": "stubborn", "description": "x", "program": str(script), "args": ["file"]}
    config = Path(find_paths(daemon.env).config)
    (config / "commands.json").write_text(json.dumps([entry]))

    def begun(tool: str, **args: object) -> str:
        found = call(daemon, "call_command", tool=tool, args=args, wait_ms=0)
        return str(found["execution_id"])

    ended = call(daemon, "call_command", tool="uname")["execution_id"]
    running = begun("stubborn", file=str(said))
    while not said.exists():
        call(daemon, "get_execution_status", execution_id=running, wait_ms=20)
    queued = begun("sleep", seconds=1000)
    processes = [os.pidfd_open(int(pid)) for pid in said.read_text().split()]

    crash(daemon)

    wait_gone(processes)
    for identifier in (running, queued):
        found = call(daemon, "get_execution_status", execution_id=identifier, wait_ms=60_000)
        assert (found["status"], found["exit_code"]) == ("failed", None)
        assert found["error"].startswith("the daemon was killed or replaced while this ran")
        cancelled = call(daemon, "cancel_execution", execution_id=identifier)
        assert cancelled == {"cancelled": False}
    lines = (tmp_path / "audit.log").read_text().splitlines()
    audited = [(one["command"], one["status"]) for one in map(json.loads, lines)]
    assert audited == [("uname", "success"), ("stubborn", "failed"), ("sleep", "failed")]
    assert ended not in {running, queued}

    crash(daemon)  # nothing is left, so nothing is told of twice
    assert call(daemon, "call_command", tool="uname")["exit_code"] == 0
    assert len((tmp_path / "audit.log").read_text().splitlines()) == 4
