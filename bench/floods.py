"""What `run true` takes while ten sessions print `yes`, and what a single flood still gets.

On a machine with few processors ten floods cost everybody, whoever reads them. So there are two
floors in the same run: a bash on a bare PTY while ten `yes` are read by one plain reader (as much
work for the system, none for a daemon), and the same while each is read by a `cat` of its own.
Judge by the ratios: others may use the machine, too. Rounds alternate.

    python bench/floods.py [--rounds 3] [--runs 150] [--source OTHER/src]
"""

import argparse
import contextlib
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from scratch import SOURCE, measure, p50, scratch_environment, table

FLOODS = 10
SINGLE = 60 << 20  # bytes of one flood, whose throughput is measured

READER = """
import os, select, sys
masters = [int(one) for one in sys.argv[1:]]
while masters:
    for master in select.select(masters, [], [])[0]:
        try:
            if not os.read(master, 65536):
                masters.remove(master)
        except OSError:
            masters.remove(master)
"""


def p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99)]


@contextlib.contextmanager
def bare_shell() -> Iterator[Callable[[], None]]:
    """A bash on a PTY; gives what runs `true` in it and reads until that has ended."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ["PS1"] = "$ "
        os.execvp("bash", ["bash", "--norc", "--noprofile"])
    number = 0

    def once() -> None:
        nonlocal number
        number += 1
        os.write(master, f"true; echo e''nd-{number}-$?\r".encode())
        seen = b""
        while f"end-{number}-0\r".encode() not in seen:
            seen += os.read(master, 65536)

    try:
        yield once
    finally:
        os.close(master)
        os.waitpid(pid, 0)


@contextlib.contextmanager
def bare_floods(*, own_reader: bool) -> Iterator[None]:
    """Ten `yes` on PTYs of their own, read and thrown away."""
    processes, masters = [], []
    for _ in range(FLOODS):
        master, slave = pty.openpty()
        processes.append(subprocess.Popen(["yes"], stdin=slave, stdout=slave))
        os.close(slave)
        masters.append(master)
    if own_reader:
        processes += [
            subprocess.Popen(
                ["cat"], stdin=master, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for master in masters
        ]
    else:
        words = [sys.executable, "-c", READER, *map(str, masters)]
        processes.append(subprocess.Popen(words, pass_fds=masters))
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for master in masters:
            os.close(master)


@contextlib.contextmanager
def in_nacre(source: str) -> Iterator["Sessions"]:
    settings = {"shell": "/bin/bash", "max_sessions": 200}
    with scratch_environment(**settings) as env:
        env["PYTHONPATH"] = source
        env["NACRE_GRACE"] = "600"
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "server"], env=env, stderr=subprocess.DEVNULL
        )
        os.environ["NACRE_HOME"] = env["NACRE_HOME"]
        try:
            yield Sessions()
        finally:
            process.terminate()
            process.wait(60)


class Sessions:
    def __init__(self) -> None:
        sys.path.insert(0, SOURCE)
        from nacre.client.calls import Client

        deadline = time.monotonic() + 60
        while True:
            try:
                self.client = Client.open(timeout=120)
                break
            except Exception:  # until it listens
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.client.call("create_session", name="quiet")
        for _ in range(20):
            self.run_true()

    def run_true(self) -> None:
        self.client.call("run", session="quiet", command="true")

    def get_screen(self) -> None:
        self.client.call("get_screen", session="quiet")

    @contextlib.contextmanager
    def floods(self) -> Iterator[None]:
        for number in range(FLOODS):
            self.client.call("create_session", name=f"y{number}", command="yes", args=[])
        try:
            yield
        finally:
            for number in range(FLOODS):
                self.client.call("manage_session", session=f"y{number}", action="kill")

    def throughput(self) -> float:
        """Return the MB a second of one flood that nobody looks at."""
        begun = time.perf_counter()
        self.client.call("create_session", name="one", command=f"yes | head -c {SINGLE}")
        self.client.call("wait_for", session="one", exit=True, timeout_ms=300_000)
        took = time.perf_counter() - begun
        self.client.call("manage_session", session="one", action="kill")
        return SINGLE / took / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=150, help="in each round")
    parser.add_argument("--source", default=SOURCE, help="measure another version")
    options = parser.parse_args()
    times: dict[str, list[float]] = {}
    single: list[float] = []

    def note(name: str, once: Callable[[], None]) -> None:
        times.setdefault(name, []).extend(measure(once, options.runs))

    with in_nacre(options.source) as sessions, bare_shell() as bare:
        for _ in range(options.rounds):
            note("bare PTY", bare)
            note("nacre", sessions.run_true)
            with bare_floods(own_reader=False):
                note("bare PTY, ten `yes`, one reader", bare)
            with bare_floods(own_reader=True):
                note("bare PTY, ten `yes`, ten readers", bare)
            with sessions.floods():
                note("nacre, ten `yes`", sessions.run_true)
                note("nacre, ten `yes`, get_screen", sessions.get_screen)
            single.append(sessions.throughput())
    rows = [(name, p50(one), p99(one), max(one)) for name, one in times.items()]
    table(("run true, ms", "p50", "p99", "max"), *rows)
    floor, ours = times["bare PTY, ten `yes`, one reader"], times["nacre, ten `yes`"]
    print(f"against one reader: p50 {p50(ours) / p50(floor):.1f}, p99 {p99(ours) / p99(floor):.1f}")
    print(f"one flood: {max(single):.1f} MB/s at best")
    print("load", *os.getloadavg())


if __name__ == "__main__":
    main()
