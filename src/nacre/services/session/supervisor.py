"""Start, ask and end a session's children, one after the other; a restart starts the next one.

Rule 1: one start or end at a time: a kill during a restart ends what the restart started.
Rule 2: a kill continues even if its caller is cancelled: half a kill would leave orphans.
Rule 3: a session may have no child: it may have ended before this daemon started.
Rule 4: the session's record says which child runs and what its secrets are.
"""

import asyncio
from collections.abc import Callable

from nacre.core.operations.steps import CREATE, restart
from nacre.errors import SessionExited
from nacre.services.host.host import Host
from nacre.services.host.wait import set_by
from nacre.services.session.child import ChildProcess, Show, new_secrets, start_child
from nacre.services.session.record import SessionRecord
from nacre.system.processes.ending import end_trees
from nacre.system.processes.exits import Ending, watch_adopted, watch_exit
from nacre.system.processes.foreground import TerminalFacts
from nacre.system.processes.pty import Child
from nacre.system.processes.tree import Tree, started_at
from nacre.system.storage.ring import Ring

_REAPED = 1.0  # seconds between a kill and the event of the child's end, on a busy machine


class Supervisor:
    def __init__(
        self,
        host: Host,
        record: SessionRecord,
        ring: Ring,
        *,
        show: Show,
        full: Callable[[], None],
        ended: Callable[[ChildProcess, Ending], None],
    ) -> None:
        """For the calls see ChildProcess."""
        self.last: ChildProcess | None = None  # the running one, or the one that ended last
        self._host = host
        self._record = record
        self._ring = ring
        self._show = show
        self._full = full
        self._ended = ended
        self._lock = asyncio.Lock()
        self._steps: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a child is being ended or begun."""
        return self._lock.locked()

    # --- begin -----------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the secrets of the next child."""
        self._record.secrets = new_secrets()

    def start(self, rows: int, cols: int) -> Child:
        """Start a child, which is not read before `begin`. Raises Internal; see start_child."""
        child, self._record.secrets = start_child(self._host, self._record, rows, cols)
        # It is kept for the next daemon: by then it may be gone, and its number another's.
        self._record.since = started_at(child.pid)
        self.take_over(child.pid, child.master)
        return child

    def take_over(self, pid: int, master: int) -> ChildProcess:
        """Take a child by its process and terminal; it is not read before `begin` or `adopt`."""
        self._record.pid = pid
        self._record.begin()
        self.last = taken = ChildProcess(
            self._host,
            self._record.secrets,
            pid,
            master,
            self._ring,
            self._show,
            self._full,
            self._over,
            confined=self._record.launch.confined,
        )
        taken.since = self._record.since
        return taken

    def begin(self, child: Child) -> None:
        """Read the child that was started, and wait for its end."""
        assert self.last is not None
        self.last.begin()
        watch_exit(self._host.loop, child, self.last.on_exit)

    def adopt(self) -> None:
        """Read a child that was taken over from an earlier daemon, and wait for its end."""
        assert self.last is not None
        self.last.begin()
        watch_adopted(self._host.loop, self.last.pid, self._host.keeping, self.last.on_exit)

    # --- the child's terminal --------------------------------------------------------------

    def require(self) -> ChildProcess:
        """Return the running child. Raises SessionExited, with how it ended."""
        record = self._record
        if not record.alive or self.last is None:
            name = record.identity.name
            raise SessionExited(
                f"the process of session {name!r} has ended ({record.ending}); "
                "its screen can still be read",
                restart(name) if record.listed else CREATE,
                exit_code=record.exit_code,
                signal=record.signal,
            )
        return self.last

    def read_now(self) -> None:
        """Read what is already printed, although the loop does not know about it yet.

        A busy kernel may report late that a terminal is readable; a read gets the bytes anyway.
        """
        if self.last is not None and self.last.reading:
            self.last.read_now()

    def hold_back(self, held: bool) -> None:  # a callback of the recorder
        """Leave the output where it is while a thread packs the screen."""
        if self.last is not None:
            self.last.hold_back(held=held)

    def stop_reading(self) -> None:
        if self.last is not None:
            self.last.stop_reading()

    def set_size(self, rows: int, cols: int) -> None:
        if self.last is not None:
            self.last.set_size(rows, cols)

    def facts(self) -> TerminalFacts | None:
        """What the kernel knows about the terminal now; None if it is closed."""
        return self.last.facts() if self.last is not None else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        return self.last.foreground if self.last is not None else None

    @property
    def in_foreground(self) -> bool:
        """Whether the session's own program has the terminal, not something that it started."""
        return self.foreground == (self.leader or 0)

    @property
    def leader(self) -> int | None:
        """The process of the session's own program; None before its sandbox is made."""
        return self._record.pid if self.last is None else self.last.leader

    @property
    def sandbox_backend(self) -> str:
        """What makes its sandbox; empty: it has none, or none was tried since the daemon began."""
        return self._host.sandboxes.backend_of(self._record.launch.sandbox) or ""

    @property
    def cgroup(self) -> str:
        """What limits it as a whole."""
        return "none" if self.last is None else self.last.cgroup(self._record.identity.id)

    def drop_input_of_others(self, key: str) -> int:
        """Forget what waits for the child and somebody else has sent; return how many bytes."""
        return 0 if self.last is None else self.last.input.drop_others(key)

    # --- end -------------------------------------------------------------------------------

    def _over(self, child: ChildProcess, ending: Ending) -> None:
        self._host.groups.release(self._record.identity.id)
        self._ended(child, ending)

    @property
    def tree(self) -> Tree:
        return self.last.tree if self.last is not None else Tree(None, self._record.cookie)

    async def end(self, then: Callable[[], None] | None = None) -> None:
        """Hang up and then kill everything that the child started; return when it is gone.

        `then` is called before another start or end can begin.
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
        """Close the terminal and wait until the child is reaped: the last step of an end.

        The kernel then hangs up processes that we may not signal (su).
        """
        child = self.last
        if child is None:
            return
        child.stop_reading()
        self._host.keeping.drop(f"sessions/{self._record.identity.id}/master")
        # One that we may not kill may stay for ever; the session is over all the same.
        grace = self._host.settings.kill_grace
        if not await set_by(child.reaped, self._host.loop.time() + grace + _REAPED):
            return
        self._host.groups.release(self._record.identity.id)
        # Each turn of the loop shows a part of what it printed. 32 KB can take half a minute to
        # draw when others draw, too, and who kills it does not want to see them.
        if not await set_by(child.gone, self._host.loop.time() + grace):
            child.finish()
