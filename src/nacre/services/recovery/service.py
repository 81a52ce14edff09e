"""Recover the sessions of an earlier daemon when this one starts.

A session that the keeper holds is alive: it continues with the same name, id, port, screen and
secrets. A session that is only on disk was lost (a reboot, or both keeper and daemon are gone): it
is listed with its screen and can be restored.

Rule 1: a session that cannot be recovered does not affect the others.
Rule 2: `find` is quick. Then calls are served while the screens are rebuilt, one after the other:
a call waits for the sessions that it is about, which are rebuilt first (dispatch/recovered.py).
Rule 3: after a daemon that crashed by itself, journals are replayed by workers, in other processes:
what crashed the engine once will do so again. Otherwise the daemon does it: to pack a replayed
terminal there, and to unpack it here, takes longer than most replays.
"""

import asyncio
import logging
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from nacre.errors import SessionNotFound
from nacre.services.host.host import Host
from nacre.services.recovery.screens import Rebuilt, Screens
from nacre.services.recovery.worker import Replayed
from nacre.services.recovery.workers import EngineCrashed, Worker
from nacre.services.registry.ports import PortPool
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.session.record import SessionRecord, unpack, unpack_from_disk, unpack_short
from nacre.services.session.recorder import ABOUT
from nacre.services.session.session import Session
from nacre.system.processes.exits import Ending
from nacre.system.processes.pty import leader_of, size_of
from nacre.system.processes.tree import Tree, look
from nacre.system.sandbox.view import is_below
from nacre.system.storage.ring import Ring
from nacre.system.storage.segments import Past, has_checkpoint, segments, take_end

_log = logging.getLogger("nacre.recovery")

_ANY_SIZE = (24, 80)  # for a terminal that is gone, until its journal has the size

_WORKERS = 2  # so that there is something to unpack while the other one replays

# Journals that are read and not replayed, some megabytes each: this one, the next one, and one that
# was to be the next before somebody waited for another.
_AHEAD = 3

_LOOKS = 20  # scans of all processes, a few milliseconds each


class _Held(Struct):
    """The descriptors of one session that the keeper held."""

    ring: int | None = None
    master: int | None = None


class _Found(Struct, frozen=True):
    """A session before its screen is rebuilt."""

    identifier: str
    folder: str | None  # the folder of its journal
    size: tuple[int, int]
    record: SessionRecord
    ring: Ring | None = None  # None: it is only on disk
    master: int | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def references(self) -> tuple[str, ...]:
        """What it may be called, besides its id."""
        identity = self.record.identity
        return (identity.name, str(identity.port)) if self.record.listed else ()


class Recovery:
    def __init__(self, registry: Registry, ports: PortPool, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ports = ports
        self._ledger = ledger
        self._host = host
        self._screens = Screens(host)
        self._pending: dict[str, _Found] = {}  # by id
        self._called: dict[str, list[_Found]] = {}  # by name and port
        self._wanted: dict[str, None] = {}  # ids that somebody waits for
        self._read: dict[str, asyncio.Future[Past]] = {}  # journals, by id
        self._over = asyncio.Event()
        self._over.set()

    def find(self, kept: dict[str, int]) -> None:
        """Take over what the keeper holds and what is on disk; `rebuild` follows."""
        held: dict[str, _Held] = {}
        ports: set[int] = set()
        for key, descriptor in kept.items():
            kind, _, rest = key.partition("/")
            if kind == "ports":
                self._ports.adopt(listener := socket.socket(fileno=descriptor))
                ports.add(listener.getsockname()[1])
            elif kind == "sessions":
                identifier, _, part = rest.partition("/")
                setattr(held.setdefault(identifier, _Held()), part, descriptor)
        found: list[_Found] = []
        for identifier, one in held.items():
            with _careful(identifier):
                if (opened := self._open(identifier, one)) is not None:
                    found.append(opened)
        found += self._on_disk(set(held))
        found.sort(key=lambda one: one.record.created)
        self._pending = {one.identifier: one for one in found}
        for one_found in found:
            for reference in one_found.references:
                self._called.setdefault(reference, []).append(one_found)
        for port in ports - {one.record.identity.port for one in found if one.record.listed}:
            self._ports.release(port)  # its session was just being created
        if found:
            self._over.clear()

    async def rebuild(self) -> None:
        """Rebuild the screens of what was found. It takes up to 30 ms per session."""
        if not self._pending:
            return
        await self._host.engine.load()
        count = len(self._pending)
        # Without a journal there is nothing to replay: a worker would be started for nothing.
        journals = [key for key, one in self._pending.items() if one.folder is not None]
        there = dict.fromkeys(journals) if self._host.keeping.crashed else {}
        here = dict.fromkeys(key for key in self._pending if key not in there)
        longest = self._host.settings.replay_time
        workers = [
            self._work_through(there, Worker(longest)) for _ in range(min(_WORKERS, len(there)))
        ]
        async with asyncio.TaskGroup() as group:
            for work in (self._work_through(here), *workers):
                group.create_task(work)
        self._registry.put_in_order()
        self._called.clear()
        self._over.set()
        _log.info("sessions recovered", extra={"sessions": count})

    async def _work_through(self, left: dict[str, None], worker: Worker | None = None) -> None:
        """Recover sessions until none is left, first those that somebody waits for."""
        while left:
            key = self._next_of(left)
            del left[key]
            self._wanted.pop(key, None)
            found = self._pending[key]
            with _careful(key):
                if worker is None:
                    await self._read_ahead(key, left)
                await self._recover(found, worker)
            self._read.pop(key, None)
            del self._pending[key]
            found.done.set()
            await asyncio.sleep(0)  # let others be answered
        if worker is not None:
            await worker.end()

    def _next_of(self, left: dict[str, None]) -> str:
        return next((key for key in self._wanted if key in left), None) or next(iter(left))

    async def _read_ahead(self, key: str, left: dict[str, None]) -> None:
        """Return when this session's journal is read, with that of the next one begun.

        A thread reads those with a checkpoint: to unpack that takes half as long as the engine
        takes for it. For all others the way to a thread and back takes longer than to read them.
        """
        following = (self._next_of(left),) if left else ()
        for wanted in (key, *following):
            folder = self._pending[wanted].folder
            if folder is None or wanted in self._read or len(self._read) >= _AHEAD:
                continue
            if has_checkpoint(folder):
                reading = self._host.loop.run_in_executor(None, take_end, folder)
                self._read[wanted] = reading
        if (reading_it := self._read.get(key)) is not None:
            await asyncio.wait((reading_it,))

    async def _recover(self, found: _Found, worker: Worker | None) -> None:
        replayed: Replayed | None = None
        crashes = False
        folder, size, ring = found.folder, found.size, found.ring
        if worker is not None and folder is not None and not self._screens.is_suspect(folder):
            try:
                replayed = await worker.replay(self._screens.task(folder, size, ring))
            except EngineCrashed as error:
                _log.error(
                    "the engine failed on a journal",
                    extra={"session": found.identifier, "reason": str(error)},
                )
                crashes = True
        # From here on nothing is awaited: the marker is one session's at a time.
        read = self._read.get(found.identifier)
        past = None if read is None else read.result
        screen = self._screens.rebuild(folder, size, ring, replayed, past, crashes=crashes)
        session = self._join(found, screen)
        if session.listed:
            self._registry.add(session)
        else:
            self._registry.add_unlisted(session)

    # --- for those who wait ----------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def listed(self) -> int:
        """How many listed sessions are still to come."""
        return sum(1 for found in self._pending.values() if found.record.listed)

    async def session(self, reference: str | int) -> None:
        """Return when the session is there that is meant by this, or it is certain that none is."""
        text = str(reference)
        meant = [one for one in self._called.get(text, ()) if one.identifier in self._pending]
        if (by_id := self._pending.get(text.lower())) is not None:
            meant.append(by_id)
        for found in meant:
            self._wanted[found.identifier] = None
        for found in meant:
            await found.done.wait()
        try:
            self._registry.find(reference)
        except SessionNotFound:  # the error names all sessions that there are
            await self._over.wait()

    async def every_session(self) -> None:
        await self._over.wait()

    def keep_all(self) -> None:
        """Give what was found, and is no session yet, to a keeper that has nothing yet."""
        for found in self._pending.values():
            if found.ring is None:
                continue
            self._host.keeping.keep(f"sessions/{found.identifier}/ring", found.ring.descriptor)
            if found.master is not None:
                self._host.keeping.keep(f"sessions/{found.identifier}/master", found.master)
                if found.record.pid:
                    self._host.keeping.watch(found.record.pid)

    # --- what the keeper held --------------------------------------------------------------

    def _open(self, identifier: str, held: _Held) -> _Found | None:
        ring = Ring(held.ring) if held.ring is not None else None
        if ring is None or not ring.long:  # it was just being created: there is no process yet
            if ring is not None:
                ring.close()
            if held.master is not None:
                os.close(held.master)
            self._host.keeping.drop(f"sessions/{identifier}/")
            return None
        size = size_of(held.master) if held.master is not None else _ANY_SIZE
        folder = self._host.journal_of(identifier)
        return _Found(identifier, folder, size, unpack(ring.long), ring, held.master)

    def _join(self, found: _Found, rebuilt: Rebuilt) -> Session:
        """Create the session that was found, with its screen, and let it continue."""
        if found.ring is None:
            assert found.folder is not None
            session = self._lost(found.record, found.folder, rebuilt)
        else:
            session = self._take_over(found.record, found.ring, found.master, rebuilt)
        self._screens.end_replay(found.folder)
        return session

    def _take_over(
        self, record: SessionRecord, ring: Ring, master: int | None, rebuilt: Rebuilt
    ) -> Session:
        veil, runs = unpack_short(ring.short) if ring.short else (None, [])
        child = self._child(record, master)
        session = Session(record, rebuilt, ring, self._host)
        self._ledger.restore(session, runs, rebuilt.generation, rebuilt.lost)
        if rebuilt.notice:
            session.show_notice(rebuilt.notice)
        session.resume(child, veil)
        self._ledger.settle_restored(session)
        return session

    def _child(self, record: SessionRecord, master: int | None) -> tuple[int, int] | None:
        """Return the process and terminal of a running child. Close descriptors without one."""
        if master is None:
            return None
        if record.ended is None:
            # In a sandbox another process leads than the child, which only holds it.
            leader = None if record.launch.confined else leader_of(master)
            pid = record.pid or leader or _started_with(record.cookie)
            if pid:
                return pid, master
        self._host.keeping.drop(f"sessions/{record.identity.id}/master")
        os.close(master)
        return None

    # --- what lies on disk -----------------------------------------------------------------

    def _on_disk(self, known: set[str]) -> list[_Found]:
        """Return the lost sessions on disk. Remove those that are too old."""
        root = self._host.journals
        if root is None or not os.path.isdir(root):
            return []
        found = []
        for identifier in sorted(os.listdir(root)):
            if identifier in known or "." in identifier:
                continue
            folder = os.path.join(root, identifier)
            try:
                with open(os.path.join(folder, ABOUT), "rb") as file:
                    record = unpack_from_disk(file.read())
                too_old = time.time() - _last_written(folder) > self._host.settings.lost_keep
            except (OSError, ValueError):
                too_old = True
            if too_old:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                found.append(_Found(identifier, folder, _ANY_SIZE, record))
        return found

    def _lost(self, record: SessionRecord, folder: str, rebuilt: Rebuilt) -> Session:
        ring = Ring()
        port = self._ports.claim_again(record.identity.port)
        record.identity = replace(record.identity, port=port)
        record.launch = replace(record.launch, cwd=_folder(record, rebuilt))
        session = Session(record, rebuilt, ring, self._host)
        if rebuilt.notice:
            session.show_notice(rebuilt.notice)
        ending = record.ending or Ending(None, None, lost=True)
        session.keep_ended(ending, record.ended or _last_written(folder))
        return session


@contextmanager
def _careful(identifier: str) -> Iterator[None]:
    """Log an error with one session, and continue with the others."""
    try:
        yield
    except Exception:  # noqa: BLE001  # others wait for the sessions after it
        _log.exception("session %s could not be recovered", identifier)


def _started_with(cookie: str) -> int | None:
    """Return a child that was started but has not opened its terminal yet.

    It may still be in exec; the scans take some milliseconds.
    """
    for _ in range(_LOOKS):
        seen = look([Tree(None, cookie)])
        if seen.members or not seen.executing:
            break
    return min(seen.members, default=None)


def _folder(record: SessionRecord, rebuilt: Rebuilt) -> str:
    """Return the folder to restart it in: the last folder of its shell, if that still exists.

    In a sandbox only the workspace is the same folder inside and outside.
    """
    folder = rebuilt.prompting.folder if record.launch.is_shell else None
    launch = record.launch
    if folder and launch.confined and not is_below(os.path.realpath(folder), launch.workspace):
        return launch.workspace
    return folder if folder and os.path.isdir(folder) else launch.cwd


def _last_written(folder: str) -> float:
    """Return when a session last printed something; later daemons change only other files."""
    logs = [segment.log for segment in segments(folder)]
    return max(os.stat(path).st_mtime for path in logs or [os.path.join(folder, ABOUT)])
