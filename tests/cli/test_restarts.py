"""The command line when the daemon dies in the middle: what is asked again, and what is said."""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Daemon
from restarts import PATIENCE, PlayedDaemon, crash

from cli.conftest import Nacre, make_nacre
from doors.wire import Line


@pytest.fixture
def played(tmp_path: Path) -> Iterator[PlayedDaemon]:
    daemon = PlayedDaemon(tmp_path)
    yield daemon
    daemon.close()


@pytest.fixture
def nacre_here(played: PlayedDaemon, tmp_path: Path) -> Nacre:
    return make_nacre(tmp_path)


def asked(line: Line) -> tuple[str, dict[str, Any]]:
    request = line.read()
    return request["operation"], request["params"]


def answer(line: Line, **result: object) -> None:
    line.send({"id": 1, "result": result})


@pytest.mark.parametrize(
    ("arguments", "operation", "result"),
    [
        (["list"], "list_sessions", {"sessions": []}),
        (["screen", "dev"], "get_screen", {"lines": ["all of it"]}),
        (["read", "dev"], "read_output", {"output": "all of it"}),
    ],
)
def test_what_only_reads_is_asked_again_silently(
    played: PlayedDaemon,
    nacre_here: Nacre,
    arguments: list[str],
    operation: str,
    result: dict[str, Any],
) -> None:
    process = nacre_here.start(*arguments)
    first = played.accept(door="call")
    assert asked(first)[0] == operation
    first.connection.sendall(b'{"id": 1, "res')
    played.die(first)
    second = played.accept(door="call")
    assert asked(second)[0] == operation
    answer(second, **result)
    _, complaint = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaint) == (0, "")


def test_what_reads_is_asked_again_once(played: PlayedDaemon, nacre_here: Nacre) -> None:
    process = nacre_here.start("screen", "dev")
    for _ in range(2):
        line = played.accept(door="call")
        asked(line)
        played.die(line)
    _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert (
        "was restarted before it answered; the sessions are still running: try again" in complaint
    )


@pytest.mark.parametrize("command", [["send", "dev", "ls"], ["kill", "dev"], ["new", "dev"]])
def test_what_may_have_been_done_is_not_done_again(
    played: PlayedDaemon, nacre_here: Nacre, command: list[str]
) -> None:
    process = nacre_here.start(*command, "--json")
    line = played.accept(door="call")
    asked(line)
    played.die(line)
    output, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert json.loads(output)["error"]["code"] == "DAEMON_RESTARTED"
    assert complaint == (
        "nacre: the daemon was restarted before it answered; "
        "the sessions are still running: try again\n"
    )


def test_a_daemon_that_dies_before_it_greets_costs_nothing(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("send", "dev", "ls")
    played.hang_up()
    line = played.accept(door="call")
    assert asked(line)[0] == "send_input"
    answer(line, success=True)
    assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


def test_a_daemon_that_is_stopped_meanwhile_is_told(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("screen", "dev")
    line = played.accept(door="call")
    asked(line)
    played.take_leave()
    played.die(line)
    _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert "the daemon was stopped" in complaint


def test_run_says_that_the_command_may_go_on_and_how_to_look(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("run", "dev", "--", "make")
    line = played.accept(door="call")
    assert asked(line)[0] == "run"
    played.die(line)
    output, complaint = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (7, "")
    assert "the command may still be running" in complaint
    assert ": nacre screen dev;" in complaint
    assert ": nacre wait dev --state prompt\n" in complaint
    assert "try again" not in complaint
    assert complaint.count("\n") == 1


def test_run_goes_on_at_the_next_daemon_and_shows_nothing_twice(
    own_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    daemon = own_daemon()
    nacre = make_nacre(daemon.home)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    nacre.call("create_session", name="dev", command="bash", args=["--norc"])
    process = nacre.start("run", "dev", "--", f"seq 1 30; read x < {fifo}; echo got $x; (exit 3)")
    assert process.stdout is not None
    before = [process.stdout.readline() for _ in range(30)]
    assert before == [f"{number}\n" for number in range(1, 31)]
    crash(daemon)
    fifo.write_text("it\n")
    assert process.communicate(timeout=PATIENCE) == ("got it\n", "")
    assert process.returncode == 3


def spend_some_time() -> None:
    """Return when a millisecond is over that the command has waited for."""
    until = time.monotonic() + 0.002
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize(
    ("flags", "operation", "deadline", "allowed", "result"),
    [
        (["--text", "x"], "wait_for", "timeout_ms", 30_000, {"matched": True}),
        (
            ["--text", "x", "--timeout-ms", "90000"],
            "wait_for",
            "timeout_ms",
            90_000,
            {"matched": True},
        ),
        ([], "await_quiesce", "max_wait_ms", 30_000, {"generation": 1}),
    ],
)
def test_wait_goes_on_with_the_time_that_is_left(
    played: PlayedDaemon,
    nacre_here: Nacre,
    flags: list[str],
    operation: str,
    deadline: str,
    allowed: int,
    result: dict[str, Any],
) -> None:
    process = nacre_here.start("wait", "dev", *flags)
    line = played.accept(door="call")
    name, params = asked(line)
    assert (name, params[deadline] or allowed) == (operation, allowed)
    for _ in range(2):
        spend_some_time()
        played.die(line)
        line = played.accept(door="call")
        name, again = asked(line)
        assert name == operation
        assert 0 < again[deadline] < allowed
        assert {**again, deadline: None} == {**params, deadline: None}
        allowed = again[deadline]
    answer(line, **result)
    assert process.wait(PATIENCE) == 0
    process.communicate()


def test_a_daemon_that_ends_as_it_is_reached_is_none(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("list")
    played.end_with_keeper()
    assert process.communicate(timeout=PATIENCE) == (
        "no sessions; start one with 'nacre new'\n",
        "",
    )
    assert process.returncode == 0


def test_wait_without_time_left_looks_once_more(played: PlayedDaemon, nacre_here: Nacre) -> None:
    process = nacre_here.start("wait", "dev", "--text", "x", "--timeout-ms", "0")
    line = played.accept(door="call")
    asked(line)
    played.die(line)
    _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 7
    assert "was restarted" in complaint


def test_a_wait_at_a_real_daemon_outlives_kill_9(own_daemon: Callable[..., Daemon]) -> None:
    daemon = own_daemon()
    nacre = make_nacre(daemon.home)
    nacre.call("create_session", name="dev", command="stty -echo; echo ready; exec cat")
    nacre.until("dev", "ready")
    process = nacre.start("wait", "dev", "--text", "at last", "--timeout-ms", "60000")
    crash(daemon)
    nacre.ok("send", "dev", "at last")
    assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


def begin(line: Line, run_id: str = "a1") -> dict[str, Any]:
    """Take the call of a run, and say that it has begun."""
    request: dict[str, Any] = line.read()
    assert request["operation"] == "run"
    line.send({"id": request["id"], "begun": run_id})
    return request


def tell(line: Line, result: dict[str, Any]) -> None:
    line.send({"id": line.read()["id"], "result": result})


def part(data: bytes = b"", position: int = 0, **more: object) -> dict[str, Any]:
    coded = base64.b64encode(data).decode()
    told = {"run_id": "a1", "position": position, "next_position": position + len(data)}
    return {**told, "cols": 80, "finished": False, "data": coded, **more}


ENDED = {"status": "completed", "exit_code": 3, "run_id": "a1", "duration_ms": 5}


def test_a_daemon_that_dies_between_two_messages_of_a_run_costs_nothing(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("run", "dev", "--", "make")
    first = played.accept(door="call")
    begin(first)
    played.die(first)  # what the client sends next finds nobody
    second = played.accept(door="call")
    tell(second, part(b"one\r\n"))
    played.die(second)
    third = played.accept(door="call")
    tell(third, part(b"two\r\n", 5, finished=True, exit_code=3))
    facts = played.accept(door="call")
    tell(facts, {"matched": True, "run": {**ENDED, "omitted_lines": 9, "output": "one"}})
    assert process.communicate(timeout=PATIENCE) == ("one\ntwo\n", "")
    assert process.returncode == 3


def test_run_with_json_goes_on_at_the_next_daemon(played: PlayedDaemon, nacre_here: Nacre) -> None:
    process = nacre_here.start("run", "dev", "--json", "--", "make")
    first = played.accept(door="call")
    assert begin(first)["follows_run"] is False
    played.die(first)
    second = played.accept(door="call")
    tell(second, part(position=1 << 62, finished=True, exit_code=3))
    facts = played.accept(door="call")
    tell(facts, {"matched": True, "run": {**ENDED, "output": "all"}})
    output, complaint = process.communicate(timeout=PATIENCE)
    assert (json.loads(output), complaint) == ({**ENDED, "output": "all"}, "")
    assert process.returncode == 3


def test_a_run_that_the_dead_daemon_may_not_have_sent_is_7(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("run", "dev", "--", "make")
    first = played.accept(door="call")
    begin(first)
    played.die(first)
    second = played.accept(door="call")
    tell(second, part(finished=True, started=False))
    output, complaint = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (7, "")
    assert "the command may still be running" in complaint


def test_output_that_was_lost_with_the_daemon_is_said(
    played: PlayedDaemon, nacre_here: Nacre
) -> None:
    process = nacre_here.start("run", "dev", "--", "make")
    first = played.accept(door="call")
    begin(first)
    played.die(first)
    second = played.accept(door="call")
    tell(second, part(b"end\r\n", finished=True, incomplete=True, exit_code=3))
    facts = played.accept(door="call")
    tell(facts, {"matched": True, "run": {**ENDED, "output": "end"}})
    lost = "nacre: a part of the output was lost when the daemon was restarted\n"
    assert process.communicate(timeout=PATIENCE) == ("end\n", lost)
