"""The catalog: every operation is documented, and bad parameters are named."""

from typing import Any

import msgspec
import pytest

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, parse_operation, spec_of
from nacre.core.operations.all import CATALOG
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.sessions import CreateSession, ManageSession
from nacre.core.operations.terminal import GetScreen, ReadOutput
from nacre.errors import BadParameter, InvalidInput, UnknownOperation


@pytest.mark.parametrize("name", CATALOG)
def test_operation_is_documented(name: str) -> None:
    spec = CATALOG[name]
    assert spec.name == name
    assert spec.doc.splitlines()[0].endswith("."), "one sentence that says what it does"
    method, _, path = spec.route.partition(" ")
    assert method in ("GET", "POST")
    assert path.startswith("/")
    assert ("{session}" in path) <= ("session" in spec.type.__struct_fields__)


def test_what_is_said_of_another_operation_is_a_sentence_by_itself() -> None:
    assert CATALOG["await_input"].doc.endswith(". input_mode starts and ends the capture.")


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
    elif not spec.route.startswith("POST "):
        # It reads what not everybody may see who may look at sessions.
        assert (spec.name, spec.idempotent, spec.destructive) == ("list_tokens", True, False)


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
        ("get_screen", {}, "session is missing"),
        ("get_screen", {"session": []}, "session must be a string or an integer"),
        ("get_screen", {"session": 1.5}, "session must be a string or an integer"),
        ("get_screen", {"session": True}, "session must be a string or an integer"),
        ("get_screen", {"session": "x", "format": "html"}, "format must be styled or plain"),
        (
            "get_screen",
            {"session": "x", "max_chars": 0},
            "max_chars must be an integer of at least 1",
        ),
        (
            "get_screen",
            {"session": "x", "max_chars": "few"},
            "max_chars must be an integer of at least 1",
        ),
        ("get_screen", {"session": "x", "nope": 1}, "nope is not a parameter"),
        ("create_session", {"rows": 0}, "rows must be an integer from 1 to 1000"),
        ("create_session", {"rows": 24.5}, "rows must be an integer from 1 to 1000"),
        ("create_session", {"cols": 2001}, "cols must be an integer from 1 to 2000"),
        ("create_session", {"args": "ls"}, "args must be an array"),
        ("create_session", {"args": ["ls", 1]}, "args[1] must be a string"),
        ("create_session", {"env": {"A": 1}}, "env.A must be a string"),
        ("create_session", {"env": {"A": "1", "B.C": []}}, "env.B.C must be a string"),
        ("create_session", {"env": []}, "env must be an object"),
        ("create_session", {"keep": "yes"}, "keep must be true or false"),
        (
            "manage_session",
            {"session": "x", "action": "explode"},
            "action must be kill, rename, detach, restart, resize or dismiss",
        ),
        ("press_keys", {"session": "x", "keys": []}, "keys must be an array of at least 1 item"),
        (
            "await_quiesce",
            {"session": "x", "timeout_ms": -1},
            "timeout_ms must be an integer of at least 0",
        ),
        (
            "get_scrollback",
            {"session": "x", "limit": -1},
            "limit must be an integer of at least 0",
        ),
        ("wait_for", {"text": ""}, "text is empty"),
        ("screen_at", {"session": "x", "time": "now"}, "time must be a number"),
        ("overlay", {"session": "x", "background": 7}, "background must be a string or an object"),
        ("overlay", {"session": "x", "spans": [{"text": 1}]}, "spans[0].text must be a string"),
    ],
)
def test_bad_parameter_is_named_and_those_there_are_listed(
    name: str, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_operation(name, params)
    takes = ", ".join(CATALOG[name].type.__struct_fields__)
    assert str(error.value) == f"{said}; {name} takes: {takes}"


def test_a_field_inside_a_parameter_is_called_a_field_and_those_there_are_listed() -> None:
    fields = list(VisualSpan.__struct_fields__)
    for span, said in (
        ({"txt": 1}, f"spans[0].txt is not a field (there are: {', '.join(fields)})"),
        ({}, "spans[0].text is missing"),
    ):
        with pytest.raises(BadParameter) as error:
            parse_operation("overlay", {"session": "x", "spans": [span]})
        assert str(error.value) == said
        assert error.value.details["allowed"] == fields


@pytest.mark.parametrize(
    ("params", "facts"),
    [
        ({"rows": 0}, {"expected": "an integer from 1 to 1000", "limit": "at least 1", "given": 0}),
        ({"rows": 1001}, {"limit": "at most 1000", "given": 1001}),
        ({"rows": "many"}, {"expected": "an integer from 1 to 1000", "given": "many"}),
        (
            {"policy": "on"},
            {"allowed": ["open", "guarded", "strict"], "given": "on"},
        ),
        ({"name": ["x"]}, {"expected": "a string"}),
    ],
)
def test_bad_parameter_is_told_by_its_facts(params: dict[str, Any], facts: dict[str, Any]) -> None:
    with pytest.raises(BadParameter) as error:
        parse_operation("create_session", params)
    details = error.value.details
    assert details.items() >= {"parameters": list(params), **facts}.items()
    assert details["takes"] == list(CATALOG["create_session"].type.__struct_fields__)
    assert ("limit" in details) is ("limit" in facts)
    assert ("given" in details) is ("given" in facts)


@pytest.mark.parametrize("rows", ["x" * 101, 10**30, -(10**400), [24], {"a": 1}])
def test_a_value_that_is_long_or_no_wire_can_carry_is_not_repeated(rows: Any) -> None:
    with pytest.raises(BadParameter, match=r"^rows must be an integer from 1 to 1000;") as error:
        parse_operation("create_session", {"rows": rows})
    assert "given" not in error.value.details
    msgspec.json.encode(error.value.details)


def test_what_a_type_checks_itself_says_where() -> None:
    spans = [{"text": "a"}, {"text": "b", "fg": "nix"}]
    with pytest.raises(InvalidInput, match=r"^spans\[1\]: 'nix' is not a colour; use black"):
        parse_operation("overlay", {"session": "x", "spans": spans})


@pytest.mark.parametrize(
    ("name", "params", "allowed"),
    [
        ("get_screen", {"session": "x", "format": "html"}, ["styled", "plain"]),
        ("control", {"session": "x", "action": "end"}, ["take", "give"]),
        ("panel", {"session": "x", "position": "left"}, ["top", "bottom"]),
        ("input_mode", {"session": "x", "mode": "a - at `$.focus`"}, ["capture", "release"]),
        (
            "wait_for",
            {"session": "x", "state": ["asleep"]},
            ["prompt", "running", "needs_input", "exited"],
        ),
    ],
)
def test_a_word_that_is_none_is_told_with_those_there_are(
    name: str, params: dict[str, Any], allowed: list[str]
) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_operation(name, params)
    assert error.value.details["allowed"] == allowed


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
    with pytest.raises(InvalidInput, match="lines must be an integer of at least 0"):
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
