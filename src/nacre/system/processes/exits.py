"""The end of a process as an event: a descriptor that becomes readable when it is gone.

Linux has pidfds, the BSDs kqueue; both work for processes that are not our children.
"""

import asyncio
import os
import select
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from msgspec import Struct

from nacre.system.keeper.client import Keeping
from nacre.system.processes.pty import Child
from nacre.system.processes.tree import signal_name

_AT_ONCE = 100  # processes; each takes 30 microseconds
_KEEPER_PATIENCE = 2.0  # seconds between a process's end and the keeper's message about it


class Ending(Struct, frozen=True):
    """How a process ended: an exit code, or the signal that killed it."""

    exit_code: int | None
    signal: str | None
    lost: bool = False  # nobody saw its end: the daemon and its keeper were gone

    def __str__(self) -> str:
        if self.lost:
            return "lost with its daemon"
        if self.signal is not None:
            return f"killed by {self.signal}"
        if self.exit_code is None:
            return "its exit code is not known: the daemon was restarted"
        return f"exit code {self.exit_code}"


class _ExitDescriptor:
    """Readable when the process has ended. Raises ProcessLookupError if it is already gone."""

    def __init__(self, pid: int) -> None:
        self._queue: Any = None
        if hasattr(os, "pidfd_open"):
            self._fd = os.pidfd_open(pid)
        else:
            self._fd = self._watch_by_kqueue(pid)

    def _watch_by_kqueue(self, pid: int) -> int:
        kernel: Any = select  # these names exist only on the BSDs
        self._queue = kernel.kqueue()
        event = kernel.kevent(pid, kernel.KQ_FILTER_PROC, kernel.KQ_EV_ADD, kernel.KQ_NOTE_EXIT)
        try:
            self._queue.control([event], 0)
        except OSError:
            self._queue.close()
            raise
        return int(self._queue.fileno())

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if self._queue is None:
            os.close(self._fd)
        else:
            self._queue.close()


def watch_exit(
    loop: asyncio.AbstractEventLoop, child: Child, ended: Callable[[Ending], None]
) -> None:
    """Call `ended` in the loop once the child has ended; the child is reaped after that call."""

    def on_exit() -> None:
        # Read the exit code before reaping: after a crash in between it must still be available.
        found = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        ending = _ending(found)
        try:
            ended(ending)
        finally:
            os.waitid(os.P_PID, child.pid, os.WEXITED)
            # Popen must not wait for a process id that may be reused by then.
            child.process.returncode = ending.exit_code if ending.exit_code is not None else -1

    try:
        descriptor = _ExitDescriptor(child.pid)
    except ProcessLookupError:
        loop.call_soon(on_exit)
        return

    def on_readable() -> None:
        loop.remove_reader(descriptor.fileno())
        descriptor.close()
        on_exit()

    loop.add_reader(descriptor.fileno(), on_readable)


def watch_adopted(
    loop: asyncio.AbstractEventLoop, pid: int, keeping: Keeping, ended: Callable[[Ending], None]
) -> None:
    """Call `ended` when a child of an earlier daemon has ended; the keeper knows its exit code.

    Without a keeper, or where it does not get orphans (macOS), the exit code is unknown.
    """
    told = False

    def tell(ending: Ending) -> None:
        nonlocal told
        if not told:
            told = True
            ended(ending)
            keeping.forget(pid)

    def unknown() -> None:
        tell(Ending(None, None))

    def on_readable() -> None:
        loop.remove_reader(descriptor.fileno())
        descriptor.close()
        if keeping.alive:
            loop.call_later(_KEEPER_PATIENCE, unknown)  # the keeper reaps first, then reports
        else:
            unknown()

    known = pid in keeping.exits
    keeping.watch(pid, lambda status: tell(_ending_of(status)))
    if known:
        return
    try:
        descriptor = _ExitDescriptor(pid)
    except ProcessLookupError:
        loop.call_later(_KEEPER_PATIENCE if keeping.alive else 0, unknown)
        return
    loop.add_reader(descriptor.fileno(), on_readable)


async def wait_gone(pids: Iterable[int], patience: float) -> None:
    """Return when all these processes have ended, or after `patience` seconds."""
    loop = asyncio.get_running_loop()
    open_descriptors: set[_ExitDescriptor] = set()
    all_gone: asyncio.Future[None] = loop.create_future()

    def gone(descriptor: _ExitDescriptor) -> None:
        loop.remove_reader(descriptor.fileno())
        open_descriptors.discard(descriptor)
        descriptor.close()
        if all_known and not open_descriptors and not all_gone.done():
            all_gone.set_result(None)

    all_known = False
    try:
        for number, pid in enumerate(pids, 1):
            with suppress(ProcessLookupError):
                descriptor = _ExitDescriptor(pid)
                open_descriptors.add(descriptor)
                loop.add_reader(descriptor.fileno(), gone, descriptor)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # others are served while there are thousands
        all_known = True
        if open_descriptors:
            # No wait for a session's change, which have their deadline in services/host/wait.py:
            # the kernel's answer to a kill, a layer below.
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await all_gone
    finally:
        for descriptor in open_descriptors:
            loop.remove_reader(descriptor.fileno())
            descriptor.close()


def _ending_of(status: int) -> Ending:
    code = os.waitstatus_to_exitcode(status)
    return Ending(code, None) if code >= 0 else Ending(None, signal_name(-code))


def _ending(found: Any) -> Ending:
    if found.si_code == os.CLD_EXITED:
        return Ending(found.si_status, None)
    return Ending(None, signal_name(found.si_status))
