"""What the page's wall costs the daemon: sixty sessions that print a line each second or so.

One client follows the thumbnails of all of them, as a page with the wall open does. The daemon's
processor time is compared with that of the same sessions while nobody looks.
"""

import json
import sys
import time
from pathlib import Path

from websockets.sync.client import connect

from nacre.settings.paths import find_paths

from scratch import cpu_of, scratch_environment, table
from stdio_client import StdioClient

SESSIONS = 60
SECONDS = 10
SETTLING = 5  # seconds, for the starts of all sessions
WANTED = 25.0  # per cent of a core, with the wall open
PRINTS = "while sleep 1; do date; done"


def share(daemon: int, seconds: float) -> float:
    """Return the per cent of a core that the daemon takes meanwhile."""
    before, began = cpu_of(daemon), time.perf_counter()
    time.sleep(seconds)
    return 100 * (cpu_of(daemon) - before) / (time.perf_counter() - began)


def watched(base: str, token: str, daemon: int) -> tuple[float, int, int]:
    """Return the share, and how many events and bytes came, while the wall is open."""
    headers = {"Authorization": f"Bearer {token}"}
    with connect(f"{base}/ws/json", additional_headers=headers, proxy=None, max_size=None) as page:
        page.send(
            json.dumps({"id": 1, "method": "subscribe", "params": {"events": ["thumbnails"]}})
        )
        settled = time.perf_counter() + 2
        while time.perf_counter() < settled:
            page.recv()
        before, began = cpu_of(daemon), time.perf_counter()
        events = size = 0
        while time.perf_counter() < began + SECONDS:
            size += len(page.recv())
            events += 1
        return 100 * (cpu_of(daemon) - before) / (time.perf_counter() - began), events, size


def main() -> int:
    with scratch_environment() as env, StdioClient(env) as client:
        for number in range(SESSIONS):
            client.call("create_session", name=f"wall-{number}", command=PRINTS)
        paths = find_paths(env)
        state = json.loads(Path(paths.state_file).read_text())
        token = Path(paths.token_file).read_text().strip()
        share(state["pid"], SETTLING)
        alone = share(state["pid"], SECONDS)
        seen, events, size = watched(f"ws://127.0.0.1:{state['port']}", token, state["pid"])
    table(
        ("", "% of a core", "events/s", "kB/s"),
        ("nobody looks", alone, 0, 0),
        ("the wall is open", seen, events / SECONDS, size / SECONDS / 1000),
    )
    met = seen < WANTED
    print(f"wanted: under {WANTED:.0f} % of a core; {'met' if met else 'NOT MET'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
