"""What a connection may cost before it has shown a token: a real server, and raw sockets."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from nacre.doors.http.limits import KNOWN, Crowd, LimitedProtocol
from nacre.doors.http.turns import Turns
from nacre.settings.table import Settings
from nacre.system.peer import Peer

pytestmark = pytest.mark.anyio

PATIENCE = 30.0
ASK = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}


class Serving:
    def __init__(self, port: int, crowd: Crowd) -> None:
        self.port = port
        self.crowd = crowd
        self.asked: list[str] = []  # the paths that came through
        self.go_on = asyncio.Event()
        self.connections: set[Any] = set()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, *parts: bytes) -> bytes:
        """Send a request in these parts; return the first line of the answer."""
        reader, writer = await self.connect()
        with suppress(ConnectionError):
            for part in parts:
                writer.write(part)
                await writer.drain()
        line = await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()
        return line.rstrip()


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Serving]:
    crowd = Crowd(Settings(**settings), Peer)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        served.asked.append(scope["path"])
        if scope["path"] == "/known":
            scope[KNOWN]()
        if scope["path"] == "/wait":
            listening = asyncio.ensure_future(receive())
            await served.go_on.wait()
            listening.cancel()
        if scope["path"] == "/read":
            while (await receive()).get("more_body"):
                pass
        head = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: crowd.protocol(config, state, {}), "127.0.0.1", 0)
    served = Serving(server.sockets[0].getsockname()[1], crowd)
    served.connections = state.connections
    try:
        yield served
    finally:
        served.go_on.set()
        server.close()
        for connection in list(state.connections):
            connection.transport.close()


async def test_a_head_over_the_limit_is_refused_before_it_is_parsed() -> None:
    async with serving(max_header_bytes=2048) as served:
        huge = b"GET / HTTP/1.1\r\nx: " + b"y" * 3000 + b"\r\n\r\n"
        assert await served.ask(huge) == b"HTTP/1.1 431 Request Header Fields Too Large"
        pieces = [huge[at : at + 100] for at in range(0, len(huge), 100)]
        assert b" 431 " in await served.ask(*pieces)
        assert served.asked == []
        assert await served.ask(ASK) == b"HTTP/1.1 200 OK"


async def test_a_connection_that_has_ended_leaves_no_garbage_behind() -> None:
    async with serving() as served:
        enter, freed = served.crowd.enter, asyncio.Event()

        def note(connection: LimitedProtocol) -> None:
            weakref.finalize(connection, freed.set)
            enter(connection)

        vars(served.crowd)["enter"] = note
        gc.disable()
        try:
            assert b" 200 " in await served.ask(b"GET /known HTTP/1.1\r\nhost: x\r\n\r\n")
            async with asyncio.timeout(PATIENCE):
                await freed.wait()
        finally:
            gc.enable()


async def test_the_refusal_is_an_error_as_everywhere() -> None:
    async with serving(max_header_bytes=1024) as served:
        reader, writer = await served.connect()
        writer.write(b"GET /" + b"x" * 2000)
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
        assert b'{"error":{"code":"RESOURCE_LIMIT","message":"' in answer
        assert b"max_header_bytes" in answer
        writer.close()


async def test_a_large_body_is_no_head_even_in_one_piece_with_it() -> None:
    async with serving(max_header_bytes=1024) as served:
        head = b"POST / HTTP/1.1\r\ncontent-length: 100000\r\n\r\n"
        assert b" 200 " in await served.ask(head + b"z" * 100_000)
        assert b" 200 " in await served.ask(head[:-2], head[-2:] + b"z" * 50_000, b"z" * 50_000)


async def test_each_request_of_a_connection_has_the_whole_limit() -> None:
    async with serving(max_header_bytes=1024) as served:
        reader, writer = await served.connect()
        for _ in range(5):
            writer.write(b"GET / HTTP/1.1\r\nx: " + b"y" * 800 + b"\r\n\r\n")
            assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
            await reader.readuntil(b"\r\n\r\nok")
        writer.write(b"GET / HTTP/1.1\r\nx: " + b"y" * 1010 + b"\r\n\r\n")
        assert b" 431 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()


async def test_a_long_address_is_refused() -> None:
    async with serving(max_url_bytes=256) as served:
        assert b" 414 " in await served.ask(b"GET /" + b"x" * 300 + b" HTTP/1.1\r\n\r\n")
        body = b"POST /" + b"x" * 300 + b" HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc"
        assert b" 414 " in await served.ask(body)
        assert served.asked == []


async def test_a_head_that_does_not_come_ends_the_connection() -> None:
    async with serving(header_time=0.05) as served:
        assert b" 408 " in await served.ask(b"")
        assert b" 408 " in await served.ask(b"GET / HTTP/1.1\r\nx: ")


async def test_an_answer_may_take_longer_than_the_head() -> None:
    async with serving(header_time=0.05) as served:
        reader, writer = await served.connect()
        writer.write(ASK.replace(b"/ ", b"/wait "))
        assert b" 408 " in await served.ask(b""), "so the time is over for the other, too"
        served.go_on.set()
        assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()


async def test_the_oldest_connection_without_a_token_makes_room_for_the_next() -> None:
    async with serving(max_unknown_connections=3) as served:
        held = [await served.connect() for _ in range(3)]
        assert b" 200 " in await served.ask(ASK)
        assert b" 503 " in await asyncio.wait_for(held[0][0].readline(), PATIENCE)
        held[2][1].write(ASK)
        assert b" 200 " in await asyncio.wait_for(held[2][0].readline(), PATIENCE)
        for _, writer in held:
            writer.close()


async def test_a_connection_with_a_token_is_not_closed_for_others() -> None:
    async with serving(max_unknown_connections=2) as served:
        reader, writer = await served.connect()
        writer.write(ASK.replace(b"/ ", b"/known "))
        await reader.readuntil(b"\r\n\r\nok")
        others = [await served.connect() for _ in range(5)]
        assert b" 503 " in await asyncio.wait_for(others[2][0].readline(), PATIENCE)
        writer.write(ASK)
        assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        for _, one in (*others, (reader, writer)):
            one.close()


async def test_more_connections_than_allowed_are_refused_and_the_old_ones_stay() -> None:
    async with serving(max_connections=2) as served:
        first, second = await served.connect(), await served.connect()
        assert b" 503 " in await served.ask(b"")
        first[1].write(ASK)
        assert b" 200 " in await asyncio.wait_for(first[0].readline(), PATIENCE)
        first[1].close()
        second[1].close()


async def test_few_pipelined_requests_are_parsed_ahead_and_all_are_answered_in_order() -> None:
    count = 1000
    first, rest = ASK.replace(b" / ", b" /wait "), ASK * count
    async with serving(max_pipelined=4) as served:
        parsed: list[int] = []
        begin = LimitedProtocol.on_message_begin

        def counting(self: LimitedProtocol) -> None:
            parsed.append(len(self.pipeline))
            begin(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LimitedProtocol, "on_message_begin", counting)
            reader, writer = await served.connect()
            writer.write(first)
            writer.write(rest)
            assert await served.ask(ASK) == b"HTTP/1.1 200 OK", "others are answered meanwhile"
            served.go_on.set()
            for _ in range(count + 1):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                assert head.startswith(b"HTTP/1.1 200 OK")
                assert await reader.readexactly(2) == b"ok"
            writer.close()
        in_a_piece = 4096 // len(ASK)
        assert max(parsed) <= 4 + in_a_piece + 1
    assert len(served.asked) == count + 2


async def test_a_request_that_listens_to_its_client_reads_nothing_on_that_is_held() -> None:
    async with serving(max_pipelined=4) as served:
        _, writer = await served.connect()
        writer.write(ASK.replace(b" / ", b" /wait ") + ASK.replace(b" / ", b" /wait ") * 1000)
        while "/wait" not in served.asked:
            await served.ask(ASK)
        (connection,) = [one for one in served.connections if one.pipeline]
        assert connection.flow.read_paused, "it would hold all that is sent"
        writer.close()


def chunked(path: bytes) -> bytes:
    return b"POST %b HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n" % path


async def test_chunks_of_a_byte_are_parsed_in_small_pieces_and_others_come_in_between() -> None:
    pieces: list[int] = []
    parse = LimitedProtocol._parse_piece

    def counting(self: LimitedProtocol, data: bytes) -> None:
        pieces.append(len(data))
        parse(self, data)

    async with serving() as served:
        served.crowd.turns = Turns(seconds=0)  # a piece a turn
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LimitedProtocol, "_parse_piece", counting)
            reader, writer = await served.connect()
            writer.write(chunked(b"/read") + b"1\r\nx\r\n" * 50_000)
            assert await served.ask(ASK) == b"HTTP/1.1 200 OK"
            writer.write(b"0\r\n\r\n")
            line = await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()
    assert line.rstrip() == b"HTTP/1.1 200 OK"
    assert max(pieces) <= 4096
    assert sum(pieces) > 300_000


async def test_of_a_request_that_was_refused_nothing_more_is_parsed() -> None:
    async with serving(header_time=0.2) as served:
        reader, writer = await served.connect()
        writer.write(chunked(b"/") + b"1\r\nx\r\n")
        assert b" 200 " in await asyncio.wait_for(reader.readline(), PATIENCE)
        (connection,) = served.connections
        connection.parser = None  # whatever is parsed now fails
        writer.write(b"1\r\nx\r\n" * 1000)
        rest = await asyncio.wait_for(reader.read(), PATIENCE)
        assert rest.endswith(b"ok"), "it is closed after a while"
        writer.close()


async def test_who_sends_no_more_still_gets_the_answers() -> None:
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(ASK.replace(b" / ", b" /wait ") + ASK)
        writer.write_eof()
        while "/wait" not in served.asked:
            assert await served.ask(ASK)
        served.go_on.set()
        answers = await asyncio.wait_for(reader.read(), PATIENCE)
        assert answers.count(b"HTTP/1.1 200 OK") == 2, "and then it is closed"
        writer.close()


async def test_who_has_gone_is_not_answered() -> None:
    gone = asyncio.Event()
    lose = LimitedProtocol.connection_lost

    def losing(self: LimitedProtocol, error: Exception | None) -> None:
        lose(self, error)
        if self.cycle is not None and not self.cycle.response_complete:
            gone.set()

    async with serving() as served:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LimitedProtocol, "connection_lost", losing)
            _, writer = await served.connect()
            writer.write(ASK.replace(b" / ", b" /wait "))
            while "/wait" not in served.asked:
                assert await served.ask(ASK)
            writer.close()
            await asyncio.wait_for(gone.wait(), PATIENCE)
        assert not served.go_on.is_set()
