"""Find the sessions that a former daemon had, when this one starts.

What the keeper held is alive: it goes on with the same name, id, port, screen and secrets. What is
only on disk was lost (a reboot, or keeper and daemon are both gone): it is listed with its screen,
and can be restored.

Rule: one session that cannot be recovered costs the others nothing.
"""

import logging
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nacre.core.veil import Veil
from nacre.services.host import Host, Identity
from nacre.services.kept import About, KeptVeil, Long, unpack, unpack_short
from nacre.services.launch import Launch
from nacre.services.ledger import Ledger
from nacre.services.life import Secrets
from nacre.services.ports import PortPool
from nacre.services.rebuilding import Rebuilt, Screens
from nacre.services.recorder import ABOUT
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.system.exits import Ending
from nacre.system.journal import segments
from nacre.system.processes import Tree, find_members
from nacre.system.pty import leader_of, size_of
from nacre.system.ring import Ring

_log = logging.getLogger("nacre.recovery")

_ANY_SIZE = (24, 80)  # of a terminal that is not there any more, until its journal tells


@dataclass(slots=True)
class _Held:
    """The descriptors of one session that the keeper held."""

    ring: int | None = None
    master: int | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A session before its screen is rebuilt."""

    identifier: str
    folder: str | None  # of its journal
    size: tuple[int, int]
    told: Long | About  # by its ring, or only by what lies on disk
    ring: Ring | None = None
    master: int | None = None


class Recovery:
    def __init__(self, registry: Registry, ports: PortPool, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ports = ports
        self._ledger = ledger
        self._host = host
        self._screens = Screens(host)

    def run(self, kept: dict[str, int]) -> None:
        """Take over what the keeper held and what lies on disk; takes up to 30 ms a session."""
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
        sessions: list[Session] = []
        for one_found in found:
            with _careful(one_found.identifier):
                screen = self._screens.rebuild(one_found.folder, one_found.size, one_found.ring)
                sessions.append(self._join(one_found, screen))
        for session in sorted(sessions, key=lambda session: session.created):
            if session.listed:
                self._registry.add(session)
            else:
                self._registry.add_unlisted(session)
        for port in ports - {session.identity.port for session in sessions if session.listed}:
            self._ports.release(port)  # of a session that was just being made
        if sessions:
            _log.info("sessions recovered", extra={"sessions": len(sessions)})

    @property
    def finds_journals(self) -> bool:
        """Whether anything lies on disk: else the engine need not be loaded for it."""
        root = self._host.journals
        return root is not None and os.path.isdir(root) and bool(os.listdir(root))

    # --- what the keeper held --------------------------------------------------------------

    def _open(self, identifier: str, held: _Held) -> _Found | None:
        ring = Ring(held.ring) if held.ring is not None else None
        if ring is None or not ring.long:  # it was just being made: there is no process yet
            if ring is not None:
                ring.close()
            if held.master is not None:
                os.close(held.master)
            self._host.keeping.drop(f"sessions/{identifier}/")
            return None
        size = size_of(held.master) if held.master is not None else _ANY_SIZE
        folder = self._host.journal_of(identifier)
        return _Found(identifier, folder, size, unpack(ring.long, Long), ring, held.master)

    def _join(self, found: _Found, rebuilt: Rebuilt) -> Session:
        """Make the session that was found, with its screen, and let it go on."""
        self._screens.begin_replay(found.folder)
        if isinstance(found.told, About):
            assert found.folder is not None
            session = self._lost(found.told, found.folder, rebuilt)
        else:
            assert found.ring is not None
            session = self._take_over(found.told, found.ring, found.master, rebuilt)
        self._screens.end_replay(found.folder)
        return session

    def _take_over(self, long: Long, ring: Ring, master: int | None, rebuilt: Rebuilt) -> Session:
        session = Session(long.identity, long.launch, rebuilt.terminal, ring, self._host)
        session.created, session.listed = long.created, long.listed
        veil, runs = unpack_short(ring.short) if ring.short else (None, [])
        keys = Secrets(long.cookie, long.nonce, long.secret)
        session.resume_stream(keys, rebuilt.prompting)
        session.stream.prompt_end = rebuilt.prompt_end
        session.generation = max(rebuilt.generation, ring.generation)
        self._ledger.restore(session, runs, rebuilt.generation)
        self._go_on(session, long, master, ring, rebuilt, veil)
        self._ledger.settle_restored(session)
        return session

    def _go_on(
        self,
        session: Session,
        long: Long,
        master: int | None,
        ring: Ring,
        rebuilt: Rebuilt,
        veil: KeptVeil | None,
    ) -> None:
        offset = ring.end if rebuilt.offset is None else min(rebuilt.offset, ring.end)
        if rebuilt.notice:
            offset = max(offset, ring.begin) if rebuilt.gap else ring.end
        session.recorder.continue_from(offset)
        if rebuilt.notice:
            session.show_notice(rebuilt.notice)
        pid = long.pid
        if master is not None and long.ended is None:
            pid = pid or leader_of(master) or _started_with(long.cookie)
        alive = master is not None and long.ended is None and pid
        if alive and master is not None and pid:
            session.prepare(pid, master)
        session.absorb_again(offset, _veil(veil), veil.begin if veil is not None else 0)
        if alive and master is not None:
            if (size := size_of(master)) != (session.terminal.rows, session.terminal.cols):
                session.set_size(*size)  # the daemon was killed before it wrote that down
            if long.stage is not None:
                session.stage.restore(long.stage)
            session.adopt()
            return
        if master is not None:
            self._host.keeping.drop(f"sessions/{session.identity.id}/master")
            os.close(master)
        session.former_pid = long.pid or 0
        session.end_with(Ending(long.exit_code, long.signal, long.lost), long.ended)

    # --- what lies on disk -----------------------------------------------------------------

    def _on_disk(self, known: set[str]) -> list[_Found]:
        """Return the sessions of daemons that are gone with their keepers; old ones are removed."""
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
                    about = unpack(file.read(), About)
                too_old = time.time() - _last_written(folder) > self._host.settings.lost_keep
            except (OSError, ValueError):
                too_old = True
            if too_old:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                found.append(_Found(identifier, folder, _ANY_SIZE, about))
        return found

    def _lost(self, about: About, folder: str, rebuilt: Rebuilt) -> Session:
        ring = Ring()
        session = Session(
            self._identity(about), _launch(about, rebuilt), rebuilt.terminal, ring, self._host
        )
        session.created = about.created
        session.stream.prompting, session.generation = rebuilt.prompting, rebuilt.generation
        self._host.keeping.keep(f"sessions/{about.id}/ring", ring.descriptor)
        if rebuilt.notice:
            session.show_notice(rebuilt.notice)
        if about.ended is not None:
            session.end_with(Ending(about.exit_code, about.signal), about.ended)
        else:
            session.end_with(Ending(None, None, lost=True), _last_written(folder))
        return session

    def _identity(self, about: About) -> Identity:
        return Identity(
            about.name,
            about.id,
            self._ports.claim_again(about.port),
            about.named,
            about.keep,
            tuple(about.tags),
        )


@contextmanager
def _careful(identifier: str) -> Iterator[None]:
    """Log what goes wrong with one session, and go on with the others."""
    try:
        yield
    except (OSError, ValueError):
        _log.exception("session %s could not be recovered", identifier)


def _started_with(cookie: str) -> int | None:
    """Return the child that was started but has not taken its terminal yet."""
    return min(find_members([Tree(None, cookie)]), default=None)


def _veil(kept: KeptVeil | None) -> Veil | None:
    return Veil(kept.nonce, kept.shown, kept.until) if kept is not None else None


def _launch(about: About, rebuilt: Rebuilt) -> Launch:
    cwd = rebuilt.prompting.folder if about.is_shell else None
    return Launch(
        tuple(about.argv),
        about.command,
        about.program,
        about.is_shell,
        about.integrated,
        cwd if cwd and os.path.isdir(cwd) else about.cwd,
        {},
    )


def _last_written(folder: str) -> float:
    """When a session last said something; each daemon that lists it anew writes other files."""
    logs = [segment.log for segment in segments(folder)]
    return max(os.stat(path).st_mtime for path in logs or [os.path.join(folder, ABOUT)])
