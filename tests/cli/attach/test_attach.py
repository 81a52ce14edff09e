"""`nacre attach` on a real pseudo-terminal: what a person sees, types and gets back.

Rule: nothing here sleeps. Reading waits for the terminal's next bytes; PATIENCE only bounds how
long a test that fails takes.
"""

import base64
import json
import os
import re
import signal
import string
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import PATIENCE, Daemon, load_all
from nacre.cli.attach.own_keys import OwnKey
from nacre.errors import InvalidInput
from restarts import PlayedDaemon, crash, pid_of

from cli.conftest import Nacre
from cli.person import DETACH, Person
from doors.wire import GREETING, Line, local_line

HINT = "Ctrl+] detaches"


def resident(pid: int) -> int:
    """Return the resident memory of a process in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


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
    person = attach(session, "--no-status")
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
    assert f"detached from {session}; it is still running" in person.text
    assert running.listed(session)["running"] is True
    running.until(session, "last words")


WINCH = "trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.05; done"


def test_a_terminal_that_does_not_know_its_size_counts_as_24_by_80(
    running: Nacre, session: str
) -> None:
    running.until(session, "ready")
    master, slave = os.openpty()  # 0 by 0
    process = running.start("attach", session, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(master, 65536)
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (23, 80), "one row is the status line's"
    os.write(master, DETACH)
    with suppress(OSError):  # EIO: nobody has the terminal open any more
        while os.read(master, 65536):
            pass
    os.close(master)
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("session", [WINCH], indirect=True)
def test_the_terminals_size_becomes_the_sessions_for_as_long_as_one_stays(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session, "--no-status", rows=20, cols=70)
    person.sees("20 70")
    person.resize(30, 90)
    person.sees("30 90")
    watcher = attach(session, "--read-only")
    watcher.sees("30 90")
    person.type(DETACH)
    assert person.leaves() == 0
    watcher.see(lambda: watcher.text.count("24 80") == 2)  # at the start, and again
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (24, 80)


@pytest.mark.parametrize("session", [WINCH], indirect=True)
def test_a_size_changed_under_ones_hands_is_told(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    first = attach(session, rows=20, cols=90)
    first.sees("19 90")
    second = attach(session, rows=30, cols=100)
    first.sees("attach changed the session's size to 100x29")
    assert "changed the session's size" not in second.text
    first.type(b"\x1e")  # taking over and giving back: who is attached keeps the size
    first.sees("you drive")
    first.type(b"\x1e")
    first.see(lambda: "you drive" not in first.text)
    second.type(DETACH)
    assert second.leaves() == 0
    first.sees("attach gave the size back: the session has 90x19 again")
    running.call("resize_session", session=session, rows=12, cols=60)
    first.sees("changed the session's size to 60x12")
    first.type(DETACH)
    assert first.leaves() == 0
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (12, 60)  # who resized it, meant it


def test_a_borrowed_size_is_given_back_when_the_person_does_not_come_back(
    own_daemon: Callable[..., Daemon], attach: Callable[..., Person]
) -> None:
    daemon = own_daemon(lease_patience=0.1)
    daemon.rest("POST", "/sessions", {"name": "dev", "command": "bash", "args": ["-c", WINCH]})
    person = attach("dev", "--no-status", env=daemon.env, rows=20, cols=60)
    person.sees("20 60")
    pid = pid_of(daemon)
    os.kill(person.process.pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    back = {"session": "dev", "text": "20 60\n24 80", "timeout_ms": 60_000}
    assert daemon.rest("POST", "/wait", back)["matched"]
    os.kill(person.process.pid, signal.SIGCONT)
    person.see(lambda: person.text.count("20 60") > 1)


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
    person.see(lambda: person.screen.modes().mouse_tracking)
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
    person = attach(session, "--read-only", "--no-status", rows=10, cols=60)
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
    load_all(running.env)
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


def test_without_a_name_it_is_the_only_session_or_told_which_there_are(
    own_nacre: Nacre, attach: Callable[..., Person]
) -> None:
    own_nacre.ok("new", "one", "--", "echo ready; exec cat")
    person = attach(env=own_nacre.env)
    person.sees("ready")
    person.type(DETACH)
    assert person.leaves() == 0
    assert "detached from one" in person.text
    own_nacre.call("create_session", name="two", command="cat")
    person = attach(env=own_nacre.env)
    assert person.leaves() == 2
    assert "name the session" in person.text
    assert "one, two" in person.text
    # It is none to be in from within.
    within = own_nacre.listed("two")["session_id"]
    person = attach(env={**own_nacre.env, "NACRE_SESSION": within})
    person.sees("ready")


def test_a_session_does_not_watch_itself(running: Nacre, attach: Callable[..., Person]) -> None:
    identifier = running.listed("first")["session_id"]
    person = attach("first", env={**running.env, "NACRE_SESSION": identifier})
    assert person.leaves() == 2
    assert "cannot attach to itself" in " ".join(person.text.split())


# --- overlays, panels and the status line ------------------------------------------------------


def test_the_last_row_tells_about_the_session_and_is_not_its_own(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session, rows=20, cols=70)
    person.sees("Ctrl+] detaches")
    line = person.screen.plain_lines()[-1]
    assert line.startswith(f" {session}  ")
    assert "Ctrl+^ takes over" in line
    details = running.listed(session)
    assert (details["rows"], details["cols"]) == (19, 70)
    person.resize(30, 40)
    person.see(lambda: person.screen.plain_lines()[-1].endswith("Ctrl+] detaches"))
    assert running.listed(session)["rows"] == 29
    running.call("manage_session", session=session, action="rename", new_name="other")
    person.see(lambda: person.screen.plain_lines()[-1].startswith(" other "))
    running.call("manage_session", session="other", action="rename", new_name=session)
    person.type(DETACH)
    assert person.leaves() == 0


@pytest.mark.parametrize("session", [WINCH], indirect=True)
@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_overlays_and_panels_are_drawn_and_panels_take_rows(
    running: Nacre, session: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    running.until(session, "ready")
    person = attach(session, *options, rows=20, cols=70)
    rows = 20 - (not options)
    person.sees(f"{rows} 70")
    panel = running.call("panel", session=session, spans=[{"text": "on top"}], position="top")
    person.see(lambda: person.screen.plain_lines()[0] == "on top")
    person.sees(f"{rows - 1} 70")
    box = {"x": 60, "y": 2, "width": 6, "height": 2, "background": "blue"}
    spans = [{"text": "float\ning", "bold": True}]
    overlay = running.call("overlay", session=session, spans=spans, **box)
    person.see(lambda: [line[60:] for line in person.screen.plain_lines()[3:5]] == ["float", "ing"])
    assert person.screen.styled_lines()[3][-1].bg == "blue"
    running.call("remove_overlay", session=session, id=overlay["id"])
    person.see(lambda: "float" not in person.text)
    running.call("remove_panel", session=session, id=panel["id"])
    person.see(lambda: "on top" not in person.text)
    person.see(lambda: person.text.count(f"{rows} 70") > 1)
    person.type(DETACH)
    assert person.leaves() == 0


def test_the_control_key_takes_over_and_gives_back(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session)
    person.sees("takes over")
    person.type(b"before\x1eafter\r")
    person.sees("you drive")
    person.sees("beforeafter")
    assert running.listed(session)["driver"] == "attach"
    with ThreadPoolExecutor(1) as agent:
        sent = agent.submit(running.call, "send_input", session=session, input="waited\r")
        since = re.compile(r"an agent waits since \d\d:\d\d:\d\d")
        person.see(lambda: bool(since.search(person.text)))
        person.type(b"\x1e")
        person.see(lambda: "you drive" not in person.text and "waits since" not in person.text)
        assert sent.result()["success"]
    assert running.listed(session)["driver"] is None
    other = attach(session, "--control-key", "ctrl+g", "--no-status")
    other.sees("Ctrl+G takes over")
    other.type(b"\x07")
    person.sees("attach drives")
    person.type(b"x")
    assert person.hears_bell()  # it was not taken
    person.sees("attach drives this session; take over to type")
    for one in (other, person):
        one.type(DETACH)
        assert one.leaves() == 0


def test_captured_keys_are_told_and_ctrl_backslash_frees_them(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    person = attach(session, cols=40)
    person.sees("detaches")
    running.call("input_mode", session=session, mode="capture")
    person.sees("keys captured: Ctrl+\\ frees")
    person.type(b"kept away\r\x1c")
    person.see(lambda: "captured" not in person.text)
    person.type(b"let through\r")
    person.sees("let through")
    assert "kept away" not in running.until(session, "let through")
    person.type(DETACH)
    assert person.leaves() == 0


@pytest.mark.parametrize(
    "session",
    ["stty raw -echo; printf '\\033[?1000h\\033[?1006hready'; exec cat -v"],
    indirect=True,
)
def test_the_mouse_is_moved_by_the_panels_above(
    running: Nacre, session: str, attach: Callable[..., Person]
) -> None:
    running.until(session, "ready")
    running.call("panel", session=session, spans=[{"text": "a\nb"}], position="top")
    person = attach(session, rows=20)
    person.see(lambda: person.screen.modes().mouse_tracking and "ready" in person.text)
    # On the panel, on the status line, and on the child's third row.
    person.type(b"\x1b[<0;9;2M\x1b[<0;9;20M\x1b[<0;9;5M")
    person.sees("^[[<0;9;3M")
    assert "ready^[[<0;9;3M" in person.text
    person.type(DETACH)
    assert person.leaves() == 0


@pytest.mark.parametrize("options", [(), ("--no-status",)])
@pytest.mark.parametrize("session", ["echo ready; read x; printf '\\a'; exec cat"], indirect=True)
def test_the_bell_is_heard(
    running: Nacre, session: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    running.until(session, "ready")
    person = attach(session, *options)
    person.sees("ready")
    person.type(b"\r")
    assert person.hears_bell()


@pytest.mark.parametrize("options", [(), ("--no-status",)])
def test_an_ended_session_shows_its_last_screen_and_exit_code(
    running: Nacre, ended: str, attach: Callable[..., Person], options: tuple[str, ...]
) -> None:
    person = attach(ended, *options)
    assert person.leaves() == 3
    assert "has ended with exit code 3" in person.text


FULL_SCREEN = r"""
import curses, sys
def main(screen):
    curses.curs_set(0)
    screen.addstr(0, 0, "full screen of %d rows" % curses.LINES)
    screen.addstr(curses.LINES - 1, 0, "bottom")
    screen.refresh()
    while screen.getch() != ord("q"):
        pass
curses.wrapper(main)
print("left")
sys.stdin.readline()
"""


def test_a_full_screen_program_is_drawn_under_the_status_line(
    running: Nacre, attach: Callable[..., Person]
) -> None:
    command = {"command": sys.executable, "args": ["-c", FULL_SCREEN]}
    running.call("create_session", name="curses", rows=19, cols=70, **command)
    running.until("curses", "bottom")
    person = attach("curses", rows=20, cols=70)
    # What is painted may come in pieces.
    person.sees("full screen of 19 rows")
    person.see(lambda: person.screen.plain_lines()[18] == "bottom")
    person.see(lambda: "Ctrl+] detaches" in person.screen.plain_lines()[19])
    person.see(lambda: not person.screen.cursor().visible)
    person.see(lambda: person.screen.modes().application_cursor_keys)
    person.type(b"q")
    person.sees("left")
    person.see(lambda: "full screen" not in person.text)
    person.see(lambda: person.screen.cursor().visible)
    assert person.screen.modes().alternate_screen  # the person's own screen lies below
    person.type(DETACH)
    assert person.leaves() == 0
    running.call("manage_session", session="curses", action="kill")


def test_both_keys_cannot_be_the_same(running: Nacre, attach: Callable[..., Person]) -> None:
    person = attach("first", "--control-key", "ctrl+]")
    assert person.leaves() == 2
    assert "cannot be both" in person.text


# --- nacre alone -------------------------------------------------------------------------------

SHELL = {"SHELL": "/bin/sh", "PS1": "> ", "ENV": "/dev/null"}


def test_nacre_alone_is_a_shell_in_a_session_of_this_folder(
    running: Nacre, attach: Callable[..., Person], tmp_path: Path
) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    person = attach(command=(), env={**running.env, **SHELL}, cwd=folder, rows=20, cols=70)
    person.sees(" alone ")
    person.see(lambda: person.screen.modes().alternate_screen)
    details = running.listed("alone")
    assert (details["rows"], details["cols"], details["cwd"]) == (19, 70, str(folder))
    person.type(b"exit 7\r")
    assert person.leaves() == 7
    names = [one["name"] for one in running.call("list_sessions")["sessions"]]
    assert "alone" not in names


def test_nacre_alone_that_is_left_goes_on(
    running: Nacre, attach: Callable[..., Person], tmp_path: Path
) -> None:
    folder = tmp_path / "left"
    folder.mkdir()
    person = attach(command=(), env={**running.env, **SHELL}, cwd=folder)
    person.sees("detaches")
    person.type(DETACH)
    assert person.leaves() == 0
    assert "detached from left; it is still running" in person.text
    assert running.listed("left")["running"] is True
    running.call("manage_session", session="left", action="kill")


def test_nacre_alone_in_a_session_says_where_it_is(
    running: Nacre, attach: Callable[..., Person]
) -> None:
    identifier = running.listed("first")["session_id"]
    person = attach(command=(), env={**running.env, "NACRE_SESSION": identifier})
    assert person.leaves() == 2
    said = " ".join(person.text.split())
    assert "you are already in session 'first'" in said
    assert "nacre new" in said


def test_nacre_alone_without_a_terminal_prints_the_short_help(running: Nacre) -> None:
    assert "nacre new dev" in running.ok()


# --- a daemon that dies ------------------------------------------------------------------------


@pytest.fixture
def played(tmp_path: Path) -> Iterator[PlayedDaemon]:
    daemon = PlayedDaemon(tmp_path)
    yield daemon
    daemon.close()


IDENTITY = "0a1b2c3d"
NOTICE = "the daemon was restarted; waiting for dev"


def let_in(
    played: PlayedDaemon, meanwhile: Callable[[], None] = lambda: None, *, numbers: bool = False
) -> Line:
    """Play a daemon until a person is attached, and sees its screen."""
    with played.accept(door="call").connection as connection:
        assert connection.recv(4096)
        answer = {"id": 1, "result": {"session_id": IDENTITY, "name": "dev"}}
        connection.sendall(json.dumps(answer).encode() + b"\n")
        line = played.accept(door="attach", meanwhile=meanwhile, numbers=numbers)
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


def test_a_resize_before_the_person_is_let_in_is_told(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env, rows=20, cols=60)
    line = let_in(played, meanwhile=lambda: person.resize(30, 90))
    assert played.hello["size"] == [20, 60]
    assert line.read() == {"resize": [30, 90]}


def test_a_signal_that_comes_with_the_screen_gives_the_terminal_back(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    at_once = """
import os, signal, sys
from nacre.cli import main
from nacre.cli.attach import attach
write = attach._write_within
def ended(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    write(*arguments)
attach._write_within = ended
sys.exit(main.main())
"""
    person = attach("dev", env=played.env, program=("-c", at_once))
    with suppress(BrokenPipeError):  # it may have left before it is painted for
        let_in(played)
    assert person.leaves() == 128 + signal.SIGTERM
    assert "SIGTERM" in person.text


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


def test_keys_sent_in_the_moment_of_a_daemons_death_are_typed_once(
    own_daemon: Callable[..., Daemon], attach: Callable[..., Person]
) -> None:
    crashing = own_daemon()
    env = {"PROMPT_COMMAND": "PS1='ready> '"}
    crashing.rest("POST", "/sessions", {"name": "dev", "command": "bash", "env": env})
    person = attach("dev", env=crashing.env)
    person.sees("ready>")
    for number in range(3):
        person.type(b"echo ha")
        person.sees("echo ha")
        pid = pid_of(crashing)
        os.kill(pid, signal.SIGSTOP)
        person.type(b"lf%d 'and' half\r" % number)
        os.kill(pid, signal.SIGKILL)
        person.sees(f"half{number} and half")
    person.type(b"echo $(history | grep -c 'and. half') lines\r")
    person.sees("4 lines")  # three, and the one that counts


def test_keys_of_which_nobody_knows_are_dropped_with_their_line_and_a_word(
    played: PlayedDaemon, attach: Callable[..., Person]
) -> None:
    person = attach("dev", env=played.env)
    known = {"taken": 0, "received": 0, "unsure": False, "dropped": False}
    first = let_in(played, numbers=True)
    first.send({"typing": known})
    person.sees("first")
    person.type(b"rm half")
    assert typed(first, 7) == b"rm half"
    played.die(first)
    second = played.accept(door="attach", numbers=True)
    second.send({"typing": {**known, "taken": 3, "received": 7, "unsure": True}})
    paint(second, "second")
    person.sees("check the line, press Enter: keys were dropped (the daemon died)")
    assert person.hears_bell()
    person.type(b" a line\rls\r")
    assert typed(second, 3) == b"ls\r"


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
    person.type(b"!\r?")  # the end of the line that is dropped, and what follows
    assert typed(second, 1) == b"?"


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
    hasty = (
        "import nacre.cli.attach.connection as our; our._RESTART_PATIENCE = 0.3; "
        "from nacre.cli.main "
    )
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
    os.kill(daemon.pid, signal.SIGSTOP)  # else it would start the next keeper
    daemon.process.kill()
    daemon.process.wait()
    os.kill(daemon.pid, signal.SIGKILL)
    assert person.leaves() == 7
    assert "the daemon is gone, and nobody starts another one" in " ".join(person.text.split())


# --- the detach key ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "typed", "before", "after"),
    [
        ("ctrl+]", b"ab\x1dcd", b"ab", b"cd"),
        ("ctrl+]", b"ab\x1b[93;5u", b"ab", b""),
        ("ctrl+]", b"\x1b[93;69u", b"", b""),  # with caps lock
        ("ctrl+]", b"\x1b[93;5:1uc", b"", b"c"),
        ("ctrl+]", b"\x1b[27;5;93~", b"", b""),
        ("Ctrl+Q", b"x\x11", b"x", b""),
        ("C-\\", b"x\x1c", b"x", b""),
        ("ctrl+_", b"x\x1f", b"x", b""),
        ("ctrl+^", b"x\x1ey", b"x", b"y"),
    ],
)
def test_the_key_is_found_in_every_code(
    name: str, typed: bytes, before: bytes, after: bytes
) -> None:
    assert OwnKey.parse(name).split(typed) == (before, after)


@pytest.mark.parametrize("typed", [b"]", b"\x1b[93;6u", b"\x1b[93u", b"\x1b[93;5:3u", b"\x1b[A"])
def test_other_keys_are_passed_on(typed: bytes) -> None:
    assert OwnKey.parse("ctrl+]").split(typed) == (typed, None)


@pytest.mark.parametrize("name", ["x", "f5", "ctrl+i", "ctrl+m", "ctrl+[", "alt+x", "ctrl+1", "no"])
def test_a_key_that_cannot_be_told_apart_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        OwnKey.parse(name)
