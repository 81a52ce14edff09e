"""Input on its way to a program, which seems to wait for it while it has not come yet.

Rule: the kernel hands input on when it comes to it: on a busy machine a program still waits for
milliseconds after a key that ends it, and what is typed next would be believed to be for it. Who
has read something has gone to wait once more since; of who has not, nobody knows what it will do.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

from nacre.services.session.session import Session
from nacre.system.processes.foreground import times_waited


class _Given(NamedTuple):
    pid: int
    waited: int | None


class UnreadInput:
    def __init__(self) -> None:
        self._given: WeakKeyDictionary[Session, _Given] = WeakKeyDictionary()

    def note(self, session: Session) -> None:
        """Something is about to be typed for the program that waits now."""
        facts = session.facts()
        if facts is None or facts.pid is None:
            self._given.pop(session, None)
        else:
            self._given[session] = _Given(facts.pid, times_waited(facts.pid))

    def is_left(self, session: Session) -> bool:
        """Return whether that program still waits as it did then; False if nobody can know."""
        given = self._given.get(session)
        if given is None or given.waited is None:
            return False
        if times_waited(given.pid) == given.waited:
            return True
        del self._given[session]
        return False
