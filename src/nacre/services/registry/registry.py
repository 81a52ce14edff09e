"""All sessions: their names, how many there may be, and when one is removed.

Rule 1: a listed session has its own name, id and port. A killed or dismissed session keeps only its
id, and can be read by it until it is too old. An ended session gives its name to a new one that
wants it.
Rule 2: a listed session's port listens (see ports.py); it is free again once unlisted.
"""

import secrets
from collections.abc import Iterator

from nacre.core.operations.steps import END_ONE, LIST_SESSIONS, kill
from nacre.errors import InvalidInput, LimitReached, SessionExists, SessionNotFound
from nacre.services.registry.names import MAX_NAME, check_name, name_from_folder
from nacre.services.registry.ports import PortPool
from nacre.services.session.identity import Identity
from nacre.services.session.session import Session
from nacre.settings.table import Settings

Reference = str | int

_NAMED = 10  # sessions that an error names


class Registry:
    def __init__(self, settings: Settings, ports: PortPool) -> None:
        self._settings = settings
        self._pool = ports
        self._names: dict[str, Session] = {}
        self._ports: dict[int, Session] = {}
        self._ids: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        """The listed sessions, in the order they were made."""
        return iter(list(self._names.values()))

    def all(self) -> list[Session]:
        """The listed sessions, and those that are known only by their id."""
        return list(self._ids.values())

    @property
    def alive(self) -> int:
        return sum(1 for session in self._names.values() if session.alive)

    def find(self, reference: Reference) -> Session:
        """Raises SessionNotFound, which names the sessions that exist."""
        found = self._look_up(text := str(reference))
        if found is None:
            raise SessionNotFound(
                f"no session {text[:MAX_NAME]!r} (there are: {self._some_names()})", LIST_SESSIONS
            )
        return found

    def has(self, reference: Reference) -> bool:
        return self._look_up(str(reference)) is not None

    def _look_up(self, text: str) -> Session | None:
        found = self._names.get(text) or self._ids.get(text.lower())
        if found is None and text.isdigit():
            found = next((known for port, known in self._ports.items() if str(port) == text), None)
        return found

    def _some_names(self) -> str:
        names = ", ".join(list(self._names)[:_NAMED]) or "none"
        more = len(self._names) - _NAMED
        return f"{names} and {more} more" if more > 0 else names

    def new_identity(
        self,
        name: str | None,
        folder: str,
        *,
        named: bool,
        keep: bool,
        tags: tuple[str, ...],
        port: int | None = None,
    ) -> Identity:
        """Make a new identity; its port listens from now on. `named`: its caller chose the name.

        Call `add` afterwards, or `give_up` if the session could not be created.
        Raises LimitReached, SessionExists, and InvalidInput for an invalid name or a requested port
        that is taken or out of range.
        """
        if self.alive >= self._settings.max_sessions:
            raise LimitReached(
                f"the limit of running sessions is reached ({self._settings.max_sessions}: "
                "max_sessions)",
                END_ONE,
            )
        if name is None:
            name = name_from_folder(folder, self._names)
        else:
            self._check_free(name)
        return Identity(name, self._new_id(), self._pool.claim(port), named, keep, tags)

    def give_up(self, identity: Identity) -> None:
        """Free the port of an identity whose session could not be created."""
        self._pool.release(identity.port)

    def add(self, session: Session) -> None:
        self._names[session.identity.name] = session
        self._ports[session.identity.port] = session
        self._ids[session.identity.id] = session
        session.announce("created")

    def add_unlisted(self, session: Session) -> None:
        """Add a session that is known only by its id: it was killed or dismissed."""
        self._ids[session.identity.id] = session

    def put_in_order(self) -> None:
        """List sessions in the order they were made; of two with one name, the later one has it."""
        made = sorted(self._ids.values(), key=lambda session: session.created)
        self._names = {session.identity.name: session for session in made if session.listed}
        self._ports = {session.identity.port: session for session in made if session.listed}

    def rename(self, session: Session, name: str) -> None:
        """Raises SessionExists or InvalidInput; a session that is not listed cannot be renamed."""
        if self._names.get(session.identity.name) is not session:
            raise InvalidInput("a session that was killed or dismissed cannot be renamed")
        if name != session.identity.name:
            self._check_free(name)
        # Lists keep their order: the new name takes the old one's place.
        self._names = {
            name if known is session else key: known for key, known in self._names.items()
        }
        session.rename(name)

    def unlist(self, session: Session) -> None:
        """Remove it from the lists and free its name and port. It keeps its id."""
        if session.listed:
            session.unlist()
        if self._names.get(session.identity.name) is session:
            del self._names[session.identity.name]
        if self._ports.get(session.identity.port) is session:
            del self._ports[session.identity.port]
            self._pool.release(session.identity.port)

    def forget(self, session: Session) -> None:
        self.unlist(session)
        self._ids.pop(session.identity.id, None)

    def _check_free(self, name: str) -> None:
        check_name(name)
        holder = self._names.get(name)
        if holder is None:
            return
        if holder.alive or holder.supervisor.is_busy:  # it is being restarted
            raise SessionExists(
                f"there is already a session {name!r}", "choose another name", kill(name)
            )
        self.unlist(holder)  # a new session with this name replaces the one that has ended

    def _new_id(self) -> str:
        while True:
            # A letter first, because eight digits could be a port.
            identifier = secrets.choice("abcdef") + secrets.token_hex(4)[:7]
            if identifier not in self._ids:
                return identifier
