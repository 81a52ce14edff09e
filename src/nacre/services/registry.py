"""All sessions: who is called what, how many there may be, and when one has aged out.

Rule 1: a listed session has a name, an id and a port of its own. A killed or dismissed one keeps
only its id: it is readable by it until it ages out.
Rule 2: a listed session's port listens (services/ports.py); it is free again once unlisted.
"""

import secrets
from collections.abc import Iterator

from nacre.config import Settings
from nacre.errors import InvalidInput, LimitReached, SessionExists, SessionNotFound
from nacre.services.host import Identity
from nacre.services.names import check_name, name_from_folder
from nacre.services.ports import PortPool
from nacre.services.session import Session

Reference = str | int


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
        """The listed ones and those that are only known by their id."""
        return list(self._ids.values())

    @property
    def alive(self) -> int:
        return sum(1 for session in self._names.values() if session.alive)

    def find(self, reference: Reference) -> Session:
        """Raises SessionNotFound, naming what there is."""
        text = str(reference)
        found = self._names.get(text) or self._ids.get(text.lower())
        if found is None:
            found = next((known for port, known in self._ports.items() if str(port) == text), None)
        if found is None:
            names = ", ".join(list(self._names)[:10]) or "none"
            raise SessionNotFound(
                f"no session {text!r}; list them with list_sessions (there are: {names})"
            )
        return found

    def new_identity(
        self,
        name: str | None,
        folder: str,
        *,
        keep: bool,
        tags: tuple[str, ...],
        port: int | None = None,
    ) -> Identity:
        """Make an identity that no listed session has; its port listens from now on.

        It is followed by `add`, or by `give_up` when no session came of it.
        Raises LimitReached, SessionExists, or InvalidInput for a name that cannot be one and for
        an asked-for port that is taken or out of range.
        """
        if self.alive >= self._settings.max_sessions:
            raise LimitReached(
                f"{self._settings.max_sessions} sessions are running, which is the limit "
                "(max_sessions); kill one that is not needed"
            )
        if name is None:
            name = name_from_folder(folder, self._names)
            named = False
        else:
            self._check_free(name)
            named = True
        return Identity(name, self._new_id(), self._pool.claim(port), named, keep, tags)

    def give_up(self, identity: Identity) -> None:
        """Free the port of an identity whose session could not be made."""
        self._pool.release(identity.port)

    def add(self, session: Session) -> None:
        self._names[session.identity.name] = session
        self._ports[session.identity.port] = session
        self._ids[session.identity.id] = session
        session.announce("created")

    def add_unlisted(self, session: Session) -> None:
        """Know a session by its id alone: one that was killed or dismissed."""
        self._ids[session.identity.id] = session

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
        session.identity.name = name
        session.identity.named = True
        session.put_down()
        session.announce("renamed")

    def unlist(self, session: Session) -> None:
        """Take it out of the lists and free its name and port; its id goes on."""
        if session.listed:
            session.listed = False
            session.put_down()
            session.announce("removed")
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
        if name in self._names:
            lost = self._names[name].ending
            if lost is not None and lost.lost:
                self.unlist(self._names[name])  # who wants the name anew does not want the lost one
                return
            ended = (
                "" if self._names[name].alive else " (it has ended: dismiss_session frees its name)"
            )
            raise SessionExists(f"there is already a session {name!r}{ended}; choose another name")

    def _new_id(self) -> str:
        while True:
            # A letter in front: eight digits could be read as a port.
            identifier = secrets.choice("abcdef") + secrets.token_hex(4)[:7]
            if identifier not in self._ids:
                return identifier
