"""Attach's connection to daemons that die; each is the other end of a pair of sockets here."""

import base64
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre import __version__
from nacre.cli.attach.connection import Connection
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import find_paths

GREETING = json.dumps({"nacre": 1, "version": __version__}).encode()
NUMBERS = json.dumps({"nacre": 1, "version": __version__, "numbers": True}).encode()
PATIENCE = 10.0  # seconds that the next daemon has


class Daemons:
    """The one that is there now, and the doors of the next ones."""

    def __init__(self) -> None:
        self._ends: list[socket.socket] = []
        self.nobody_listens = False
        self.connection = Connection(self.knock(), b"", self.knock)

    def knock(self) -> socket.socket:
        if self.nobody_listens:
            raise DaemonUnreachable("nobody listens")
        ours, self.now = socket.socketpair()
        self.now.setblocking(False)
        self._ends.append(self.now)
        return ours

    def die(self) -> None:
        self.now.close()
        assert self.connection.receive() is False

    def heard(self) -> list[Any]:
        self.connection.send()
        return [json.loads(line) for line in self.now.recv(65536).splitlines()]

    def close(self) -> None:
        self.connection.close()
        for end in self._ends:
            end.close()


@pytest.fixture
def daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemons]:
    monkeypatch.setenv("NACRE_HOME", str(tmp_path))
    os.mkdir(find_paths().runtime)
    os.mkdir(find_paths().state)
    Path(find_paths().state_file).touch()
    daemons = Daemons()
    yield daemons
    daemons.close()


def keys(typed: bytes) -> dict[str, str]:
    return {"input": base64.b64encode(typed).decode()}


@pytest.mark.parametrize("size", [1, 3, 100])
def test_lines_are_taken_whole_in_any_pieces(daemons: Daemons, size: int) -> None:
    said, lines = b"one\ntwo\nthr", []
    for at in range(0, len(said), size):
        daemons.now.send(said[at : at + size])
        assert daemons.connection.receive() is True
        lines += daemons.connection.lines()
    assert lines == [b"one", b"two"]
    assert daemons.connection.receive() is True  # nothing more has come, and it is not gone
    assert daemons.connection.lines() == []


def test_what_was_said_with_the_greeting_is_a_line_too() -> None:
    ours, other = socket.socketpair()
    with ours, other:
        assert Connection(ours, b"one\ntw", lambda: ours).lines() == [b"one"]


def test_there_is_something_to_send_while_somebody_takes_it(daemons: Daemons) -> None:
    connection = daemons.connection
    seen = [connection.sending]
    connection.tell({"refresh": True})
    seen.append(connection.sending)
    daemons.now.close()
    connection.send()
    seen.append(connection.sending)
    connection.knock_again(0.0)
    seen.append(connection.sending)  # outside
    connection.come_in(GREETING)
    seen.append(connection.sending)
    assert seen == [False, True, False, False, True]
    assert daemons.heard() == [{"refresh": True}]


def test_keys_that_went_do_not_go_again_and_those_typed_outside_do(daemons: Daemons) -> None:
    connection = daemons.connection
    assert connection.type(b"before")
    assert daemons.heard() == [keys(b"before")]
    daemons.die()
    connection.knock_again(0.0)
    assert connection.type(b"mean")
    assert connection.type(b"while")
    connection.come_in(GREETING)
    assert connection.type(b"after")
    assert daemons.heard() == [keys(b"meanwhile"), keys(b"after")]


def test_more_keys_than_are_kept_are_all_dropped_up_to_the_lines_end(daemons: Daemons) -> None:
    daemons.die()
    daemons.connection.knock_again(0.0)
    assert daemons.connection.type(b"k" * 4096)
    assert not daemons.connection.type(b"l")
    daemons.connection.come_in(GREETING)
    assert not daemons.connection.type(b"rest of the line")
    assert daemons.connection.type(b"!\rnext")
    assert daemons.heard() == [keys(b"next")]


def numbered(typed: bytes, number: int, **more: bool) -> dict[str, object]:
    return {**keys(typed), "number": number, **more}


def typing(taken: int, received: int, **more: bool) -> dict[str, object]:
    lost = {"unsure": False, "dropped": False, **more}
    return {"typing": {"taken": taken, "received": received, **lost}}


def die_and_come_in(daemons: Daemons, known: dict[str, object]) -> str:
    daemons.die()
    daemons.connection.knock_again(0.0)
    daemons.connection.come_in(NUMBERS)
    return daemons.connection.take_receipt(known)


def test_what_the_terminal_did_not_take_goes_to_the_next_daemon(daemons: Daemons) -> None:
    connection = daemons.connection
    assert die_and_come_in(daemons, typing(0, 0)) == ""
    connection.type(b"one")
    connection.type(b"two")
    assert daemons.heard() == [numbered(b"one", 0), numbered(b"two", 3)]
    connection.take_receipt({"taken": 3})
    connection.type(b"unsent")  # it is still here when the daemon dies
    assert die_and_come_in(daemons, typing(4, 4)) == ""
    connection.type(b"!")
    assert daemons.heard() == [numbered(b"wounsent", 4), numbered(b"!", 12)]
    assert die_and_come_in(daemons, typing(13, 13)) == ""
    assert not connection.sending


def test_nothing_goes_before_the_daemon_has_said_what_it_has(daemons: Daemons) -> None:
    daemons.die()
    daemons.connection.knock_again(0.0)
    daemons.connection.come_in(NUMBERS)
    assert daemons.connection.type(b"early")
    assert not daemons.connection.sending
    daemons.connection.take_receipt(typing(0, 0))
    assert daemons.heard() == [numbered(b"early", 0)]


def test_what_nobody_knows_of_is_dropped_with_the_rest_of_its_line(daemons: Daemons) -> None:
    connection = daemons.connection
    die_and_come_in(daemons, typing(0, 0))
    connection.type(b"echo on")
    daemons.heard()
    assert "died" in die_and_come_in(daemons, typing(6, 7, unsure=True))
    assert not connection.type(b"e\x1b[200~pasted\rtext\x1b[201~")
    assert connection.type(b"\recho two\r")
    dropped = len("echo one\x1b[200~pasted\rtext\x1b[201~\r")
    assert daemons.heard() == [numbered(b"echo two\r", dropped, go_on=True)]
    connection.type(b"more")
    assert daemons.heard() == [numbered(b"more", dropped + 9)]


def test_that_the_person_goes_on_is_said_at_once(daemons: Daemons) -> None:
    connection = daemons.connection
    die_and_come_in(daemons, typing(0, 0))
    connection.type(b"echo ha")
    assert connection.take_receipt({"dropped": {"number": 7, "why": "it rains"}}) == "it rains"
    assert connection.type(b"lf\r")
    assert daemons.heard()[-1] == numbered(b"", 10, go_on=True)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_paste_of_which_something_is_lost_is_dropped_to_its_end(
    daemons: Daemons, size: int
) -> None:
    connection = daemons.connection
    die_and_come_in(daemons, typing(0, 0))
    begun = b"\x1b[200~rm one\rrm t"
    connection.type(begun)
    daemons.heard()
    connection.take_receipt({"dropped": {"number": len(begun), "why": "it rains"}})
    rest = b"wo\rrm three\r\x1b[201~; rm four\r"
    for at in range(0, len(rest), size):
        connection.type(rest[at : at + size])
    connection.type(b"ls\r")
    heard = daemons.heard()
    assert b"".join(base64.b64decode(str(one["input"])) for one in heard) == b"ls\r"
    assert heard[0]["number"] == len(begun + rest)


def test_what_is_typed_after_a_drop_is_not_dropped_for_what_was_before(daemons: Daemons) -> None:
    connection = daemons.connection
    die_and_come_in(daemons, typing(0, 0))
    connection.type(b"abc")
    connection.take_receipt({"dropped": {"number": 3, "why": "it rains"}})
    daemons.heard()
    daemons.die()
    connection.knock_again(0.0)
    connection.type(b"d\rls\r")
    connection.come_in(NUMBERS)
    assert connection.take_receipt(typing(1, 3, dropped=True)) == ""
    assert daemons.heard() == [numbered(b"ls\r", 5, go_on=True)]


def test_a_drop_is_told_once_and_not_again_for_what_was_under_way(daemons: Daemons) -> None:
    connection = daemons.connection
    die_and_come_in(daemons, typing(0, 0))
    connection.type(b"abc")
    connection.type(b"def")
    assert connection.take_receipt({"dropped": {"number": 3, "why": "it rains"}}) == "it rains"
    assert connection.take_receipt({"dropped": {"number": 6, "why": ""}}) == ""
    assert connection.type(b"\x03ls")  # Ctrl+C ends the line in the program, too
    assert connection.take_receipt({"dropped": {"number": 6, "why": ""}}) == ""
    assert daemons.heard()[-1] == numbered(b"\x03ls", 6, go_on=True)


def test_what_a_dead_daemon_half_said_is_forgotten(daemons: Daemons) -> None:
    daemons.now.send(b'{"outp')
    assert daemons.connection.receive()
    assert daemons.connection.lines() == []
    daemons.die()
    daemons.connection.knock_again(0.0)
    daemons.now.send(GREETING + b"\n")
    assert daemons.connection.receive()
    assert daemons.connection.lines() == [GREETING]


def test_the_patience_begins_with_the_first_death_and_ends_with_a_picture(daemons: Daemons) -> None:
    connection = daemons.connection
    connection.has_painted()
    daemons.die()
    assert connection.knock_again(5.0) is True
    assert (connection.inside, connection.painted) == (False, False)
    connection.come_in(GREETING)
    daemons.die()  # before it painted
    assert connection.knock_again(8.0) is False
    assert connection.patient_until == 5.0 + PATIENCE
    connection.check_patience(14.0)
    with pytest.raises(DaemonUnreachable, match="no other one came within 10 s"):
        connection.check_patience(15.0)
    connection.come_in(GREETING)
    assert connection.since() == "the daemon was restarted, and then: "
    connection.has_painted()
    assert (connection.inside, connection.painted) == (True, True)
    assert connection.since() == ""
    connection.check_patience(15.0)


def test_daemons_that_keep_throwing_us_out_are_given_up(daemons: Daemons) -> None:
    for at in range(20):
        daemons.die()
        daemons.connection.knock_again(at / 10)
        daemons.connection.come_in(GREETING)
        daemons.connection.has_painted()
    daemons.die()
    with pytest.raises(DaemonUnreachable, match="so are all that came after it"):
        daemons.connection.knock_again(2.0)


def test_daemons_that_die_now_and_then_are_not(daemons: Daemons) -> None:
    for at in range(40):
        daemons.die()
        daemons.connection.knock_again(float(at))
        daemons.connection.come_in(GREETING)
        daemons.connection.has_painted()
    assert daemons.connection.inside


def test_a_daemon_that_was_stopped_is_not_waited_for(daemons: Daemons) -> None:
    os.unlink(find_paths().state_file)
    daemons.die()
    with pytest.raises(DaemonUnreachable, match="its sessions went with it"):
        daemons.connection.knock_again(0.0)


def test_a_door_that_nobody_holds_is_told(daemons: Daemons) -> None:
    daemons.die()
    daemons.nobody_listens = True
    with pytest.raises(DaemonUnreachable, match="nobody starts another one"):
        daemons.connection.knock_again(0.0)


def test_a_next_daemon_that_refuses_us_is_told(daemons: Daemons) -> None:
    daemons.die()
    daemons.connection.knock_again(0.0)
    with pytest.raises(DaemonUnreachable, match=r"^the daemon was restarted, and then: too many"):
        daemons.connection.come_in(b'{"error": {"message": "too many"}}')
    assert not daemons.connection.inside


def test_the_goodbye_takes_the_last_keys_along(daemons: Daemons) -> None:
    daemons.connection.type(b"exit\r")
    daemons.connection.say_goodbye()
    assert json.loads(daemons.now.recv(65536)) == keys(b"exit\r")


def test_a_goodbye_to_nobody_is_none(daemons: Daemons) -> None:
    daemons.connection.tell({"refresh": True})
    daemons.die()
    daemons.connection.knock_again(0.0)
    daemons.connection.say_goodbye()
    with pytest.raises(BlockingIOError):
        daemons.now.recv(1)
