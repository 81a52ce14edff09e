"""Which session a reference means: by name, id or port, or by the id of a run in it."""

from nacre.services.dispatch.call import Target
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger
from nacre.services.session.session import Session


class KnownSessions:
    """What dispatch asks to resolve references (dispatch/resolve.py), and about their journals."""

    def __init__(self, registry: Registry, ledger: Ledger) -> None:
        self._registry = registry
        self._ledger = ledger

    def session(self, reference: str | int) -> Target:
        """Raises SessionNotFound."""
        return _target(self._registry.find(reference))

    def of_run(self, run_id: str) -> Target | None:
        session = self._ledger.session_of(run_id)
        return None if session is None else _target(session)

    def stopped(self, session: str) -> str | None:
        """Return why the journal of a session, by its id, has stopped (answers/unrecorded.py)."""
        if not self._registry.has(session):
            return None
        return self._registry.find(session).recorder.stopped


def _target(session: Session) -> Target:
    return Target(session.identity.id, session.identity.name)
