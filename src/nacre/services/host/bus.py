"""The bus that brings events of sessions to followers, and their ends to services.

Rule: without followers an event costs only the check for followers. So the sender passes a function
that makes the event, not the event itself.
"""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from nacre.core.operations.follow import Change, Event, SessionEvent, Summary

# Sends an event of one session: its kind, and the function that makes it if somebody wants it.
Tell = Callable[[str, Callable[[], Event]], None]


class Subject(Protocol):
    """What events are about: a session."""

    @property
    def listed(self) -> bool: ...


SubjectT = TypeVar("SubjectT", bound=Subject)
HeardT = TypeVar("HeardT", bound=Subject, contravariant=True)


class Listener(Protocol[HeardT]):
    kinds: frozenset[str]

    def happened(self, kind: str, session: HeardT | None, event: Event) -> None:
        """Take an event; without a session it is about all of them."""


class Events(Generic[SubjectT]):
    """`summarise` describes a session, for events that say that it came or has changed."""

    def __init__(self, summarise: Callable[[SubjectT], Summary] | None = None) -> None:
        self._listeners: list[Listener[SubjectT]] = []
        self._on_end: list[Callable[[], None]] = []
        self._summarise = summarise

    def on_end(self, call: Callable[[], None]) -> None:
        """Call this from now on whenever the child of a session has ended, listed or not.

        For services, which subscribe when they are built and stay: they are called in that order.
        """
        self._on_end.append(call)

    def tell_end(self) -> None:
        for call in self._on_end:
            call()

    def add(self, listener: Listener[SubjectT]) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Listener[SubjectT]) -> None:
        self._listeners.remove(listener)

    def wanted(self, kind: str) -> bool:
        return any(kind in listener.kinds for listener in self._listeners)

    def tell(self, kind: str, session: SubjectT | None, make: Callable[[], Event]) -> None:
        event: Event | None = None
        for listener in list(self._listeners):
            if kind in listener.kinds:
                event = event or make()
                listener.happened(kind, session, event)

    def tell_change(self, session: SubjectT, change: Change) -> None:
        """Send that a session came, went or has changed.

        Nothing more is sent about a removed session: a kill ends its child only afterwards.
        """
        if not session.listed and change != "removed":
            return  # followers know already that it is gone

        def make() -> SessionEvent:
            summarise = None if change == "removed" else self._summarise
            return SessionEvent(change=change, details=summarise and summarise(session))

        self.tell("sessions", session, make)
