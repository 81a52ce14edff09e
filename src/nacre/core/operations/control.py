"""Who drives a session: a person can take it over for a while and give it back."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation
from nacre.core.operations.parameters import SessionRef
from nacre.core.text.budget import json_size, shortened

_LONGEST = 200  # characters of a command or line that an agent is told of
_NAMES = 100  # characters of the session's name around it


class CommandRun(Result, frozen=True, kw_only=True):
    """A command that a person ran, as the shell's marks report it."""

    command: str
    exit_code: int | None  # None: it has not ended, or it is unknown


class Handover(Result, frozen=True, kw_only=True):
    """What a person did with a session while they drove it."""

    driver: str
    seconds: float
    keys: int  # bytes typed
    generation_before: int
    generation_after: int
    omitted_commands: int = 0  # earlier ones that there was no room for
    last_line: str
    dropped: int = 0  # bytes that others had sent, and the program had not taken yet
    commands: list[CommandRun]

    def within(self, budget: int) -> "Handover":
        """Return it so short that it is within the budget, as JSON and in words."""
        commands = [replace(one, command=shortened(one.command, _LONGEST)) for one in self.commands]
        short = replace(self, last_line=shortened(self.last_line, _LONGEST), commands=commands)
        while short.commands and max(json_size(short), len(short.in_words(""))) > budget - _NAMES:
            fewer = short.commands[1:]
            omitted = self.omitted_commands + len(commands) - len(fewer)
            short = replace(short, commands=fewer, omitted_commands=omitted)
        return short

    def in_words(self, session: str) -> str:
        """Return it as text for the agent that drives next."""
        ran = ", ".join(_told(one) for one in self.commands) or "none that the shell reported"
        if self.omitted_commands:
            ran = f"{self.omitted_commands} more, then {ran}"
        lost = ""
        if self.dropped:
            lost = (
                f" {self.dropped} bytes that were sent before, and that the program had not read "
                "yet, were dropped."
            )
        return (
            f"A person ({self.driver}) drove session {session!r} for {self.seconds:.0f} s and gave "
            f"it back: {self.keys} bytes typed, commands: {ran}. The screen may have changed since "
            f"generation {self.generation_before} (now {self.generation_after}); read it before "
            f"you continue.{lost} Its last line: {self.last_line!r}"
        )


def _told(one: CommandRun) -> str:
    return (
        f"{one.command!r}" if one.exit_code is None else f"{one.command!r} (exit {one.exit_code})"
    )


class ControlNow(Result, frozen=True, kw_only=True, omit_defaults=True):
    driver: str | None  # the person who drives; None: everyone may type
    yours: bool
    since: float | None = None  # seconds since the epoch
    waiting_since: float | None = None  # since when others wait to type; None: nobody does
    handover: Handover | None = None  # from the last time that a person gave it back


@operation(
    "control",
    "POST /sessions/{session}/control",
    result=ControlNow,
    scope=Scope.DRIVE,
    idempotent=True,
)
class Control(Operation, frozen=True, kw_only=True):
    """Get who drives a session. A person who watches it can take it over and give it back.

    While a person drives, input from others waits, and fails with CONTROL_HELD after a while.
    """

    session: SessionRef
    action: (
        Annotated[Literal["take", "give"], Meta(description="Omit to get who drives.")] | None
    ) = None
