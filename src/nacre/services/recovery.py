"""Find the sessions that a former daemon had, when this one starts.

What the keeper held is alive: it goes on with the same name, id, port, screen and secrets. What is
only on disk was lost (a reboot, or keeper and daemon are both gone): it is listed with its screen,
and can be restored.

Rule 1: one session that cannot be recovered costs the others nothing.
Rule 2: a session in whose replay the engine crashed is not replayed again: it gets an empty screen
with a notice, and its journal is put aside.
"""

import logging
import os
import shutil
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nacre.core.marks import Prompting
from nacre.core.veil import Veil
from nacre.services.host import Host, Identity
from nacre.services.kept import About, KeptVeil, Long, unpack, unpack_short
from nacre.services.launch import Launch
from nacre.services.life import Secrets
from nacre.services.ports import PortPool
from nacre.services.recorder import ABOUT
from nacre.services.registry import Registry
from nacre.services.runs import Runs
from nacre.services.session import Session
from nacre.system.exits import Ending
from nacre.system.journal import cut_torn_end, ends_whole, read_end
from nacre.system.processes import Tree, find_members
from nacre.system.pty import leader_of, size_of
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_log = logging.getLogger("nacre.recovery")

_UNWRITTEN = "ring"  # in a journal that was put aside: the last bytes, which may not be in it
_REPLAYING = "replaying"  # a file that is there while a session is being replayed
_ATTEMPTS = 10  # replays that may be cut short by a kill before the session itself is suspected

_ANY_SIZE = (24, 80)  # of a terminal that is not there any more, until its journal tells

_QUARANTINED = (
    "\x1b[7m nacre \x1b[0m The screen of this session could not be rebuilt: the terminal engine\r\n"
    "crashed in its output. The program goes on; what it printed is kept in\r\n{}\r\n"
)
_DAMAGED = (
    "\x1b[7m nacre \x1b[0m The journal of this session cannot be read: what stood here before\r\n"
    "is lost. The program goes on; the journal is kept in\r\n{}\r\n"
)
_GAP = (
    "\x1b[7m nacre \x1b[0m The daemon was restarted while the journal could not be written:\r\n"
    "what stood here before is lost. The program goes on.\r\n"
)


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


@dataclass(slots=True)
class _Rebuilt:
    """A session's screen, as far as its journal tells."""

    terminal: "Terminal"
    prompting: Prompting = field(default_factory=Prompting)
    prompt_end: tuple[int, int] | None = None
    generation: int = 0
    offset: int | None = None
    notice: str | None = None
    gap: bool = False  # the journal ends before the ring begins


class Recovery:
    def __init__(self, registry: Registry, ports: PortPool, runs: Runs, host: Host) -> None:
        self._registry = registry
        self._ports = ports
        self._runs = runs
        self._host = host

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
            with self._cared_for(identifier):
                if (opened := self._open(identifier, one)) is not None:
                    found.append(opened)
        found += self._on_disk(set(held))
        screens = self._rebuild_all(found)
        sessions: list[Session] = []
        for one_found in found:
            with self._cared_for(one_found.identifier):
                sessions.append(self._join(one_found, screens[one_found.identifier]))
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

    def _cared_for(self, identifier: str) -> "_Careful":
        return _Careful(identifier)

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

    def _join(self, found: _Found, rebuilt: _Rebuilt) -> Session:
        """Make the session that was found, with its screen, and let it go on."""
        self._begin_replay(found.folder)
        if isinstance(found.told, About):
            session = self._lost(found.told, rebuilt)
        else:
            assert found.ring is not None
            session = self._take_over(found.told, found.ring, found.master, rebuilt)
        self._end_replay(found.folder)
        return session

    def _take_over(self, long: Long, ring: Ring, master: int | None, rebuilt: _Rebuilt) -> Session:
        session = Session(long.identity, long.launch, rebuilt.terminal, ring, self._host)
        session.created, session.listed = long.created, long.listed
        veil, runs = unpack_short(ring.short) if ring.short else (None, [])
        keys = Secrets(long.cookie, long.nonce, long.secret)
        session.resume_stream(keys, rebuilt.prompting)
        session.prompt_end = rebuilt.prompt_end
        session.generation = max(rebuilt.generation, ring.generation)
        self._runs.restore(session, runs, rebuilt.generation)
        self._go_on(session, long, master, ring, rebuilt, veil)
        self._runs.settle_restored(session)
        return session

    def _go_on(
        self,
        session: Session,
        long: Long,
        master: int | None,
        ring: Ring,
        rebuilt: _Rebuilt,
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
                session.resize(*size)  # the daemon was killed before it wrote that down
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
                too_old = time.time() - _touched(folder) > self._host.settings.lost_keep
            except (OSError, ValueError):
                too_old = True
            if too_old:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                found.append(_Found(identifier, folder, _ANY_SIZE, about))
        return found

    def _lost(self, about: About, rebuilt: _Rebuilt) -> Session:
        ring = Ring()
        session = Session(
            self._identity(about), _launch(about, rebuilt), rebuilt.terminal, ring, self._host
        )
        session.created = about.created
        session.prompting, session.generation = rebuilt.prompting, rebuilt.generation
        self._host.keeping.keep(f"sessions/{about.id}/ring", ring.descriptor)
        if rebuilt.notice:
            session.show_notice(rebuilt.notice)
        if about.ended is not None:
            session.end_with(Ending(about.exit_code, about.signal), about.ended)
        else:
            session.end_with(Ending(None, None, lost=True))
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

    # --- screens ---------------------------------------------------------------------------

    def _rebuild_all(self, found: list[_Found]) -> dict[str, _Rebuilt]:
        """Replay one after the other: the engine's memory makes two threads slower than one."""
        return {
            one.identifier: self._quarantine(one)
            if self._is_suspect(one.folder)
            else self._replay(one)
            for one in found
        }

    def _replay(self, found: _Found) -> _Rebuilt:
        self._begin_replay(found.folder)
        rebuilt = self._rebuild_or_begin_anew(found.folder, found.size, found.ring)
        self._end_replay(found.folder)
        return rebuilt

    def _rebuild_or_begin_anew(
        self, folder: str | None, size: tuple[int, int], ring: Ring | None
    ) -> _Rebuilt:
        """Return an empty screen with a notice for a journal that cannot be read."""
        try:
            return self._rebuild(folder, size, ring)
        except (OSError, ValueError):
            assert folder is not None
            _log.exception("a session's journal cannot be read", extra={"folder": folder})
            aside = self._put_aside(folder, ring)
            return self._begun_anew(size, _DAMAGED.format(aside))

    def _begun_anew(self, size: tuple[int, int], notice: str) -> _Rebuilt:
        terminal = self._host.engine.new_terminal(*size)
        return _Rebuilt(terminal, offset=0, notice=notice, gap=True)

    def _rebuild(self, folder: str | None, size: tuple[int, int], ring: Ring | None) -> _Rebuilt:
        from nacre.core.replay import Replay  # it loads the engine

        scrollback = self._host.settings.scrollback
        if folder is None:
            return self._begun_anew(size, _GAP)
        cut_torn_end(folder)
        if not ends_whole(folder):
            raise ValueError("a part of the journal is missing or damaged")
        past = read_end(folder)
        replay = Replay(past.checkpoint, past.engine, scrollback=scrollback)
        if past.checkpoint is None and not past.records:
            replay.terminal.resize(*size)
        replay.run(past.records)
        end = replay.prompt_end
        rebuilt = _Rebuilt(
            replay.terminal,
            replay.prompting,
            (end.row, end.col) if end is not None else None,
            replay.generation,
            replay.offset if replay.offset is not None else 0,
        )
        if ring is not None and rebuilt.offset is not None and rebuilt.offset < ring.begin:
            rebuilt.terminal.close()
            gap = self._begun_anew(size, _GAP)
            gap.generation = replay.generation
            return gap
        return rebuilt

    def _begin_replay(self, folder: str | None) -> None:
        """Leave a sign for the next daemon, should this one die over it."""
        if folder is not None and os.path.isdir(folder):
            with suppress(OSError), open(os.path.join(folder, _REPLAYING), "ab") as file:
                file.write(b"x")

    def _end_replay(self, folder: str | None) -> None:
        if folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(folder, _REPLAYING))

    def _attempts(self, folder: str | None) -> int:
        """How many daemons died while they replayed this session."""
        if folder is None:
            return 0
        try:
            return os.stat(os.path.join(folder, _REPLAYING)).st_size
        except OSError:
            return 0

    def _is_suspect(self, folder: str | None) -> bool:
        """Whether the engine crashed in it, or too many daemons were killed over it."""
        return self._attempts(folder) >= (1 if self._host.keeping.crashed else _ATTEMPTS)

    def _put_aside(self, folder: str, ring: Ring | None) -> str:
        """Take a journal out of the way, and what is not in it yet; return where it lies then."""
        aside = f"{folder}.quarantine"
        shutil.rmtree(aside, ignore_errors=True)
        about = os.path.join(folder, ABOUT)
        os.makedirs(aside, mode=0o700)
        for name in os.listdir(folder):
            if name == _REPLAYING:
                os.unlink(os.path.join(folder, name))
            if name.endswith((".log", ".screen")):
                os.replace(os.path.join(folder, name), os.path.join(aside, name))
        if os.path.exists(about):
            shutil.copy(about, aside)
        if ring is not None:
            with suppress(OSError), open(os.path.join(aside, _UNWRITTEN), "wb") as file:
                file.write(ring.since(0))
        return aside

    def _quarantine(self, found: _Found) -> _Rebuilt:
        assert found.folder is not None
        aside = self._put_aside(found.folder, found.ring)
        if found.ring is not None:
            found.ring.release(found.ring.end)
        _log.error(
            "a session's output crashes the engine; it is put aside", extra={"folder": aside}
        )
        terminal = self._host.engine.new_terminal(*found.size)
        return _Rebuilt(terminal, notice=_QUARANTINED.format(aside))


class _Careful:
    """Log what goes wrong with one session, and go on with the others."""

    def __init__(self, identifier: str) -> None:
        self._identifier = identifier

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, (OSError, ValueError)):
            _log.exception("session %s could not be recovered", self._identifier, exc_info=error)
            return True
        return False


def _started_with(cookie: str) -> int | None:
    """Return the child that was started but has not taken its terminal yet."""
    return min(find_members([Tree(None, cookie)]), default=None)


def _veil(kept: KeptVeil | None) -> Veil | None:
    return Veil(kept.nonce, kept.shown, kept.until) if kept is not None else None


def _launch(about: About, rebuilt: _Rebuilt) -> Launch:
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


def _touched(folder: str) -> float:
    """When something in a journal was last written."""
    times: Iterable[float] = (entry.stat().st_mtime for entry in os.scandir(folder))
    return max(times, default=0.0)
