"""What the people at the web page are told: what happened, and steps that need no name."""

import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations import steps
from nacre.core.operations.all import parse_operation
from nacre.doors.http.words import words_for
from nacre.doors.rest.words import ROUTES
from nacre.errors import InvalidInput, SessionExists
from nacre.wording import Give

PERSON = Caller(door="web", scope=Scope.ADMIN, person=True)
AGENT = Caller(door="rest", scope=Scope.ADMIN)


def test_a_person_is_told_no_operation_and_an_agent_is() -> None:
    error = SessionExists("there is a session 'dev'", "choose another name", steps.kill("dev"))
    said = "there is a session 'dev'; choose another name"
    assert words_for(PERSON, ROUTES).error(error) == {"code": "SESSION_EXISTS", "message": said}
    route = "POST /api/sessions/dev/manage"
    assert words_for(AGENT, ROUTES).message(error).startswith(f"{said}, or kill it with {route}")


def test_a_person_is_told_of_no_parameter_that_the_page_may_not_have() -> None:
    error = InvalidInput("command not found: 'x'", "give its full path", Give(("env",), "set PATH"))
    assert words_for(PERSON).message(error) == "command not found: 'x'; give its full path"


def test_a_person_is_told_which_value_is_wrong_and_no_list_of_parameters() -> None:
    with pytest.raises(InvalidInput) as error:
        parse_operation("create_session", {"rows": 0})
    assert words_for(PERSON).message(error.value) == "rows must be an integer from 1 to 1000"
