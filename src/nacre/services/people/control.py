"""A person takes a session over and gives it back; meanwhile input from others waits."""

import time

from nacre.core.catalog.caller import Caller
from nacre.core.operations.control import Control, ControlNow
from nacre.errors import ControlHeld, Forbidden, SessionNotFound
from nacre.services.dispatch.call import HandedOver, Target
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry


class Controls:
    """The operation `control`, and what dispatch needs from leases: who may type, hand-overs."""

    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    async def control(self, caller: Caller, request: Control) -> ControlNow:
        session = self._registry.find(request.session)
        control = session.display.control
        if request.action == "take":
            control.take(caller, session)
        elif request.action == "give":
            if not control.allows(caller):
                step = "take over first" if caller.person else "wait until they give it back"
                raise Forbidden(f"{control.driver} drives, not you", step)
            control.give(session)
        return ControlNow(
            driver=control.driver,
            yours=control.is_held_by(caller),
            since=control.since,
            waiting_since=control.waiting_since,
            handover=control.last and control.last.within(self._host.budget(None)),
        )

    # --- the gate of input (dispatch/admit.py) ---------------------------------------------

    def allows(self, caller: Caller, session: str) -> bool:
        return self._registry.find(session).display.control.allows(caller)

    async def admit(self, caller: Caller, session: str, *, within: float | None = None) -> None:
        """Return when this caller may type. Raises ControlHeld."""
        lease = self._registry.find(session).display.control
        # Who sits at a screen sees who drives; anybody else waits for their turn.
        patience = 0.0 if _sits_there(caller) else self._host.settings.control_wait
        if within is not None:
            patience = min(patience, within)
        if not await lease.await_turn(caller, patience):
            raise self.refusal(caller, session)

    def refusal(self, caller: Caller, session: str) -> ControlHeld:
        found = self._registry.find(session)
        control = found.display.control
        if _sits_there(caller):
            return ControlHeld(
                f"{control.driver} drives this session",
                "take over to type",
                driver=control.driver,
            )
        seconds = time.time() - (control.since or time.time())
        step = "read the screen meanwhile and try again later"
        if caller.agent:
            step += ": you will be told what they did"
        return ControlHeld(
            f"a person ({control.driver}) has driven session {found.identity.name!r} for "
            f"{seconds:.0f} s, and this was not done for you",
            step,
            driver=control.driver,
        )

    # --- what agents are told (dispatch/tell.py) -------------------------------------------

    def untold(self, caller: Caller, target: Target) -> HandedOver | None:
        if not caller.agent:
            return None
        try:
            session = self._registry.find(target.id)
        except SessionNotFound:  # it was removed meanwhile
            return None
        handover = session.display.news.tell(caller.agent)
        if handover is None:
            return None
        short = handover.within(self._host.settings.max_handover_chars)
        return HandedOver(session.identity.name, short)

    def handlers(self) -> Handlers:
        return Handlers().on(Control, self.control)


def _sits_there(caller: Caller) -> bool:
    """Whether this is a person at a screen, on the page or attached."""
    return caller.person and bool(caller.key)
