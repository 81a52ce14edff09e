"""Subscriptions to changes of resources and of lists, and their notifications, in both eras.

Rule 1: sessions are followed only while somebody listens, with two streams for all listeners: one
for the list of sessions, one for changes of screens.
Rule 2: a subscription ends with its connection, and without a message with its session.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

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
from nacre.doors.mcp.library.subscriber import About, ChangedList, Subscriber, WatchedResource
from nacre.doors.mcp.resources import Resources
from nacre.doors.mcp.tools.selection import Selection
from nacre.doors.mcp.upstream.addresses import UpstreamAddress
from nacre.errors import LimitReached, NacreError
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.mcp")

_MOST_LISTENERS = 1024  # the SDK's own limit of listen streams


Context = ServerRequestContext[Any, Any]


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
        watched: WatchedResource,
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


async def _find(caller: Caller, resources: Resources, uri: str) -> WatchedResource:
    address = resources.parse(uri)
    if address.session is None:
        return WatchedResource(address, None)
    return WatchedResource(address, (await resources.find(caller, address)).session_id)
