"""The operation mouse: find the cell, and type the report that the program asked for.

Rule 1: a text that stands on the screen several times is no place: the caller says which.
Rule 2: a report is input like keys, and passes the same gate.
"""

from nacre.core.catalog.caller import Caller
from nacre.core.keys.pointing import PointerEvent, click, drag, scroll
from nacre.core.operations.apps.mouse import MouseUsed, UseMouse
from nacre.core.text.widths import text_width
from nacre.errors import BadParameter, InvalidInput
from nacre.services.apps.references import ElementReferences
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import type_into
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session

Cell = tuple[int, int]  # row and column

_MOST_PLACES = 10  # of a text that an error names


class Pointing:
    def __init__(self, registry: Registry, references: ElementReferences) -> None:
        self._registry = registry
        self._references = references

    def handlers(self) -> Handlers:
        return Handlers().on(UseMouse, self.use)

    async def use(self, caller: Caller, request: UseMouse) -> MouseUsed:
        """Raises InvalidInput for a program that does not listen, and for a place that is none."""
        session = self._registry.find(request.session)
        session.require_alive()
        if request.ref is not None:
            at = (await self._references.find(session, request.ref)).place
        else:
            names = ("text", "row", "col")
            at = find_cell(session, names, request.text, request.row, request.col)
        if not session.terminal.modes().mouse_tracking:
            raise InvalidInput(
                "the program does not listen to the mouse: it has turned no mouse mode on",
                "use keys instead",
            )
        to = None if request.action != "drag" else await self._end_of_drag(session, request)
        data = session.terminal.encode_pointer(_events(request, at, to))
        if not data:
            raise InvalidInput("the program listens to the mouse, but not to this", "use keys")
        generation = session.hand_out()
        await type_into(session, data)
        return MouseUsed(generation=generation, row=at[0], col=at[1])

    async def _end_of_drag(self, session: Session, request: UseMouse) -> Cell:
        if request.to_ref is not None:
            return (await self._references.find(session, request.to_ref)).place
        names = ("to_text", "to_row", "to_col")
        return find_cell(session, names, request.to_text, request.to_row, request.to_col)


def _events(request: UseMouse, at: Cell, to: Cell | None) -> list[PointerEvent]:
    held = frozenset(request.modifiers)
    if request.action == "scroll":
        return scroll(request.direction, at, request.amount, held)
    if to is not None:
        return drag(request.button, at, to, held)
    return click(request.button, at, 2 if request.action == "double_click" else 1, held)


def find_cell(
    session: Session,
    names: tuple[str, str, str],
    text: str | None,
    row: int | None,
    col: int | None,
) -> Cell:
    """Return the cell that parameters of these names mean. Raises BadParameter."""
    terminal = session.terminal
    if text is None:
        if row is None or col is None:
            raise BadParameter(names[1:], "are missing", f"give both, or {names[0]}")
        if row >= terminal.rows or col >= terminal.cols:
            size = f"{terminal.rows} rows and {terminal.cols} columns"
            raise BadParameter(names[1:], f"are not on the screen, which has {size}")
        return row, col
    found = places_of(text, terminal.plain_lines())
    if row is not None:
        found = [place for place in found if place[0] == row]
    if not found:
        raise BadParameter(names[0], f"{text!r} is not on the screen")
    if len(found) > 1:
        told = ", ".join(f"row {one[0]} col {one[1]}" for one in found[:_MOST_PLACES])
        raise BadParameter(
            names[0], f"{text!r} stands at {told}", "give row and col of one of them"
        )
    return found[0]


def places_of(text: str, lines: list[str]) -> list[Cell]:
    """Return each cell at which a text begins."""
    found: list[Cell] = []
    for row, line in enumerate(lines):
        at = line.find(text)
        while at >= 0:
            found.append((row, text_width(line[:at])))
            at = line.find(text, at + len(text))
    return found
