"""Who drives, whose keys they are, and what agents are told, when the daemon is killed with -9."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conftest import Daemon
from crashing import call, crash, create, until
from nacre.client.calls import AnsweredError

from doors.wire import GREETING, Line, local_line

Start = Callable[..., Daemon]

ECHO = "stty -echo; echo ready; exec cat"


@contextmanager
def attached(daemon: Daemon, session: str) -> Iterator[Line]:
    """Be a person at a session, the same one each time."""
    with local_line(daemon.env) as line:
        hello = {"door": "attach", "person": True, "session": session, "client_id": "anna"}
        line.send({**GREETING, **hello})
        assert "error" not in line.read()
        yield line


def shown(line: Line) -> None:
    """Return when the session is shown: the person is there."""
    while "snapshot" not in line.read():
        pass


def driver(daemon: Daemon) -> Any:
    return call(daemon, "control", session="job").get("driver")


def taken(daemon: Daemon, line: Line) -> None:
    """Take over; return when that is so."""
    line.send({"control": True, "input": base64.b64encode(b"by anna\n").decode()})
    until(daemon, "job", text="by anna")
    assert driver(daemon) == "attach"


def started(begin: Start, **settings: object) -> Daemon:
    daemon = begin(control_wait=0, **settings)
    create(daemon, "job", ECHO)
    until(daemon, "job", text="ready")
    return daemon


def test_who_drove_drives_on_when_they_are_back(begin: Start) -> None:
    daemon = started(begin)
    with attached(daemon, "job") as before:
        taken(daemon, before)
        crash(daemon)
        # Not back yet: the session is still theirs.
        assert driver(daemon) == "attach"
        with pytest.raises(AnsweredError, match="a person") as held:
            call(daemon, "send_input", session="job", input="x")
        assert held.value.code == "CONTROL_HELD"
    with attached(daemon, "job") as again:
        shown(again)
        again.send({"input": base64.b64encode(b"still anna\n").decode()})
        until(daemon, "job", text="still anna")
        again.send({"control": True, "input": base64.b64encode(b"gave back\n").decode()})
        until(daemon, "job", text="gave back")
    told = daemon.rest("GET", "/sessions/job/screen")["handover"]
    assert (told["driver"], told["keys"]) == ("attach", len("by anna\nstill anna\n"))
    assert driver(daemon) is None


def test_who_does_not_come_back_has_given_it_back_and_agents_are_told(begin: Start) -> None:
    daemon = started(begin, lease_patience=0)
    with attached(daemon, "job") as before:
        taken(daemon, before)
        crash(daemon)
    call(daemon, "send_input", session="job", input="by agent\n")
    until(daemon, "job", text="by agent")
    assert call(daemon, "control", session="job")["handover"]["driver"] == "attach"


def test_what_nobody_was_told_is_told_by_the_next_daemon(begin: Start) -> None:
    daemon = started(begin)
    with attached(daemon, "job") as before:
        taken(daemon, before)
        before.send({"control": True, "input": base64.b64encode(b"gave back\n").decode()})
        until(daemon, "job", text="gave back")
    # `until` and `driver` ask as command lines do, and were told; another agent was not.
    crash(daemon)
    assert "handover" not in call(daemon, "get_screen", session="job")
    assert daemon.rest("GET", "/sessions/job/screen")["handover"]["driver"] == "attach"
    crash(daemon)
    assert "handover" not in daemon.rest("GET", "/sessions/job/screen")


def test_a_capture_goes_on_with_the_keys_that_nobody_fetched(begin: Start) -> None:
    daemon = started(begin)
    call(daemon, "overlay", session="job", x=0, y=0, spans=[{"text": "?"}], focusable=True)
    call(daemon, "input_mode", session="job", mode="capture")
    with attached(daemon, "job") as before:
        shown(before)
        before.send({"input": base64.b64encode(b"a").decode()})
        first = call(daemon, "await_input", session="job")
        assert [key["raw"] for key in first["keys"]] == [[ord("a")]]
        # A question is answered after what was typed before it.
        before.send({"input": base64.b64encode(b"bc").decode(), "look": {"id": 1, "limit": 1}})
        while "look" not in before.read():
            pass
    crash(daemon)
    assert call(daemon, "input_mode", session="job")["mode"] == "capture"
    with attached(daemon, "job") as again:
        shown(again)
        keys = call(daemon, "await_input", session="job")["keys"]
        assert [(key["number"], key["raw"]) for key in keys] == [(2, [ord("b")]), (3, [ord("c")])]
        again.send({"input": base64.b64encode(b"d").decode()})
        keys = call(daemon, "await_input", session="job", after=3)["keys"]
        assert [(key["number"], key["raw"]) for key in keys] == [(4, [ord("d")])]
