"""What happens in sessions, told to who follows them.

Rule: with nobody following, a happening costs one look at whether somebody does; so whoever tells
one passes what makes the event, not the event.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from nacre.core.events import Change, Event, SessionEvent, Summary

if TYPE_CHECKING:
    from nacre.services.session import Session


class Listener(Protocol):
    kinds: frozenset[str]

    def happened(self, kind: str, session: "Session", event: Event) -> None: ...


class Events:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self.summarise: Callable[[Session], Summary] | None = None  # set by who puts us together

    def add(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    def wanted(self, kind: str) -> bool:
        return any(kind in listener.kinds for listener in self._listeners)

    def tell(self, kind: str, session: "Session", make: Callable[[], Event]) -> None:
        event: Event | None = None
        for listener in list(self._listeners):
            if kind in listener.kinds:
                event = event or make()
                listener.happened(kind, session, event)

    def tell_change(self, session: "Session", change: Change) -> None:
        """Tell that a session came, went or is another than before.

        Nothing more of one that was removed: a kill ends the child only after that.
        """
        if not session.listed and change != "removed":
            return  # who follows has been told that it is gone

        def make() -> SessionEvent:
            summarise = None if change == "removed" else self.summarise
            return SessionEvent(change=change, details=summarise and summarise(session))

        self.tell("sessions", session, make)
