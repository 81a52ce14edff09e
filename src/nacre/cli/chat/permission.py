"""What the model may call without asking: the person's answers of this chat.

A call is written as one line: `run: git status`, `mcp_github_create_issue: {"title": …}`. That is
what the person is shown, and what patterns are compared with.

Rule 1: what an exact answer allows is the same tool with the same arguments, and nothing else.
Rule 2: a pattern never reaches over the end of a command: `*` matches no `;`, `&`, `|`, newline and
so on, or `run: git *` would allow `run: git status; rm x`.
"""

import json
import re
from typing import Any

_MOST_SHOWN = 400  # characters of the arguments
# What ends a command or starts another one, in any shell.
_NEVER = r"[^;&|<>`$()\n\r]"


def written(name: str, arguments: dict[str, Any]) -> str:
    """Return a call as one line. Of a command in a terminal only the command is left."""
    if name == "run" and isinstance(arguments.get("command"), str):
        return f"run: {arguments['command']}"
    return f"{name}: {json.dumps(arguments, ensure_ascii=False, sort_keys=True)}"


def shown(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}… ({len(line)} characters)"


class Permissions:
    """Exact lines and patterns, with how often each was used."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # a pattern, in the order in which they were added
        self._exact: dict[str, tuple[str, int]] = {}  # its line, and the count

    @property
    def exact(self) -> dict[str, int]:
        """The calls that were allowed as they are, with how often each was used."""
        return dict(self._exact.values())

    def allow_exactly(self, name: str, arguments: dict[str, Any]) -> None:
        self._exact[_key(name, arguments)] = (written(name, arguments), 0)

    def allow(self, pattern: str) -> None:
        self.counts.setdefault(pattern, 0)

    def remove(self, pattern: str) -> bool:
        """Remove a pattern, or a call that is allowed as it is; return whether there was one."""
        line = pattern.removeprefix("exactly ")
        for key in [key for key, (known, _) in self._exact.items() if shown(known) == line]:
            del self._exact[key]
            return True
        return self.counts.pop(pattern, None) is not None

    def clear(self) -> None:
        self.counts.clear()
        self._exact.clear()

    def allows(self, name: str, arguments: dict[str, Any]) -> bool:
        """Return whether an answer covers the call, and count it."""
        key = _key(name, arguments)
        if key in self._exact:
            line, count = self._exact[key]
            self._exact[key] = line, count + 1
            return True
        line = written(name, arguments)
        for pattern in self.counts:
            if matches(pattern, name, line):
                self.counts[pattern] += 1
                return True
        return False


def matches(pattern: str, name: str, line: str) -> bool:
    """Return whether a pattern covers a call: `mcp_github_*`, `run: git *`."""
    if ":" not in pattern:  # the tool, whatever its arguments
        return _compiled(pattern).fullmatch(name) is not None
    return _compiled(pattern).fullmatch(line) is not None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{_NEVER}*".join(re.escape(part) for part in pattern.split("*")))


def meant(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool that is judged: of a call by name (call_upstream_tool) the one it names."""
    tool, given = arguments.get("tool"), arguments.get("arguments") or {}
    by_name = name == "call_upstream_tool" and isinstance(tool, str) and isinstance(given, dict)
    if by_name and str(tool).startswith("mcp_"):
        return str(tool), given
    return name, arguments


def suggested(name: str, arguments: dict[str, Any]) -> str:
    """Return the pattern to offer: a program with any words, or a tool with any arguments."""
    command = arguments.get("command")
    if name == "run" and isinstance(command, str) and (words := command.split()):
        return f"run: {words[0]} *" if len(words) > 1 else f"run: {words[0]}"
    return name


def _key(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"
