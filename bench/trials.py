"""What is tried once, with figures: many sessions, upgrades under load, limits of the system.

    python bench/trials.py [NAME …]

Each trial has a daemon of its own and prints what it found. It fails when something does not hold:
a session is lost, an answer is wrong or does not come, a process stays.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from scratch import SOURCE, cpu_of, memory_of, p50, scratch_environment

sys.path.insert(0, SOURCE)

from nacre.client.calls import AnsweredError, Client
from nacre.errors import NacreError

SERVER = ["-m", "nacre", "server"]
NOBODY = 65534  # a user without rights, if we are root


def _python(how: dict[str, Any]) -> list[str]:
    """Return an interpreter that the user may start: ours may be in a home that is closed to it."""
    return ["/usr/bin/python3" if "user" in how else sys.executable]


class Trial:
    """A daemon in a scratch home."""

    def __init__(self, env: dict[str, str], **how: Any) -> None:
        self.env = env
        os.environ["NACRE_HOME"] = env["NACRE_HOME"]
        self.log = Path(env["NACRE_HOME"]).with_suffix(".log")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*_python(how), *SERVER], env=env, cwd="/", stderr=log, **how
            )
        self.client = self.reach()

    def reach(self, seconds: float = 60) -> Client:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return Client.open(timeout=120)
            except NacreError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.05)

    def call(self, operation: str, **params: Any) -> Any:
        return self.client.call(operation, **params)

    @property
    def pid(self) -> int:
        return int(self.call("status")["pid"])

    def complaints(self) -> list[str]:
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if "raceback" in line or '"level": "error"' in line]

    def end(self) -> None:
        with suppress(Exception):
            self.client.close()
        self.process.terminate()
        self.process.wait(60)
        for line in self.complaints()[:5]:
            print("  log:", line[:600])
        self.log.unlink()


@contextmanager
def trial(how: dict[str, Any] | None = None, **settings: object) -> Iterator[Trial]:
    with scratch_environment(shell="/bin/bash", **settings) as env:
        if how and "user" in how:
            os.chown(env["HOME"], NOBODY, NOBODY)
            env["PYTHONPATH"] = ":".join([SOURCE, *filter(os.path.isdir, sys.path)])
        one = Trial(env, **(how or {}))
        try:
            yield one
        finally:
            one.end()


def timed(call: Callable[[], object], rounds: int = 1) -> list[float]:
    """Milliseconds of each round."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1000)
    return times


def say(what: str, *values: object) -> None:
    print(f"  {what}:", *values, flush=True)


def hold(fact: object, what: str) -> None:
    if not fact:
        raise AssertionError(what)


# --- the trials ------------------------------------------------------------------------------


def sessions() -> None:
    """1,000 sessions, each a real shell."""
    with trial(max_sessions=1100) as one:
        one.call("create_session", name="first")
        one.call("run", session="first", command="true")
        pid, before = one.pid, memory_of(one.pid)
        begun = time.perf_counter()
        for number in range(1000):
            one.call("create_session", name=f"s{number}", command="/bin/sh", args=[])
        say("1,000 made in s", round(time.perf_counter() - begun, 1))
        time.sleep(3)
        say("MB a session", round((memory_of(pid) - before) / 1000, 3))
        spent, at = cpu_of(pid), time.monotonic()
        time.sleep(10)
        say("% of a core, idle", round((cpu_of(pid) - spent) / (time.monotonic() - at) * 100, 2))
        run = timed(lambda: one.call("run", session="first", command="true"), 100)
        say("run true beside them, ms p50, p99", round(p50(run), 1), round(sorted(run)[98], 1))
        listed = timed(lambda: one.call("list_sessions", max_chars=10_000_000), 5)
        say("list_sessions, ms", round(p50(listed), 1))
        for number in (0, 500, 999):
            ran = one.call("run", session=f"s{number}", command=f"echo it is $((40 + {number}))")
            hold(ran["output"].strip() == f"it is {40 + number}", ran)
        os.kill(pid, signal.SIGKILL)
        begun = time.perf_counter()
        one.client = one.reach()
        hold(len(one.call("list_sessions", max_chars=10_000_000)["sessions"]) == 1001, "all back")
        say("all back after kill -9 in s", round(time.perf_counter() - begun, 2))
        begun = time.perf_counter()
        for number in range(1000):
            one.call("manage_session", session=f"s{number}", action="kill")
        say("1,000 killed in s", round(time.perf_counter() - begun, 1))


def upgrade() -> None:
    """Upgrades while sessions print and runs are made."""
    with trial() as one:
        for number in range(5):
            one.call("create_session", name=f"yes{number}", command="yes", args=[])
        count = "i=0; while :; do echo n$((i+=1)); done | tee count"
        one.call("create_session", name="count", command=count, cwd=one.env["HOME"])
        for number in range(4):
            one.call("create_session", name=f"run{number}")
        stop, counts, wrong = threading.Event(), [0, 0], []

        def keep_running(name: str) -> None:
            client = one.reach()
            number = 0
            while not stop.is_set():
                number += 1
                try:
                    ran = client.call("run", session=name, command=f"echo $((1 * {number}))")
                    counts[0] += 1
                    if ran["output"].strip() != str(number) or ran["exit_code"] != 0:
                        wrong.append((number, ran))
                except NacreError:  # the daemon is replaced: said, and tried again
                    counts[1] += 1
                    with suppress(NacreError):
                        client = one.reach()

        threads = [threading.Thread(target=keep_running, args=(f"run{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        gaps = []
        for _ in range(5):
            time.sleep(2)
            before = one.pid
            begun = time.perf_counter()
            with suppress(NacreError):
                one.call("upgrade")
            while True:
                with suppress(NacreError):
                    one.client = one.reach()
                    if one.pid != before:
                        break
                time.sleep(0.01)
            gaps.append(round(time.perf_counter() - begun, 2))
        stop.set()
        for thread in threads:
            thread.join(120)
        say("upgrade until the next daemon answers, s", *gaps)
        say("runs", counts[0], "told to retry", counts[1], "wrong", len(wrong), *wrong[:2])
        alive = [s["name"] for s in one.call("list_sessions")["sessions"] if s["running"]]
        hold(len(alive) == 10, alive)
        hold(not wrong, wrong[:2])
        one.call("send_key", session="count", key="ctrl+c")
        kept = one.call("get_scrollback", session="count", limit=3000, max_chars=10_000_000)
        numbers = [
            int(str(line)[1:])
            for line in (one_line_of(line) for line in kept["lines"])
            if line.startswith("n") and line[1:].isdigit()
        ]
        hold(numbers == list(range(numbers[0], numbers[0] + len(numbers))), "lines are missing")
        say("lines without a gap", len(numbers))


def one_line_of(line: Any) -> str:
    spans = line if isinstance(line, list) else [line]
    return "".join(span if isinstance(span, str) else span.get("text", "") for span in spans)


def resizes() -> None:
    """100,000 resizes of a shell with a full scrollback."""
    with trial(max_requests=64) as one:
        one.call("create_session", name="r")
        one.call("run", session="r", command="seq 12000", timeout_ms=60_000)
        pid, before = one.pid, memory_of(one.pid)
        spent, begun = cpu_of(pid), time.perf_counter()
        for number in range(100_000):
            one.call("resize_session", session="r", rows=10 + number % 50, cols=80)
        took = time.perf_counter() - begun
        say("100,000 resizes in s", round(took, 1), "processor s", round(cpu_of(pid) - spent, 1))
        begun = time.perf_counter()
        for number in range(300):
            one.call("resize_session", session="r", rows=24, cols=40 + number % 100)
        say("a resize of the width, ms", round((time.perf_counter() - begun) / 300 * 1000, 1))
        say("MB more", round(memory_of(pid) - before, 1))
        ran = one.call("run", session="r", command="echo fine")
        hold(ran["output"].strip() == "fine", ran)


def read_only() -> None:
    """A state folder that cannot be written: at the start, and while the daemon runs."""
    if os.getuid() != 0:
        say("left out", "it needs root, to be another user")
        return
    with trial({"user": NOBODY, "group": NOBODY}) as one:
        one.call("create_session", name="before")
        state = Path(one.env["NACRE_HOME"])
        os.chown(state, 0, 0)
        os.chmod(state, 0o555)
        for folder in [path for path in state.rglob("*") if path.is_dir()]:
            os.chown(folder, 0, 0)
            os.chmod(folder, 0o555)
        ran = one.call("run", session="before", command="echo fine; seq 200000 | tail -1")
        hold(ran["output"].split() == ["fine", "200000"], ran)
        try:
            made = one.call("create_session", name="after")
            say("a new session", "is made", made.get("notice"))
        except AnsweredError as error:
            say("a new session", error)
        say("told", one.call("list_sessions", session="before").get("notice"))
        one.client.close()
        with suppress(Exception):
            subprocess.run(
                [sys.executable, "-m", "nacre", "stop"], env=one.env, timeout=60, check=False
            )
        tried = subprocess.run(
            [*_python({"user": NOBODY}), *SERVER],
            env=one.env,
            user=NOBODY,
            group=NOBODY,
            cwd="/",
            timeout=60,
            check=False,
            capture_output=True,
            text=True,
        )
        say("a start says", tried.returncode, tried.stderr.strip().splitlines()[-1:])
        hold(tried.returncode != 0 and "Traceback" not in tried.stderr, tried.stderr)
        for path in (state, *state.rglob("*")):
            os.chmod(path, 0o700)


CLOCK = """
import os, time
_offset, _time = os.environ["CLOCK_OFFSET"], time.time
def moved():
    try:
        with open(_offset) as file:
            return _time() + float(file.read() or 0)
    except OSError:
        return _time()
time.time = moved
"""


def clock() -> None:
    """A wall clock that jumps ten years ahead, and back behind the start."""
    with scratch_environment(shell="/bin/bash") as env:
        home = Path(env["HOME"])
        (home / "sitecustomize.py").write_text(CLOCK)
        offset = home / "offset"
        offset.write_text("0")
        env |= {"PYTHONPATH": f"{home}:{SOURCE}", "CLOCK_OFFSET": str(offset)}
        one = Trial(env)
        try:
            one.call("create_session", name="c")
            year = 365 * 86400
            for jump in (10 * year, -10 * year, 0, 3600, -3600):
                offset.write_text(str(jump))
                ran = one.call("run", session="c", command="echo at; sleep 0.1")
                hold(ran["output"].strip() == "at", ran)
                hold(50 < ran["duration_ms"] < 60_000, ran)
                waited = timed(lambda: one.call("wait_for", session="c", text="no", timeout_ms=200))
                hold(150 < waited[0] < 20_000, waited)
                one.call("await_quiesce", session="c", timeout_ms=50, max_wait_ms=5000)
            recorded = one.call("export_recording", session="c", max_chars=10_000_000)
            hold(recorded, "a recording across the jumps")
            for jump in (10 * year, -10 * year):
                offset.write_text(str(jump))
                os.kill(one.pid, signal.SIGKILL)
                one.client = one.reach()
                ran = one.call("run", session="c", command="echo back")
                hold(ran["output"].strip() == "back", ran)
            say("sessions", [s["name"] for s in one.call("list_sessions")["sessions"]])
        finally:
            one.end()


def terminate() -> None:
    """SIGTERM at any moment of a start: it ends soon, leaves no process, and the next starts."""
    with scratch_environment(shell="/bin/bash") as env:
        took, codes = [], set()
        for number in range(25):
            process = subprocess.Popen(
                [sys.executable, *SERVER], env=env, stderr=subprocess.DEVNULL, cwd="/"
            )
            time.sleep(number * 0.1)
            begun = time.perf_counter()
            process.terminate()
            codes.add(process.wait(60))
            took.append(time.perf_counter() - begun)
            left = _with_home(env["NACRE_HOME"])
            hold(not left, f"processes are left: {left}")
        say("ends after s, p50, max", round(p50(took), 2), round(max(took), 2), "codes", codes)
        one = Trial(env)
        one.call("create_session", name="fine")
        one.end()


def _with_home(home: str) -> list[int]:
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if f"NACRE_HOME={home}\0".encode() in Path(f"/proc/{entry}/environ").read_bytes():
                found.append(int(entry))
    return [pid for pid in found if pid != os.getpid()]


def symlinks() -> None:
    """Links in the state folder that lead to files of others: nothing is written through them."""
    with scratch_environment(shell="/bin/bash") as env:
        home = Path(env["NACRE_HOME"])
        precious = home / "precious"
        precious.write_text("precious")
        one = Trial(env)
        one.call("create_session", name="s")
        one.call("run", session="s", command="seq 1000")
        one.client.close()
        one.process.terminate()
        one.process.wait(60)
        one.log.unlink()
        files = [path for path in home.rglob("*") if path.is_file() and path != precious]
        for path in files:
            path.unlink()
            path.symlink_to(precious)
        say("files that are links now", *(str(path.relative_to(home)) for path in files))
        tried = subprocess.Popen(
            [sys.executable, *SERVER], env=env, stderr=subprocess.PIPE, cwd="/", text=True
        )
        try:
            with suppress(NacreError, AssertionError):
                deadline = time.monotonic() + 20
                while tried.poll() is None and time.monotonic() < deadline:
                    with suppress(NacreError):
                        with Client.open(timeout=60) as client:
                            client.call("create_session", name="s")
                            client.call("run", session="s", command="seq 1000")
                        break
                    time.sleep(0.1)
        finally:
            tried.terminate()
            _, told = tried.communicate(timeout=60)
        say("it says", [line[-200:] for line in told.strip().splitlines()[-3:]])
        hold(
            precious.read_text() == "precious", f"written through a link: {precious.read_text()!r}"
        )


def processes() -> None:
    """RLIMIT_NPROC: sessions that cannot be started are refused, and all others go on."""
    if os.getuid() != 0:
        say("left out", "it needs root, to be another user")
        return
    most = 40

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))

    how = {"user": NOBODY, "group": NOBODY, "preexec_fn": limit}
    with trial(how) as one:
        one.call("create_session", name="first")
        made, told = 0, ""
        for number in range(most + 10):
            try:
                one.call("create_session", name=f"s{number}", command="sleep 1000")
                made += 1
            except AnsweredError as error:
                told = str(error)
                break
        listed = one.call("list_sessions", max_chars=10_000_000)["sessions"]
        dead = [one_of["name"] for one_of in listed if not one_of["running"]]
        say("made", made, "ended at once", len(dead), "then", told)
        say("status", one.call("status")["sessions"])
        for session in listed[1:]:
            one.call("manage_session", session=session["session_id"], action="kill")
        ran = one.call("run", session="first", command="echo fine")
        hold(ran["output"].strip() == "fine", ran)


def memory() -> None:
    """RLIMIT_AS: what does not fit is refused, and the daemon and its sessions go on."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))

    with trial({"preexec_fn": limit}, max_sessions=500) as one:
        one.call("create_session", name="first")
        pid = one.pid
        told, made = "", 0
        for number in range(150):
            try:
                one.call("create_session", name=f"s{number}", command="yes 'a line of text'")
                made += 1
            except NacreError as error:
                told = str(error)
                break
        time.sleep(5)
        say("sessions of yes", made, told)
        for call, given in (
            ("get_scrollback", {"limit": 10_000, "max_chars": 100_000_000}),
            ("screenshot", {"scale": 4}),
            ("export_recording", {"max_chars": 100_000_000}),
        ):
            try:
                one.call(call, session="s0", **given)
                say(call, "answered")
            except NacreError as error:
                say(call, str(error)[:150])
                one.client = one.reach()
        say("the same daemon", one.pid == pid, "MB", round(memory_of(one.pid)))
        ran = one.call("run", session="first", command="echo fine")
        hold(ran["output"].strip() == "fine", ran)


TRIALS = (
    sessions, upgrade, resizes, read_only, clock, terminate, symlinks, processes, memory,
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help=", ".join(one.__name__ for one in TRIALS))
    wanted = parser.parse_args().names
    failed = []
    for one in TRIALS:
        if wanted and one.__name__ not in wanted:
            continue
        print(f"{one.__name__}: {(one.__doc__ or '').strip()}", flush=True)
        try:
            one()
        except Exception as error:  # noqa: BLE001  # told, and the next is tried
            failed.append(one.__name__)
            say("FAILED", f"{type(error).__name__}: {error}"[:1500])
    print("failed:", ", ".join(failed) or "none")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
