"""The one operation that is a stream: watching a session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nacre.core.caller import Caller
from nacre.core.watch import Ended, Watch, WatchSession
from nacre.services.registry import Registry


class Watching:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @asynccontextmanager
    async def watch(self, caller: Caller, request: WatchSession) -> AsyncIterator[Watch]:
        """Watch for as long as this is entered. Raises SessionNotFound."""
        session = self._registry.find(request.session)
        fit = None
        if request.rows is not None and request.cols is not None:
            fit = (request.rows, request.cols)
        with session.viewers.watch(fit) as viewer:
            if session.ending is not None:  # its last screen, and that it has ended
                viewer.finish(Ended(session.ending.exit_code, session.ending.signal))
            yield viewer
