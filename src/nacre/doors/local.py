"""The Unix socket: the command line and the stdio bridge come in here.

Rule 1: the folder's mode is the lock: whoever can open the socket is its owner, so that no token is
asked for.
Rule 2: the first line says what follows (mcp, call or attach), the client's version and where it
stands; the daemon answers with its own version, so that a mismatch is said at once.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from types import MappingProxyType
from typing import Any

import msgspec

from nacre import __version__
from nacre.core.caller import Caller, Scope
from nacre.core.operations import parse_operation
from nacre.errors import Internal, InvalidInput, NacreError
from nacre.services.dispatch import Dispatch

_log = logging.getLogger("nacre.local")

PROTOCOL = 1  # raised when an older client could not understand this socket any more

# A client's surroundings that its sessions share with it (CONTRACTS, "cwd").
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SSH_AUTH_SOCK")


class Hello(msgspec.Struct, frozen=True):
    """A client's first line."""

    nacre: int
    door: str
    version: str
    cwd: str | None = None
    env: dict[str, str] = {}
    person: bool = False
    toolsets: str | None = None
    prefix: str | None = None
    # Of who attaches: the session, the size of the screen it is shown on, and who only looks; and
    # whether the last row tells about the session, with these keys.
    session: str | int | None = None
    size: tuple[int, int] | None = None
    read_only: bool = False
    status: bool = False
    detach_key: str = ""
    control_key: str = ""
    look_back_key: str = ""
    inside: str | None = None  # the id of the session in which it attaches

    def caller(self) -> Caller:
        env = {name: self.env[name] for name in _ENVIRONMENT if self.env.get(name)}
        attached = self.door == "attach"
        return Caller(
            key=secrets.token_hex(8) if attached else "",
            label="attach" if attached else "",
            door="cli" if self.door in ("call", "attach") else self.door,
            scope=Scope.OBSERVE if self.read_only else Scope.ADMIN,
            person=self.person,
            client=f"nacre {self.version}",
            cwd=self.cwd,
            env=MappingProxyType(env),
        )


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Open = Callable[[Hello], Awaitable[Serve]]  # may refuse by raising a NacreError


class LocalDoor:
    def __init__(
        self,
        doors: Mapping[str, Open],
        client: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._doors = doors
        self._client = client
        self._connections: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; given to asyncio.start_unix_server."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with self._client():
                await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            _log.debug("client left")
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the daemon goes on
            _log.exception("connection failed")
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def close(self) -> None:
        """End the connections that are open."""
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            hello = self._read_hello(await read_line(reader))
            serve = await self._doors[hello.door](hello)
        except NacreError as error:
            send_line(writer, {"nacre": PROTOCOL, "version": __version__, "error": error.as_dict()})
            await writer.drain()
            return
        send_line(writer, {"nacre": PROTOCOL, "version": __version__})
        await serve(reader, writer)

    def _read_hello(self, line: bytes) -> Hello:
        try:
            hello = msgspec.json.decode(line, type=Hello)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise InvalidInput(f"not a greeting: {error}") from error
        if hello.nacre != PROTOCOL:
            raise InvalidInput(
                f"the daemon is nacre {__version__} and this client {hello.version}: they do not "
                "understand each other; run 'nacre stop' and try again"
            )
        if hello.door not in self._doors:
            raise InvalidInput(f"no door {hello.door!r}; there are {', '.join(self._doors)}")
        return hello


def serve_calls(dispatch: Dispatch, caller: Caller, max_requests: int) -> Serve:
    """Return what serves a command line: requests {id, operation, params}, one a line.

    Requests run side by side; when the client goes, what it waits for is given up.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running: set[asyncio.Task[None]] = set()
        free = asyncio.Semaphore(max_requests)

        async def answer(line: bytes) -> None:
            try:
                send_line(writer, await _answer(dispatch, caller, line))
                await writer.drain()
            finally:
                free.release()

        try:
            while line := await read_line(reader):
                await free.acquire()  # full: the client's further lines stay in its socket
                task = asyncio.create_task(answer(line))
                running.add(task)
                task.add_done_callback(running.discard)
        except InvalidInput as error:
            # Where the next line begins is not known any more: told, and closed.
            send_line(writer, {"id": None, "error": error.as_dict()})
            await writer.drain()
        finally:
            for task in running:
                task.cancel()

    return serve


async def _answer(dispatch: Dispatch, caller: Caller, line: bytes) -> dict[str, Any]:
    identifier = None
    try:
        try:
            request = msgspec.json.decode(line)
            identifier = request["id"]
            params = msgspec.convert(request["params"], dict[str, Any])
            operation = parse_operation(request["operation"], params)
        except (msgspec.DecodeError, RecursionError, KeyError, TypeError) as error:
            raise InvalidInput(
                "a request is {id, operation, params} in one line of JSON"
            ) from error
        return {"id": identifier, "result": await dispatch(caller, operation)}
    except NacreError as error:
        return {"id": identifier, "error": error.as_dict()}
    except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
        _log.exception("call failed outside its operation")
        failure = Internal("unexpected error; the daemon's log says why")
        return {"id": identifier, "error": failure.as_dict()}


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """Raises InvalidInput for a line over the stream's limit."""
    try:
        return await reader.readline()
    except ValueError as error:
        raise InvalidInput("the line is over max_message_bytes") from error


def send_line(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(msgspec.json.encode(message) + b"\n")
