"""How long a search takes over 50 sessions that printed 20 MB together, over the socket.

    python bench/search.py

The sessions print what sessions do: logs, colours, progress bars, and one in five a full-screen
program. `first` replays their journals, `again` searches what the process has kept, `one` is a
search in a single session, and `run true` is what everybody else waits meanwhile. Memory is that
of the process that searches. The script exits with 1 when a figure is over what it may be.
"""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from nacre.client.calls import Client

from scratch import p50, p95, scratch_environment, table

SESSIONS = 50
BYTES = 20_000_000
LIMITS = {"first": 10.0, "again": 0.5, "run true p50": 0.025}  # seconds
MEMORY = 250  # MB

PRINTER = """
import sys, time
kind, size = int(sys.argv[1]), int(sys.argv[2])
out, done, number = sys.stdout, 0, 0
while done < size:
    number += 1
    if kind == 4:
        rows = "".join(f"\\x1b[{row};1Hprocess {number + row} uses {row * 7 % 100} %\\x1b[K"
                       for row in range(1, 24))
        text = ("\\x1b[?1049h" if number == 1 else "") + rows
        time.sleep(0.002)
    elif kind == 3:
        text = f"\\rstep {number} of many" + ("\\n" if number % 50 == 0 else "")
    elif kind == 2:
        text = f"\\x1b[32minfo\\x1b[0m request {number} handled in 3 ms\\n"
    else:
        text = f"Nov 18 01:02:03 box app[17]: request {number} handled in 3 ms, nothing to see\\n"
    done += len(text)
    out.write(text)
out.write(("\\x1b[?1049l" if kind == 4 else "") + f"\\nneedle {sys.argv[3]} at the end\\n")
out.flush()
time.sleep(600)
"""


def searched(client: Client, **request: object) -> tuple[float, dict[str, object]]:
    began = time.perf_counter()
    result = client.call("search", **request)
    return time.perf_counter() - began, result


def cost_of_search() -> tuple[float, float]:
    """Return the most megabytes that the process that searches has had, and its processor time."""
    found = (0.0, 0.0)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if b"nacre.services.search.worker" in (entry / "cmdline").read_bytes():
                status = (entry / "status").read_text()
                times = (entry / "stat").read_text().rpartition(")")[2].split()[11:13]
                spent = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
                found = (int(status.split("VmHWM:")[1].split()[0]) / 1024, spent)
        except OSError:
            continue
    return found


def main() -> int:
    with scratch_environment(max_sessions=SESSIONS + 5) as env, tempfile.TemporaryDirectory() as at:
        os.environ.update(env)
        script = Path(at, "printer.py")
        script.write_text(PRINTER)
        with Client.open(start=True) as client:
            client.call("create_session", name="shell")
            for number in range(SESSIONS):
                words = [str(script), str(number % 5), str(BYTES // SESSIONS), str(number)]
                client.call("create_session", name=f"s{number}", command=sys.executable, args=words)
            for number in range(SESSIONS):
                wanted = f"needle {number} at"
                client.call("wait_for", session=f"s{number}", text=wanted, timeout_ms=120_000)
            waits: list[float] = []
            over = threading.Event()
            other = threading.Thread(target=run_meanwhile, args=(waits, over))
            other.start()
            first, result = searched(client, text="needle")
            _, spent = cost_of_search()
            deep, drawn = searched(client, text="process 77 uses")
            again = [searched(client, text="needle")[0] for _ in range(5)]
            nothing = searched(client, text="no such text at all")[0]
            pattern = searched(client, text="request [0-9]*7 .*3 ms$", regex=True)[0]
            one = searched(client, text="needle", session="s3")[0]
            over.set()
            other.join()
            memory, _ = cost_of_search()
    assert result["total"] == SESSIONS, result
    assert drawn["total"], "what the full-screen programs showed"
    rows = (
        ("first", first),
        ("first, processor time", spent),
        ("again", p50(again)),
        ("full screen", deep),
        ("no match", nothing),
        ("regex, most lines match", pattern),
        ("one", one),
        ("run true p50", p50(waits)),
        ("run true p95", p95(waits)),
    )
    table(("search", "seconds"), *rows)
    print(f"memory of the process that searches: {memory:.0f} MB; complete: {result['complete']}")
    figures = dict(rows)
    slow = [name for name, most in LIMITS.items() if figures[name] > most]
    return 1 if slow or memory > MEMORY else 0


def run_meanwhile(waits: list[float], over: threading.Event) -> None:
    with Client.open() as client:
        while not over.is_set():
            began = time.perf_counter()
            client.call("run", session="shell", command="true")
            waits.append(time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
