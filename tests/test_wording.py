"""Steps and hints as data, and the words that are made of them."""

import json

import msgspec
import pytest

from nacre.client.calls import AnsweredError
from nacre.core.operations import steps
from nacre.core.operations.all import CATALOG, parse_operation
from nacre.errors import BadParameter, NacreError, PolicyDenied, SessionNotFound
from nacre.wording import (
    OPERATIONS,
    UNWORDED,
    Give,
    Hint,
    NextStep,
    Omit,
    Takes,
    Use,
    Words,
    also,
    as_data,
    from_data,
)

WAIT = Use("wait_for", "wait for it", {"session": "dev", "run_id": "3f2a"})

# Each of steps.py, and what stands in its place elsewhere.
STEPS: list[Use] = [
    steps.LIST_SESSIONS,
    steps.END_ONE,
    steps.CREATE,
    steps.LAUNCH,
    steps.kill("dev"),
    steps.restart("dev"),
    steps.restore("dev"),
    steps.read_screen("dev"),
    steps.read_output("dev"),
    steps.read_whole_run("3f2a", "dev", 40, 900),
    steps.wait_for_run("dev", "3f2a"),
    steps.wait_for_quiet("dev"),
    steps.interrupt("dev"),
    steps.capture_input("dev"),
]


def with_others(step: Use) -> list[Use]:
    return [step, *(with_others(step.otherwise) if step.otherwise else [])]


def required(step: Use) -> tuple[str, ...]:
    fields = msgspec.structs.fields(CATALOG[step.operation].type)
    return tuple(field.name for field in fields if field.required)


EVERY = [one for step in STEPS for one in with_others(step)]


class Few(Words):
    """A door with one operation."""

    def call(self, operation: str, params: object) -> str | None:
        return "LOOK" if operation == "get_screen" else None


def test_every_step_is_among_those_that_are_tried() -> None:
    made = [one for one in vars(steps).values() if isinstance(one, Use)]
    functions = [name for name, one in vars(steps).items() if callable(one) and name.islower()]
    assert len(STEPS) == len(made) + len(functions)


@pytest.mark.parametrize("step", EVERY)
def test_a_step_is_an_operation_that_takes_these_parameters(step: Use) -> None:
    assert step.operation in CATALOG
    # Of no session, and no program, in particular: the caller's choice.
    needed = {name: "x" for name in required(step) if name in ("session", "command")}
    parse_operation(step.operation, {**needed, **step.params})


@pytest.mark.parametrize(
    "step", [*STEPS, Omit(("port",), "for another"), Give(("env",), "set PATH"), "try again"]
)
def test_a_step_survives_the_wire(step: NextStep) -> None:
    assert from_data(json.loads(json.dumps(as_data(step)))) == step


def test_steps_are_told_as_alternatives() -> None:
    assert OPERATIONS.sentence("it failed", ()) == "it failed"
    assert OPERATIONS.sentence("it failed", ("try again",)) == "it failed; try again"
    told = OPERATIONS.sentence("it goes on", (WAIT, "leave it", "end it"))
    wait = 'wait for it with wait_for {"session": "dev", "run_id": "3f2a"}'
    assert told == f"it goes on; {wait}, leave it, or end it"


def test_a_step_that_is_not_offered_is_left_out_or_another_takes_its_place() -> None:
    assert Few().sentence("it goes on", (WAIT,)) == "it goes on"
    assert Few().sentence("it goes on", (WAIT, "leave it")) == "it goes on; leave it"
    assert Few().sentence("it ended", (steps.read_output("dev"),)) == "it ended; read it with LOOK"


def test_a_hint_is_a_text_that_is_encoded_in_words_only() -> None:
    hint = Hint("it goes on", WAIT)
    assert hint == "it goes on"
    with pytest.raises(TypeError):
        msgspec.json.encode({"hint": hint})
    told = msgspec.json.decode(msgspec.json.encode({"hint": hint}, enc_hook=Few().encode))
    assert told == {"hint": "it goes on"}
    told = msgspec.json.decode(msgspec.json.encode({"hint": hint}, enc_hook=UNWORDED.encode))
    assert told == {"hint": {"text": "it goes on", "next": [as_data(WAIT)]}}


def test_two_hints_are_told_one_after_the_other_and_keep_their_steps() -> None:
    assert (also(None, "it is so"), also("it is so", None)) == ("it is so", "it is so")
    both = also("it goes on", Hint("9 lines are left out", "read them"))
    assert isinstance(both, Hint)
    assert OPERATIONS.hint(both) == "it goes on; 9 lines are left out; read them"
    steps_of_both = also(Hint("it goes on", WAIT), both)
    assert isinstance(steps_of_both, Hint)
    assert steps_of_both.next == (WAIT, "read them")


def test_an_error_on_a_wire_has_the_whole_sentence_and_the_steps() -> None:
    error = SessionNotFound("no session 'dev'", steps.LIST_SESSIONS, hint="x")
    assert OPERATIONS.error(error) == {
        "code": "SESSION_NOT_FOUND",
        "message": "no session 'dev'; list them with list_sessions",
        "hint": "x",
        "next": [{"operation": "list_sessions", "params": {}, "why": "list them"}],
    }
    assert str(error) == "no session 'dev'; list them with list_sessions"
    assert "next" not in OPERATIONS.error(NacreError("it failed"))


def test_what_an_error_quotes_of_a_request_is_cut_on_a_wire_alone() -> None:
    error = PolicyDenied("the policy denies this", command="rm -rf / " + "x" * 90_000)
    told = OPERATIONS.error(error)
    assert len(json.dumps(told)) < 2000
    assert told["command"].startswith("rm -rf / x")
    assert len(error.details["command"]) > 90_000  # the audit's


def test_only_what_can_be_called_here_is_among_the_next_steps() -> None:
    error = NacreError("so", "try again", Omit(("port",), "then"), steps.read_output("dev"), WAIT)
    looking = {"operation": "get_screen", "params": {"session": "dev"}, "why": "read it"}
    assert Few().error(error)["next"] == [looking]
    every = OPERATIONS.error(error)["next"]
    assert [step["operation"] for step in every] == ["read_output", "wait_for"]
    assert all(step.keys() == {"operation", "params", "why"} for step in every)


def test_parameters_are_called_as_the_door_calls_them() -> None:
    class Shouting(Words):
        def parameter(self, name: str) -> str:
            return name.upper()

    takes = Takes("run", ("session", "cwd"))
    error = BadParameter(("cwd", "name"), "are wrong", Omit(("cwd",), "to get yours"), takes)
    assert Shouting().sentence("so", [Give(("env",), "set PATH")]) == "so; set PATH with ENV"
    assert error.message == "cwd and name are wrong"
    said = "CWD and NAME are wrong; leave CWD out to get yours; run takes: SESSION, CWD"
    assert Shouting().error(error)["message"] == said
    assert Shouting().error(error)["parameters"] == ["CWD", "NAME"]


@pytest.mark.parametrize(
    "error",
    [
        SessionNotFound("no session 'dev'", steps.LIST_SESSIONS),
        BadParameter("rows", "must be an integer", Omit(("rows",), "to get 24"), limit="at most 9"),
        NacreError("it failed", "try again", driver="Anna"),
    ],
)
def test_a_client_with_words_of_its_own_gets_the_error_as_it_was_raised(error: NacreError) -> None:
    answered = AnsweredError(json.loads(json.dumps(UNWORDED.error(error))))
    for name in ("code", "message", "next", "parameters", "problem", "details"):
        assert getattr(answered, name) == getattr(error, name)
    assert OPERATIONS.message(answered) == OPERATIONS.message(error)


def test_an_error_of_an_older_daemon_is_told_as_it_came() -> None:
    answered = AnsweredError({"code": "FAILED", "message": "it failed; try again", "x": 1})
    assert OPERATIONS.error(answered) == {
        "code": "FAILED",
        "message": "it failed; try again",
        "x": 1,
    }


def test_steps_follow_a_question_without_a_semicolon_and_names_stay_as_they_are() -> None:
    said = Words().sentence
    assert said("which one?", ["name it"]) == "which one? name it"
    assert said("there is none", ["name it"]) == "there is none; name it"
    assert said("no session named 'a?; b'", ["name it"]) == "no session named 'a?; b'; name it"
