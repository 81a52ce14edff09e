"""What a mouse does at a cell; the engine encodes it as the program asked (terminal/pointer.py)."""

from typing import Literal, NamedTuple

Button = Literal["left", "middle", "right", "wheel_up", "wheel_down", "wheel_left", "wheel_right"]


class PointerEvent(NamedTuple):
    action: Literal["press", "release", "move"]
    button: Button | None
    row: int
    col: int
    modifiers: frozenset[str] = frozenset()  # of ctrl, alt, shift


def click(
    button: Button, at: tuple[int, int], times: int, held: frozenset[str]
) -> list[PointerEvent]:
    """Return presses and releases at a row and column."""
    return [
        PointerEvent("press", button, *at, held),
        PointerEvent("release", button, *at, held),
    ] * times


def drag(
    button: Button, at: tuple[int, int], to: tuple[int, int], held: frozenset[str]
) -> list[PointerEvent]:
    """Return a press, a move through each cell of a straight line, and a release."""
    steps = max(abs(to[0] - at[0]), abs(to[1] - at[1]), 1)
    path = [
        (
            round(at[0] + (to[0] - at[0]) * step / steps),
            round(at[1] + (to[1] - at[1]) * step / steps),
        )
        for step in range(1, steps + 1)
    ]
    return [
        PointerEvent("press", button, *at, held),
        *(PointerEvent("move", button, *cell, held) for cell in path),
        PointerEvent("release", button, *to, held),
    ]


def scroll(
    direction: Literal["up", "down", "left", "right"],
    at: tuple[int, int],
    amount: int,
    held: frozenset[str],
) -> list[PointerEvent]:
    """Return steps of the wheel: presses without a release."""
    button: Button = f"wheel_{direction}"  # type: ignore[assignment]  # one of the four
    return [PointerEvent("press", button, *at, held)] * amount
