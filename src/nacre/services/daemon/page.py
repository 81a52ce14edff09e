"""The page's address for one browser."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import urlencode

from nacre.core.catalog.caller import Caller
from nacre.core.operations.daemon import OpenPage, PageAddress
from nacre.errors import Forbidden
from nacre.services.dispatch.handlers import Handlers
from nacre.services.registry.registry import Registry

_ARRIVAL = 3.0  # seconds for a browser that logged in to open its sockets


class Pages:
    """`new_code` makes a code that logs one browser in within `lifetime` seconds.

    Its parameter is called when that browser has logged in.
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

    def handlers(self) -> Handlers:
        return Handlers().on(OpenPage, self.open)

    async def open(self, caller: Caller, request: OpenPage) -> PageAddress:
        """Raises SessionNotFound, and Forbidden for a program: it would become a person."""
        if not caller.person:
            raise Forbidden(
                "this address logs a person in, so a program cannot have it",
                "ask a person to run 'nacre web'",
            )
        if caller.token:
            # What is opened by this address outlives the token, and has no limits.
            raise Forbidden(
                "who came in by a token cannot let others in",
                "run 'nacre web' on the machine itself",
            )
        named = {}
        if request.session is not None:
            named["session"] = self._registry.find(request.session).identity.name
        fragment = urlencode({"code": self._new_code(self._expect_browser()), **named})
        return PageAddress(
            url=f"http://127.0.0.1:{self._port}/#{fragment}", expires_in=self._lifetime
        )

    def _expect_browser(self) -> Callable[[], None]:
        """Count the expected browser as a client, so that the daemon does not stop before.

        Return a function to call when the browser is here and counts itself.
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
