"""The Unix socket, for the command line and the stdio bridge.

Rule 1: the folder's mode protects it: only the owner can open the socket, so no token is needed.
Rule 2: the first line says what follows (mcp, call or attach), the client's version and its folder.
The daemon answers with its own version, so a mismatch is reported at once.
Rule 3: who does not say that line in time is told so and disconnected, and so is the oldest of too
many who have not: each one holds a descriptor.
"""

import asyncio
import logging
import secrets
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from nacre import __version__
from nacre.client.greeting import ENVIRONMENT, PROTOCOL
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.catalog.messages import read_message
from nacre.core.operations.all import parse_operation
from nacre.doors.http.long_lines import LineTooLong, read_line
from nacre.doors.http.message_log import is_logged, log_message, log_size
from nacre.doors.http.slices import encode_in_slices
from nacre.doors.local.streams import PatientWriter
from nacre.errors import InvalidInput, LimitReached, NacreError
from nacre.services.dispatch.answers.delivery import delivered
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.services.dispatch.log import unexpected
from nacre.settings.table import Settings
from nacre.wording import OPERATIONS, UNWORDED, Words

_log = logging.getLogger("nacre.local")

_LINGER = 1.0  # seconds for a client to read its last answers


class Hello(msgspec.Struct, frozen=True):
    """A client's first line."""

    nacre: int
    door: str
    version: str
    cwd: str | None = None
    env: dict[str, str] = {}
    values: dict[str, str] = {}  # of the variables that upstream servers' tables refer to
    person: bool = False
    toolsets: str | None = None
    prefix: str | None = None
    # For attach: the session, the size of the client's screen, whether it only watches, and whether
    # the last row is a status line with these keys.
    session: str | int | None = None
    size: tuple[int, int] | None = None
    read_only: bool = False
    status: bool = False
    detach_key: str = ""
    control_key: str = ""
    look_back_key: str = ""
    approve_key: str = ""
    inside: str | None = None  # the id of the session in which it attaches
    own_words: bool = False  # it puts errors and hints into words itself
    told: bool = False  # a command line that passes on what it is told of hand-overs
    client_id: str = ""  # the same when it connects again
    typing: str | None = None  # the name under which it numbers what it types
    pid: int | None = None  # of the client's process: the kernel's word, whatever the line says

    @property
    def words(self) -> Words:
        return UNWORDED if self.own_words else OPERATIONS

    def caller(self) -> Caller:
        env = {name: self.env[name] for name in ENVIRONMENT if self.env.get(name)}
        attached = self.door == "attach"
        identity = f"{self.door}:{self.client_id or secrets.token_hex(8)}"
        # Every command line is another client, and all of them are one agent's or script's.
        told_as = "cli" if self.told else "" if self.person else identity
        return Caller(
            key=identity if attached else "",
            told_as=told_as,
            label="attach" if attached else "",
            door="cli" if self.door in ("call", "attach") else self.door,
            scope=Scope.OBSERVE if self.read_only else Scope.ADMIN,
            person=self.person,
            client=f"nacre {self.version}",
            cwd=self.cwd,
            env=MappingProxyType(env),
            values=self.values,  # a bridge may hand over others later (doors/mcp/lines)
            pid=self.pid,
        )


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Open = Callable[[Hello], Awaitable[Serve]]  # refuses by raising a NacreError


class LocalDoor:
    def __init__(
        self,
        doors: Mapping[str, Open],
        client: Callable[[], AbstractContextManager[None]],
        settings: Settings,
    ) -> None:
        self._doors = doors
        self._client = client
        self._settings = settings
        self._ungreeted: dict[asyncio.Timeout, None] = {}  # how long each may wait; oldest first
        self._connections: set[asyncio.Task[None]] = set()
        self._closing = False

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; given to asyncio.start_unix_server."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        writer = PatientWriter(writer, reader, self._settings.unread_time)
        try:
            with self._client():
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            _log.debug("client left")
        except asyncio.CancelledError:
            if not self._closing:  # asyncio logs a handler that was cancelled as an error
                raise
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the daemon continues
            _log.exception("connection failed")
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(_LINGER):
                    await writer.wait_closed()
            writer.transport.abort()  # what a client does not read must not keep the daemon

    async def close(self) -> None:
        """End the connections that are open."""
        self._closing = True
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            hello = self._read_hello(await self._first_line(reader))
            hello = replace(hello, pid=_peer(writer))
            serve = await self._doors[hello.door](hello)
        except NacreError as error:
            send_line(
                writer,
                {"nacre": PROTOCOL, "version": __version__, "error": OPERATIONS.error(error)},
            )
            await writer.drain()
            return
        # What a client types that gave itself a name for that is confirmed, by numbers.
        confirmed = {} if hello.typing is None else {"numbers": True}
        send_line(writer, {"nacre": PROTOCOL, "version": __version__, **confirmed})
        await serve(reader, writer)

    async def _first_line(self, reader: asyncio.StreamReader) -> bytes:
        """Raises LimitReached for a client that does not say it, and InvalidInput."""
        seconds, most = self._settings.greeting_time, self._settings.max_ungreeted
        while len(self._ungreeted) >= most:
            oldest = next(iter(self._ungreeted))
            del self._ungreeted[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())
        patience = asyncio.timeout(seconds)
        try:
            async with patience:
                self._ungreeted[patience] = None
                return await next_line(reader, self._settings.max_message_bytes)
        except TimeoutError:
            if patience in self._ungreeted:
                raise LimitReached(
                    f"no greeting came within {seconds:g} s (greeting_time)", "connect again"
                ) from None
            raise LimitReached(
                f"over {most} clients have not said who they are (max_ungreeted)", "connect again"
            ) from None
        finally:
            self._ungreeted.pop(patience, None)

    def _read_hello(self, line: bytes) -> Hello:
        hello = read_message(Hello, line, "not a greeting")
        if hello.nacre != PROTOCOL:
            raise InvalidInput(
                f"the daemon is nacre {__version__}, but this client is {hello.version}, which it "
                "does not understand",
                "run 'nacre stop' and try again",
            )
        if hello.door not in self._doors:
            raise InvalidInput(f"no door {hello.door!r}", f"there are {', '.join(self._doors)}")
        return hello


def _peer(writer: asyncio.StreamWriter) -> int | None:
    """Return the process at the other end of a Unix socket, if the system tells."""
    connection = writer.get_extra_info("socket")
    try:
        if hasattr(socket, "SO_PEERCRED"):
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return int(struct.unpack("3i", credentials)[0]) or None
        return int(connection.getsockopt(0, 2)) or None  # SOL_LOCAL, LOCAL_PEERPID of macOS
    except (OSError, AttributeError):
        return None


def serve_calls(dispatch: Dispatch, hello: Hello, settings: Settings) -> Serve:
    """Return what serves a command line: requests {id, operation, params}, one per line.

    Requests run concurrently. When the client disconnects, they are cancelled. With `tells_run` the
    id of the run that a request begins is sent before its answer: {id, begun}; with `follows_run`
    the answer is without its output; with `passes_input` it gets the client's standard input.
    """

    caller, words = hello.caller(), hello.words

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(settings.max_requests)
        turn = asyncio.Lock()  # one answer at a time waits for a client that does not read
        large = asyncio.Lock()

        later: list[dict[str, Any]] = []  # what came while an answer was being sent

        def begun(identifier: Any, run_id: str) -> None:
            message = {"id": identifier, "begun": run_id}
            if turn.locked():
                later.append(message)
            else:
                send_line(writer, message)

        async def answer(line: bytes) -> None:
            try:
                with delivered(large):
                    told = await _answer(dispatch, caller, words, line, begun)
                    parts = await _encode(told, words)
                    async with turn:
                        with suppress(ConnectionError):  # it left; what is read next is its end
                            await send_parts(writer, parts)
                        while later:
                            send_line(writer, later.pop(0))
            finally:
                free.release()

        try:
            while line := await next_line(reader, settings.max_message_bytes):
                await free.acquire()  # if none is free, the client's next lines stay in its socket
                log_message("local", "received", line)
                task = asyncio.create_task(answer(line))
                running.add(task)
                task.add_done_callback(running.discard)
        except InvalidInput as error:
            # We no longer know where the next line begins: answer with an error and close.
            send_line(writer, {"id": None, "error": words.error(error)}, words)
            await writer.drain()
        finally:
            for task in running:
                task.cancel()

    return serve


async def _answer(
    dispatch: Dispatch,
    caller: Caller,
    words: Words,
    line: bytes,
    begun: Callable[[Any, str], None],
) -> dict[str, Any]:
    identifier = None
    try:
        try:
            request = msgspec.json.decode(line)
            identifier = request["id"]
            params = request["params"]
            if not isinstance(params, dict):
                raise TypeError
            operation = parse_operation(request["operation"], params)
        except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError, TypeError) as error:
            raise InvalidInput(
                "a request is {id, operation, params} in one line of JSON"
            ) from error
        with relayed_by(_relay(caller, request, partial(begun, identifier))):
            answer = await dispatch.ask(caller, operation)
        told = {} if answer.told is None else {"told": answer.told.in_words()}
        return {"id": identifier, "result": answer.result, **answer.besides(), **told}
    except NacreError as error:
        return {"id": identifier, "error": words.error(error)}
    except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
        failure = unexpected(_log, "call failed outside its operation")
        return {"id": identifier, "error": words.error(failure)}


async def _encode(told: dict[str, Any], words: Words) -> list[bytes]:
    try:
        return await encode_in_slices(told, words.encode)
    except Exception:  # noqa: BLE001  # whoever waits for it would wait for ever
        failure = unexpected(_log, "an answer cannot be written as JSON")
        return await encode_in_slices(
            {"id": told["id"], "error": words.error(failure)}, words.encode
        )


def _relay(caller: Caller, request: dict[str, Any], begun: Callable[[str], None]) -> Relay | None:
    if not request.get("tells_run"):
        return None
    input_of = caller.pid if request.get("passes_input") else None
    return Relay(begun=begun, follows=bool(request.get("follows_run")), input_of=input_of)


async def next_line(reader: asyncio.StreamReader, most: int) -> bytes:
    """Raises InvalidInput for a line of more than `most` bytes."""
    try:
        return await read_line(reader, most)
    except LineTooLong as error:
        raise InvalidInput("the line is over max_message_bytes", "send less at once") from error


async def send_parts(writer: asyncio.StreamWriter, parts: list[bytes]) -> None:
    """Send the pieces of one line, as fast as the client reads; nothing may come in between."""
    log_message("local", "sent", b"".join(parts) if is_logged() else b"")
    *first, last = parts
    for part in (*first, last + b"\n"):
        if not writer.is_closing():  # a client that is gone is no error
            writer.write(part)
            await writer.drain()


def send_line(
    writer: asyncio.StreamWriter,
    message: dict[str, Any],
    words: Words = OPERATIONS,
    *,
    seen: bool = False,
) -> None:
    """With `seen` it is what a viewer sees: the log is told its size alone."""
    if not writer.is_closing():  # a client that is gone is no error
        line = msgspec.json.encode(message, enc_hook=words.encode)
        if seen:
            log_size("attach", "sent", len(line))
        else:
            log_message("local", "sent", line)
        writer.write(line + b"\n")
