"""`nacre attach` on a real pseudo-terminal: what a person sees, types and gets back.

Rule: nothing here sleeps. Reading waits for the terminal's next bytes; PATIENCE only bounds how
long a test that fails takes.
"""

import base64
import fcntl
import json
import os
import select
import signal
import string
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon
from nacre.cli.detach import DetachKey
from nacre.core.terminal import Terminal
from nacre.errors import InvalidInput
from restarts import PlayedDaemon, crash

from cli.conftest import Nacre
from doors.wire import GREETING, Line, local_line

PATIENCE = 30.0  # seconds
DETACH = b"\x1d"  # Ctrl+]
HINT = "Ctrl+] detaches"


def resident(pid: int) -> int:
    """Return the resident memory of a process in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


class Person:
    """Somebody at a terminal in which `nacre attach` runs."""

    def __init__(
        self,
        env: dict[str, str],
        *arguments: str,
        rows: int = 24,
        cols: int = 80,
        program: tuple[str, ...] = ("-m", "nacre"),
    ) -> None:
        self.master, self.slave = os.openpty()
        self.screen = Terminal(rows, cols)
        self._bells = 0
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [sys.executable, *program, "attach", *arguments],
            env={**env, "TERM": "xterm-256color"},
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )

    def resize(self, rows: int, cols: int) -> None:
        self.screen.resize(rows, cols)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def see(self, holds: Callable[[], bool]) -> None:
        """Read the terminal until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            ready, _, _ = select.select([self.master], [], [], deadline - time.monotonic())
            assert ready, "it did not come to that:\n" + self.text
            data = os.read(self.master, 65536)
            self._bells += data.count(b"\x07")
            self.screen.feed(data)

    def hears_bell(self) -> bool:
        """Return at the next bell."""
        self.see(lambda: self._bells > 0)
        return True

    def sees(self, text: str) -> None:
        self.see(lambda: text in self.text)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.plain_lines())

    @property
    def is_raw(self) -> bool:
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def leaves(self) -> int:
        """Return the exit code, with everything read that was printed until then."""
        try:
            code = self.process.wait(PATIENCE)
        finally:
            os.set_blocking(self.master, False)
            while True:
                try:
                    self.screen.feed(os.read(self.master, 65536))
                except OSError:
                    break
        assert termios.tcgetattr(self.slave) == self.before, "the terminal's modes are not restored"
        modes = self.screen.modes()
        assert not modes.alternate_screen
        assert not modes.bracketed_paste
        assert not modes.mouse_tracking
        assert self.screen.cursor().visible
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def attach(running: Nacre) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def start(*arguments: str, **options: Any) -> Person:
        env = options.pop("env", running.env)
        people.append(Person(env, *arguments, **options))
        return people[-1]

    yield start
    for person in people:
        person.close()


@pytest.fixture
def session(running: Nacre, request: pytest.FixtureRequest) -> Iterator[str]:
    """A session of one test; its program is the fixture's parameter."""
    name = "shared"
    command = getattr(request, "param", "stty -echo; echo ready; exec cat")
    running.call("create_session", name=name, command=command)
    yield name
    running.call("manage_session", session=name, action="kill")


def test_a_person_sees_the_screen_types_and_detaches(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session)
    person.sees(HINT)
    person.sees("ready")
    assert person.is_raw
    assert person.screen.modes().alternate_screen
    person.type(b"typed by a person\r")
    person.sees("typed by a person")
    running.until(session, "typed by a person")
    person.see(lambda: HINT not in person.text)
    person.type(b"last words\r" + DETACH)
    assert person.leaves() == 0
    assert f"detached from {session}; it goes on" in person.text
    assert running.listed(session)["running"] is True
    running.until(session, "last words")


WINCH = "trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("session", [WINCH], indirect=True)
def test_the_terminals_size_becomes_the_sessions_and_stays(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session, rows=20, cols=70)
    person.sees("20 70")
    person.resize(30, 90)
    person.sees("30 90")
    person.type(DETACH)
    assert person.leaves() == 0
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (30, 90)


@pytest.mark.parametrize(
    "session",
    [r"printf '\033[?1049h\033[?1000hin front'; read x; printf '\033[?1049l'; exec cat"],
    indirect=True,
)
def test_a_full_screen_program_leaves_the_persons_own_screen_alone(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "in front")
    person = attach(session)
    person.sees("in front")
    assert person.screen.modes().mouse_tracking
    person.type(b"\r")
    person.see(lambda: "in front" not in person.text)
    assert person.screen.modes().alternate_screen
    person.type(DETACH)
    assert person.leaves() == 0


@pytest.mark.parametrize(
    "session",
    ["stty -echo; echo ready; read x; printf '\\033[6n\\033[c'; exec cat -v"],
    indirect=True,
)
def test_the_persons_terminal_does_not_answer_what_the_engine_answers(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session)
    person.sees("ready")
    person.type(b"\r")
    person.type(b"done\r")
    person.sees("done")
    assert person.screen.take_replies() == b""
    person.type(DETACH)
    assert person.leaves() == 0


def test_two_people_of_different_sizes_see_the_same(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    small = attach(session, rows=10, cols=30)
    small.sees("ready")
    large = attach(session, rows=30, cols=100)
    large.sees("ready")
    line = string.ascii_letters
    large.type(line.encode() + b"\r")
    large.sees(line)
    small.see(lambda: line[:30] in small.screen.plain_lines())
    assert line[30:] not in small.text
    for person in (small, large):
        person.type(DETACH)
        assert person.leaves() == 0


def test_read_only_neither_types_nor_resizes(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session, "--read-only", rows=10, cols=60)
    person.sees("(read-only)")
    person.type(b"not taken\r")
    person.see(lambda: HINT not in person.text)
    running.call("send_input", session=session, input="taken\r")
    person.sees("taken")
    assert "not taken" not in running.until(session, "taken")
    assert running.listed(session)["rows"] == 24
    person.type(DETACH)
    assert person.leaves() == 0


def test_everybody_can_be_detached(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session)
    person.sees("ready")
    assert running.call("manage_session", session=session, action="detach") == {"success": True}
    assert person.leaves() == 0
    assert "detached everybody" in person.text
    assert running.listed(session)["running"] is True


@pytest.mark.parametrize("session", ["echo ready; read x; exit 3"], indirect=True)
def test_the_end_of_the_session_is_told_with_its_exit_code(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session)
    person.sees("ready")
    person.type(b"\r")
    assert person.leaves() == 3
    assert f"{session} has ended with exit code 3" in person.text


def test_a_killed_session_is_told(running: Nacre, attach: Callable[..., Person]) -> None:
    running.call("create_session", name="doomed", command="echo ready; exec cat")
    person = attach("doomed")
    person.sees("ready")
    running.call("manage_session", session="doomed", action="kill")
    assert person.leaves() > 128
    assert "doomed was killed by" in person.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_gives_the_terminal_back(
    running: Nacre, session: str, attach: Callable[..., Person], number: signal.Signals
) -> None:
    person = attach(session)
    person.sees("ready")
    person.process.send_signal(number)
    assert person.leaves() == 128 + number
    assert number.name in person.text


def test_a_person_keeps_an_ephemeral_daemon(
    own_nacre: Nacre, attach: Callable[..., Person]
) -> None:
    own_nacre.ok("new", "kept", "--", "cat", NACRE_GRACE="0")
    program = "echo ready; read x; echo got $x; read y; exit 5"
    with local_line(own_nacre.env) as agent:  # an agent's session does not keep the daemon
        agent.send(
            GREETING,
            {"id": 1, "operation": "create_session", "params": {"name": "dev", "command": program}},
        )
        agent.read()
        agent.read()
        person = attach("dev", env=own_nacre.env)
        person.sees("ready")
    own_nacre.call("manage_session", session="kept", action="kill")
    assert own_nacre.call("status")["ephemeral"] is True
    person.type(b"it\r")
    person.sees("got it")
    person.type(b"\r")
    assert person.leaves() == 5


@pytest.mark.parametrize("session", ["echo ready; read x; exec yes"], indirect=True)
def test_a_slow_terminal_gets_a_fresh_screen_and_memory_stays_flat(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    person = attach(session)
    person.sees("ready")
    person.type(b"\r")
    person.sees("y\ny\ny")
    daemon = running.call("status")["pid"]

    def printed(count: int) -> None:
        """Return when the session has printed on; the person's terminal takes nothing meanwhile."""
        seen = running.generation(session)
        while running.generation(session) < seen + count:
            wait = {"timeout_ms": 0, "last_generation": running.generation(session)}
            running.call("await_quiesce", session=session, **wait)

    printed(50)
    before = resident(daemon), resident(person.process.pid)
    printed(300)
    after = resident(daemon), resident(person.process.pid)
    assert max(now - then for then, now in zip(before, after, strict=True)) < 10_000
    # It was far behind; now it is told how the screen stands, and the interrupt ends it.
    person.type(b"\x03")
    person.see(lambda: "killed by" in person.text or person.process.poll() is not None)
    assert person.leaves() > 128


def test_without_a_terminal_it_says_so(running: Nacre) -> None:
    done = running("attach", "first")
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_session_is_told_before_anything_is_drawn(
    running: Nacre, attach: Callable[..., Person]
) -> None:
    person = attach("nope")
    assert person.leaves() == 3
    assert "no session 'nope'" in person.text


def test_a_session_does_not_watch_itself(running: Nacre, attach: Callable[..., Person]) -> None:
    identifier = running.listed("first")["session_id"]
    person = attach("first", env={**running.env, "NACRE_SESSION": identifier})
    assert person.leaves() == 2
    assert "cannot watch itself" in " ".join(person.text.split())


# --- a daemon that dies ------------------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path) -> Iterator[PlayedDaemon]:
    daemon = PlayedDaemon(tmp_path)
    yield daemon
    daemon.close()


IDENTITY = "0a1b2c3d"
NOTICE = "the daemon was restarted; waiting for dev"


def let_in(played: PlayedDaemon) -> Line:
    """Play a daemon until a person is attached, and sees its screen."""
    with played.accept(door="call").connection as connection:
        assert connection.recv(4096)
        answer = {"id": 1, "result": {"session_id": IDENTITY, "name": "dev"}}
        connection.sendall(json.dumps(answer).encode() + b"\n")
        line = played.accept(door="attach")
    paint(line, "first")
    return line


def paint(line: Line, text: str) -> None:
    picture = base64.b64encode(b"\x1b[H\x1b[2J" + text.encode()).decode()
    line.send({"snapshot": picture, "alternate": False})


def typed(line: Line, count: int) -> bytes:
    """Read so many bytes of what was typed, and what else comes meanwhile."""
    keys = b""
    while len(keys) < count:
        keys += base64.b64decode(line.read().get("input", ""))
    return keys


def test_a_person_stays_in_the_session_when_the_daemon_is_killed(
    own_daemon: Callable[..., Daemon], attach: Callable[..., Person]
) -> None:
    daemon = own_daemon()
    program = "stty -echo; echo ready; exec cat"
    daemon.rest("POST", "/sessions", {"name": "dev", "command": program})
    person = attach("dev", env=daemon.env, rows=20, cols=60)
    person.sees("ready")
    for word in ("one", "two"):
        crash(daemon)
        person.type(f"word {word}\r".encode())
        person.sees(f"word {word}")
    person.see(lambda: NOTICE not in person.text)
    assert "ready" in person.text
    person.type(DETACH)
    assert person.leaves() == 0
    assert daemon.rest("GET", "/sessions?session=dev")["running"] is True


def test_the_next_daemon_is_told_the_session_by_its_id_and_paints(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("any reference", env=played.env, rows=20, cols=60)
    first = let_in(played)
    person.sees("first")
    person.resize(25, 70)
    played.die(first)
    second = played.accept(door="attach")
    assert (played.hello["session"], played.hello["size"]) == (IDENTITY, [25, 70])
    person.sees(NOTICE)
    paint(second, "second")
    person.sees("second")
    person.see(lambda: NOTICE not in person.text)
    person.type(DETACH)
    assert person.leaves() == 0


def test_keys_typed_meanwhile_arrive_and_those_of_before_do_not_arrive_twice(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    first = let_in(played)
    person.sees("first")
    person.type(b"before")
    assert typed(first, 6) == b"before"
    played.die(first)
    person.sees(NOTICE)
    person.type(b"mean")
    person.type(b"while")
    second = played.accept(door="attach")
    paint(second, "second")
    assert typed(second, 9) == b"meanwhile"
    person.type(b"after")
    assert typed(second, 5) == b"after"


def test_keys_beyond_what_is_kept_ring_the_bell(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    first = let_in(played)
    person.sees("first")
    played.die(first)
    person.sees(NOTICE)
    person.type(b"k" * 3000)
    person.type(b"l" * 3000)
    assert person.hears_bell()
    second = played.accept(door="attach")
    paint(second, "second")
    person.sees("second")
    person.type(b"!")
    assert typed(second, 4097) == b"k" * 3000 + b"l" * 1096 + b"!"


def test_one_can_leave_while_no_daemon_is_there(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    played.die(let_in(played))
    person.sees(NOTICE)
    person.type(DETACH)
    assert person.leaves() == 0
    assert "detached from dev" in person.text


def test_a_daemon_that_does_not_come_is_waited_for_patiently_but_not_forever(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    hasty = "import nacre.cli.view as view; view._RESTART_PATIENCE = 0.3; from nacre.cli.main "
    person = attach("dev", env=played.env, program=("-c", hasty + "import main; exit(main())"))
    played.die(let_in(played))
    played.die(played.accept(door="attach"))  # this one comes, and dies before it paints
    assert person.leaves() == 7
    assert "the daemon is gone, and no other one came within" in " ".join(person.text.split())


def test_a_session_that_the_next_daemon_does_not_have_is_told(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    played.die(let_in(played))
    second = played.accept(door="attach")
    second.send({"error": {"code": "SESSION_NOT_FOUND", "message": "no session '0a1b2c3d'"}})
    assert person.leaves() == 3
    assert "the daemon was restarted, and then: no session '0a1b2c3d'" in person.text


def test_an_end_that_was_told_is_no_death(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    first = let_in(played)
    person.sees("first")
    first.send({"ended": {"exit_code": 4, "signal": None}})
    played.die(first)
    assert person.leaves() == 4


def test_a_daemon_that_is_stopped_is_not_waited_for(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    first = let_in(played)
    person.sees("first")
    played.take_leave()
    played.die(first)
    assert person.leaves() == 7
    assert "the daemon is gone, and its sessions went with it" in " ".join(person.text.split())


def test_the_death_of_daemon_and_keeper_gives_the_terminal_back(
    own_daemon: Callable[..., Daemon], attach: Callable[..., Person]
) -> None:
    daemon = own_daemon()
    daemon.rest("POST", "/sessions", {"name": "dev", "command": "echo ready; exec cat"})
    person = attach("dev", env=daemon.env)
    person.sees("ready")
    daemon.process.kill()
    daemon.process.wait()
    os.kill(daemon.pid, signal.SIGKILL)
    assert person.leaves() == 7
    assert "the daemon is gone, and nobody starts another one" in " ".join(person.text.split())


# --- the detach key ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "typed", "before"),
    [
        ("ctrl+]", b"ab\x1dcd", b"ab"),
        ("ctrl+]", b"ab\x1b[93;5u", b"ab"),
        ("ctrl+]", b"\x1b[93;69u", b""),  # with caps lock
        ("ctrl+]", b"\x1b[93;5:1u", b""),
        ("ctrl+]", b"\x1b[27;5;93~", b""),
        ("Ctrl+Q", b"x\x11", b"x"),
        ("C-\\", b"x\x1c", b"x"),
        ("ctrl+_", b"x\x1f", b"x"),
    ],
)
def test_the_key_is_found_in_every_code(name: str, typed: bytes, before: bytes) -> None:
    assert DetachKey.parse(name).find(typed) == (before, True)


@pytest.mark.parametrize("typed", [b"]", b"\x1b[93;6u", b"\x1b[93u", b"\x1b[93;5:3u", b"\x1b[A"])
def test_other_keys_are_passed_on(typed: bytes) -> None:
    assert DetachKey.parse("ctrl+]").find(typed) == (typed, False)


@pytest.mark.parametrize("name", ["x", "f5", "ctrl+i", "ctrl+m", "ctrl+[", "alt+x", "ctrl+1", "no"])
def test_a_key_that_cannot_be_told_apart_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        DetachKey.parse(name)
