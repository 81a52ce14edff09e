"""What REST says: routes, with what goes into them."""

import pytest

from nacre.core.operations import steps
from nacre.doors.rest.words import ROUTES
from nacre.errors import BadParameter
from nacre.wording import Omit, Use


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (steps.LIST_SESSIONS, "list them with GET /api/sessions"),
        (
            steps.kill("dev"),
            'kill it with POST /api/sessions/dev/manage {"action": "kill"}',
        ),
        (Use("close_session", "close one"), "close one with POST /api/sessions/{session}/close"),
        (steps.restart("a/b"), "start it again with POST /api/sessions/a%2Fb/restart"),
        (
            steps.wait_for_run("dev", "3f2a"),
            'wait for it with POST /api/wait {"session": "dev", "run_id": "3f2a"}',
        ),
        (
            steps.read_whole_run("3f2a", "dev", 40, 900),
            "read those lines with GET /api/runs/3f2a",
        ),
        (
            Use("get_screen", "read it", {"session": "dev", "format": "plain"}),
            "read it with GET /api/sessions/dev/screen?format=plain",
        ),
    ],
)
def test_a_step_is_a_route(step: Use, said: str) -> None:
    assert ROUTES.sentence("so", [step]) == f"so; {said}"


def test_the_calls_among_the_steps_are_data_of_one_shape() -> None:
    error = BadParameter(
        "port", "is taken", Omit(("port",), "to get one"), "choose another", steps.kill("a b")
    )
    assert ROUTES.error(error)["next"] == [
        {
            "operation": "manage_session",
            "route": "POST /api/sessions/a%20b/manage",
            "params": {"action": "kill"},
            "why": "kill it",
        }
    ]
    assert "next" not in ROUTES.error(BadParameter("port", "is taken", "choose another"))
