"""JSON Schemas of operations and results, as tools, routes and docs show them.

Rule: optional parameters are missing in `required`, and never nullable: models fill in every null
they are offered.
"""

import inspect
from typing import Any

import msgspec

from nacre.core.catalog.catalog import (
    Operation,
)


def input_schema(cls: type[Operation]) -> dict[str, Any]:
    """Return the schema of an operation's parameters, without $defs and without other fields."""
    schema = _resolved(cls)
    schema.pop("title", None)
    schema.pop("description", None)
    definitions = schema.pop("$defs", {})
    closed = _without_null(_inlined(schema, definitions))
    assert isinstance(closed, dict)
    return closed


def output_schema(result: Any) -> dict[str, Any]:
    """Return the schema of a result, or of any of several. Nested types are in $defs."""
    if isinstance(result, tuple):
        options = [output_schema(either) for either in result]
        definitions = {name: d for option in options for name, d in option.pop("$defs", {}).items()}
        return {"type": "object", "anyOf": options, "$defs": definitions}
    schema = _resolved(result)
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


def _resolved(cls: Any) -> dict[str, Any]:
    """Return the schema with the type itself at the top, not just a reference to it."""
    whole = msgspec.json.schema(cls)
    definitions = whole.pop("$defs", {})
    name = whole.pop("$ref", "").rpartition("/")[2]
    top = definitions.pop(name) if name else whole
    for definition in definitions.values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    if definitions:
        top["$defs"] = definitions
    return dict(top)


def _inlined(node: Any, definitions: dict[str, Any], *, within: bool = False) -> Any:
    """Replace each reference with its definition: some clients resolve none.

    References inside a definition become a plain object. Every model pays for these words in each
    call, and error messages say what is wrong with a value.
    """
    if isinstance(node, list):
        return [_inlined(item, definitions, within=within) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        found = definitions[node["$ref"].rpartition("/")[2]]
        if within:
            return {"type": "object"}
        node = {key: value for key, value in found.items() if key not in ("title", "description")}
        within = True
    return {
        key: _inlined(value, definitions, within=within)
        for key, value in node.items()
        if not (within and key == "default")
    }


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_null(value) for key, value in node.items()}
    options = node.get("anyOf")
    if options and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del node["anyOf"]
        if node.get("default", ...) is None:
            del node["default"]
        node.update(rest[0] if len(rest) == 1 else {"anyOf": rest})
    if "enum" in node:
        node.setdefault("type", "string")  # some clients need a type beside enum
    return node
