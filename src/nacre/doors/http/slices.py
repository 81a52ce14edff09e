"""Encode a long answer in slices, with a turn of the loop after each.

A recording of ten megabytes takes a tenth of a second to encode, and others would wait for it.

Rule: the bytes are those that msgspec makes of the whole. Only the one field of a result that can
be long is cut: a text, or a list of lines.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

# Each takes about a millisecond.
_CHARS = 262_144
_ITEMS = 250

Encode = Callable[[Any], Any]  # msgspec's enc_hook


async def encode_in_slices(message: dict[str, Any], hook: Encode) -> list[bytes]:
    """Return a message with its `result` as pieces of JSON."""
    result: Any = message.get("result")
    field = _long_field(result)
    if field is None:
        return [msgspec.json.encode(message, enc_hook=hook)]
    value = getattr(result, field)
    place = secrets.token_hex(16)  # stands in no answer
    short = {**message, "result": msgspec.structs.replace(result, **{field: place})}
    head, _, tail = msgspec.json.encode(short, enc_hook=hook).partition(b'"%b"' % place.encode())
    step, opened, closed = (_CHARS, b'"', b'"') if isinstance(value, str) else (_ITEMS, b"[", b"]")
    between = b"" if isinstance(value, str) else b","
    parts = [head, opened]
    for at in range(0, len(value), step):
        inside = msgspec.json.encode(value[at : at + step], enc_hook=hook)[1:-1]
        parts += (between, inside) if at else (inside,)
        await asyncio.sleep(0)
    return [*parts, closed, tail]


def _long_field(result: Any) -> str | None:
    if not isinstance(result, msgspec.Struct):
        return None
    for name in result.__struct_fields__:
        value = getattr(result, name)
        if isinstance(value, str):
            if len(value) > _CHARS:
                return name
        elif isinstance(value, list | tuple) and len(value) > _ITEMS:
            return name
    return None
