"""What crash tests do: kill a daemon, wait for the next one, and look at all that is to be seen."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from conftest import Daemon, environment
from nacre.client.calls import AnsweredError, Client
from nacre.client.keeping import keeper_command
from nacre.client.start import connect
from nacre.core.terminal.terminal import Terminal
from nacre.errors import DaemonRestarted
from nacre.settings.paths import find_paths
from ranges import own_ports

PATIENCE = 60.0  # seconds until an event that does not come fails the test
PRINTING = str(Path(__file__).with_name("printing.py"))

Json = dict[str, Any]

# Differs from one look to the next, or is told by the screen as well.
_FLEETING = ("last_active", "idle_seconds", "generation")

# Fills the scrollback with colours, and leaves a title and a cursor that stands somewhere.
COLOURS = (
    "for i in $(seq 1 700); do printf '\\033[3%d;4mline %d\\033[0m plain\\n' $((i % 8)) $i; done;"
    " printf '\\033]0;all colours\\007\\033[5;10Hhere'; exec cat"
)


# --- daemons -----------------------------------------------------------------------------------


def start(
    home: Path, *, doctored: str | None = None, wrapper: Sequence[str] = (), **settings: object
) -> Daemon:
    """Start a keeper with a daemon and return once that answers.

    `doctored` is Python text that the daemon runs before it begins; `wrapper` is a command that
    the keeper is started by.
    """
    env = environment(home, **{"first_session_port": own_ports(), **settings})
    env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), env.get("PYTHONPATH", "")])
    daemon_command = [sys.executable, "-m", "nacre"]
    if doctored is not None:
        script = home / "doctored.py"
        main = "from nacre.cli.main import main\nsys.exit(main())\n"
        script.write_text(f"import os, signal, sys\n{doctored}\n{main}")
        daemon_command = [sys.executable, str(script)]
    listening, ready = os.pipe()
    command = keeper_command([*daemon_command, "server", "--ready-fd", str(ready)])
    with (home / "daemon.log").open("ab") as log:
        process = subprocess.Popen(
            [*wrapper, *command],
            env=env,
            cwd=home,
            pass_fds=[ready],
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    os.close(ready)
    assert os.read(listening, 1), (home / "daemon.log").read_text()
    os.close(listening)
    daemon = Daemon(process, env, home)
    answering(daemon)
    return daemon


# No keeper can be started until there is a file `relief` in the daemon's home: there is no process
# left (EAGAIN, as RLIMIT_NPROC has it).
NO_KEEPER = """
import errno, subprocess
real = subprocess.Popen
class Popen(real):
    def __init__(self, argv, *args, **named):
        if "--adopt" in argv and not os.path.exists("relief"):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        super().__init__(argv, *args, **named)
subprocess.Popen = Popen
"""


def call_once(daemon: Daemon, operation: str, **params: Any) -> Json:
    """Call an operation as a person. Raises DaemonRestarted when the daemon dies over it."""
    paths = find_paths(daemon.env)
    with Client(connect(paths), paths=paths, timeout=PATIENCE) as client:
        return client.call(operation, **params)


def call(daemon: Daemon, operation: str, **params: Any) -> Json:
    """Call an operation; the next daemon is asked when this one dies over it."""
    while True:
        try:
            return call_once(daemon, operation, **params)
        except DaemonRestarted:
            continue


def answering(daemon: Daemon) -> int:
    """Return the process id of the daemon that answers, once it has all of its sessions."""
    call(daemon, "list_sessions")
    return int(call(daemon, "status")["pid"])


def kill(daemon: Daemon, pid: int | None = None) -> int:
    """Kill the daemon with -9 and return its process id once it is gone."""
    pid = daemon.pid if pid is None else pid
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        os.kill(pid, signal.SIGKILL)
        wait_gone([descriptor])
    return pid


def wait_gone(descriptors: Iterable[int]) -> None:
    """Wait for the ends of processes by their descriptors, which are closed."""
    for descriptor in descriptors:
        ended, _, _ = select.select([descriptor], [], [], PATIENCE)
        assert ended, "a process does not end"
        os.close(descriptor)


def crash(daemon: Daemon) -> None:
    """Kill the daemon with -9 and return when the next one answers."""
    killed = kill(daemon)
    assert answering(daemon) != killed


def next_pid(daemon: Daemon, before: int) -> int:
    """Return the next daemon's process id as soon as its keeper has started it."""
    children = Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children")
    while True:
        # Sessions' orphans are the keeper's children as well: the daemon runs our command.
        for entry in children.read_text().split():
            with suppress(OSError):
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                if int(entry) != before and b"--ready-fd" in words:
                    return int(entry)


def log_of(daemon: Daemon) -> list[Json]:
    text = (daemon.home / "daemon.log").read_text()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def journal_of(daemon: Daemon, session: str) -> Path:
    return Path(find_paths(daemon.env).journals) / session


# --- sessions ----------------------------------------------------------------------------------


def create(daemon: Daemon, name: str, command: str | None = None, **more: Any) -> Json:
    return call(daemon, "create_session", name=name, command=command, **more)


def listed(daemon: Daemon) -> dict[str, Json]:
    return {one["name"]: one for one in call(daemon, "list_sessions")["sessions"]}


def press(daemon: Daemon, session: str, *keys: str) -> None:
    call(daemon, "press_keys", session=session, keys=list(keys))


def send(daemon: Daemon, session: str, text: str) -> None:
    call(daemon, "send_input", session=session, input=text)


def until(daemon: Daemon, session: str, **condition: Any) -> Json:
    """Return once a condition of wait_for is true."""
    found = call(daemon, "wait_for", session=session, timeout_ms=int(PATIENCE * 1000), **condition)
    assert found["matched"], (condition, text_of(daemon, session))
    return found


def text_of(daemon: Daemon, session: str) -> str:
    lines = call(daemon, "get_screen", session=session, format="plain")["lines"]
    return "\n".join(lines).rstrip("\n")


def run(daemon: Daemon, session: str, command: str, timeout_ms: int = 30_000) -> Json:
    return call(daemon, "run", session=session, command=command, timeout_ms=timeout_ms)


def run_output(daemon: Daemon, run_id: str, limit: int = 1000) -> list[str]:
    """Return a run's whole output, page by page."""
    lines: list[str] = []
    while True:
        page = call(daemon, "read_run", run_id=run_id, offset=len(lines), limit=limit)
        lines += page["output"].split("\n") if page["lines"] else []
        if len(lines) >= page["total_lines"]:
            return lines


def scrollback(daemon: Daemon, session: str, form: str, limit: int = 500) -> list[Any]:
    """Return all of the scrollback, page by page."""
    lines: list[Any] = []
    while True:
        page = call(
            daemon, "get_scrollback", session=session, offset=len(lines), limit=limit, format=form
        )
        lines += page["lines"]
        if len(lines) >= page["total"]:
            return lines


def portrait(daemon: Daemon, session: str) -> Json:
    """Return all that can be seen of a session and that a crash must not change.

    A shell that is about to become what the session runs is waited for.
    """
    until(daemon, session, state=["prompt", "needs_input", "exited"])
    details = call(daemon, "list_sessions", session=session)
    screen = call(daemon, "get_screen", session=session)
    return {
        "details": {key: value for key, value in details.items() if key not in _FLEETING},
        "screen": {key: value for key, value in screen.items() if key != "generation"},
        "plain": call(daemon, "get_screen", session=session, format="plain")["lines"],
        "scrollback": scrollback(daemon, session, "styled"),
        "scrollback plain": scrollback(daemon, session, "plain"),
        "state": call(daemon, "get_status", session=session)["state"],
    }


def sight(daemon: Daemon, session: str) -> Json:
    """Return what stands on the screen and above it."""
    screen = call(daemon, "get_screen", session=session)
    return {
        "screen": screen["lines"],
        "cursor": screen["cursor"],
        "title": screen.get("title", ""),
        "scrollback": scrollback(daemon, session, "plain", 5000),
    }


class Twin:
    """A terminal that was never disturbed."""

    def __init__(self, lines: int) -> None:
        self._terminal = Terminal(scrollback=lines)

    def feed(self, data: bytes) -> None:
        self._terminal.feed(data)

    def sight(self) -> Json:
        terminal = self._terminal
        seen = {
            "screen": terminal.styled_lines(),
            "cursor": terminal.cursor(),
            "title": terminal.title,
            "scrollback": terminal.scrollback_plain(0, terminal.scrollback_total),
        }
        as_on_the_wire: Json = json.loads(msgspec.json.encode(seen))
        return as_on_the_wire


def is_dead(daemon: Daemon, session: str) -> bool:
    """Wait until a session's process has ended."""
    try:
        until(daemon, session, exit=True)
    except AnsweredError as error:
        return error.code == "SESSION_DEAD"
    return True


def members(session_id: str) -> list[int]:
    """Return the processes of a session, found as everybody else can find them."""
    mark = f"NACRE_SESSION={session_id}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found.append(int(entry))
    return found


def daemon_children(daemon: Daemon) -> set[int]:
    """Return the leaders of sessions: children of the daemon, and the orphans of those before."""
    pid = daemon.pid
    found = set()
    for parent in (pid, daemon.process.pid):
        for task in Path(f"/proc/{parent}/task").iterdir():
            found |= set(map(int, (task / "children").read_text().split()))
    return found - {pid}
