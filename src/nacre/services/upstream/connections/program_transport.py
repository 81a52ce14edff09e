"""MCP over the pipes of a program: lines in, lines out, for the official client.

Rule 1: what a program prints on standard output that is no message is kept for its log and skipped:
many print a greeting there.
Rule 2: a line is bounded. A program that prints one without an end is ended.
Rule 3: whoever reads knows why the connection ended: the exit code, or what was wrong.
Rule 4: each end of a pipe is closed once (PipeEnd), and a program that is not used is ended.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from nacre.services.host.wait import bounded
from nacre.services.upstream.log_ring import LogRing
from nacre.system.upstreams.program import UpstreamProgram

_CHUNK = 65536
_LAST_WORDS = 0.5  # seconds for the exit code and the standard error of a program that has ended


class PipeEnd:
    """Our end of a pipe, as the loop's transports take it: closed once, whichever loop it is.

    asyncio's transports close what they were given. Those of uvloop close the descriptor
    themselves, and then what they were given as well. A file would close its number a second time,
    when it may be another's: a thread that opens something at that moment gets the lowest free one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_ours = isinstance(loop, asyncio.BaseEventLoop)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if self._is_ours:
            self._is_ours = False
            os.close(self._descriptor)


class _PipeStream:
    async def aclose(self) -> None:
        return None

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class ProgramTransport:
    """A program from its start to its end, as the client's transport."""

    kind = "stdio"

    def __init__(self, start: Callable[[], UpstreamProgram], log: LogRing, most: int) -> None:
        self._start = start
        self._log = log
        self._most = most
        self._program: UpstreamProgram | None = None
        self._reader = asyncio.StreamReader(limit=most)
        self._errors: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._pipes: list[asyncio.BaseTransport] = []
        self.garbage = ""  # the first line that was no message
        self.greeted = False  # it has answered
        self.broken = ""  # what was wrong with what it sent
        self.ended = asyncio.Event()
        self._by_itself = False  # it ended, and not we it

    @property
    def pid(self) -> int | None:
        return None if self._program is None else self._program.pid

    async def __aenter__(self) -> tuple[Any, Any]:
        program = self._program = self._start()
        unopened = [program.stdout, program.stderr, program.stdin]
        try:
            await self._open(unopened)
        except BaseException:  # nobody will leave what was not entered
            for transport in self._pipes:
                transport.close()
            for descriptor in unopened:
                os.close(descriptor)
            program.cut()
            raise
        return _FromProgram(self), _ToProgram(self)

    async def _open(self, unopened: list[int]) -> None:
        """Open the pipes in their order: stdout, stderr, stdin. Those begun leave the list."""
        loop = asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(self._reader)
        reading, _ = await loop.connect_read_pipe(lambda: protocol, PipeEnd(loop, unopened.pop(0)))
        self._pipes.append(reading)
        errors = asyncio.StreamReader()
        hearing, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(errors), PipeEnd(loop, unopened.pop(0))
        )
        self._pipes.append(hearing)
        transport, flow = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, PipeEnd(loop, unopened.pop(0))
        )
        self._writer = asyncio.StreamWriter(transport, flow, None, loop)
        self._errors = asyncio.create_task(self._keep(errors), name="upstream-log")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._program is not None
        self._by_itself = self._by_itself or self._program.ending is not None
        if self._writer is not None:
            self._writer.close()
        # What it still prints is read, or it could not end.
        draining = asyncio.create_task(self._drain())
        # Who never said a sensible word has nothing to put in order.
        at_once = bool(self.broken) or not self.greeted
        ending = asyncio.ensure_future(self._program.end(at_once=at_once))
        try:
            await asyncio.shield(ending)
        finally:
            draining.cancel()
            if self._errors is not None:
                await asyncio.wait((self._errors,), timeout=_LAST_WORDS)
                self._errors.cancel()
            self._log.flush()
            for pipe in self._pipes:
                pipe.close()
            self.ended.set()

    def explain(self, error: BaseException) -> str:
        return ""

    async def how_it_ended(self) -> str:
        """Return why nothing more comes: what was wrong, or the exit code."""
        if self.broken:
            return self.broken
        if self._program is None or not self._by_itself:
            return ""
        with suppress(TimeoutError):
            async with bounded(_LAST_WORDS):
                ending = await self._program.wait()
                return f"it ended ({ending})"
        return "it closed its standard output"

    # --- in and out ------------------------------------------------------------------------

    async def receive(self) -> SessionMessage:
        """Return the next message. Raises StopAsyncIteration at the end."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                if end.partial.strip():
                    self._note_garbage(end.partial)
                raise StopAsyncIteration from None
            except asyncio.LimitOverrunError:
                self.broken = f"it sent a line of more than {self._most} bytes"
                self._log.note(self.broken)
                raise StopAsyncIteration from None
            except ConnectionError:
                raise StopAsyncIteration from None
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError:
                self._note_garbage(line)
                continue
            self.greeted = True
            return SessionMessage(message)

    async def send(self, item: SessionMessage) -> None:
        assert self._writer is not None
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        self._writer.write(line + b"\n")
        with suppress(ConnectionError):  # it has ended: what is read says so
            await self._writer.drain()

    def note_end(self) -> None:
        self._by_itself = True
        self.ended.set()

    def _note_garbage(self, line: bytes) -> None:
        text = line[:200].decode(errors="replace").strip()
        self.garbage = self.garbage or text
        self._log.note(f"no message of MCP on standard output: {text}")

    async def _keep(self, errors: asyncio.StreamReader) -> None:
        while data := await errors.read(_CHUNK):
            self._log.feed(data)

    async def _drain(self) -> None:
        with suppress(ConnectionError):
            while await self._reader.read(_CHUNK):
                pass


class _FromProgram(_PipeStream):
    def __init__(self, transport: ProgramTransport) -> None:
        self._transport = transport

    def __aiter__(self) -> "_FromProgram":
        return self

    async def receive(self) -> SessionMessage:
        return await self._transport.receive()

    async def __anext__(self) -> SessionMessage:
        try:
            return await self._transport.receive()
        except StopAsyncIteration:
            self._transport.note_end()
            raise


class _ToProgram(_PipeStream):
    def __init__(self, transport: ProgramTransport) -> None:
        self._transport = transport

    async def send(self, item: SessionMessage) -> None:
        await self._transport.send(item)
