"""Use the mouse in a program, at a cell or at a text on its screen."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, operation
from nacre.core.catalog.limits import cut_at
from nacre.core.operations.apps.seeing import Ref
from nacre.core.operations.parameters import SessionRef
from nacre.core.operations.results import InputSent

MOST_STEPS = 100  # of the wheel in one call


class MouseUsed(InputSent, frozen=True, kw_only=True):
    row: int  # where
    col: int


@operation(
    "mouse",
    "POST /sessions/{session}/mouse",
    result=MouseUsed,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class UseMouse(Operation, frozen=True, kw_only=True):
    """Click, drag or scroll in a program that listens to the mouse: at a cell, text or ref."""

    session: SessionRef
    action: Annotated[
        Literal["click", "double_click", "drag", "scroll"], Meta(description="What to do.")
    ] = "click"
    ref: Ref | None = None
    text: (
        Annotated[str, Meta(min_length=1, description="Text on the screen, instead of a cell.")]
        | None
    ) = None
    row: Annotated[int, Meta(ge=0, description="Row, from zero.")] | None = None
    col: Annotated[int, Meta(ge=0, description="Column, from zero.")] | None = None
    to_ref: Ref | None = None
    to_text: Annotated[str, Meta(min_length=1, description="Where a drag ends.")] | None = None
    to_row: Annotated[int, Meta(ge=0, description="Row where a drag ends.")] | None = None
    to_col: Annotated[int, Meta(ge=0, description="Column where a drag ends.")] | None = None
    button: Annotated[
        Literal["left", "middle", "right"], Meta(description="Which one to press.")
    ] = "left"
    direction: Annotated[
        Literal["up", "down", "left", "right"], Meta(description="Where to scroll.")
    ] = "down"
    amount: Annotated[int, cut_at(MOST_STEPS, "Steps to scroll.", least=1)] = 3
    modifiers: Annotated[
        tuple[Literal["ctrl", "alt", "shift"], ...], Meta(description="Keys that are held.")
    ] = ()
