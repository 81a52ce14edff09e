"""How soon sessions answer after a kill -9 of their daemon: idle shells, or programs that print.

    python bench/recovery.py idle|loud SESSIONS KILLS [NAME=VALUE…]

with settings of the daemon. The time runs from the kill; all sessions are asked at once, by a few
clients. Idle ones must show what they showed, at the same generation. Loud ones print at full speed
before and after, at least PRINTED bytes each, and are compared with a terminal that nothing
happened to. The floor is measured in the same run: how long the daemon of an empty home takes to
answer, and how long one process takes to replay the same journals without a daemon. Processor time
is the daemon's own, from its start until all have answered; on a busy machine only that compares.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from crash import SCROLLBACK, Daemon, Printer, daemon
from nacre.settings.paths import find_paths

from scratch import cpu_of, p50, scratch_environment, table

CLIENTS = 8
PRINTED = 2_000_000  # bytes: the scrollback is full, and the journal has its second segment
SHELL = {"command": "bash", "args": ["--norc", "--noprofile"]}


def pid_of(env: dict[str, str]) -> int:
    pid = json.loads(Path(find_paths(env).state_file).read_text())["pid"]
    assert isinstance(pid, int)
    return pid


def until_empty_one_answers(kills: int) -> float:
    with scratch_environment() as env, daemon(env):
        calls, times = Daemon(env), []
        for _ in range(kills):
            calls.call("status")
            calls.kill()
            killed = time.perf_counter()
            calls.call("status")
            times.append(time.perf_counter() - killed)
        calls.hang_up()
    return p50(times)


def replay_of(env: dict[str, str]) -> float:
    """Return the processor time of one process for all journals, as they are now."""
    from nacre.services.recovery.journal import replay_journal

    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as copies:
        journals = Path(find_paths(env).journals)
        folders = [shutil.copytree(one, Path(copies, one.name)) for one in journals.iterdir()]
        kept, begun = [], time.process_time()
        for folder in folders:
            kept.append(replay_journal(str(folder), (24, 80), SCROLLBACK))
        return time.process_time() - begun


class Idle:
    """Shells at their prompts."""

    def __init__(self, calls: Daemon, sessions: int) -> None:
        self._calls = calls
        made = [calls.call("create_session", **SHELL) for _ in range(sessions)]
        self.sessions = [one["session_id"] for one in made]
        for session in self.sessions:
            calls.call("await_quiesce", session=session, timeout_ms=100)
        self._before = [self._look(session) for session in self.sessions]

    def _look(self, session: str) -> dict[str, Any]:
        return self._calls.call("get_screen", session=session)

    def wrong(self) -> int:
        now = [self._look(session) for session in self.sessions]
        return sum(a != b for a, b in zip(self._before, now, strict=True))


class Loud:
    """Programs that print at full speed."""

    def __init__(self, calls: Daemon, env: dict[str, str], sessions: int) -> None:
        self._journals = Path(find_paths(env).journals)
        self._printers = [Printer(calls, env, number) for number in range(sessions)]
        self.sessions = [printer.session for printer in self._printers]
        while min(map(self._printed, self.sessions)) < PRINTED:
            time.sleep(0.5)

    def _printed(self, session: str) -> int:
        return sum(log.stat().st_size for log in (self._journals / session).glob("*.log"))

    def wrong(self) -> int:
        for printer in self._printers:
            printer.toggle()
        wrong = sum(not printer.is_right() for printer in self._printers)
        for printer in self._printers:
            printer.go_on()
        return wrong


def main() -> int:
    given = [word for word in sys.argv[1:] if "=" not in word]
    settings = dict(word.split("=") for word in sys.argv[1:] if "=" in word)
    kind, count, kills = (*given, *("idle", "100", "3")[len(given) :])
    sessions, moments = int(count), random.Random(1)
    back, first, times, used, replay, wrong = [], [], [], [], [], 0
    with (
        scratch_environment(max_sessions=sessions, scrollback=SCROLLBACK, **settings) as env,
        daemon(env),
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        calls = Daemon(env)
        made = Idle(calls, sessions) if kind == "idle" else Loud(calls, env, sessions)
        asking = [Daemon(env) for _ in range(CLIENTS)]

        def ask(number: int) -> float:
            for session in made.sessions[number::CLIENTS]:
                asking[number].call("get_screen", session=session)
                answered.append(time.perf_counter())
            return time.perf_counter()

        for _ in range(int(kills)):
            time.sleep(moments.uniform(0.1, 1.5))
            replay.append(replay_of(env))
            answered: list[float] = []
            calls.kill()
            killed = time.perf_counter()
            calls.call("status")
            back.append(time.perf_counter() - killed)
            times.append(max(pool.map(ask, range(CLIENTS))) - killed)
            first.append(answered[0] - killed)
            used.append(cpu_of(pid_of(env)))
            wrong += made.wrong()
        left = sum(one["alive"] for one in calls.call("list_sessions", max_chars=10**8)["sessions"])
        for one in (calls, *asking):
            one.hang_up()
    table(
        (f"{kind} sessions", sessions),
        ("kills of the daemon", int(kills)),
        ("sessions lost", sessions - left),
        ("answers wrong", wrong),
        ("until the next daemon answers, s, p50", p50(back)),
        ("the same with no session, s, p50", until_empty_one_answers(int(kills))),
        ("until the first session answers, s, p50", p50(first)),
        ("until all sessions answer, s, p50", p50(times)),
        ("until all sessions answer, s, max", max(times)),
        ("processor time of the daemon until then, s, p50", p50(used)),
        ("processor time of a bare replay, s, p50", p50(replay)),
        ("load of the machine", os.getloadavg()[0]),
        ("target, s", 5.0 if kind == "idle" else 3.0),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
