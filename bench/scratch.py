"""What the benchmarks share: a scratch home, percentiles, a table."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = str(Path(__file__).resolve().parent.parent / "src")


@contextmanager
def scratch_environment(**settings: object) -> Iterator[dict[str, str]]:
    """An environment with an empty home; a daemon on demand in it ends with its last client."""
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as home:
        env = {key: value for key, value in os.environ.items() if not key.startswith("NACRE_")}
        # As in the Makefile: where it is forbidden, each empty home would compile all files first.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        # An empty HOME: a user's own prompt commands would be measured else.
        env.update(HOME=home, NACRE_HOME=home, NACRE_PORT="0", NACRE_GRACE="0", PYTHONPATH=SOURCE)
        env.update({f"NACRE_{name.upper()}": str(value) for name, value in settings.items()})
        try:
            yield env
        finally:
            # One that is still ending writes into the folder that is about to go.
            stop = [sys.executable, "-m", "nacre", "stop"]
            subprocess.run(stop, env=env, capture_output=True, check=False)


def measure(call: Callable[[], object], rounds: int) -> list[float]:
    """Return how many milliseconds each round took."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return times


def p50(times: Iterable[float]) -> float:
    return statistics.median(times)


def p95(times: Iterable[float]) -> float:
    ordered = sorted(times)
    return ordered[int(len(ordered) * 0.95)]


def table(*rows: tuple[object, ...]) -> None:
    texts = [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))]
    for row in texts:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def memory_of(pid: int) -> float:
    """Return the resident memory of a process in MB, where the system tells."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no memory figure for {pid}")


def cpu_of(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
