"""The terminal engine, loaded once and off the loop.

Loading it takes 0.3 s. A new daemon answers its first client meanwhile; only the first session has
to wait for the engine.
"""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class Engine:
    def __init__(self, scrollback: int) -> None:
        self._scrollback = scrollback
        self._loading: asyncio.Future[None] | None = None

    async def load(self) -> None:
        if self._loading is None:
            loop = asyncio.get_running_loop()
            self._loading = loop.run_in_executor(None, _load)
        await self._loading

    def new_terminal(self, rows: int, cols: int) -> "Terminal":
        from nacre.core.terminal.terminal import Terminal

        return Terminal(rows, cols, scrollback=self._scrollback)


def _load() -> None:
    from nacre.core.terminal.terminal import Terminal

    # The first terminal of a process builds tables that all others share.
    Terminal().close()
