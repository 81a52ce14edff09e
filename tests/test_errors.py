"""The error tree: every class has its code, every code its meaning on every wire."""

import re
from collections.abc import Iterator

import pytest

from nacre import errors
from nacre.errors import WIRE, Failed, NacreError, Refused


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
    assert 400 <= wire.http < 600
    assert (wire.jsonrpc is None) is issubclass(cls, Failed)
    assert 1 <= wire.exit <= 125
    if issubclass(cls, Refused):
        assert wire.jsonrpc in (-32602, -32601)
        assert wire.http < 500


def test_error_is_code_message_and_details() -> None:
    error = errors.SessionExited("it has ended", exit_code=3, signal=None)
    assert str(error) == "it has ended"
    assert error.as_dict() == {
        "code": "SESSION_DEAD",
        "message": "it has ended",
        "exit_code": 3,
        "signal": None,
    }
