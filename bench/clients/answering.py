"""A client's side of the talk with bench/hosts.py: orders come as JSON lines, answers go back so.

Rule 1: one order is one method of the host. What it raises is told as it would reach the program
that uses this client: the exception's name and text.
Rule 2: an order may be cancelled while it runs: the client's own cancellation is what is tried.
Rule 3: standard output is for answers; whatever a client prints goes to standard error.
"""

import asyncio
import json
import sys
from typing import Any


class Host:
    """What every client is asked for; None stands for what it does not offer."""

    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def close(self) -> None: ...

    async def tools(self) -> dict[str, Any]:
        raise NotImplementedError

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        """Return what this client hands on: text, images, error, structured (characters)."""
        raise NotImplementedError

    async def resources(self) -> list[str] | None:
        return None

    async def read(self, uri: str) -> str | None:
        return None

    async def prompts(self) -> list[str] | None:
        return None

    async def prompt(self, name: str) -> str | None:
        return None


def handed_on(content: Any, structured: Any, *, error: bool, progress: int = 0) -> dict[str, Any]:
    """Tell a result of the SDK's types, whose names differ between its versions."""
    texts = [block.text for block in content if block.type == "text"]
    return {
        "text": "\n".join(texts),
        "images": sum(block.type == "image" for block in content),
        "structured": 0 if structured is None else len(json.dumps(structured)),
        "error": error,
        "progress": progress,
    }


def serve(host: Host) -> None:
    asyncio.run(_serve(host))


async def _serve(host: Host) -> None:
    answers, sys.stdout = sys.stdout, sys.stderr
    loop = asyncio.get_running_loop()
    orders: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(16)

    def read() -> None:
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(orders.put(json.loads(line)), loop).result()
        asyncio.run_coroutine_threadsafe(orders.put(None), loop).result()

    reading = loop.run_in_executor(None, read)
    await _Orders(host, answers).obey(orders)
    await reading


class _Orders:
    """Has the host do what is asked for, one order at a time."""

    def __init__(self, host: Host, answers: Any) -> None:
        self._host = host
        self._answers = answers
        self._running: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._connection: asyncio.Task[None] | None = None

    async def obey(self, orders: asyncio.Queue[dict[str, Any] | None]) -> None:
        while (order := await orders.get()) is not None:
            what = order.pop("do")
            if what == "cancel":
                assert self._running is not None
                self._running.cancel()
            elif what == "open":
                self._leave = asyncio.Event()
                self._connection = asyncio.create_task(self._hold(**order))
            elif what == "close":
                self._leave.set()
            else:
                self._running = asyncio.create_task(self._do(what, order))

    async def _hold(self, server: dict[str, Any]) -> None:
        """Hold a connection: as anyio demands it, the task that opened it also closes it.

        A client whose transport fails ends this task. Whoever waits for an answer is told.
        """
        try:
            self._tell({"value": await self._host.open(server)})
            await self._leave.wait()
            await self._host.close()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # see serve's rule 1
            reason = f"ConnectionEnded: {_in_words(error)}"
            if self._running is not None and not self._running.done():
                self._running.cancel(reason)
            else:
                self._tell({"raised": reason})
        else:
            self._tell({"value": None})

    async def _do(self, what: str, order: dict[str, Any]) -> None:
        if self._connection is None or self._connection.done():
            self._tell({"raised": "ConnectionEnded: it is closed"})
            return
        try:
            self._tell({"value": await getattr(self._host, what)(**order)})
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # what is tried
            self._tell({"raised": _in_words(error)})

    def _tell(self, answer: dict[str, Any]) -> None:
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()


def _in_words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
