"""Read scenarios from YAML, with the file and the line of whatever is wrong in it.

Rule 1: a file is checked wholly before anything runs, and all that is wrong in it is told at once.
Rule 2: a word that there is not is an error, with the nearest one: a misspelt `expcet` must not
pass as a test.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from nacre.errors import InvalidInput
from nacre.testing.scenarios.nodes import MapNode, Wrong, documents, parse_map, value_of
from nacre.testing.scenarios.scenario import ProgramStart, Scenario
from nacre.testing.scenarios.step_words import parse_masks, parse_step

_WORDS = ("name", "launch", "timeout", "retries", "masks", "rows", "cols", "env", "cwd", "steps")
_LAUNCH = ("command", "args", "env", "cwd", "rows", "cols")


def read_scenarios(path: str) -> list[Scenario]:
    """Return the scenarios of a file. Raises InvalidInput with all that is wrong, line by line."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidInput(f"{path} cannot be read: {reason}") from error
    return parse_scenarios(text, path)


def parse_scenarios(text: str, path: str) -> list[Scenario]:
    found: list[Scenario | None] = []
    wrong: list[str] = []
    for node in documents(text, path):
        reader = _ScenarioReader(path)
        scenario = reader.scenario(node, len(found) + 1)
        wrong += reader.wrong
        found.append(scenario)
    names = [one.name for one in found if one is not None]
    for name in sorted({name for name in names if names.count(name) > 1}):
        wrong.append(
            f"{path}: two scenarios are called {name!r}; golden screens are named after it"
        )
    if wrong:
        raise InvalidInput("\n".join(wrong))
    scenarios = [one for one in found if one is not None]
    if not scenarios:
        raise InvalidInput(f"{path} has no scenario")
    return scenarios


T = TypeVar("T")


class _ScenarioReader:
    """One document; what is wrong in it is collected."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder = os.path.dirname(os.path.abspath(path))
        self.wrong: list[str] = []

    def _try(self, build: Callable[[], T]) -> T | None:
        try:
            return build()
        except Wrong as error:
            self.wrong.append(f"{self._path}:{error.line}: {error}")
            return None

    def scenario(self, node: Any, number: int) -> Scenario | None:
        given = self._try(lambda: parse_map(node, _WORDS, "a scenario"))
        if given is None:
            return None
        stem = os.path.basename(self._path).partition(".")[0]
        name = self._try(lambda: given.text("name", stem if number == 1 else f"{stem}-{number}"))
        start = self._try(lambda: self._start(given))
        timeout = self._try(lambda: given.seconds("timeout"))
        retries = self._try(lambda: given.number("retries", None, least=0))
        masks = self._try(lambda: parse_masks(given))
        steps = [self._try(partial(parse_step, one)) for one in self._steps(given)]
        if self.wrong or name is None or start is None or masks is None:
            return None
        taken = tuple(step for step in steps if step is not None)
        return Scenario(
            self._path, given.line, name, start, taken, masks, timeout=timeout, retries=retries
        )

    def _steps(self, given: MapNode) -> Sequence[Any]:
        return self._try(lambda: given.items("steps", "a list of steps")) or ()

    def _start(self, given: MapNode) -> ProgramStart:
        node = given.need("launch", "the program to start")
        value = value_of(node)
        outer = dict.fromkeys(("env", "cwd", "rows", "cols"), given)
        if isinstance(value, dict):
            inner = parse_map(node, _LAUNCH, "launch")
            outer |= {key: inner for key in outer if key in inner}
            words = [inner.text("command"), *inner.texts("args")]
        else:
            words = _words(node, value)
        env = outer["env"].strings("env")
        cwd = outer["cwd"].text("cwd", "")
        return ProgramStart(
            command=words[0],
            args=tuple(words[1:]),
            cwd=os.path.join(self._folder, os.path.expanduser(cwd)) if cwd else self._folder,
            env=tuple(env.items()),
            rows=outer["rows"].number("rows", 24, least=1, most=1000) or 24,
            cols=outer["cols"].number("cols", 80, least=1, most=2000) or 80,
        )


def _words(node: Any, value: Any) -> list[str]:
    """Return the program and its arguments. No shell reads them, so a line is split here."""
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise Wrong(node, f"launch: {error}") from error
    if not isinstance(words, list) or not words:
        raise Wrong(
            node, "launch is a line, a list of words, or {command, args, env, cwd, rows, cols}"
        )
    return [str(word) for word in words]
