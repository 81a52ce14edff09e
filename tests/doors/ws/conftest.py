"""A socket for JSON, and a session that echoes."""

from collections.abc import Iterator

import pytest

from conftest import Daemon

from doors.sockets import JsonSocket, open_socket

ECHO = "stty -echo; echo ready; exec cat"


@pytest.fixture
def ws(daemon: Daemon) -> Iterator[JsonSocket]:
    with JsonSocket(open_socket(daemon, "/ws/json")) as opened:
        yield opened


@pytest.fixture
def job(ws: JsonSocket) -> Iterator[str]:
    """The name of a session that prints each line it gets."""
    made = ws.call("create_session", name="job", command=ECHO)
    ws.until_line("job", "ready")
    yield "job"
    ws.answer(ws.send("manage_session", made["session_id"], action="kill"))
