"""Write a scenario from what a person did: their keys, and what they had read before each pause.

Rule 1: what was typed where a password was asked for is never written; a comment says so.
Rule 2: an expectation is what was new on the screen when the person went on: they had read it.
Rows with times of day are left out, for they would differ the next time.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nacre.core.keys.items import TypedText, UnknownCombination, parse_item
from nacre.core.keys.typed import MOUSE, PASTE, TypedKey, TypedStream

# A person who pauses for so long (seconds) has looked at the screen.
_PAUSE = 0.4
_MOST_EXPECTED = 2  # texts of one step: the first and the last that are new
_VOLATILE = re.compile(r"\d\d?:\d\d")
_WORD = re.compile(r"\w{2}")

_NAMES = {
    **{f"Arrow{side}": side for side in ("Up", "Down", "Left", "Right")},
    **{name: name for name in ("Enter", "Tab", "Backspace", "Escape", "Home", "End")},
    **{name: name for name in ("PageUp", "PageDown", "Insert", "Delete")},
    **{f"F{number}": f"F{number}" for number in range(1, 25)},
    " ": "Space",
}
_CLICK = re.compile(
    rb"\x1b\[<0;(\d+);(\d+)M"
)  # SGR mouse (xterm ctlseqs): the left button, pressed


class TypedChunk(NamedTuple):
    """Bytes that a person typed, when, and whether a password was asked for."""

    time: float
    data: bytes
    hidden: bool = False


class ScreenThen(NamedTuple):
    rows: list[str]
    size: tuple[int, int]


@dataclass
class _Segment:
    """What was typed without a pause."""

    time: float
    steps: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def write_scenario(
    name: str,
    launch: Sequence[str],
    cwd: str,
    typed: Sequence[TypedChunk],
    screen_at: Callable[[float], ScreenThen],
    end: ScreenThen,
    exit_code: int | None,
) -> str:
    """Return the YAML. `end` is the last screen; `exit_code` None: the program was left running."""
    steps: list[str] = []
    before: set[str] = set()
    size = end.size
    for number, segment in enumerate(_segments(typed)):
        screen = screen_at(segment.time)
        size = screen.size if number == 0 else size
        steps += _expected(screen.rows, before)
        before = set(screen.rows)
        steps += segment.steps
    if exit_code is None:
        steps += _expected(end.rows, before)
    else:
        steps.append(f"expect: {{exit_code: {exit_code}}}")
    rows, cols = size
    lines = [
        f"name: {_quoted(name)}",
        f"launch: [{', '.join(map(_quoted, launch))}]",
        f"cwd: {_quoted(cwd)}",
        f"rows: {rows}",
        f"cols: {cols}",
        "steps:",
        *(line if line.startswith("#") else f"- {line}" for line in steps),
    ]
    return "\n".join(f"  {line}" if line[0] in "-#" else line for line in lines) + "\n"


def _expected(rows: list[str], before: set[str]) -> Iterator[str]:
    new = [
        row.strip()
        for row in rows
        if row not in before and _WORD.search(row) and not _VOLATILE.search(row)
    ]
    for text in list(dict.fromkeys([*new[:1], *new[-1:]]))[:_MOST_EXPECTED]:
        yield f"expect: {_quoted(text)}"


def _segments(typed: Sequence[TypedChunk]) -> Iterator[_Segment]:
    stream, segment, last, answered = TypedStream(), None, 0.0, False
    for chunk in typed:
        if segment is None or chunk.time - last >= _PAUSE or answered:
            if segment is not None:
                yield _closed(segment)
            segment = _Segment(chunk.time)
        # What follows an Enter is mostly an answer to what it brought.
        last, answered = chunk.time, chunk.data.endswith(b"\r")
        if chunk.hidden:
            _hide(segment)
            continue
        for key in stream.feed(chunk.data):
            _add(segment, key)
    if segment is not None:
        for key in stream.flush():
            _add(segment, key)
        yield _closed(segment)


def _hide(segment: _Segment) -> None:
    told = "# a password was typed here, and is not written"
    _flush(segment)
    if segment.steps[-1:] != [told]:
        segment.steps.append(told)


def _add(segment: _Segment, key: TypedKey) -> None:
    if key.key == PASTE:
        _flush(segment)
        text = re.sub(rb"\x1b\[20[01]~", b"", key.raw).decode(errors="replace")
        segment.steps.append(f"paste: {_quoted(text)}")
    elif key.key == MOUSE:
        if found := _CLICK.fullmatch(key.raw):
            _flush(segment)
            col, row = int(found[1]) - 1, int(found[2]) - 1
            segment.steps.append(f"mouse: {{action: click, row: {row}, col: {col}}}")
    elif key.key is not None:
        segment.keys.append(_name(key))


def _name(key: TypedKey) -> str:
    assert key.key is not None
    if len(key.key) == 1 and not key.modifiers:
        return key.key
    held = "".join(f"{one.capitalize()}+" for one in key.modifiers)
    return f"{held}{_NAMES.get(key.key, key.key)}"


def _closed(segment: _Segment) -> _Segment:
    _flush(segment)
    return segment


def _flush(segment: _Segment) -> None:
    """Write the keys as steps: texts in one piece, each key by its name."""
    items: list[str] = []
    text = ""
    for key in [*segment.keys, ""]:
        if len(key) == 1:
            text += key
            continue
        if text and _is_text(text):
            items.append(text)
        elif text:  # letters that are the name of a key, as Enter
            segment.steps += [*_keys(items), f"type: {_quoted(text)}"]
            items = []
        text = ""
        if key:
            items.append(key)
    segment.steps += _keys(items)
    segment.keys.clear()


def _keys(items: list[str]) -> list[str]:
    return [f"keys: [{', '.join(map(_quoted, items))}]"] if items else []


def _is_text(text: str) -> bool:
    try:
        return isinstance(parse_item(text), TypedText)
    except UnknownCombination:
        return False


def _quoted(text: str) -> str:
    """Return a text as YAML: bare where that means the same, else as JSON, which is YAML too."""
    if re.fullmatch(r"[A-Za-z][\w./+-]*(?: [\w./+-]+)*", text, re.ASCII):
        words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
        if text.lower() not in words:
            return text
    return json.dumps(text, ensure_ascii=False)
