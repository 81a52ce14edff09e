"""Move the focus of a program to an element of its screen."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, operation
from nacre.core.operations.apps.seeing import Ref
from nacre.core.operations.parameters import SessionRef, TimeOut
from nacre.core.operations.results import InputSent


class FocusMoved(InputSent, frozen=True, kw_only=True):
    """The element has the focus, as the screen shows."""

    role: str
    text: str
    row: int
    col: int
    by: Literal["already", "mouse", "keys"]
    keys: list[str]  # that were pressed
    evidence: str  # by what the focus is told


@operation(
    "focus",
    "POST /sessions/{session}/focus",
    result=FocusMoved,
    scope=Scope.DRIVE,
    types=True,
)
class Focus(Operation, frozen=True, kw_only=True):
    """Move the focus to a field, button, entry or tab of a full-screen program: by ref or text.

    By a click where that only moves it, else by Tab and arrows, looking after each key. It chooses
    and presses nothing. If the screen does not show it there in the end, that is an error.
    """

    session: SessionRef
    ref: Ref | None = None
    text: (
        Annotated[str, Meta(min_length=1, description="Its text or label, instead of a ref.")]
        | None
    ) = None
    timeout_ms: TimeOut = 10_000
