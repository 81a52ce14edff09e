"""What the command line says: commands and flags, never operations."""

import shlex
from typing import Any

import pytest

from nacre.cli.index import COMMANDS
from nacre.cli.output.words import CommandWords
from nacre.cli.parser import build_parser
from nacre.core.operations import steps
from nacre.core.operations.all import CATALOG, parse_operation
from nacre.errors import BadParameter, InvalidInput, NacreError, SessionNotFound
from nacre.wording import Give, Hint, Omit, Use

PARSER = build_parser(configured=[command.name for command in COMMANDS])


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (steps.LIST_SESSIONS, "list them: nacre list"),
        (steps.END_ONE, "kill one that is not needed: nacre kill SESSION"),
        (steps.CREATE, "start a new one: nacre new"),
        (steps.kill("dev"), "kill it: nacre kill dev"),
        (steps.restart("two words"), "start it again: nacre restart 'two words'"),
        (steps.restore("dev"), "start it again: nacre restore dev"),
        (steps.read_screen("dev"), "read it: nacre screen dev"),
        (steps.read_output("dev"), "read it: nacre read dev"),
        (steps.wait_for_run("dev", "3f2a"), "wait for it: nacre wait dev --run 3f2a"),
        (steps.wait_for_quiet("dev"), "wait again: nacre wait dev"),
        (steps.interrupt("dev"), "interrupt it: nacre keys dev ctrl+c"),
        (
            Use(
                "manage_session", "rename it", {"session": "a", "action": "rename", "new_name": "b"}
            ),
            "rename it: nacre rename a b",
        ),
        (
            Use("wait_for", "wait", {"session": "dev", "exit": True, "timeout_ms": 5}),
            "wait: nacre wait dev --exit --timeout-ms 5",
        ),
    ],
)
def test_a_step_is_a_command_that_can_be_typed(step: Use, said: str) -> None:
    assert CommandWords().sentence("so", [step]) == f"so; {said}"
    PARSER.parse_args(shlex.split(said.partition(": nacre ")[2]))


def test_a_step_that_is_no_command_is_left_out() -> None:
    assert CommandWords().sentence("so", [steps.capture_input("dev")]) == "so"
    reading = steps.read_whole_run("3f2a", "dev", 40, 900)
    said = "so; read those lines: nacre read --run 3f2a"
    assert CommandWords().sentence("so", [reading]) == said


@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if one.operation], ids=lambda c: c.name
)
def test_a_command_writes_down_parameters_that_its_operation_has(command: Any) -> None:
    operations = [CATALOG[name].type for name in (command.operation, command.also) if name]
    fields = {name for operation in operations for name in operation.__struct_fields__}
    assert {*command.words, *command.implies} <= fields


@pytest.mark.parametrize(
    ("command", "operation", "params", "said"),
    [
        ("new", "create_session", {"rows": 0}, "--rows must be at least 1"),
        ("new", "create_session", {"cols": 9999}, "--cols must be at most 2000"),
        ("new", "create_session", {"tags": "x"}, "--tag must be an array"),
        ("read", "read_output", {"session": "x", "max_chars": 0}, "--max-chars must be at least 1"),
        ("wait", "wait_for", {"run_id": 5}, "--run must be a string"),
        ("wait", "wait_for", {"text": ""}, "--text is empty"),
        (
            "keys",
            "press_keys",
            {"session": "x", "keys": []},
            "KEY must be an array of at least 1 item",
        ),
    ],
)
def test_a_bad_parameter_is_named_as_it_was_typed(
    command: str, operation: str, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_operation(operation, params)
    told = CommandWords(command).error(error.value)
    assert told["message"] == said
    assert "takes" not in told


def test_how_to_wait_longer_is_told_by_the_flag_for_it() -> None:
    error = BadParameter("max_wait_ms", "must be at most 9", Give(("last_generation",), "wait on"))
    assert CommandWords("wait").message(error) == (
        "--max-wait-ms must be at most 9; wait on with --last-generation"
    )


def test_a_parameter_of_no_command_is_a_flag() -> None:
    error = NacreError("so", Omit(("new_name",), "then"))
    assert CommandWords().message(error) == "so; leave --new-name out then"
    assert CommandWords("rename").message(error) == "so; leave NEW out then"


def test_steps_are_told_one_by_one() -> None:
    error = SessionNotFound("no session 'x'", steps.LIST_SESSIONS, "try again")
    said = "no session 'x'; list them: nacre list; try again"
    assert CommandWords().error(error) == {"code": "SESSION_NOT_FOUND", "message": said}
    assert CommandWords().sentence("so", ["wait", "go"]) == "so; wait, or go"


def test_hints_in_a_result_are_put_into_words_wherever_they_stand() -> None:
    hint = Hint("it goes on", steps.interrupt("dev"))
    result = {"hint": hint, "state": {"hint": hint, "sure": True}, "list": [hint, 1], "none": None}
    said = "it goes on; interrupt it: nacre keys dev ctrl+c"
    assert CommandWords("run").worded(result) == {
        "hint": said,
        "state": {"hint": said, "sure": True},
        "list": [said, 1],
        "none": None,
    }
