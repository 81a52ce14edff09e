"""Keep the daemon findable: its folders, socket and state file exist as long as it runs.

logind removes the runtime folder when the user logs out, and people delete what they do not know.
The daemon hears of it (inotify(7)) and makes everything again. Where the system sends no such
events, it looks now and then (`home_check`).

Rule 1: nothing here ends the daemon: what cannot be made is logged once, and tried again.
Rule 2: while the runtime folder cannot be made, the socket is in the state folder; the state file
says where.
Rule 3: a state folder that was renamed stays locked as well: its sessions run here, and another
daemon would list them as lost.
"""

import asyncio
import errno
import logging
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from nacre.client.folder_events import above, nearest
from nacre.client.lock import acquire, is_lock_of
from nacre.settings.paths import Paths, make_private
from nacre.system.endpoints import (
    listen_local,
    make_way,
    read_state,
    store_token,
    write_state,
)
from nacre.system.folder_watch import FolderWatch
from nacre.system.keeper.client import Keeping

_log = logging.getLogger("nacre.daemon")

# Whoever deletes a folder deletes several things: a file made meanwhile would be in their way.
_PAUSE = 0.2  # seconds


class _Serves(Protocol):
    def close(self) -> None: ...


class Presence:
    def __init__(
        self,
        paths: Paths,
        keeping: Keeping,
        listener: socket.socket,
        lock: int,
        state: dict[str, Any],
        token: str | None,
        serve: Callable[[socket.socket], Awaitable[_Serves]],
        *,
        check_every: float,
    ) -> None:
        """Know what is there now; `serve` serves a listener.

        `token` is what the token file says; None if the daemon has its token from elsewhere.
        """
        self.lock = lock
        self.listener = listener
        self.path = paths.socket  # where the socket is now
        self._paths = paths
        self._keeping = keeping
        self._state = state
        self._token = token
        self._serve = serve
        self._server: _Serves | None = None
        self._seen = _identity(self.path)
        self._loop = asyncio.get_running_loop()
        self._watch = FolderWatch(self._loop, self._soon)
        self._every = check_every
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._complaint = ""
        self._write_after = 0.0  # the state file could not be written: not before this time again

    async def begin(self) -> None:
        """Serve, and watch from now on."""
        self._server = await self._serve(self.listener)
        self._watch_folders()
        self._schedule(0 if self._is_damaged() else self._every)

    def end(self) -> None:
        """Stop serving and watching, and remove what only a running daemon has."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        self._watch.close()
        for path in (self._paths.state_file, self.path):
            with suppress(OSError):
                os.unlink(path)
        if self._server is not None:
            self._server.close()
            self._server = None

    # --- noticing --------------------------------------------------------------------------

    def _soon(self) -> None:
        self._schedule(_PAUSE)

    def _schedule(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._look)

    def _look(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._mend(), name="presence")
        self._schedule(self._every)

    def _is_damaged(self) -> bool:
        return (
            self._seen is None
            or _identity(self.path) != self._seen
            or self.path != self._paths.socket
            or not is_lock_of(self._paths, self.lock)
            or self._needs_state()
        )

    def _needs_state(self) -> bool:
        if self._loop.time() < self._write_after:
            return False
        return self._lacks_token() or read_state(self._paths) != self._state

    def _lacks_token(self) -> bool:
        return self._token is not None and not os.path.lexists(self._paths.token_file)

    def _watch_folders(self) -> None:
        # A folder above that is renamed takes ours with it.
        self._watch.folders(renamed=[*above(self._paths.state), *above(self._paths.runtime)])
        self._watch.folders(
            gone=[self._paths.state, os.path.dirname(self.path)],
            come=[nearest(self._paths.runtime)] if self.path != self._paths.socket else [],
        )

    # --- making it again -------------------------------------------------------------------

    async def _mend(self) -> None:
        if not self._is_damaged():
            return
        try:
            make_private(self._paths.state)
            self._lock_again()
        except OSError as error:
            self._complain(self._paths.state, error)
        try:
            await self._listen_again()
        except OSError as error:
            self._complain(self.path, error)
        if self._needs_state():
            self._write_files()
        self._watch_folders()

    def _write_files(self) -> None:
        if self._token is not None and self._lacks_token():
            store_token(self._paths.token_file, self._token)
        if self._lacks_token() or not write_state(self._paths, self._state):
            # What is left of the attempt is deleted, and that is an event as well.
            self._write_after = self._loop.time() + self._every

    def _lock_again(self) -> None:
        """Lock the state folder that exists now, if it is not the one that we locked."""
        if is_lock_of(self._paths, self.lock):
            return
        lock = acquire(self._paths)
        if lock is None:
            raise OSError(errno.EBUSY, "another daemon has taken it")
        if os.fstat(self.lock).st_nlink:  # it has a name, but another one
            self._keeping.keep(f"renamed/{self.lock}", self.lock)
            what = "renamed"
        else:
            os.close(self.lock)
            what = "deleted"
        self.lock = lock
        self._keeping.keep("lock", lock)
        _log.warning(f"the state folder was {what}; it is made again", extra=self._where())

    async def _listen_again(self) -> None:
        """Listen where clients look, or else in the state folder."""
        usual = self._paths.socket
        if self.path == usual and self._seen is not None and _identity(usual) == self._seen:
            return
        try:
            make_way(self._paths.runtime)
            make_private(self._paths.runtime)
            path = usual
        except OSError as error:
            self._complain(self._paths.runtime, error)
            path = os.path.join(self._paths.other_runtime, os.path.basename(usual))
            if path == self.path and self._seen is not None and _identity(path) == self._seen:
                return
            make_private(self._paths.other_runtime)
        before = self.path
        if self._server is not None:
            # First: a loop removes the path that it listened on, which is the new one's as well.
            self._server.close()
        if before != path:
            with suppress(OSError):
                os.unlink(before)
        self.listener = listen_local(path)
        self.path, self._seen = path, _identity(path)
        self._state["socket"] = path
        self._keeping.keep("local", self.listener.fileno())
        self._write_files()  # whoever looks for us now waits in the socket
        self._server = await self._serve(self.listener)
        self._complaint = ""
        _log.warning("the socket was deleted; it is made again", extra=self._where())

    def _where(self) -> dict[str, str]:
        return {"socket": self.path, "state": self._paths.state}

    def _complain(self, path: str, error: OSError) -> None:
        complaint = f"{path}: {error.strerror or error}"
        if complaint != self._complaint:
            self._complaint = complaint
            _log.error("what clients need to find us cannot be made", extra={"error": complaint})


def _identity(path: str) -> tuple[int, int] | None:
    """Return which socket is at this path; None if there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None
