"""The words of a scenario's steps: what each takes, checked before anything runs.

Rule: the words are those of the pytest plugin (expectations.py), and mean the same there.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from nacre.core.keys.items import UnknownCombination, parse_item
from nacre.testing.scenarios.nodes import MapNode, Wrong, parse_map, value_of
from nacre.testing.scenarios.scenario import (
    STEP_WORDS,
    Action,
    CheckStep,
    IdleStep,
    InputStep,
    NewTextStep,
    ScenarioStep,
    SnapshotStep,
)
from nacre.testing.screens.checks import AbsenceCheck, Check, CursorCheck, ExitCheck, TextCheck
from nacre.testing.screens.masks import Mask, PatternMask, RegionMask
from nacre.testing.screens.style import ExpectedStyle

_LABEL = 70  # characters of a step in reports
_WAIT = ("text", "regex", "new", "idle", "exit", "cursor", "timeout")
_EXPECT = (
    *("text", "regex", "not_text", "not_regex", "style", "row", "col", "cursor"),
    *("exit_code", "timeout"),
)
_CURSOR = ("row", "col", "visible")
_SNAPSHOT = ("name", "masks", "style", "timeout")
_REGION = ("row", "col", "rows", "cols")
_MOUSE = (
    *("action", "text", "row", "col", "to_text", "to_row", "to_col"),
    *("button", "direction", "amount", "modifiers"),
)
_MOUSE_ACTIONS = ("click", "double_click", "drag", "scroll")


def parse_step(node: Any) -> ScenarioStep:
    """Return a step. Raises Wrong."""
    given = parse_map(node, STEP_WORDS, "a step")
    if len(given.keys) != 1:
        named = ", ".join(given.keys)
        raise Wrong(node, f"a step has one word, this one has {named}; begin each with its own -")
    [word] = given.keys
    content = given.node(word)
    action = _ACTIONS[word](content, value_of(content))
    told = " ".join(f"{word} {_shown(value_of(content))}".split())
    label = told if len(told) <= _LABEL else f"{told[: _LABEL - 1]}…"
    return ScenarioStep(given.line, label, action)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(one)}" for key, one in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f'"{value}"' if isinstance(value, str) else str(value)


def _keys(node: Any, value: Any) -> Action:
    keys = [value] if not isinstance(value, list) else value
    if not keys or not all(isinstance(key, str | int) for key in keys) or "" in keys:
        raise Wrong(node, "keys is a key or a list of them, as [Down, Enter, Ctrl+C]")
    for key in keys:
        try:
            parse_item(str(key))
        except UnknownCombination as error:
            raise Wrong(node, f"keys: {error}") from error
    return InputStep("keys", tuple(map(str, keys)))


def _typed(method: str) -> Callable[[Any, Any], Action]:
    def read(node: Any, value: Any) -> Action:
        if isinstance(value, bool | dict | list) or value in (None, ""):
            raise Wrong(node, f"{method} is a text")
        return InputStep(method, (str(value),))

    return read


def _mouse(node: Any, value: Any) -> Action:
    """Read {click: OK}, or {action: click, row: 3, col: 4}."""
    given = parse_map(node, (*_MOUSE, *_MOUSE_ACTIONS), "mouse")
    params = dict(value)
    for action in _MOUSE_ACTIONS:
        if action in params:
            params["action"] = action
            params["text"] = params.pop(action)
    if not isinstance(params.get("modifiers", []), list):
        raise Wrong(given.node("modifiers"), "modifiers is a list of ctrl, alt and shift")
    if params.get("action", "click") not in _MOUSE_ACTIONS:
        raise Wrong(given.node("action"), f"action is one of {', '.join(_MOUSE_ACTIONS)}")
    params = {name: one for name, one in params.items() if one is not None}
    return InputStep("mouse", named=tuple(params.items()))


def _focus(node: Any, value: Any) -> Action:
    """Read a text, or {text: Host, timeout: 5}."""
    if isinstance(value, str) and value:
        return InputStep("focus", (value,))
    given = parse_map(node, ("text", "timeout"), "focus")
    seconds = given.seconds("timeout")
    named = () if seconds is None else (("patience", seconds),)
    return InputStep("focus", (given.text("text"),), named)


def _resize(node: Any, value: Any) -> Action:
    if isinstance(value, str) and (size := re.fullmatch(r"(\d+)x(\d+)", value)):
        return InputStep("resize", (int(size[1]), int(size[2])))
    given = parse_map(node, ("rows", "cols"), "resize (or ROWSxCOLS)")
    rows = given.number("rows", None, least=1, most=1000)
    cols = given.number("cols", None, least=1, most=2000)
    if rows is None or cols is None:
        raise Wrong(node, "resize needs rows and cols")
    return InputStep("resize", (rows, cols))


def _wait(node: Any, value: Any) -> Action:
    if isinstance(value, str):
        return CheckStep((TextCheck(value),))
    given = parse_map(node, _WAIT, "wait")
    timeout = given.seconds("timeout")
    if "new" in given:
        return NewTextStep(given.text("new"), timeout)
    if "idle" in given:
        return IdleStep(given.seconds("idle") or 0.0, timeout)
    checks: list[Check] = []
    if "text" in given:
        checks.append(TextCheck(given.text("text")))
    if "regex" in given:
        checks.append(TextCheck(given.regex("regex"), regex=True))
    if "exit" in given:
        if value_of(given.node("exit")) is not True:
            raise Wrong(given.node("exit"), "exit is true; exit_code belongs to expect")
        checks.append(ExitCheck())
    checks += _cursor(given)
    if not checks:
        raise Wrong(node, f"wait has nothing to wait for; give one of {', '.join(_WAIT[:-1])}")
    return CheckStep(tuple(checks), timeout)


def _expect(node: Any, value: Any) -> Action:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return CheckStep((TextCheck(str(value)),))
    if isinstance(value, list):
        return CheckStep(tuple(TextCheck(str(one)) for one in value))
    given = parse_map(node, _EXPECT, "expect")
    style = _style(given)
    row, col = given.number("row", None, least=0), given.number("col", None, least=0)
    checks: list[Check] = []
    checks += [TextCheck(one, style=style, row=row, col=col) for one in given.texts("text")]
    if "regex" in given:
        checks.append(TextCheck(given.regex("regex"), True, style, row, col))
    elif style is not None and not checks:
        raise Wrong(given.node("style"), "style needs a text, or a regex, that has it")
    if not checks and (row is not None or col is not None):
        raise Wrong(node, "row and col need a text, or a regex, that stands there")
    checks += [AbsenceCheck(one) for one in given.texts("not_text")]
    if "not_regex" in given:
        checks.append(AbsenceCheck(given.regex("not_regex"), regex=True))
    checks += _cursor(given)
    if "exit_code" in given:
        checks.append(ExitCheck(given.number("exit_code", None, least=0, most=255)))
    if not checks:
        raise Wrong(node, f"expect expects nothing; give one of {', '.join(_EXPECT[:-1])}")
    return CheckStep(tuple(checks), given.seconds("timeout"))


def _cursor(given: MapNode) -> Iterator[Check]:
    if "cursor" not in given:
        return
    node = given.node("cursor")
    value = value_of(node)
    if isinstance(value, list):
        if len(value) != 2 or not all(isinstance(one, int) for one in value):
            raise Wrong(node, "cursor is [row, col], or {row, col, visible}; they count from 0")
        yield CursorCheck(*value)
        return
    inner = parse_map(node, _CURSOR, "cursor")
    row, col = inner.number("row", None, least=0), inner.number("col", None, least=0)
    yield CursorCheck(row, col, inner.switch("visible"))


def _style(given: MapNode) -> ExpectedStyle | None:
    if "style" not in given:
        return None
    node = given.node("style")
    value = value_of(node)
    try:
        if not isinstance(value, dict | str):
            raise ValueError("style is a map, as {fg: red, bold: true}, or words, as bold red")
        return ExpectedStyle.parse(value)
    except ValueError as error:
        raise Wrong(node, str(error)) from error


def _snapshot(node: Any, value: Any) -> Action:
    if isinstance(value, str) and value:
        return SnapshotStep(value)
    given = parse_map(node, _SNAPSHOT, "snapshot")
    styled = bool(given.switch("style"))
    return SnapshotStep(given.text("name"), parse_masks(given), styled, given.seconds("timeout"))


def parse_masks(given: MapNode) -> tuple[Mask, ...]:
    if "masks" not in given:
        return ()
    return tuple(map(_mask, given.items("masks", "a list of masks")))


def _mask(node: Any) -> Mask:
    value = value_of(node)
    if isinstance(value, str):
        _checked(node, value)
        return PatternMask(value)
    given = parse_map(node, ("regex", "region", *_REGION), "a mask")
    if "regex" in given:
        return PatternMask(given.regex("regex"))
    if "region" in given:
        given = parse_map(given.node("region"), _REGION, "a region")
    row = given.number("row", None, least=0)
    if row is None:
        raise Wrong(node, "a mask is an expression (regex), or a region {row, col, rows, cols}")
    col, rows = given.number("col", 0, least=0), given.number("rows", 1, least=1)
    return RegionMask(row, col or 0, rows or 1, given.number("cols", None, least=1))


def _checked(node: Any, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise Wrong(node, f"{pattern!r} is no regular expression: {error}") from error


_ACTIONS: dict[str, Callable[[Any, Any], Action]] = {
    "keys": _keys,
    "type": _typed("type"),
    "paste": _typed("paste"),
    "mouse": _mouse,
    "focus": _focus,
    "resize": _resize,
    "wait": _wait,
    "expect": _expect,
    "snapshot": _snapshot,
}
