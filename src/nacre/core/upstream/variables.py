"""Variables in a server's table: $NAME, ${NAME}, ${NAME:-default}; $$ is a dollar.

Rule 1: a value is only ever put into what is started or sent. What is listed, logged, cached or
written to the config is the text with the variable's name.
Rule 2: an unset variable without a default is an error that names it: a server that starts with an
empty token fails later, and nobody knows why.
"""

import re
from collections.abc import Iterable, Mapping

_VARIABLE = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|(?P<bad>\{))"
)


class UnsetVariables(Exception):
    """Variables that have neither a value nor a default."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        super().__init__(", ".join(self.names))


def names_in(text: str) -> set[str]:
    """Return the variables that a text refers to."""
    return {
        name for found in _VARIABLE.finditer(text) if (name := found["name"] or found["braced"])
    }


def is_well_formed(text: str) -> bool:
    """Return whether every ${ begins a variable."""
    return not any(found["bad"] for found in _VARIABLE.finditer(text))


def expand(text: str, values: Mapping[str, str]) -> str:
    """Put the values in. Raises UnsetVariables."""
    missing: list[str] = []

    def replace(found: re.Match[str]) -> str:
        if found["dollar"] or found["bad"]:
            return "$" if found["dollar"] else found[0]
        name = found["name"] or found["braced"]
        default = found["default"]
        value = values.get(name)
        if default is not None:  # as in a shell: also for a value that is empty
            return value or default
        if value is None:
            missing.append(name)
            return ""
        return value

    expanded = _VARIABLE.sub(replace, text)
    if missing:
        raise UnsetVariables(missing)
    return expanded


def literally(text: str) -> str:
    """Return a text that expands to itself."""
    return text.replace("$", "$$")
