"""The error tree: every class has its code, every code its meaning on every wire."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from nacre import errors
from nacre.core.agent.tools import AGENT
from nacre.core.operations.all import CATALOG
from nacre.errors import WIRE, BadParameter, Failed, InvalidInput, NacreError, Refused, http_status
from nacre.wording import OPERATIONS


def classes(base: type[NacreError] = NacreError) -> Iterator[type[NacreError]]:
    """The tree as it is drawn; clients derive from it what they read off a wire."""
    for child in base.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from classes(child)


@pytest.mark.parametrize("cls", [NacreError, *classes()])
def test_code_of_every_error_is_in_the_table(cls: type[NacreError]) -> None:
    assert cls.code in WIRE


def test_every_code_of_the_table_is_some_error_s() -> None:
    assert {cls.code for cls in classes()} == set(WIRE)


@pytest.mark.parametrize("cls", [NacreError, *classes()])
def test_tree_at_the_top_names_every_error_and_its_code(cls: type[NacreError]) -> None:
    tree = errors.__doc__ or ""
    line = next((line for line in tree.splitlines() if re.search(rf"\b{cls.__name__}\b", line)), "")
    assert line, f"{cls.__name__} is not drawn"
    if cls not in (NacreError, Refused, Failed):
        assert re.search(rf"\b{cls.code}\b", line)


@pytest.mark.parametrize("cls", list(classes()))
def test_what_was_refused_is_a_protocol_error_and_what_failed_a_result(
    cls: type[NacreError],
) -> None:
    wire = WIRE[cls.code]
    assert wire.http is None or 400 <= wire.http < 600
    assert http_status(cls.code) == (wire.http or 500)
    assert (wire.jsonrpc is None) is issubclass(cls, Failed)
    assert 1 <= wire.exit <= 125
    if issubclass(cls, Refused):
        assert wire.jsonrpc in (-32602, -32601)
        assert http_status(cls.code) < 500


def test_error_is_code_message_and_details() -> None:
    error = errors.SessionExited("it has ended", exit_code=3, signal=None)
    assert str(error) == "it has ended"
    assert OPERATIONS.error(error) == {
        "code": "SESSION_DEAD",
        "message": "it has ended",
        "exit_code": 3,
        "signal": None,
    }


# --- no tool, no route and no command in what services say -------------------------------------

ROOMS = [Path(errors.__file__).parent / room for room in ("core", "services", "system")]
SPEAKING = {"Hint", *(cls.__name__ for cls in classes())}
# Names that are words of English as well (run, send, control) cannot be looked for.
OPERATION = re.compile(rf"\b({'|'.join(name for name in CATALOG if '_' in name)})\b")


@cache
def all_calls() -> list[tuple[str, str, ast.Call]]:
    """Every call of a name: where it stands, the name, and the call."""
    return [
        (f"{file.name}:{node.lineno}", node.func.id, node)
        for room in ROOMS
        for file in room.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def calls(name: str) -> list[tuple[str, ast.Call]]:
    return [(where, call) for where, called, call in all_calls() if called == name]


def texts(node: ast.AST) -> Iterator[str]:
    """What is said by a call, but for the steps in it: they are data."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Use", "Omit")):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


@pytest.mark.parametrize("speaking", sorted(SPEAKING))
def test_what_services_say_names_no_operation(speaking: str) -> None:
    for where, call in calls(speaking):
        for text in texts(call):
            assert not OPERATION.search(text), f"{where}: {text!r} is a step: say it by Use"


def test_every_step_is_an_operation_s() -> None:
    steps = [(where, call.args[0]) for where, call in calls("Use")]
    assert steps
    for where, operation in steps:
        assert isinstance(operation, ast.Constant), where
        assert operation.value in {*CATALOG, *AGENT}, where


def test_what_an_error_quotes_of_a_request_is_cut_in_the_middle() -> None:
    huge = "h" * 100_000
    for error in (
        InvalidInput(f"no run {huge!r}: it is unknown", "take another"),
        BadParameter(huge, f"is not a parameter (there are: {huge})"),
    ):
        told = OPERATIONS.error(error)
        assert len(json.dumps(told)) < 10_000
        assert "characters left out" in told["message"]
    assert OPERATIONS.message(
        InvalidInput(f"no run {huge!r}: it is unknown", "take another")
    ).endswith("hh': it is unknown; take another")
