"""How the command line words errors and hints: with commands and flags, as a person types them."""

import shlex
from collections.abc import Mapping
from typing import Any

from nacre.cli.index import COMMANDS, Command
from nacre.wording import Hint, Takes, Told, Words


class CommandWords(Words):
    """The wording of one command. Without a command, all parameters are named as flags."""

    def __init__(self, command: str | None = None) -> None:
        self._command = next((known for known in COMMANDS if known.name == command), None)

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        command = next((known for known in COMMANDS if known.does(operation, params)), None)
        return None if command is None else shlex.join(_typed(command, params))

    def use(self, call: str, to: str) -> str:
        return f"{to}: {call}"

    def join(self, steps: list[str]) -> str:
        # People copy commands: no comma and no word may follow one.
        commands = any(": nacre " in step for step in steps)
        return "; ".join(steps) if commands else super().join(steps)

    def parameter(self, name: str) -> str:
        return _word(self._command, name.partition("[")[0].partition(".")[0])

    def takes(self, step: Takes) -> str | None:
        return None  # --help lists them

    def problem(self, error: Told) -> str:
        limit = error.details.get("limit")
        return error.problem if limit is None else f"must be {limit}"

    def error(self, error: Told) -> dict[str, Any]:
        details = {key: one for key, one in self.details(error).items() if key != "takes"}
        return {"code": error.code, "message": self.message(error), **details}

    def worded(self, value: Any) -> Any:
        """Return a result with its hints in words."""
        if isinstance(value, Hint):
            return self.hint(value)
        if isinstance(value, dict):
            return {key: self.worded(one) for key, one in value.items()}
        return [self.worded(one) for one in value] if isinstance(value, list) else value


def _word(command: Command | None, parameter: str) -> str:
    flag = f"--{parameter.replace('_', '-')}"
    return flag if command is None else command.words.get(parameter, flag)


def _typed(command: Command, params: Mapping[str, Any]) -> list[str]:
    """Return the words of a command with these parameters; SESSION stands for a missing one."""
    typed, flags = ["nacre", command.name], []
    given = {name: value for name, value in params.items() if name not in command.implies}
    for name, word in command.words.items():
        if not word.startswith("-"):
            typed += _values(given.pop(name)) if name in given else _placeholder(name, word, params)
    for name, value in given.items():
        flags += [_word(command, name), *([] if value is True else _values(value))]
    return [*typed, *flags]


def _values(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _placeholder(name: str, word: str, params: Mapping[str, Any]) -> list[str]:
    return [word] if name == "session" and "run_id" not in params else []
