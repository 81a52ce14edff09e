"""Wrong tokens: many of them are answered late, and the right one never is."""

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from nacre.doors.http.credentials import Credentials
from nacre.doors.http.guard import Guard
from nacre.doors.http.limits import KNOWN
from nacre.settings.table import Settings

pytestmark = pytest.mark.anyio

TOKEN = "the right token, and long enough"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def guard(clock: Clock, **settings: Any) -> Guard:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        given = [(b"Cache-Control", b"public")] if scope["path"] == "/kept" else []
        await send({"type": "http.response.start", "status": 200, "headers": given})

    credentials = Credentials(
        TOKEN, clock, Settings(max_wrong_tokens=3, **settings), page_key=b"k" * 32
    )
    return Guard(
        app,
        credentials=credentials,
        door=lambda path: "rest",
        is_open=lambda path: path == "/open",
        client=nullcontext,
    )


async def status(guarded: Guard, token: str | None, path: str = "/", **more: Any) -> int:
    return int((await answer(guarded, token, path, **more))["status"])


async def answer(guarded: Guard, token: str | None, path: str = "/", **more: Any) -> Message:
    headers = [(b"host", b"127.0.0.1:80")]
    if token is not None:
        headers.append((b"authorization", b"Bearer " + token.encode()))
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "path": path, "server": ("127.0.0.1", 80), "headers": headers}
    await guarded({**scope, "query_string": b"", **more}, receive, send)
    return sent[0]


@pytest.mark.parametrize("token", [TOKEN, "a wrong one"])
async def test_no_answer_is_kept_sniffed_or_framed(token: str) -> None:
    """Also of routes that think of none of this, and of refusals."""
    found = await answer(guard(Clock()), token)
    headers = {name.decode().lower(): value.decode() for name, value in found["headers"]}
    wanted = ("cache-control", "x-content-type-options", "x-frame-options", "referrer-policy")
    assert [headers[one] for one in wanted] == ["no-store", "nosniff", "DENY", "no-referrer"]
    kept = await answer(guard(Clock()), TOKEN, "/kept")
    own = [value for name, value in kept["headers"] if name.lower() == b"cache-control"]
    assert own == [b"public"]


async def test_after_many_wrong_tokens_a_wrong_one_is_answered_with_429() -> None:
    clock = Clock()
    guarded = guard(clock, wrong_token_delay=0)
    assert [await status(guarded, "wrong") for _ in range(5)] == [401, 401, 401, 429, 429]
    clock.now += 61
    assert await status(guarded, "wrong") == 401


async def test_the_right_token_passes_at_once_while_wrong_ones_wait() -> None:
    guarded = guard(Clock(), wrong_token_delay=3600)
    for _ in range(3):
        await status(guarded, "wrong")
    late = asyncio.create_task(status(guarded, "wrong"))
    assert await status(guarded, TOKEN) == 200
    assert await status(guarded, None) == 401
    assert await status(guarded, None, "/open") == 200
    assert not late.done()
    late.cancel()


async def test_only_credentials_make_a_connection_known() -> None:
    known: list[int] = []
    guarded = guard(Clock())
    tell: dict[str, Any] = {KNOWN: lambda: known.append(1)}
    await status(guarded, None, "/open", **tell)
    await status(guarded, "wrong", **tell)
    assert known == []
    await status(guarded, TOKEN, **tell)
    assert known == [1]


async def test_a_second_host_or_origin_does_not_hide_behind_the_first() -> None:
    """RFC 9112, 3.2: a server must refuse two; which of them counts is anybody's guess."""
    guarded = guard(Clock())
    own, token = (b"host", b"127.0.0.1:80"), (b"authorization", b"Bearer " + TOKEN.encode())
    for headers, wanted in (
        ([own, token], 200),
        ([own, (b"host", b"evil.example"), token], 421),
        ([token], 421),
        ([own, (b"origin", b"http://127.0.0.1:80"), token], 200),
        ([own, (b"origin", b"127.0.0.1:80"), token], 403),
        ([own, (b"origin", b"null"), token], 403),
        (
            [own, (b"origin", b"http://127.0.0.1:80"), (b"origin", b"http://evil.example"), token],
            403,
        ),
    ):
        assert await status(guarded, None, headers=headers) == wanted
