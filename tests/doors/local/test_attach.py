"""A person at a session over the Unix socket: what they do is done to the session they came to."""

from conftest import Daemon
from crashing import create, until

from doors.wire import GREETING, local_line

ECHO = "stty -echo; echo ready; exec cat"


def test_who_attached_by_name_stays_with_that_session(daemon: Daemon) -> None:
    first = create(daemon, "mine", ECHO)
    until(daemon, "mine", text="ready")
    with local_line(daemon.env) as line:
        line.send({**GREETING, "door": "attach", "person": True, "session": "mine"})
        assert "error" not in line.read()
        while "snapshot" not in line.read():
            pass
        rename = {"action": "rename", "new_name": "still-mine"}
        daemon.rest("POST", f"/sessions/{first['session_id']}/manage", rename)
        second = create(daemon, "mine", ECHO)
        line.send({"resize": [11, 44], "control": True, "look": {"id": 1, "limit": 1}})
        while "look" not in line.read():
            pass
        theirs = daemon.rest("GET", f"/sessions?session={first['session_id']}")
        assert (theirs["rows"], theirs["cols"], theirs["driver"]) == (11, 44, "attach")
        other = daemon.rest("GET", f"/sessions?session={second['session_id']}")
        assert (other["rows"], other["driver"]) == (24, None)
    for one in (first, second):
        daemon.rest("POST", f"/sessions/{one['session_id']}/manage", {"action": "kill"})
