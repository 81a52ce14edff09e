"""A scenario: a program to start, and steps to take with it. Plain values, read by yaml_file.py."""

import os
from dataclasses import dataclass
from typing import Any

from nacre.testing.screens.checks import Check
from nacre.testing.screens.masks import Mask

# The words of steps, each with what it does; docs/testing.md says the same at length.
STEP_WORDS = (
    *("keys", "type", "paste", "mouse", "focus", "resize"),
    *("wait", "expect", "snapshot"),
)


@dataclass(frozen=True)
class ProgramStart:
    command: str
    args: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...] = ()
    rows: int = 24
    cols: int = 80


@dataclass(frozen=True)
class InputStep:
    """Type, press, click or resize: the name of a method of Pilot, and its arguments."""

    method: str
    args: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class CheckStep:
    """What must be true, at once or within the time: all of the checks."""

    checks: tuple[Check, ...]
    timeout: float | None = None


@dataclass(frozen=True)
class NewTextStep:
    """Wait for what is printed after the last input."""

    text: str
    timeout: float | None = None


@dataclass(frozen=True)
class IdleStep:
    seconds: float
    timeout: float | None = None


@dataclass(frozen=True)
class SnapshotStep:
    name: str
    masks: tuple[Mask, ...] = ()
    styled: bool = False
    timeout: float | None = None


Action = InputStep | CheckStep | NewTextStep | IdleStep | SnapshotStep


@dataclass(frozen=True)
class ScenarioStep:
    line: int
    label: str  # as it stands in the file, in short
    action: Action


@dataclass(frozen=True)
class Scenario:
    file: str
    line: int
    name: str
    start: ProgramStart
    steps: tuple[ScenarioStep, ...]
    masks: tuple[Mask, ...] = ()
    timeout: float | None = None
    retries: int | None = None

    @property
    def stem(self) -> str:
        """The name of its file, without its end."""
        return os.path.basename(self.file).rpartition(".")[0]

    @property
    def title(self) -> str:
        return f"{self.file}: {self.name}"
