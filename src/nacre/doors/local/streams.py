"""Write to a client that may not read.

Rule 1: who writes waits (`drain`) until the client has read most of what was written before, and
reads nothing more from it meanwhile. So little waits in the process for each client.
Rule 2: a client that reads nothing for a long time is disconnected, with a word in the log.
"""

import asyncio
import logging

_log = logging.getLogger("nacre.streams")


class Unread(ConnectionError):
    """The client read nothing for too long, and was disconnected."""


class PatientWriter(asyncio.StreamWriter):
    """A writer whose `drain` waits no longer than `patience` seconds for a client that is stuck.

    It raises Unread then, and ConnectionError as any writer's if the client has gone.
    """

    def __init__(
        self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader, patience: float
    ) -> None:
        transport = writer.transport
        loop = asyncio.get_running_loop()
        super().__init__(transport, transport.get_protocol(), reader, loop)
        self._inner = writer  # from Python 3.13 on, a writer that nobody holds closes its transport
        self._patience = patience
        # With no more than this, the transport lets its writer go on: nothing is waited for.
        self._low = transport.get_write_buffer_limits()[0]

    async def drain(self) -> None:
        while self.transport.get_write_buffer_size() > self._low:
            before = self.transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(self._patience):
                    await super().drain()
            except TimeoutError:
                left = self.transport.get_write_buffer_size()
                if left < before:
                    continue  # it is slow, but it reads
                _log.warning("a client reads nothing: disconnected", extra={"unread_bytes": left})
                self.transport.abort()
                raise Unread from None
            return
        await super().drain()
