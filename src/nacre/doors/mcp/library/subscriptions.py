"""Subscriptions to changes of resources and of lists, and their notifications, in both eras.

Rule 1: sessions are followed only while somebody listens, with two streams for all listeners: one
for the list of sessions, one for changes of screens.
Rule 2: a listener is notified of a resource at most once per interval, and a pending notification
is kept once: a client that does not read costs a few names, not a queue.
Rule 3: a subscription ends with its connection, and without a message with its session.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.follow import (
    ChangedEvent,
    Event,
    Follow,
    Kind,
    LaggedEvent,
    SessionEvent,
)
from nacre.doors.mcp.resources import ResourceAddress, Resources
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.upstream.addresses import UpstreamAddress
from nacre.errors import LimitReached, NacreError
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.mcp")

_MOST_LISTENERS = 1024  # the SDK's own limit of listen streams

_LIST_CHANGING = ("created", "renamed", "removed")


class ChangedList(Enum):
    RESOURCES = "resources"
    TOOLS = "tools"
    PROMPTS = "prompts"


# What a notification is about: a resource's URI, or a list.
About = str | ChangedList
Tell = Callable[[About], Awaitable[None]]
Context = ServerRequestContext[Any, Any]


class _Watched:
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
        self.resources: dict[str, _Watched] = {}
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

    def put(self, uri: str, watched: _Watched) -> None:
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


class _Follower:
    """A stream of one kind of event, open while somebody needs it."""

    def __init__(
        self, dispatch: Dispatch, kind: Kind, interval: float, hear: Callable[[Event], None]
    ) -> None:
        self._dispatch = dispatch
        self._request = Follow(events=[kind], interval_ms=round(interval * 1000))
        self._kind = kind
        self._hear = hear
        self._task: asyncio.Task[None] | None = None
        self._following = asyncio.Event()  # of this task

    async def start(self) -> None:
        """Return when the stream is open, so that no event is missed."""
        if self._task is None or self._task.done():
            self._following = asyncio.Event()
            follow = self._follow(self._following)
            self._task = asyncio.create_task(follow, name=f"mcp-{self._kind}")
        await self._following.wait()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _follow(self, following: asyncio.Event) -> None:
        caller = Caller(door="mcp", scope=Scope.OBSERVE, client="subscriptions")
        try:
            async with self._dispatch.follow(caller, self._request) as stream:
                async for event in stream:
                    if isinstance(event, ChangedEvent | SessionEvent | LaggedEvent):
                        self._hear(event)
                    following.set()  # the first event is the state at the start
        except Exception:  # noqa: BLE001  # outermost loop of a task: logged, the clients continue
            _log.exception("sessions are not followed any more")
        finally:
            following.set()


class Subscriptions:
    """The listeners of one daemon, over all transports and selections."""

    def __init__(self, dispatch: Dispatch, settings: Settings) -> None:
        self._settings = settings
        self._listeners: set[Subscriber] = set()
        self._releasing: set[asyncio.Task[None]] = set()
        interval = settings.notify_interval
        self._sessions = _Follower(dispatch, "sessions", interval, self._hear)
        self._changes = _Follower(dispatch, "changes", interval, self._hear)

    def _hear(self, event: Event) -> None:
        for listener in self._listeners:
            listener.hear(event)
        self._rest()

    async def add(self, listener: Subscriber) -> None:
        """Add a listener, which gets all events from now on. Raises LimitReached."""
        if listener not in self._listeners and len(self._listeners) >= _MOST_LISTENERS:
            raise LimitReached(f"{_MOST_LISTENERS} clients are already listening")
        self._listeners.add(listener)
        if listener.follows_sessions:
            await self._sessions.start()
        if listener.watches_screens:
            await self._changes.start()

    def discard(self, listener: Subscriber) -> None:
        self._listeners.discard(listener)
        listener.forget_servers()
        self._rest()

    def close(self) -> None:
        """End all listeners and streams."""
        for listener in self._listeners:
            listener.end()
        self._sessions.stop()
        self._changes.stop()

    def _rest(self) -> None:
        """Close the streams that nobody needs."""
        if not any(listener.follows_sessions for listener in self._listeners):
            self._sessions.stop()
        if not any(listener.watches_screens for listener in self._listeners):
            self._changes.stop()

    # --- the handshake era: subscriptions of a connection ----------------------------------

    async def subscribe(self, ctx: Context, caller: Caller, resources: Resources, uri: str) -> None:
        """Notify this connection when a resource changes.

        Raises InvalidInput for an unknown one, SessionNotFound, LimitReached.
        """
        watched = await _find(caller, resources, uri)
        listener = self._of_connection(ctx)
        await self._put(caller, resources, listener, uri, watched)
        listener.list_changes = True
        await self.add(listener)

    async def _put(
        self,
        caller: Caller,
        resources: Resources,
        listener: Subscriber,
        uri: str,
        watched: _Watched,
    ) -> None:
        """Raises LimitReached, and InvalidInput for a resource that its server tells nothing of."""
        known = uri in listener.resources
        listener.put(uri, watched)
        if watched.address.upstream is None or known:
            return
        listener.hear_updates(resources)
        listener.release = partial(self._release, caller, resources)
        try:
            await resources.watch(caller, watched.address.upstream)
        except BaseException:
            listener.resources.pop(uri, None)
            raise

    def _release(self, caller: Caller, resources: Resources, address: UpstreamAddress) -> None:
        async def unwatch() -> None:
            with suppress(NacreError):  # the server is gone, or its table is another one
                await resources.watch(caller, address, watch=False)

        task = asyncio.create_task(unwatch(), name="mcp-unwatch")
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    def unsubscribe(self, ctx: Context, uri: str) -> None:
        self._of_connection(ctx).remove(uri)
        self._rest()

    async def expect_list(self, ctx: Context, selection: Selection) -> None:
        """Notify this connection when the list of resources, which it is about to get, changes.

        A client that has never read the list is not notified: it could not use that.
        """
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            listener = self._of_connection(ctx)
            listener.list_changes = True
            listener.hear_list(selection, ChangedList.RESOURCES)
            with suppress(LimitReached):  # the list itself can still be read
                await self.add(listener)

    async def expect_prompts(self, ctx: Context, selection: Selection) -> None:
        """Notify this connection when the list of prompts, which it is about to get, changes."""
        if selection.upstream is not None and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            listener = self._of_connection(ctx)
            listener.hear_list(selection, ChangedList.PROMPTS)
            with suppress(LimitReached):
                await self.add(listener)

    async def expect_tools(self, ctx: Context, selection: Selection) -> None:
        """Notify this connection when the list of tools, which it is about to get, changes."""
        if selection.changes and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            listener = self._of_connection(ctx)
            listener.hear_tools(selection)
            with suppress(LimitReached):
                await self.add(listener)

    def _of_connection(self, ctx: Context) -> Subscriber:
        connection = ctx.session._connection  # the SDK gives handlers no other access to it
        listener = connection.state.get("nacre.listener")
        if listener is None:
            listener = Subscriber(self._settings, list_changes=False)
            connection.state["nacre.listener"] = listener

            async def tell(about: About) -> None:
                if isinstance(about, ChangedList):
                    method = f"notifications/{about.value}/list_changed"
                    await connection.outbound.notify(method, None)
                else:
                    method = "notifications/resources/updated"
                    await connection.outbound.notify(method, {"uri": about})

            telling = asyncio.create_task(listener.deliver(tell), name="mcp-updates")

            def left() -> None:
                telling.cancel()
                self.discard(listener)

            connection.exit_stack.callback(left)
        assert isinstance(listener, Subscriber)
        return listener

    # --- the 2026 revision: a request whose answer is the stream ---------------------------

    async def listen(
        self,
        ctx: Context,
        caller: Caller,
        resources: Resources,
        wanted: types.SubscriptionFilter,
        selection: Selection,
    ) -> types.SubscriptionsListenResult:
        """Answer subscriptions/listen: acknowledge what is supported, then send changes.

        Raises LimitReached.
        """
        lists = wanted.resources_list_changed is True
        tools = wanted.tools_list_changed is True and selection.changes
        prompts = wanted.prompts_list_changed is True and selection.upstream is not None
        listener = Subscriber(self._settings, list_changes=lists)
        for uri in wanted.resource_subscriptions or ():
            try:
                watched = await _find(caller, resources, uri)
                await self._put(caller, resources, listener, uri, watched)
            except LimitReached:
                raise
            except NacreError:
                continue  # it is left out of the acknowledgment
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        honoured = types.SubscriptionFilter(
            tools_list_changed=tools or None,
            prompts_list_changed=prompts or None,
            resources_list_changed=listener.list_changes or None,
            resource_subscriptions=list(listener.resources) or None,
        )

        async def send(notification: types.ServerNotification) -> None:
            await ctx.session.send_notification(notification, related_request_id=ctx.request_id)

        async def tell(about: About) -> None:
            if isinstance(about, ChangedList):
                kind = _CHANGED[about]
                await send(kind(params=types.NotificationParams(_meta=meta)))
            else:
                updated = types.ResourceUpdatedNotificationParams(uri=about, _meta=meta)
                await send(types.ResourceUpdatedNotification(params=updated))

        if tools:
            listener.hear_tools(selection)
        if prompts:
            listener.hear_list(selection, ChangedList.PROMPTS)
        if lists:
            listener.hear_list(selection, ChangedList.RESOURCES)
        try:
            await self.add(listener)
            acknowledged = types.SubscriptionsAcknowledgedNotificationParams(
                notifications=honoured, _meta=meta
            )
            await send(types.SubscriptionsAcknowledgedNotification(params=acknowledged))
            await listener.deliver(tell)
        finally:
            self.discard(listener)
        return types.SubscriptionsListenResult(_meta=meta)


_CHANGED: dict[
    ChangedList,
    type[types.ToolListChangedNotification]
    | type[types.PromptListChangedNotification]
    | type[types.ResourceListChangedNotification],
] = {
    ChangedList.PROMPTS: types.PromptListChangedNotification,
    ChangedList.TOOLS: types.ToolListChangedNotification,
    ChangedList.RESOURCES: types.ResourceListChangedNotification,
}


async def _find(caller: Caller, resources: Resources, uri: str) -> _Watched:
    address = resources.parse(uri)
    if address.session is None:
        return _Watched(address, None)
    return _Watched(address, (await resources.find(caller, address)).session_id)
