"""One client that subscribed to changes: what it wants to hear of, and what it was not told yet.

Rule: a client is notified of a resource at most once per interval, and a pending notification is
kept once: a client that does not read costs a few names, not a queue.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum
from typing import Literal

from nacre.core.operations.follow import ChangedEvent, Event, SessionEvent
from nacre.doors.mcp.resources import ResourceAddress, Resources
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.upstream.addresses import UpstreamAddress
from nacre.errors import LimitReached
from nacre.settings.table import Settings

_LIST_CHANGING = ("created", "renamed", "removed")


class ChangedList(Enum):
    RESOURCES = "resources"
    TOOLS = "tools"
    PROMPTS = "prompts"


# What a notification is about: a resource's URI, or a list.
About = str | ChangedList
Tell = Callable[[About], Awaitable[None]]


class WatchedResource:
    """A resource that a listener subscribed to, by the URI it used."""

    __slots__ = ("address", "session_id")

    def __init__(self, address: ResourceAddress, session_id: str | None) -> None:
        self.address = address
        self.session_id = session_id  # None: the list of sessions, or a server's resource

    def is_renamed_by(self, event: SessionEvent) -> bool:
        """Return whether the address was a name that the session no longer has."""
        now = event.details
        return (
            event.session_id == self.session_id
            and now is not None
            and self.address.session not in (now.name, now.session_id, str(now.port))
        )

    def is_of_server(self, server: str, uri: str) -> bool:
        """Return whether it is this resource of a server behind us, or has it as a part."""
        named = self.address.upstream
        if named is None or named.server != server:
            return False
        return uri == named.uri or uri.startswith(named.uri.rstrip("/") + "/")


Release = Callable[[UpstreamAddress], None]


class Subscriber:
    """What one client subscribed to, and what has changed since its last notification."""

    def __init__(self, settings: Settings, *, list_changes: bool) -> None:
        self._settings = settings
        self.list_changes = list_changes
        self.resources: dict[str, WatchedResource] = {}
        self.release: Release | None = None  # ends that a server tells of a resource
        self._deaf: dict[object, Callable[[], None]] = {}  # ends what it hears of servers, by what
        self._untold: dict[About, None] = {}  # in order, each once
        self._woken = asyncio.Event()
        self._over = False

    @property
    def follows_sessions(self) -> bool:
        return self.list_changes or any(
            one.address.upstream is None for one in self.resources.values()
        )

    @property
    def watches_screens(self) -> bool:
        return any(one.session_id is not None for one in self.resources.values())

    def hear(self, event: Event) -> None:
        """Note what an event means for this client."""
        if isinstance(event, ChangedEvent):
            self._note(event.session_id)
        elif isinstance(event, SessionEvent):
            self._note(None)
            if event.change in _LIST_CHANGING:
                self._note_list()
            if event.change in ("ended", "restarted", "resized"):
                self._note(event.session_id)
            self._forget(event)
        else:  # events were dropped: anything may have changed
            self._note_list()
            for uri in self.resources:
                self._mark(uri)

    def _note(self, session_id: str | None) -> None:
        for uri, watched in self.resources.items():
            if watched.session_id == session_id and watched.address.upstream is None:
                self._mark(uri)

    def _note_list(self) -> None:
        if self.list_changes:
            self._mark(ChangedList.RESOURCES)

    def hear_tools(self, selection: Selection) -> None:
        """Note from now on when the tools of this selection have become others."""
        if ChangedList.TOOLS not in self._deaf:
            end = selection.on_change(lambda: self._mark(ChangedList.TOOLS))
            self._deaf[ChangedList.TOOLS] = end

    def hear_list(
        self, selection: Selection, changed: Literal[ChangedList.PROMPTS, ChangedList.RESOURCES]
    ) -> None:
        """Note from now on when servers behind us offer other prompts or resources."""
        if selection.upstream is not None and changed not in self._deaf:
            end = selection.upstream.on_change(lambda: self._mark(changed), changed.value)
            self._deaf[changed] = end

    def hear_updates(self, resources: Resources) -> None:
        """Note from now on when a server tells of a resource that this client subscribed to."""
        if About not in self._deaf:
            self._deaf[About] = resources.on_update(self._note_update)

    def _note_update(self, server: str, uri: str) -> None:
        for own, watched in self.resources.items():
            if watched.is_of_server(server, uri):
                self._mark(own)

    def _forget(self, event: SessionEvent) -> None:
        for uri, watched in list(self.resources.items()):
            gone = event.change == "removed" and event.session_id == watched.session_id
            if gone or (event.change == "renamed" and watched.is_renamed_by(event)):
                self.remove(uri)

    def _mark(self, about: About) -> None:
        self._untold[about] = None
        self._woken.set()

    def put(self, uri: str, watched: WatchedResource) -> None:
        """Raises LimitReached."""
        most = self._settings.max_watched_resources
        if uri not in self.resources and len(self.resources) >= most:
            raise LimitReached(
                f"one client can subscribe to {most} resources (max_watched_resources)"
            )
        self.resources[uri] = watched

    def remove(self, uri: str) -> None:
        watched = self.resources.pop(uri, None)
        self._untold.pop(uri, None)
        if (
            watched is not None
            and watched.address.upstream is not None
            and self.release is not None
        ):
            self.release(watched.address.upstream)

    def end(self) -> None:
        """Let `deliver` return after the pending notifications."""
        self.forget_servers()
        self._over = True
        self._woken.set()

    def forget_servers(self) -> None:
        """Hear no more of servers behind us, nor have them tell."""
        while self._deaf:
            self._deaf.popitem()[1]()
        for uri in [uri for uri, one in self.resources.items() if one.address.upstream is not None]:
            self.remove(uri)

    async def deliver(self, tell: Tell) -> None:
        """Send notifications until the end, or until the client is gone."""
        with suppress(ConnectionError):
            while not self._over or self._untold:
                await self._woken.wait()
                self._woken.clear()
                while self._untold:
                    about = next(iter(self._untold))
                    del self._untold[about]
                    await tell(about)
                if not self._over:
                    await asyncio.sleep(self._settings.notify_interval)
