"""The references of snapshots: which element a caller means, and where it is now.

Rule 1: a reference belongs to the last snapshot of its session. If the screen has changed since, it
still means the element of the same kind and text, if there is exactly one.
Rule 2: otherwise the caller is told to look again: a click elsewhere would be worse than none.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.elements import Element
from nacre.core.seeing.snapshot import find_elements
from nacre.errors import BadParameter, LimitReached
from nacre.services.host.host import Host
from nacre.services.session.session import Session
from nacre.wording import Use


class _Taken(NamedTuple):
    generation: int
    elements: dict[str, Element]


class ElementReferences:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._taken: WeakKeyDictionary[Session, _Taken] = WeakKeyDictionary()

    async def look(self, session: Session) -> tuple[int, ScreenCells, list[Element]]:
        """Return the generation, the cells and the elements of the screen as it is now.

        A thread finds them: it takes some milliseconds.
        """
        self.check_size(session)
        generation, cells = session.hand_out(), session.terminal.screen_cells()
        found = await self._host.loop.run_in_executor(None, find_elements, cells)
        return generation, cells, found

    def check_size(self, session: Session) -> None:
        """Raises LimitReached for a screen that would take too long."""
        rows, cols = session.terminal.rows, session.terminal.cols
        most = self._host.settings.max_snapshot_cells
        if rows * cols > most:
            raise LimitReached(
                f"a screen of {rows} rows and {cols} columns has more than {most} cells "
                "(max_snapshot_cells)",
                "resize the session",
            )

    def note(self, session: Session, generation: int, elements: list[Element]) -> None:
        """Remember what a caller was told."""
        self._taken[session] = _Taken(generation, {one.ref: one for one in elements})

    def known(self, session: Session) -> list[Element]:
        """Return what the last snapshot had."""
        taken = self._taken.get(session)
        return list(taken.elements.values()) if taken is not None else []

    async def find(self, session: Session, ref: str) -> Element:
        """Return the element where it is now. Raises BadParameter if that is not sure."""
        again = Use("snapshot", "take one", {"session": session.identity.name})
        taken = self._taken.get(session)
        if taken is None:
            raise BadParameter("ref", f"{ref!r} is of no snapshot of this session", again)
        known = taken.elements.get(ref)
        if known is None:
            raise BadParameter("ref", f"{ref!r} is not in the last snapshot", again)
        if session.generation == taken.generation:
            return known
        _generation, _cells, now = await self.look(session)
        same = [one for one in now if (one.role, one.text) == (known.role, known.text)]
        if not same:
            raise BadParameter(
                "ref", f"{ref!r} ({known.role} {known.text!r}) is no longer on the screen", again
            )
        there = [one for one in same if (one.row, one.col) == (known.row, known.col)]
        if len(same) > 1 and not there:
            raise BadParameter(
                "ref",
                f"{ref!r} ({known.role} {known.text!r}) is now on the screen {len(same)} times",
                again,
            )
        return there[0] if there else same[0]
