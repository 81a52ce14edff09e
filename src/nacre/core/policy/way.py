"""The folders that a line goes through: where it is at each of its places.

Rule: a cd is believed to succeed. Where it may not have run at all, nobody knows the folder.
"""

from typing import NamedTuple

from nacre.core.policy.paths import Where
from nacre.core.policy.words import Program


class _Move(NamedTuple):
    begin: int
    until: int | None
    to: Where
    then: Where  # where it is behind `until`


class Way:
    def __init__(self, start: Where) -> None:
        self._start = start
        self._moves: list[_Move] = []

    def at(self, place: int) -> Where:
        where = self._start
        for move in self._moves:
            if move.begin <= place:
                inside = move.until is None or place <= move.until
                where = move.to if inside else move.then
        return where

    def follow(self, program: Program) -> None:
        """Go where a cd leads: what follows is relative to it."""
        before, reach = self.at(program.at), program.reach
        to = _moved(before, None if reach.repeats else _folder(program, before))
        then = before if reach.back else _moved(before, None)
        self._moves.append(_Move(program.at, reach.until, to, then))


def _folder(program: Program, where: Where) -> str | None:
    """Return where a cd leads to; None: nobody knows."""
    words = [word for word in program.arguments if word.text not in ("--", "-L")]
    if program.name == "popd" or any((word.text or "-")[0] in "-+" for word in words):
        return None
    if not words:
        return where.home if program.name == "cd" else None
    if len(words) > 1 or words[0].text is None or words[0].globs:
        return None
    return where.path(words[0].text, logical=True)


def _moved(where: Where, folder: str | None) -> Where:
    return Where(folder, where.home, where.workspace or where.folder, where.private, where.real)
