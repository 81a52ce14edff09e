"""What people must know about the daemon itself: so far, that a crash would lose the sessions.

Rule: who listens is called whenever it may have changed.
"""

from collections.abc import Callable

from nacre.system.keeper.client import Keeping

_NO_KEEPER = (
    "the keeper is gone and could not be replaced: if the daemon crashes now, all sessions are lost"
)


class Warnings:
    def __init__(self, keeping: Keeping, *, keeper: bool) -> None:
        """`keeper`: the daemon is to have one."""
        self._keeping = keeping
        self._keeper = keeper
        self._listeners: list[Callable[[], None]] = []
        keeping.when_changed = self._changed

    def __call__(self) -> tuple[str, ...]:
        return (_NO_KEEPER,) if self._keeper and not self._keeping.alive else ()

    def add(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Callable[[], None]) -> None:
        self._listeners.remove(listener)

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()
