"""The catalog: every operation is documented, and bad parameters are named."""

from typing import Any

import msgspec
import pytest

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, parse_operation, spec_of
from nacre.core.operations import CATALOG, CreateSession, GetScreen, ManageSession, ReadOutput
from nacre.errors import InvalidInput, UnknownOperation


@pytest.mark.parametrize("name", CATALOG)
def test_operation_is_documented(name: str) -> None:
    spec = CATALOG[name]
    assert spec.name == name
    assert spec.doc.splitlines()[0].endswith("."), "one sentence that says what it does"
    method, _, path = spec.route.partition(" ")
    assert method in ("GET", "POST")
    assert path.startswith("/")
    assert ("{session}" in path) <= ("session" in spec.type.__struct_fields__)


def test_routes_are_unique() -> None:
    routes = [spec.route for spec in CATALOG.values()]
    assert len(set(routes)) == len(routes)


@pytest.mark.parametrize("name", CATALOG)
def test_what_only_observes_is_a_get_or_waits_and_destroys_nothing(name: str) -> None:
    spec = CATALOG[name]
    if spec.read_only:
        assert spec.scope is Scope.OBSERVE
        assert not spec.destructive
        assert spec.idempotent
    else:
        assert spec.route.startswith("POST ")


def test_operation_is_found_by_its_class_and_by_its_name() -> None:
    operation = parse_operation("get_screen", {"session": "dev"})
    assert operation == GetScreen(session="dev")
    assert spec_of(operation) is CATALOG["get_screen"]


def test_unknown_operation_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownOperation, match=r"no operation named 'nope'.*create_session"):
        parse_operation("nope", {})


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("get_screen", {}, "session"),
        ("get_screen", {"session": []}, r"\$.session"),
        ("get_screen", {"session": 1.5}, r"\$.session"),
        ("get_screen", {"session": True}, r"\$.session"),
        ("get_screen", {"session": "x", "format": "html"}, r"\$.format"),
        ("get_screen", {"session": "x", "max_chars": 0}, r"\$.max_chars"),
        ("get_screen", {"session": "x", "max_chars": "5"}, r"\$.max_chars"),
        ("get_screen", {"session": "x", "nope": 1}, "unknown field `nope`"),
        ("create_session", {"rows": 0}, r"\$.rows"),
        ("create_session", {"rows": 24.5}, r"\$.rows"),
        ("create_session", {"cols": 2001}, r"\$.cols"),
        ("create_session", {"args": "ls"}, r"\$.args"),
        ("create_session", {"args": ["ls", 1]}, r"\$.args\[1\]"),
        ("create_session", {"env": {"A": 1}}, r"\$.env"),
        ("create_session", {"keep": "yes"}, r"\$.keep"),
        ("manage_session", {"session": "x", "action": "explode"}, r"\$.action"),
        ("press_keys", {"session": "x", "keys": []}, r"\$.keys"),
        ("await_quiesce", {"session": "x", "timeout_ms": -1}, r"\$.timeout_ms"),
        ("get_scrollback", {"session": "x", "limit": 10_001}, r"\$.limit"),
    ],
)
def test_bad_parameter_is_named_and_those_there_are_listed(
    name: str, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as error:
        parse_operation(name, params)
    listed = error.value.message.rpartition("the parameters are: ")[2]
    assert listed == ", ".join(CATALOG[name].type.__struct_fields__)


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("get_screen", {"session": "x", "format": "html"}, "use styled, plain;"),
        ("manage_session", {"session": "x", "action": "end"}, "use kill, rename, detach;"),
        ("panel", {"session": "x", "position": "left"}, "use top, bottom;"),
        ("input_mode", {"session": "x", "mode": "a - at `$.focus`"}, "use capture, release;"),
        ("wait_for", {"session": "x", "state": ["asleep"]}, "use prompt, running,"),
    ],
)
def test_a_word_that_is_none_is_told_with_those_there_are(
    name: str, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_operation(name, params)
    assert said in error.value.message


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("create_session", {"tags": ["cut \ud83d"]}),
        ("create_session", {"env": {"\udfff": "x"}}),
        ("overlay", {"session": "x", "spans": [{"text": "cut \ud83d"}]}),
        ("overlay", {"session": "x", "spans": [{"text": "a", "id": "\ud83d"}]}),
        ("run", {"session": "x", "command": "echo \ud83d"}),
    ],
)
def test_half_a_character_is_refused_before_it_is_kept(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="half a character"):
        parse_operation(name, params)


def test_whole_characters_of_any_plane_are_taken() -> None:
    assert parse_operation("create_session", {"tags": ["🎉 é"]}) == CreateSession(tags=["🎉 é"])


def test_null_means_not_given() -> None:
    given = {"name": None, "rows": None, "env": None, "keep": None, "command": "ls"}
    assert parse_operation("create_session", given) == CreateSession(command="ls")
    with pytest.raises(InvalidInput, match="session"):
        parse_operation("get_screen", {"session": None})
    with pytest.raises(InvalidInput, match="action"):
        parse_operation("manage_session", {"session": "x", "action": None})


def test_query_strings_are_read_as_what_they_mean() -> None:
    query = {"session": "dev", "lines": "20", "max_chars": "100"}
    expected = ReadOutput(session="dev", lines=20, max_chars=100)
    assert parse_operation("read_output", query, strict=False) == expected
    with pytest.raises(InvalidInput, match=r"\$.lines"):
        parse_operation("read_output", {"session": "x", "lines": "many"}, strict=False)


@pytest.mark.parametrize("name", CATALOG)
def test_operation_and_its_defaults_are_values(name: str) -> None:
    cls = CATALOG[name].type
    assert issubclass(cls, Operation)
    for field in msgspec.structs.fields(cls):
        assert field.default_factory is msgspec.NODEFAULT, "a default that could be changed"


def test_operation_cannot_be_changed() -> None:
    request = ManageSession(session="x", action="kill")
    with pytest.raises(AttributeError):
        request.action = "rename"  # type: ignore[misc]  # that is what is tested
