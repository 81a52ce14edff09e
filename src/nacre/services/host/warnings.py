"""What people must know about the daemon itself: a crash would lose the sessions, no audit.

Rule: who listens is called whenever it may have changed.
"""

from collections.abc import Callable

from nacre.system.keeper.client import Keeping

_NO_KEEPER = (
    "the keeper is gone and could not be replaced: if the daemon crashes now, all sessions are lost"
)


class Warnings:
    def __init__(
        self,
        keeping: Keeping,
        *,
        keeper: bool,
        more: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """`keeper`: the daemon is to have one; `more` is what others have to say."""
        self._keeping = keeping
        self._more = more
        self._keeper = keeper
        self._listeners: list[Callable[[], None]] = []
        keeping.when_changed = self._changed

    def __call__(self) -> tuple[str, ...]:
        alone = self._keeper and not self._keeping.alive
        return (*((_NO_KEEPER,) if alone else ()), *self._more())

    def add(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Callable[[], None]) -> None:
        self._listeners.remove(listener)

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()
