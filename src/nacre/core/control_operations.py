"""Who drives a session: a person may take it over for a while, and give it back."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, Result, operation
from nacre.core.parameters import SessionRef


class CommandRun(Result, frozen=True, kw_only=True):
    """A command of a person, as the shell's marks tell it."""

    command: str
    exit_code: int | None  # None: it has not ended, or nobody knows


class Handover(Result, frozen=True, kw_only=True):
    """What a person did with a session while they drove it."""

    driver: str
    seconds: float
    keys: int  # bytes typed
    commands: list[CommandRun]
    generation_before: int
    generation_after: int
    last_line: str

    def in_words(self, session: str) -> str:
        """Say it to an agent whose turn it is again."""
        ran = ", ".join(_told(one) for one in self.commands) or "none that the shell reported"
        return (
            f"A person ({self.driver}) drove session {session!r} for {self.seconds:.0f} s and gave "
            f"it back: {self.keys} bytes typed, commands: {ran}. The screen may have changed since "
            f"generation {self.generation_before} (now {self.generation_after}); read it before "
            f"you go on. Its last line: {self.last_line!r}"
        )


def _told(one: CommandRun) -> str:
    return (
        f"{one.command!r}" if one.exit_code is None else f"{one.command!r} (exit {one.exit_code})"
    )


class ControlNow(Result, frozen=True, kw_only=True, omit_defaults=True):
    driver: str | None  # who drives alone; None: everybody may type
    yours: bool
    since: float | None = None  # seconds since the epoch
    handover: Handover | None = None  # of the last time that a person gave it back


@operation(
    "control",
    "POST /sessions/{session}/control",
    result=ControlNow,
    scope=Scope.DRIVE,
    idempotent=True,
)
class Control(Operation, frozen=True, kw_only=True):
    """Tell who drives a session; a person who watches it takes it over, or gives it back.

    While a person drives, what others type waits, and fails with CONTROL_HELD in the end.
    """

    session: SessionRef
    action: (
        Annotated[Literal["take", "give"], Meta(description="Omit to be told who drives.")] | None
    ) = None
