"""Who listens to resources: what is followed for them, what they are told, and when that ends."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client

from conftest import PATIENCE
from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import (
    ChangedEvent,
    Event,
    Follow,
    LaggedEvent,
    SessionEvent,
    Summary,
    SyncAll,
)
from nacre.core.operations.results import SessionDetails, SessionList
from nacre.core.operations.sessions import ListSessions
from nacre.doors.mcp.library.rounds import HeldCalls
from nacre.doors.mcp.library.server import build_server
from nacre.doors.mcp.library.subscriber import About, ChangedList, Subscriber, WatchedResource
from nacre.doors.mcp.library.subscriptions import Subscriptions
from nacre.doors.mcp.resources import ResourceAddress, Resources
from nacre.doors.mcp.tools.selection import Selection
from nacre.errors import LimitReached, SessionNotFound
from nacre.settings.table import Settings

from services.clock import advance, with_still_clock

pytestmark = pytest.mark.anyio


def details(name: str, session_id: str, port: int) -> dict[str, Any]:
    return {
        "name": name,
        "session_id": session_id,
        "port": port,
        "pid": 1,
        "command": "cat",
        "shell": "",
        "cwd": "/",
        "rows": 24,
        "cols": 80,
        "running": True,
        "alive": True,
        "exit_code": None,
        "signal": None,
        "idle_seconds": 0,
        "created": 0.0,
        "generation": 1,
        "title": "",
        "mode": "normal",
        "keep": False,
        "tags": [],
        "state": "running",
        "asks": None,
    }


DEV = details("dev", "aaaaaaaa", 20000)


class FakeDispatch:
    """One session, and streams of events that a test feeds."""

    def __init__(self) -> None:
        self.open: Counter[str] = Counter()
        self.opened = 0
        self.intervals: set[int] = set()  # that events were asked for in
        self.breaks = False
        self._streams: dict[str, asyncio.Queue[Event | None]] = {}

    async def __call__(self, caller: Caller, operation: Any) -> Any:
        assert isinstance(operation, ListSessions)
        if operation.session is None:
            return SessionList(sessions=[SessionDetails(**DEV)])
        if str(operation.session) not in ("dev", "aaaaaaaa", "20000"):
            raise SessionNotFound("no such session")
        return SessionDetails(**DEV)

    @asynccontextmanager
    async def follow(self, caller: Caller, request: Follow) -> AsyncIterator[Any]:
        if self.breaks:
            raise RuntimeError("cannot be followed")
        [kind] = request.events
        self.open[kind] += 1
        self.opened += 1
        self.intervals.add(request.interval_ms)
        queue = self._streams[kind] = asyncio.Queue()

        async def events() -> AsyncIterator[Event]:
            yield SyncAll(sessions=[])
            while (event := await queue.get()) is not None:
                yield event

        try:
            yield events()
        finally:
            self.open[kind] -= 1

    def changed(self) -> None:
        event = ChangedEvent(session="dev", session_id="aaaaaaaa", generation=2)
        self._streams["changes"].put_nowait(event)

    def happened(self, change: Any, **now: Any) -> None:
        summary = Summary(**{**DEV, **now}, last_line="")
        event = SessionEvent(session="dev", session_id="aaaaaaaa", change=change, details=summary)
        self._streams["sessions"].put_nowait(event)

    def lost(self) -> None:
        self._streams["sessions"].put_nowait(LaggedEvent(dropped=5))

    def followed(self) -> set[str]:
        return {kind for kind, count in self.open.items() if count}


@pytest.fixture
def dispatch() -> FakeDispatch:
    return FakeDispatch()


@pytest.fixture
def subscriptions(dispatch: FakeDispatch) -> Subscriptions:
    return Subscriptions(dispatch, Settings())  # type: ignore[arg-type]  # what it needs of one


def listener(
    *uris: str, lists: bool = False, session: str = "dev", interval: float = 0.1
) -> Subscriber:
    made = Subscriber(Settings(notify_interval=interval), list_changes=lists)
    for uri in uris:
        watched = WatchedResource(ResourceAddress(), None)
        if uri != "list":
            watched = WatchedResource(ResourceAddress(session, "screen"), "aaaaaaaa")
        made.resources[uri] = watched
    return made


class Told:
    """What a listener is told, one by one."""

    def __init__(self, heard: Subscriber) -> None:
        self._told: asyncio.Queue[About] = asyncio.Queue()
        self.task = asyncio.create_task(heard.deliver(self._told.put))

    async def next(self) -> About:
        with anyio.fail_after(PATIENCE):
            return await self._told.get()


async def turns() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_sessions_are_followed_only_while_somebody_listens(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    assert dispatch.followed() == set()
    lists, screens, more = listener("list"), listener("screen"), listener("screen")
    await subscriptions.add(lists)
    assert dispatch.followed() == {"sessions"}
    await subscriptions.add(screens)
    await subscriptions.add(more)
    assert dispatch.followed() == {"sessions", "changes"}
    assert dispatch.opened == 2, "one stream for all of them"
    subscriptions.discard(screens)
    await turns()
    assert dispatch.followed() == {"sessions", "changes"}
    subscriptions.discard(more)
    await turns()
    assert dispatch.followed() == {"sessions"}
    subscriptions.discard(lists)
    await turns()
    assert dispatch.followed() == set()
    await subscriptions.add(lists)
    assert dispatch.followed() == {"sessions"}
    subscriptions.close()
    await turns()
    assert dispatch.followed() == set()


async def test_who_leaves_and_comes_at_once_misses_nothing(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    first, second = listener("screen"), listener("screen")
    await subscriptions.add(first)
    subscriptions.discard(first)
    await subscriptions.add(second)
    told = Told(second)
    dispatch.changed()
    assert await told.next() == "screen"
    subscriptions.close()
    await told.task


async def test_when_a_session_goes_its_screens_are_followed_no_more(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    one = listener("screen", "list", lists=True)
    await subscriptions.add(one)
    told = Told(one)
    dispatch.happened("removed")
    assert {await told.next(), await told.next()} == {"list", ChangedList.RESOURCES}
    await turns()
    assert set(one.resources) == {"list"}
    assert dispatch.followed() == {"sessions"}
    subscriptions.close()
    await told.task


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("created", {"list", ChangedList.RESOURCES}),
        ("renamed", {"list", ChangedList.RESOURCES}),
        ("ended", {"list", "screen"}),
        ("restarted", {"list", "screen"}),
        ("resized", {"list", "screen"}),
        ("notice", {"list"}),
    ],
)
async def test_what_a_change_of_a_session_means(change: str, expected: set[About]) -> None:
    one = listener("screen", "list", lists=True)
    summary = Summary(**DEV, last_line="")
    one.hear(
        SessionEvent(session="dev", session_id="aaaaaaaa", change=change, details=summary)  # type: ignore[arg-type]  # parametrised
    )
    one.end()
    told: list[About] = []

    async def tell(uri: About) -> None:
        told.append(uri)

    await one.deliver(tell)
    assert set(told) == expected
    assert len(told) == len(expected)


@pytest.mark.parametrize(
    ("session", "stays"), [("dev", False), ("aaaaaaaa", True), ("20000", True)]
)
async def test_a_rename_ends_what_was_called_by_the_name(session: str, stays: bool) -> None:
    one = listener("screen", session=session)
    now = Summary(**{**DEV, "name": "other"}, last_line="")
    one.hear(SessionEvent(session="other", session_id="aaaaaaaa", change="renamed", details=now))
    assert bool(one.resources) is stays


async def test_after_lost_events_everything_is_told(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    one = listener("screen", "list", lists=True)
    await subscriptions.add(one)
    told = Told(one)
    dispatch.lost()
    assert {await told.next() for _ in range(3)} == {"screen", "list", ChangedList.RESOURCES}
    subscriptions.close()
    await told.task


async def test_a_client_that_does_not_read_is_told_once(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    one = listener("screen")
    await subscriptions.add(one)
    reads = asyncio.Event()
    told: list[About] = []

    async def tell(uri: About) -> None:
        await reads.wait()
        told.append(uri)

    task = asyncio.create_task(one.deliver(tell))
    for _ in range(1000):
        dispatch.changed()
    await turns()
    reads.set()
    subscriptions.close()
    await task
    assert len(told) <= 2


async def test_changes_within_the_interval_are_told_together(
    dispatch: FakeDispatch, subscriptions: Subscriptions
) -> None:
    one = listener("screen")
    await subscriptions.add(one)
    told = Told(one)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    dispatch.changed()
    assert await told.next() == "screen"
    for _ in range(10):
        dispatch.changed()
    assert await told.next() == "screen"
    assert loop.time() - begun >= Settings().notify_interval
    subscriptions.close()
    await told.task


def test_a_listener_is_told_as_often_as_the_setting_says() -> None:
    async def test() -> None:
        one = listener("screen", interval=60)
        told: asyncio.Queue[About] = asyncio.Queue()
        telling = asyncio.create_task(one.deliver(told.put))
        for _ in range(2):
            one.hear(ChangedEvent(session_id="aaaaaaaa", generation=1))
            await advance(30)
            assert told.qsize() == 1
        await advance(30)
        assert told.qsize() == 2
        one.end()
        await advance(60)
        await telling

    with_still_clock(test)


async def test_screens_are_followed_as_often_as_the_setting_says(dispatch: FakeDispatch) -> None:
    settings = Settings(notify_interval=2.5)
    subscriptions = Subscriptions(dispatch, settings)  # type: ignore[arg-type]  # as above
    await subscriptions.add(listener("screen"))
    assert dispatch.intervals == {2500}
    subscriptions.close()
    await turns()


async def test_a_client_that_is_gone_ends_its_telling() -> None:
    one = listener("screen")
    one.hear(ChangedEvent(session_id="aaaaaaaa", generation=1))

    async def tell(uri: About) -> None:
        raise ConnectionResetError

    with anyio.fail_after(PATIENCE):
        await one.deliver(tell)


async def test_listeners_are_bounded(
    subscriptions: Subscriptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.doors.mcp.library.subscriptions._MOST_LISTENERS", 1)
    first = listener("list")
    await subscriptions.add(first)
    await subscriptions.add(first)
    with pytest.raises(LimitReached):
        await subscriptions.add(listener("list"))
    subscriptions.close()


async def test_a_stream_that_breaks_is_logged_and_tried_again(
    dispatch: FakeDispatch, subscriptions: Subscriptions, caplog: pytest.LogCaptureFixture
) -> None:
    dispatch.breaks = True
    one = listener("list")
    await subscriptions.add(one)
    assert "cannot be followed" in caplog.text
    dispatch.breaks = False
    await subscriptions.add(one)
    assert dispatch.followed() == {"sessions"}
    subscriptions.close()


# --- with the SDK's client beside it -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_subscription_ends_with_its_connection(
    dispatch: FakeDispatch, subscriptions: Subscriptions, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.doors.mcp.library.offered.caller_of", lambda ctx: Caller(door="mcp"))
    server = build_server(
        dispatch,  # type: ignore[arg-type]
        subscriptions,
        Selection(("terminal",)),
        Settings(),
        HeldCalls(1, 1.0),
    )
    uri = "nacre://sessions/20000/screen"
    async with Client(server, mode=mode) as client:
        assert dispatch.followed() == set()
        if mode == "legacy":
            await client.session.subscribe_resource(uri)
            assert dispatch.followed() == {"sessions", "changes"}
        else:
            async with client.listen(resource_subscriptions=[uri]) as subscription:
                assert dispatch.followed() == {"sessions", "changes"}
                dispatch.changed()
                with anyio.fail_after(PATIENCE):
                    await anext(subscription)
            with anyio.fail_after(PATIENCE):
                while dispatch.followed():
                    await anyio.lowlevel.checkpoint()
    await turns()
    assert dispatch.followed() == set()


async def test_resources_are_found_by_any_reference(dispatch: FakeDispatch) -> None:
    resources = Resources(dispatch, "")  # type: ignore[arg-type]
    for reference in ("dev", "aaaaaaaa", "20000"):
        address = resources.parse(f"nacre://sessions/{reference}/scrollback")
        assert address == ResourceAddress(reference, "scrollback")
        assert (await resources.find(Caller(door="mcp"), address)).session_id == "aaaaaaaa"
