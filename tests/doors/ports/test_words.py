"""What SILC's routes say: each port speaks of its own."""

import pytest

from nacre.core.operations import steps
from nacre.doors.ports.words import PORT, SILC
from nacre.errors import BadParameter, SessionExited
from nacre.wording import Takes, Use


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (steps.interrupt("dev"), "interrupt it with POST /interrupt"),
        (steps.read_output("dev"), "read it with GET /out"),
        (steps.read_screen("dev"), "read it with GET /out"),
        (steps.kill("dev"), "kill it with POST /close"),
        (steps.wait_for_run("dev", "3f2a"), "see whether it has ended with GET /status"),
        (Use("read_output", "read", {"session": "dev", "lines": 5}), "read with GET /out?lines=5"),
        (Takes("run", ("session", "command")), "POST /run takes: command"),
    ],
)
def test_a_sessions_port_names_its_routes(step: Use, said: str) -> None:
    assert PORT.sentence("so", [step]) == f"so; {said}"


@pytest.mark.parametrize("step", [steps.restart("dev"), steps.LIST_SESSIONS, steps.CREATE])
def test_what_a_sessions_port_does_not_have_is_not_named(step: Use) -> None:
    assert PORT.sentence("so", [step]) == "so"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (steps.LIST_SESSIONS, "list them with GET /sessions"),
        (steps.kill("dev"), "kill it with POST /sessions/dev/kill"),
        (steps.restart("dev"), "start it again with POST /sessions/dev/restart"),
        (steps.CREATE, "start a new one with POST /sessions"),
        (Use("list_sessions", "look", {"session": "dev"}), "look with GET /resolve/dev"),
        (Takes("start_session", ("port", "shell")), "POST /sessions takes: port, shell"),
    ],
)
def test_the_daemons_port_names_its_routes(step: Use, said: str) -> None:
    assert SILC.sentence("so", [step]) == f"so; {said}"


def test_an_error_names_no_operation() -> None:
    error = SessionExited("it has ended", steps.restart("dev"), exit_code=3)
    assert PORT.error(error) == {"code": "SESSION_DEAD", "message": "it has ended", "exit_code": 3}
    wrong = SILC.error(BadParameter("port", "is taken", steps.LIST_SESSIONS))
    assert wrong["message"] == "port is taken; list them with GET /sessions"
    assert "next" not in wrong
