"""How long view_screen and send_keys take with many programs on their screens.

    python bench/apps.py [sessions] [rounds]

Over MCP (stdio), as an agent has them: each round is one program, one after the other. The aim is
under 10 ms at the 99th percentile with 100 sessions, all of which have been drawn to before.
"""

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scratch import measure, p50, scratch_environment, table
from stdio_client import StdioClient

# A screen full of colours, and then a shell's loop that draws a row anew for each line: small, so
# that a hundred of them start soon.
_PROGRAM = r"""
n=0
while [ $n -lt 23 ]; do printf '\033[3%dm%02d %s\033[0m\n' $((n % 8)) $n "$0"; n=$((n + 1)); done
printf 'full'; while read -r line; do printf '\033[5;1H\033[32m%s' "$line"; done
"""
_TEXT = "x" * 70
_AIM = 10.0  # ms


def main() -> None:
    sessions, rounds = (int(word) for word in (sys.argv[1:] + ["100", "2000"][len(sys.argv) - 1 :]))
    rows: list[tuple[object, ...]] = [("tool", "p50 ms", "p99 ms")]
    worst = 0.0
    with (
        scratch_environment(max_sessions=sessions) as env,
        StdioClient(env, "--toolsets", "apps") as client,
    ):
        launch = {"command": "/bin/sh", "args": ["-c", _PROGRAM, _TEXT]}
        ids = []
        for _ in range(sessions):
            app = client.call("launch_app", **launch)["session_id"]
            client.call("view_screen", session_id=app, wait_text="full", timeout_ms=60_000)
            ids.append(app)
        turns = count()
        calls = {
            "view_screen": lambda: client.call("view_screen", session_id=_next(ids, turns)),
            "view_screen raw": lambda: client.call(
                "view_screen", session_id=_next(ids, turns), format="raw"
            ),
            "send_keys": lambda: client.call("send_keys", session_id=_next(ids, turns), keys="Up"),
            "send_keys, a line": lambda: client.call(
                "send_keys", session_id=_next(ids, turns), keys=["x", "Enter"]
            ),
            "get_cursor_position": lambda: client.call(
                "get_cursor_position", session_id=_next(ids, turns)
            ),
        }
        for name, call in calls.items():
            took = sorted(measure(call, rounds))
            late = took[int(len(took) * 0.99)]
            worst = max(worst, late)
            rows.append((name, p50(took), late))
    table(*rows)
    print(f"{sessions} sessions; the worst p99 is {worst:.2f} ms, the aim {_AIM:.0f} ms")


def _next(ids: list[str], turns: Iterator[int]) -> str:
    return ids[next(turns) % len(ids)]


if __name__ == "__main__":
    main()
