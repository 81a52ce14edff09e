"""Nonsense on every wire for a while: no crash, no growth, and others are answered meanwhile.

Several clients at once send what tests/fuzz makes up: lines through the bridge and the Unix socket,
attach, HTTP, WebSocket frames, session ports, NDJSON. Another process asks for the daemon's status
all the time: what it waits is printed, beside what it waited before. At the end all sessions are
ended, and memory, descriptors, threads and children are compared with the start.

    python bench/fuzz.py [--minutes 1] [--seed 1] [--wire NAME …] [--clients 4] [--held]

A round that finds something is named by its number: --seed S --wire NAME --round N repeats it.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from scratch import SOURCE, memory_of, p50, scratch_environment, table

sys.path.insert(0, SOURCE)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fuzz.visit import Target, Visit
from fuzz.wires import WIRES
from nacre.client.calls import AnsweredError, Client
from nacre.settings.paths import find_paths

HERE = Path(__file__).resolve().parent
WITHIN = 1.0  # seconds in which others must be answered
ALLOWED_MB = 30.0
POOL = 6  # threads that asyncio makes when they are needed
SETTLE = 60.0  # seconds in which everything must be what it was
SESSIONS = ("one", "two")
WARM_UP = 150  # visits to each wire before the start is noted: much is loaded late


class FuzzHeld(NamedTuple):
    memory: float
    descriptors: int
    threads: int
    children: int


class Fuzzed:
    """A daemon under fire."""

    def __init__(self, env: dict[str, str], *, measured: bool) -> None:
        home = env["NACRE_HOME"]
        os.environ["NACRE_HOME"] = home
        self.paths = find_paths(env)
        self.log, self.holds = Path(home, "stderr.log"), Path(home, "holds")
        command = [sys.executable, "-m", "nacre", "server"]
        if measured:
            command = [sys.executable, str(HERE / "measured_daemon.py"), str(self.holds)]
        with self.log.open("wb") as log:
            self.keeper = subprocess.Popen(command, env=env, stderr=log, cwd=home)
        state = self._when_up()
        self.pid: int = state["pid"]
        token = Path(self.paths.token_file).read_text().strip()
        ports = (state["port"], token, state["ndjson_port"], 0)
        self.target = Target(self.paths.socket, *ports, env, SESSIONS)
        self.rounds: dict[str, int] = {}
        self.failed: list[str] = []

    def _when_up(self) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while True:
            try:
                Client.open(timeout=30).close()
                return dict(json.loads(Path(self.paths.state_file).read_text()))
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def lives(self) -> bool:
        with Client.open(timeout=30) as client:
            return bool(client.call("status")["pid"] == self.pid)

    def held(self) -> FuzzHeld:
        proc = Path(f"/proc/{self.pid}")
        children = (proc / f"task/{self.pid}/children").read_text().split()
        counts = (len(os.listdir(proc / part)) for part in ("fd", "task"))
        return FuzzHeld(memory_of(self.pid), *counts, len(children))

    def make_sessions(self) -> None:
        """Make those again that the last rounds have ended."""
        with Client.open(timeout=30) as client:
            for name in SESSIONS:
                with suppress(AnsweredError):  # it lives
                    # Nonsense may redirect: not into the folder that this is run in.
                    home = os.environ["NACRE_HOME"]
                    client.call("create_session", name=name, command="bash --norc", cwd=home)
            with suppress(AnsweredError):  # somebody has just ended it
                self.target.session_port = client.call("list_sessions", session="one")["port"]

    def end_sessions(self) -> None:
        with Client.open(timeout=60) as client:
            for session in client.call("list_sessions", max_chars=10_000_000)["sessions"]:
                with suppress(AnsweredError):
                    client.call("manage_session", session=session["session_id"], action="kill")

    def visit(self, seed: int, wire: str, number: int) -> None:
        visit = Visit(self.target, random.Random(f"{seed}:{wire}:{number}"))
        found = len(self.target.found)
        try:
            WIRES[wire](visit)
        except Exception:  # noqa: BLE001  # told at the end
            self.failed.append(f"{wire} {number}: {traceback.format_exc()}")
        self.failed += [f"{wire} {number}: {one[:1500]}" for one in self.target.found[found:]]
        self.rounds[wire] = self.rounds.get(wire, 0) + 1

    def settled(self, start: FuzzHeld) -> tuple[FuzzHeld, list[str]]:
        """Return what is held when it is what it was, or after a while; and what is more."""
        limits = start._asdict()
        limits |= {"memory": start.memory + ALLOWED_MB, "threads": start.threads + POOL}
        deadline = time.monotonic() + SETTLE
        while True:
            now = self.held()
            grown = [name for name, limit in limits.items() if getattr(now, name) > limit]
            if not grown or time.monotonic() > deadline:
                return now, grown
            time.sleep(0.5)

    def complaints(self) -> list[str]:
        """Return what the log has of unexpected errors, each once, with how often it came."""
        found: Counter[str] = Counter()
        for line in self.log.read_text(errors="replace").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                record = {"level": "error", "message": line}  # not by our log: standard error
            if record.get("level") not in ("error", "critical") and "traceback" not in record:
                continue
            trace = str(record.get("traceback", "")).splitlines()
            steps = [one.strip() for one in trace if one.startswith("  File")]
            kept = [record.get("logger", ""), record["message"][:200], *steps[-6:], *trace[-1:]]
            found["\n      ".join(kept)] += 1
        return [f"{count} times: {one}" for one, count in found.most_common()]

    def print_holds(self) -> None:
        """Print the callbacks that held the loop longest, in milliseconds of processor time."""
        held: dict[str, list[float]] = {}
        turns: list[float] = []
        for line in self.holds.read_text().splitlines():
            _, kind, spent, *name = line.split(" ", 3)
            if kind == "turn":
                turns.append(float(spent))
            else:
                held.setdefault(" ".join([kind, *name]).partition(" [")[0], []).append(float(spent))
        longest = ", ".join(str(round(one)) for one in sorted(turns, reverse=True)[:10])
        print(f"the longest turns of the loop, ms of processor time: {longest}")
        print("the loop was held by (worst ms, times over 2 ms):")
        for name, times in sorted(held.items(), key=lambda one: -max(one[1]))[:25]:
            print(f"  {max(times):7.1f} {len(times):5}  {name[:230]}")


class Asker:
    """Another client, in a process of its own: what it waits is not this one's doing."""

    def __init__(self, env: dict[str, str]) -> None:
        command = [sys.executable, __file__, "--ask"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe)

    def waits(self) -> list[float]:
        """Stop, and return the seconds that each call took."""
        told, _ = self._process.communicate(timeout=60)
        return [float(one) for one in told.split()]


def ask() -> None:
    """Ask as any client does, until standard input ends; print what each call took."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    waits = []
    while not stop.wait(0.005):
        begun = time.perf_counter()
        with Client.open(timeout=60) as client:
            client.call("status")
        waits.append(time.perf_counter() - begun)
    print(*waits)


def spread(waits: list[float]) -> tuple[object, ...]:
    ordered = sorted(waits)
    found = (p50(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1])
    return (len(ordered), *(round(one * 1000, 1) for one in found))


def keep_visiting(fuzzed: Fuzzed, wires: list[str], options: argparse.Namespace) -> None:
    """Visit all wires in turn, by several clients at once, until the time is over."""
    numbers = itertools.count()
    end = time.monotonic() + options.minutes * 60

    def client() -> None:
        while time.monotonic() < end:
            number = next(numbers)
            if number % 50 == 0:
                fuzzed.make_sessions()
            if number % 1000 == 999:
                fuzzed.end_sessions()
            wire = wires[number % len(wires)]
            if wire != "bridge" or len(wires) == 1 or number % 300 < len(wires):
                fuzzed.visit(options.seed, wire, number)

    clients = [threading.Thread(target=client) for _ in range(options.clients)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wire", action="append", choices=list(WIRES))
    parser.add_argument("--round", type=int, help="only this one")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--held", action="store_true", help="tell what held the loop longest")
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        ask()
        return 0
    wires = options.wire or list(WIRES)
    limits = {"ended_keep": 1, "max_ended": 0, "max_runs": 10, "shell": "/bin/bash"}
    with scratch_environment(ndjson_enabled="true", ndjson_port=0, **limits) as env:
        fuzzed = Fuzzed(env, measured=options.held)
        try:
            fuzzed.make_sessions()
            if options.round is not None:
                fuzzed.visit(options.seed, wires[0], options.round)
                found = [*fuzzed.failed, *fuzzed.complaints()]
                print(*found, sep="\n")
                return 1 if found else 0
            for wire in wires:
                fuzzed.make_sessions()
                for number in range(WARM_UP if wire != "bridge" else 1):
                    fuzzed.visit(0, wire, number)
            fuzzed.end_sessions()
            start, _ = fuzzed.settled(fuzzed.held())
            asker = Asker(env)
            time.sleep(4)
            before, asker = asker.waits(), Asker(env)
            keep_visiting(fuzzed, wires, options)
            waits = asker.waits()
            during = fuzzed.held()
            fuzzed.end_sessions()
            end, grown = fuzzed.settled(start)
            lives, logged = fuzzed.lives(), fuzzed.complaints()
            if options.held:
                fuzzed.print_holds()
        finally:
            fuzzed.keeper.terminate()
            fuzzed.keeper.wait(60)
    table(("", *FuzzHeld._fields), ("start", *start), ("meanwhile", *during), ("end", *end))
    print("\nrounds:", ", ".join(f"{name} {count}" for name, count in fuzzed.rounds.items()))
    head = ("another client waits", "calls", "p50 ms", "p99", "max")
    table(head, ("before", *spread(before)), ("meanwhile", *spread(waits)))
    print("the same daemon:", lives, "  more than at the start:", ", ".join(grown) or "nothing")
    print(f"found: {len(fuzzed.failed)}", *fuzzed.failed[:20], sep="\n  ")
    print(f"errors in the log: {len(logged)}", *logged[:30], sep="\n  ")
    late = max(waits) > WITHIN
    return 1 if grown or fuzzed.failed or logged or late or not lives else 0


if __name__ == "__main__":
    sys.exit(main())
