"""Every operation of the catalog refuses who may not ask for it: also those that are added later.

The parameters are derived, too; where that is not possible for a new operation, it says so, and
EXAMPLES gets what it needs.
"""

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.inspect import LiteralType, Metadata, StrType, type_info
from msgspec.structs import FieldInfo, fields

import nacre.core.operations.all
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.catalog.catalog import CATALOG, REFERENCES, UNLISTED, Operation, Spec
from nacre.core.operations.parameters import SessionRef
from nacre.errors import Forbidden, InvalidInput, NacreError, SessionNotFound

from services.living import living, start
from services.people import ANNA, House

pytestmark = pytest.mark.anyio

assert nacre.core.operations.all  # it fills the catalog
ALL = {**CATALOG, **UNLISTED}
LIMITED = Caller(door="rest", scope=Scope.ADMIN, sessions=frozenset({"dev"}), token="1")
OBSERVER = Caller(door="rest", scope=Scope.OBSERVE)
# What leaves other sessions out of its answer, and what asks for nothing of any session.
ABOUT_ALL = {"list_sessions", "status", "search", "follow"}
EXAMPLES: dict[str, dict[str, Any]] = {
    "press_keys": {"keys": ["Enter"]},
    "follow": {"events": ["sessions"]},
}


def given(spec: Spec) -> Operation:
    """Return the operation with what it must have, and no session."""
    example = EXAMPLES.get(spec.name, {})
    missing = [one for one in fields(spec.type) if one.required and one.name not in example]
    return msgspec.convert({one.name: _any(spec, one) for one in missing} | example, spec.type)


def _any(spec: Spec, field: FieldInfo) -> Any:
    if field.name in REFERENCES:
        return ["dev"] if field.name == "sessions" else "dev"
    info: Any = type_info(field.type)
    info = info.type if isinstance(info, Metadata) else info
    if isinstance(info, LiteralType):
        return info.values[0]
    if isinstance(info, StrType):
        return "x" * (info.min_length or 1)
    candidates: tuple[Any, ...] = (1, 0, [], {}, b"", "x", None)
    for value in candidates:
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError:
            continue
        return value
    raise AssertionError(f"{spec.name} needs an example: {field.name}")


def _elsewhere(spec: Spec, other: Any) -> Iterator[Operation]:
    """Yield the operation about a session of somebody else, by each way to name it."""
    operation = given(spec)
    for name in spec.references:
        for reference in (other.identity.name, other.identity.id):
            value = reference if name != "sessions" else ["dev", reference]
            if name != "run_id":
                yield msgspec.structs.replace(operation, **{name: value})


def test_what_names_a_session_is_known_to() -> None:
    """Else a token that is limited to some would reach the others by it."""
    for spec in ALL.values():
        hints = typing.get_type_hints(spec.type, include_extras=True)
        for name, hint in hints.items():
            if SessionRef in (hint, *typing.get_args(hint)) or name.endswith("session_id"):
                assert name in spec.references, f"{spec.name}: {name}"


async def test_an_observer_only_looks(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        ask = House(services)
        await start(services, "cat", name="dev")
        for spec in ALL.values():
            operation = given(spec)
            if spec.scope_of(operation) > Scope.OBSERVE:
                with pytest.raises(Forbidden):
                    await ask.dispatch(OBSERVER, operation)
            else:
                assert not spec.acts_on(operation)
                assert not spec.types_into(operation), spec.name


async def test_a_limited_token_reaches_no_other_session(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        ask = House(services)
        await start(services, "cat", name="dev")
        other = await start(services, "cat", name="other")
        for spec in ALL.values():
            for operation in _elsewhere(spec, other):
                with pytest.raises((SessionNotFound, Forbidden)):
                    await ask.dispatch(LIMITED, operation)
        listed = await ask("list_approvals", ANNA)
        assert listed.approvals == []


async def test_a_limited_token_asks_for_nothing_that_is_about_no_session(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        ask = House(services)
        await start(services, "cat", name="dev")
        for spec in ALL.values():
            operation = given(spec)
            if any(getattr(operation, name) is not None for name in spec.references):
                continue
            try:
                result = await ask.dispatch(LIMITED, operation)
            except (Forbidden, InvalidInput):
                continue
            except NacreError:  # of the daemon's own handlers there is none here
                assert spec.name in ABOUT_ALL, spec.name
                continue
            assert spec.name in ABOUT_ALL, spec.name
            assert b"other" not in msgspec.json.encode(result)
