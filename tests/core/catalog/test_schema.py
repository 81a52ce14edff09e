"""The JSON Schemas: valid, described, closed, and without nulls."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from nacre.core.catalog.schema import input_schema, output_schema
from nacre.core.operations.all import CATALOG
from nacre.core.operations.results import Screen, SessionDetails
from nacre.core.screen.screen import Cursor, Rgb, Span


def nodes(schema: Any) -> Iterator[Any]:
    yield schema
    if isinstance(schema, dict):
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("name", CATALOG)
def test_parameters_are_a_valid_closed_object_without_nulls(name: str) -> None:
    cls = CATALOG[name].type
    schema = input_schema(cls)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert tuple(schema["properties"]) == cls.__struct_fields__
    for node in nodes(schema):
        assert node is not None
        assert node != "null"
        assert not (isinstance(node, dict) and "$ref" in node), "flat: some clients resolve none"


@pytest.mark.parametrize("name", CATALOG)
def test_every_parameter_is_described_and_typed(name: str) -> None:
    for parameter, schema in input_schema(CATALOG[name].type)["properties"].items():
        assert schema["description"], parameter
        assert "type" in schema or "anyOf" in schema, parameter


@pytest.mark.parametrize("name", CATALOG)
def test_required_are_those_without_a_default(name: str) -> None:
    cls = CATALOG[name].type
    required = [field.name for field in msgspec.structs.fields(cls) if field.required]
    assert input_schema(cls).get("required", []) == required


@pytest.mark.parametrize("name", CATALOG)
def test_result_is_a_valid_object_without_a_title(name: str) -> None:
    schema = output_schema(CATALOG[name].result)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert "title" not in schema


def test_enum_says_its_type() -> None:
    action = input_schema(CATALOG["manage_session"].type)["properties"]["action"]
    assert action["type"] == "string"
    assert action["enum"] == ["detach", "dismiss", "kill", "rename", "resize", "restart"]


def test_screen_fits_its_schema() -> None:
    line = (Span("x", fg="red", bg=Rgb(1, 2, 3), bold=True),)
    styled = Screen(
        lines=[line, ()], cursor=Cursor(0, 1), rows=2, cols=2, mode="normal", generation=1
    )
    plain = Screen(
        lines=["x", ""], cursor=Cursor(0, 1), rows=2, cols=2, mode="alt", generation=1, title="t"
    )
    for screen in (styled, plain):
        jsonschema.validate(msgspec.json.decode(msgspec.json.encode(screen)), output_schema(Screen))


def test_nested_definitions_are_part_of_the_schema() -> None:
    schema = output_schema(CATALOG["list_sessions"].result)
    assert SessionDetails.__name__ in schema["$defs"]
    referred = {node["$ref"] for node in nodes(schema) if isinstance(node, dict) and "$ref" in node}
    assert referred
    assert {reference.rpartition("/")[2] for reference in referred} <= set(schema["$defs"])
