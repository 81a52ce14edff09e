"""Fifty sessions that print at full speed, and their daemon killed twenty times in a row.

Each is compared with a terminal of its own that was fed the same bytes and never disturbed: screen,
cursor and scrollback. The time runs from the kill until every session has answered with its screen,
all asked at once by clients of their own, while all of them print on. Other numbers:
`python bench/crash.py SESSIONS KILLS SECONDS NAME=VALUE…`, with settings of the daemon. After so
many seconds (900) there are no more kills, and what was seen is told.
"""

import json
import os
import random
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.core.terminal.terminal import Terminal
from nacre.errors import DaemonRestarted
from nacre.settings.paths import find_paths

from scratch import p50, scratch_environment, table

PROGRAM = str(Path(__file__).resolve().parent.parent / "tests" / "printing.py")
SCROLLBACK = 10_000  # more than is printed between a kill and the look that follows it
PATIENCE = 120.0  # seconds

_part: Callable[[int, int, int], bytes] = runpy.run_path(PROGRAM)["part"]


@contextmanager
def daemon(env: dict[str, str]) -> Iterator[None]:
    listening, ready = os.pipe()
    command = [sys.executable, "-m", "nacre", "server", "--ready-fd", str(ready)]
    with open(os.path.join(env["HOME"], "log"), "wb") as log:
        process = subprocess.Popen(command, env=env, pass_fds=[ready], stderr=log)
    os.close(ready)
    try:
        assert os.read(listening, 1)
        yield
    finally:
        os.close(listening)
        process.terminate()
        process.wait(PATIENCE)


class Daemon:
    """Calls that go to the next daemon when this one dies."""

    def __init__(self, env: dict[str, str]) -> None:
        self._paths = find_paths(env)
        self._client: Client | None = None

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        while True:
            try:
                if self._client is None:
                    connection = connect(self._paths)
                    self._client = Client(connection, paths=self._paths, timeout=PATIENCE)
                return self._client.call(operation, **params)
            except DaemonRestarted:
                self.hang_up()

    def hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def kill(self) -> None:
        os.kill(json.loads(Path(self._paths.state_file).read_text())["pid"], signal.SIGKILL)


class Printer:
    """One session, and its twin."""

    def __init__(self, daemon: Daemon, env: dict[str, str], number: int) -> None:
        self._daemon, self._env, self._number, self._blocks = daemon, env, number, 0
        self._twin = Terminal(scrollback=SCROLLBACK)
        args = ["-S", "-E", PROGRAM, str(number)]
        made = daemon.call("create_session", command=sys.executable, args=args)
        self.session, self._pid = made["session_id"], made["pid"]

    def answer(self) -> None:
        """Return when the session has answered, from a client of its own."""
        asking = Daemon(self._env)
        asking.call("get_screen", session=self.session)
        asking.hang_up()

    def toggle(self) -> None:
        os.kill(self._pid, signal.SIGUSR1)

    def go_on(self) -> None:
        before = self._daemon.call("get_screen", session=self.session)["generation"]
        self.toggle()
        quiet = {"timeout_ms": 0, "max_wait_ms": int(PATIENCE * 1000)}
        self._daemon.call("await_quiesce", session=self.session, last_generation=before, **quiet)

    def is_right(self) -> bool:
        """Whether it looks like its twin, once it has stopped."""
        waiting = {"text": " blocks", "timeout_ms": int(PATIENCE * 1000)}
        if not self._daemon.call("wait_for", session=self.session, **waiting)["matched"]:
            return False
        screen = self._daemon.call("get_screen", session=self.session)
        plain = self._daemon.call("get_screen", session=self.session, format="plain")["lines"]
        last = int("\n".join(plain).rpartition("printed ")[2].partition(" ")[0])
        self._twin.feed(_part(self._number, self._blocks, last))
        self._blocks = last
        above = self._daemon.call(
            "get_scrollback",
            session=self.session,
            limit=SCROLLBACK,
            format="plain",
            max_chars=100_000_000,
        )
        twin = self._twin
        expected = [twin.styled_lines(), twin.cursor(), twin.scrollback_plain(0, SCROLLBACK)]
        seen = [screen["lines"], screen["cursor"], above["lines"]]
        return bool(json.loads(msgspec.json.encode(expected)) == seen)


def main() -> int:
    given = [word for word in sys.argv[1:] if "=" not in word]
    settings = dict(word.split("=") for word in sys.argv[1:] if "=" in word)
    numbers = [int(word) for word in given]
    sessions, kills, seconds = numbers + [50, 20, 900][len(numbers) :]
    moments = random.Random(1)
    times: list[float] = []  # until all have answered
    back: list[float] = []  # until the daemon has
    undisturbed: list[float] = []  # what all answers take without a kill
    wrong = 0
    with (
        scratch_environment(max_sessions=sessions, scrollback=SCROLLBACK, **settings) as env,
        daemon(env),
        ThreadPoolExecutor(sessions) as clients,
    ):
        calls = Daemon(env)
        printers = [Printer(calls, env, number) for number in range(sessions)]
        end = time.monotonic() + seconds
        while len(times) < kills and time.monotonic() < end:
            time.sleep(moments.uniform(0.1, 1.5))
            asked = time.perf_counter()
            list(clients.map(Printer.answer, printers))
            calls.kill()
            killed = time.perf_counter()
            calls.call("status")
            back.append(time.perf_counter() - killed)
            list(clients.map(Printer.answer, printers))
            times.append(time.perf_counter() - killed)
            undisturbed.append(killed - asked)
            for printer in printers:
                printer.toggle()
            wrong += sum(not printer.is_right() for printer in printers)
            for printer in printers:
                printer.go_on()
        left = sum(one["alive"] for one in calls.call("list_sessions")["sessions"])
        calls.hang_up()
    table(
        ("sessions that print at full speed", sessions),
        ("kills of the daemon", len(times)),
        ("sessions lost", sessions - left),
        ("screens or scrollbacks wrong", wrong),
        ("until the next daemon answers, s, p50", p50(back)),
        ("until the next daemon answers, s, max", max(back)),
        ("until all sessions answer, s, p50", p50(times)),
        ("until all sessions answer, s, max", max(times)),
        ("the same under this load without a kill, s, p50", p50(undisturbed)),
        ("target, s", 2 + 0.02 * sessions),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
