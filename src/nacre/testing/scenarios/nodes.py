"""YAML as nodes that know their line, and maps whose words are checked.

Rule: YAML is an extra (`nacre[test]`); without it the error says how to install it.
"""

import re
from collections.abc import Sequence
from typing import Any

from nacre.errors import Failed, InvalidInput
from nacre.testing.screens.style import did_you_mean


class Wrong(ValueError):
    """Something is wrong at a line of the file."""

    def __init__(self, node: Any, message: str) -> None:
        super().__init__(message)
        self.line = line_of(node)


def documents(text: str, path: str) -> list[Any]:
    """Return the node of each document; empty ones are left out. Raises InvalidInput."""
    yaml = load_yaml()
    try:
        return [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise InvalidInput(f"{path}:{line}: this is no YAML: {problem}") from error
    except yaml.YAMLError as error:
        raise InvalidInput(f"{path}:1: this is no YAML: {error}") from error


def load_yaml() -> Any:
    """Return PyYAML. Raises Failed when it is not installed."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise Failed(
            "scenarios are YAML, and PyYAML is not installed", "pip install 'nacre[test]'"
        ) from None
    return yaml


def line_of(node: Any) -> int:
    line: int = node.start_mark.line + 1
    return line


def value_of(node: Any) -> Any:
    """Return what a node stands for, as plain values."""
    yaml = load_yaml()
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except yaml.YAMLError as error:
        raise Wrong(node, str(error)) from error
    finally:
        loader.dispose()


def parse_map(node: Any, words: Sequence[str], what: str) -> "MapNode":
    """Raises Wrong for what is no map, or has a word that there is not, or one twice."""
    if not isinstance(getattr(node, "value", None), list) or node.id != "mapping":
        raise Wrong(node, f"{what} is a map with some of: {', '.join(words)}")
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.value not in words:
            near = did_you_mean(str(key.value), list(words))
            raise Wrong(
                key, f"{what} has no {key.value!r}{near or '; there are: ' + ', '.join(words)}"
            )
        if key.value in found:
            raise Wrong(key, f"{key.value} is given twice")
        found[key.value] = value
    return MapNode(node, found)


class MapNode:
    """A map whose words are known; each is read as what it must be. All raise Wrong."""

    def __init__(self, node: Any, found: dict[str, Any]) -> None:
        self._node = node
        self._found = found

    @property
    def line(self) -> int:
        return line_of(self._node)

    @property
    def keys(self) -> list[str]:
        return list(self._found)

    def __contains__(self, word: str) -> bool:
        return word in self._found

    def node(self, word: str) -> Any:
        return self._found[word]

    def need(self, word: str, what: str) -> Any:
        if word not in self._found:
            raise Wrong(self._node, f"{word} is missing: {what}")
        return self._found[word]

    def text(self, word: str, default: str | None = None) -> str:
        if word not in self._found and default is not None:
            return default
        node = self.need(word, "a text")
        value = value_of(node)
        if isinstance(value, bool | dict | list) or value in (None, ""):
            raise Wrong(node, f"{word} is a text, not {value!r}")
        return str(value)

    def texts(self, word: str) -> list[str]:
        """Return a text or a list of them; nothing if the word is not there."""
        if word not in self._found:
            return []
        value = value_of(self._found[word])
        items = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool | dict | list) or one is None for one in items):
            raise Wrong(self._found[word], f"{word} is a text, or a list of texts")
        if "" in items:
            raise Wrong(self._found[word], f"{word} is empty, and every screen has that")
        return [str(one) for one in items]

    def strings(self, word: str) -> dict[str, str]:
        if word not in self._found:
            return {}
        value = value_of(self._found[word])
        if not isinstance(value, dict):
            raise Wrong(self._found[word], f"{word} is a map of names and texts")
        return {str(name): str(one) for name, one in value.items()}

    def regex(self, word: str) -> str:
        pattern = self.text(word)
        try:
            re.compile(pattern)
        except re.error as error:
            raise Wrong(
                self._found[word], f"{pattern!r} is no regular expression: {error}"
            ) from error
        return pattern

    def number(
        self, word: str, default: int | None, *, least: int, most: int | None = None
    ) -> int | None:
        if word not in self._found:
            return default
        value = value_of(self._found[word])
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or value < least or (most is not None and value > most):
            limits = f"from {least}" + (f" to {most}" if most is not None else " on")
            raise Wrong(self._found[word], f"{word} is a whole number {limits}, not {value!r}")
        return int(value)

    def seconds(self, word: str) -> float | None:
        if word not in self._found:
            return None
        value = value_of(self._found[word])
        if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
            raise Wrong(self._found[word], f"{word} is a number of seconds, not {value!r}")
        return float(value)

    def switch(self, word: str) -> bool | None:
        if word not in self._found:
            return None
        value = value_of(self._found[word])
        if not isinstance(value, bool):
            raise Wrong(self._found[word], f"{word} is true or false, not {value!r}")
        return value

    def items(self, word: str, what: str) -> list[Any]:
        node = self.need(word, what)
        if node.id != "sequence" or not node.value:
            raise Wrong(node, f"{word} is {what}, each after a -")
        items: list[Any] = node.value
        return items
