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
        self._more = [more]
        self._keeper = keeper
        self._listeners: list[Callable[[], None]] = []
        keeping.when_changed = self.changed

    def __call__(self) -> tuple[str, ...]:
        alone = self._keeper and not self._keeping.alive
        return (*((_NO_KEEPER,) if alone else ()), *(one for more in self._more for one in more()))

    def add_source(self, more: Callable[[], tuple[str, ...]]) -> None:
        """Let another part say what it has to; it calls `changed` when that may have changed."""
        self._more.append(more)

    def add(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Callable[[], None]) -> None:
        self._listeners.remove(listener)

    def changed(self) -> None:
        for listener in list(self._listeners):
            listener()
