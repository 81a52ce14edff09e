"""The socket by which programs in sessions ask people for passwords (client/askpass.py).

Rule 1: one question a connection: {session, cookie, prompt}; the answer is {text} or {error}. There
is nothing else to be asked here: who gets at the socket can drive nothing.
Rule 2: a program that goes away is no longer asked for: its question is closed.
"""

import asyncio
import os
import shlex
import socket
import sys
from contextlib import suppress

import msgspec

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.safety.approvals import AskPassword, PasswordGiven
from nacre.errors import NacreError
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.paths import Paths, SocketAddress

_LONGEST = 16384  # bytes of a question
_PATIENCE = 10.0  # seconds for a program to ask


class _PasswordQuestion(msgspec.Struct, frozen=True):
    session: str
    cookie: str
    prompt: str
    confirms: bool = False


class AskpassDoor:
    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._server: asyncio.Server | None = None

    async def listen(self, paths: Paths) -> None:
        """Raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(paths.askpass_socket)
        listener = socket.socket(socket.AF_UNIX)
        with SocketAddress(paths.askpass_socket) as address:
            listener.bind(address)
        os.chmod(paths.askpass_socket, 0o600)
        self._server = await asyncio.start_unix_server(
            self._connected, sock=listener, limit=_LONGEST
        )

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                line = await reader.readuntil(b"\n")
            question = msgspec.json.decode(line, type=_PasswordQuestion)
            answer = await self._ask(question, reader)
            writer.write(msgspec.json.encode(answer) + b"\n")
            await writer.drain()
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # it is gone, or asks nothing that we know
        finally:
            writer.close()

    async def _ask(
        self, question: _PasswordQuestion, reader: asyncio.StreamReader
    ) -> dict[str, str]:
        operation = AskPassword(
            session=question.session,
            cookie=question.cookie,
            prompt=question.prompt,
            confirms=question.confirms,
        )
        caller = Caller(door="askpass", scope=Scope.OBSERVE)
        asked = asyncio.ensure_future(self._dispatch(caller, operation))
        gone = asyncio.ensure_future(reader.read(1))  # it says nothing more: it can only leave
        try:
            await asyncio.wait((asked, gone), return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise ConnectionResetError
            given = asked.result()
        except NacreError as error:
            return {"error": error.message}
        finally:
            asked.cancel()
            gone.cancel()
        assert isinstance(given, PasswordGiven)
        return {"text": given.data.decode()}


def write_program(paths: Paths) -> None:
    """Write the program that SUDO_ASKPASS names: it starts client/askpass.py. Raises OSError."""
    from nacre.client import askpass

    words = shlex.join((sys.executable, "-I", "-S", askpass.__file__))
    program = f'#!/bin/sh\nexec {words} "$@"\n'
    temporary = f"{paths.askpass_file}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o700)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(program)
        os.replace(temporary, paths.askpass_file)
    except OSError:  # a full disk: each start would leave one
        with suppress(OSError):
            os.unlink(temporary)
        raise
