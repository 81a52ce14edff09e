"""The lives of a session's child, one after the other: a restart begins the next.

Rule 1: one is begun or ended at a time: a kill during a restart ends what that started.
Rule 2: an end that was begun goes on when its caller gives up: half of a kill leaves orphans.
Rule 3: a session may have none: its child had ended before this daemon began.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from nacre.services.endings import end_trees
from nacre.services.host import Host
from nacre.services.launch import Launch
from nacre.services.life import Life, Secrets, new_secrets, start_child
from nacre.system.exits import Ending, watch_adopted, watch_exit
from nacre.system.processes import Tree
from nacre.system.pty import Child
from nacre.system.ring import Ring


class Lives:
    def __init__(
        self,
        host: Host,
        identifier: str,
        ring: Ring,
        *,
        absorb: Callable[[Life, bytes], None],
        full: Callable[[], None],
        ended: Callable[[Life, Ending], None],
    ) -> None:
        """`identifier` is the session's; for the calls see Life."""
        self.keys = Secrets("", "")
        self.last: Life | None = None  # the one that goes on, or that ended last
        self._host = host
        self._identifier = identifier
        self._ring = ring
        self._absorb = absorb
        self._full = full
        self._ended = ended
        self._lock = asyncio.Lock()
        self._steps: set[asyncio.Task[None]] = set()

    # --- begin -----------------------------------------------------------------------------

    def new_keys(self) -> Secrets:
        """Make the secrets that the next child is known by."""
        self.keys = new_secrets()
        return self.keys

    def start(self, launch: Launch, rows: int, cols: int) -> Child:
        """Start a child, which is not read before `begin`. Raises Internal; see start_child."""
        child, self.keys = start_child(self._host, self._identifier, launch, self.keys, rows, cols)
        self.take_over(child.pid, child.master)
        return child

    def take_over(self, pid: int, master: int) -> None:
        """Know a child by its process and terminal; it is not read before `begin` or `adopt`."""
        self.last = Life(
            self._host,
            self.keys,
            pid,
            master,
            self._ring,
            self._absorb,
            self._full,
            self._ended,
        )

    def begin(self, child: Child) -> None:
        """Read the child that was started, and hear of its end."""
        assert self.last is not None
        self.last.begin()
        watch_exit(self._host.loop, child, self.last.on_exit)

    def adopt(self) -> None:
        """Read the child that was taken over from a former daemon, and hear of its end."""
        assert self.last is not None
        self.last.begin()
        watch_adopted(self._host.loop, self.last.pid, self._host.keeping, self.last.on_exit)

    # --- end -------------------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        return self.last.tree if self.last is not None else Tree(None, self.keys.cookie)

    async def end(self, then: Callable[[], None] | None = None) -> None:
        """Hang up and then kill everything that the child started; return when it is gone.

        `then` is called before anybody else may begin or end a life.
        """
        task = self._host.loop.create_task(self._end(then))
        self._steps.add(task)
        task.add_done_callback(self._steps.discard)
        await asyncio.shield(task)

    async def _end(self, then: Callable[[], None] | None) -> None:
        async with self._lock:
            if self.last is not None:
                await end_trees(lambda: [self.tree], self._host.settings.kill_grace)
                await self.hang_up()
            if then is not None:
                then()

    async def hang_up(self) -> None:
        """Close the terminal and wait until the child is reaped: the last word of an end.

        The kernel hangs up whom we may not signal (su).
        """
        life = self.last
        if life is None:
            return
        life.stop_reading()
        self._host.keeping.drop(f"sessions/{self._identifier}/master")
        with suppress(TimeoutError):
            async with asyncio.timeout(self._host.settings.kill_grace + 1.0):
                await life.gone.wait()
