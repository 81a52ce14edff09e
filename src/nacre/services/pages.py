"""The page's address for one browser."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import urlencode

from nacre.core.caller import Caller
from nacre.core.page_operations import OpenPage, PageAddress
from nacre.services.registry import Registry

_ARRIVAL = 3.0  # seconds for a browser that was let in to open its sockets


class Pages:
    """`new_code` makes a code that lets one browser in within `lifetime` seconds.

    It is given what to call when that browser has come.
    """

    def __init__(
        self,
        registry: Registry,
        port: int,
        new_code: Callable[[Callable[[], None]], str],
        lifetime: int,
        client: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._registry = registry
        self._port = port
        self._new_code = new_code
        self._lifetime = lifetime
        self._client = client

    async def open(self, caller: Caller, request: OpenPage) -> PageAddress:
        """Raises SessionNotFound."""
        named = {}
        if request.session is not None:
            named["session"] = self._registry.find(request.session).identity.name
        fragment = urlencode({"code": self._new_code(self._expect_browser()), **named})
        return PageAddress(
            url=f"http://127.0.0.1:{self._port}/#{fragment}", expires_in=self._lifetime
        )

    def _expect_browser(self) -> Callable[[], None]:
        """Count who is to come as a client: the daemon must still be there then.

        Return what is to be called when it has come, and counts for itself.
        """
        expected = self._client()
        expected.__enter__()

        def leave() -> None:
            expected.__exit__(None, None, None)

        timer = self._loop.call_later(self._lifetime, leave)

        def come() -> None:
            timer.cancel()
            self._loop.call_later(_ARRIVAL, leave)

        return come
