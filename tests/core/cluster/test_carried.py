"""What one host sends arrives at the other as it was, with its types."""

import msgspec
import pytest

import nacre.core.agent.tools
import nacre.core.operations.hosts.cluster  # noqa: F401  # they enter what they have
from nacre.core.catalog.catalog import UNLISTED, spec_of
from nacre.core.cluster.carried import (
    CarriedError,
    pack_error,
    pack_operation,
    pack_result,
    unpack_error,
    unpack_operation,
    unpack_result,
)
from nacre.core.operations.results import RunOutcome
from nacre.core.operations.runs import Run
from nacre.core.operations.steps import CREATE, LIST_SESSIONS, kill
from nacre.errors import (
    BadParameter,
    HostUnreachable,
    NacreError,
    SessionNotFound,
    UnknownOperation,
)
from nacre.wording import Give, Higher, Hint, Meant, Omit, Takes, Use


def test_an_operation_arrives_as_it_was() -> None:
    asked = Run(session="dev", command="make", timeout_ms=5)
    assert unpack_operation(*pack_operation(asked)) == asked


def test_whatever_is_about_a_session_can_be_asked_of_its_host() -> None:
    here = {"follow", "watch", "type"}  # these go over streams
    here.add("ask_password")  # a program asks the daemon that has its session
    for name, spec in UNLISTED.items():
        if spec.references and name not in here:
            given = dict.fromkeys(spec.references, "dev")
            asked = spec.type(**given)
            assert unpack_operation(*pack_operation(asked)) == asked
            assert spec.result is not None, name


def test_a_hint_keeps_its_next_steps() -> None:
    steps = (
        Use("read_run", "read it", {"run_id": "1"}, Use("read_output", "read the screen")),
        Omit(("cwd",), "to start at home"),
        Give(("host",), "choose"),
        Higher("max_chars", "get more"),
        Meant(("input",)),
        Takes("run", ("session",)),
        "wait",
    )
    sent = RunOutcome(status="completed", exit_code=0, output="é\x1b", hint=Hint("more", *steps))
    came = unpack_result(spec_of(Run(session="d", command="c")), *pack_result(sent))
    assert came == sent
    assert isinstance(came, RunOutcome)
    assert isinstance(came.hint, Hint)
    assert came.hint.next == steps


@pytest.mark.parametrize(
    "error",
    [
        SessionNotFound("no session 'x'", LIST_SESSIONS, CREATE, near=["y"]),
        BadParameter(("rows", "cols"), "are missing", kill("x"), most=5),
        HostUnreachable("host 'a' is lost", "wait"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_keeps_its_class_words_and_details(error: NacreError) -> None:
    sent = msgspec.msgpack.encode(pack_error(error))
    came = unpack_error(msgspec.msgpack.decode(sent, type=CarriedError))
    assert type(came) is type(error)
    assert (str(came), came.details, came.next) == (str(error), error.details, error.next)
    assert (came.parameters, came.problem) == (error.parameters, error.problem)


def test_an_error_of_a_newer_version_is_an_internal_one() -> None:
    assert unpack_error(CarriedError("Unheard", "what", [], {})).code == "INTERNAL_ERROR"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UnknownOperation):
        unpack_operation("type", b"")  # only a viewer's own stream types
    with pytest.raises(msgspec.ValidationError):
        unpack_operation("run", msgspec.msgpack.encode({"session": "x"}))
    with pytest.raises(msgspec.ValidationError):
        unpack_result(spec_of(Run(session="d", command="c")), "Size", b"")
