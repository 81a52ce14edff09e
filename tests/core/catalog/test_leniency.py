"""What models write otherwise than it should be, and which can mean one thing only."""

from typing import Any

import pytest

from nacre.core.catalog.leniency import meant
from nacre.core.operations.all import CATALOG, parse_operation
from nacre.errors import InvalidInput


@pytest.mark.parametrize(
    ("operation", "given", "meant"),
    [
        ("get_scrollback", {"limit": "20"}, {"limit": 20}),
        ("get_scrollback", {"limit": 20.0, "offset": "3.0"}, {"limit": 20, "offset": 3}),
        ("create_session", {"rows": " 24 ", "cols": 100.0}, {"rows": 24, "cols": 100}),
        ("create_session", {"keep": "true"}, {"keep": True}),
        ("create_session", {"keep": "False"}, {"keep": False}),
        ("screen_at", {"session": "x", "time": "-2.5"}, {"time": -2.5}),
        ("screen_at", {"session": "x", "time": 7}, {"time": 7}),
        ("wait_for", {"state": "prompt"}, {"state": ["prompt"]}),
        ("wait_for", {"sessions": "dev"}, {"sessions": ["dev"]}),
        ("wait_for", {"sessions": 20000}, {"sessions": [20000]}),
        ("wait_for", {"cursor": ["1", 2.0]}, {"cursor": [1, 2]}),
        ("get_screen", {"session": 20000.0}, {"session": 20000}),
    ],
)
def test_what_can_mean_one_thing_is_taken(
    operation: str, given: dict[str, Any], meant: dict[str, Any]
) -> None:
    needed = {"session": "x"} if operation == "get_scrollback" else {}
    parsed = parse_operation(operation, {**needed, **given})
    assert {name: getattr(parsed, name) for name in meant} == meant


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("get_scrollback", {"session": "x", "limit": "many"}),
        ("get_scrollback", {"session": "x", "limit": "1.5"}),
        ("get_scrollback", {"session": "x", "limit": 1.5}),
        ("get_scrollback", {"session": "x", "limit": True}),
        ("get_scrollback", {"session": "x", "limit": "9" * 5000}),
        ("create_session", {"keep": "yes"}),
        ("create_session", {"keep": 1}),
        ("create_session", {"command": "ls", "args": "-l /tmp"}),
        ("create_session", {"tags": "a,b"}),
        ("create_session", {"name": 5}),
        ("wait_for", {"state": "asleep"}),
        ("export_recording", {"session": "x", "since": "NaN"}),
        ("export_recording", {"session": "x", "since": "-inf"}),
        ("export_recording", {"session": "x", "since": float("inf")}),
    ],
)
def test_what_can_mean_several_things_is_refused(operation: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        parse_operation(operation, given)


def test_text_stays_text_where_text_can_stand() -> None:
    assert parse_operation("create_session", {"name": "true", "command": "10"}).command == "10"  # type: ignore[attr-defined]
    assert parse_operation("get_screen", {"session": "20000"}).session == "20000"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["session", "port", "session_id"])
@pytest.mark.parametrize("operation", ["get_screen", "run", "get_status", "screenshot", "control"])
def test_a_session_is_named_by_each_of_three_parameters(operation: str, name: str) -> None:
    needed = {"command": "ls"} if operation == "run" else {}
    assert parse_operation(operation, {name: "dev", **needed}).session == "dev"  # type: ignore[attr-defined]


def test_a_session_is_named_once() -> None:
    for two in ({"session": "a", "port": 1}, {"port": 1, "session_id": "a"}):
        with pytest.raises(InvalidInput, match="named twice; give one of session, port"):
            parse_operation("get_screen", two)


def test_a_port_that_is_asked_for_is_no_session() -> None:
    assert parse_operation("start_session", {"port": 20001}).port == 20001  # type: ignore[attr-defined]


@pytest.mark.parametrize("operation", ["overlay", "panel"])
def test_a_list_ignores_what_is_for_one_element_alone(operation: str) -> None:
    wrong = {"id": 5, "z": "x", "height": -1, "background": "no colour", "spans": "text"}
    asked = parse_operation(operation, {"session": "x", "max_chars": 500, "list": "true", **wrong})
    assert asked == CATALOG[operation].type(session="x", max_chars=500, list=True)
    for given in ({"list": True, "nonsense": 1}, {"list": True, "max_chars": 0}, {"list": False}):
        with pytest.raises(InvalidInput):
            parse_operation(operation, {"session": "x", **wrong, **given})


@pytest.mark.parametrize(
    ("operation", "name", "expected"),
    [
        ("run_command", "command", ("input",)),
        ("run_command", "cmd", ("input",)),
        ("run_command", "text", ("input",)),
        ("run", "input", ("command",)),
        ("run", "timeout", ("timeout_ms",)),
        ("send", "input", ("text",)),
        ("send_key", "keys", ("key",)),
        ("read_output", "limit", ("lines",)),
        ("read_output", "linse", ("lines",)),
        ("create_session", "directory", ("cwd",)),
        ("create_session", "width", ("cols",)),
        ("send_input", "keys", ("input",)),
        ("read_output", "Lines", ("lines",)),
        ("get_screen", "quux", ()),
    ],
)
def test_wrong_name_gets_the_one_that_was_meant(
    operation: str, name: str, expected: tuple[str, ...]
) -> None:
    known = CATALOG[operation].type.__struct_fields__
    assert meant(name, known, {"session": "x", name: 1}) == expected
    with pytest.raises(InvalidInput) as error:
        parse_operation(operation, {"session": "x", name: "1"})
    asked = f"did you mean {expected[0]}?" if expected else f"{operation} takes"
    assert str(error.value).startswith(("session is not", f"{name} is not a parameter; {asked}"))
