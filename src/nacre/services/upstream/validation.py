"""Check a call's arguments against the schema that the tool's server published.

Rule 1: a schema that is none checks nothing: the server itself will.
Rule 2: nothing is fetched for a $ref: a server could name any address. What cannot be looked up
checks nothing.
"""

from functools import lru_cache
from typing import Any

import msgspec

from nacre.errors import InvalidInput

_MOST = 3  # problems of one call; more often follow from the first


def check_arguments(tool: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Raises InvalidInput, which names the parameters and what is wrong with them."""
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return
    validator = _validator(msgspec.json.encode(schema))
    if validator is None:
        return
    from jsonschema.exceptions import ValidationError
    from referencing.exceptions import Unresolvable

    try:
        found: list[ValidationError] = sorted(
            validator.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path))
        )
    except (Unresolvable, RecursionError):
        return
    if found:
        wrong = "; ".join(_told(error) for error in found[:_MOST])
        required = ", ".join(schema.get("required") or ()) or "none"
        known = ", ".join(schema.get("properties") or ()) or "none"
        raise InvalidInput(
            f"the arguments of {tool['name']} do not fit: {wrong}",
            f"it takes {known}; it needs {required}",
        )


def _told(error: Any) -> str:
    where = ".".join(map(str, error.absolute_path))
    message = str(error.message)
    short = message if len(message) <= 200 else message[:199] + "…"
    return f"{where}: {short}" if where else short


@lru_cache(maxsize=512)
def _validator(schema: bytes) -> Any:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    parsed = msgspec.json.decode(schema)
    kind = validator_for(parsed, default=Draft202012Validator)
    try:
        kind.check_schema(parsed)
    except (SchemaError, RecursionError):
        return None
    return kind(parsed, registry=Registry())
