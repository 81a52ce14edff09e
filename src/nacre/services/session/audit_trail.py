"""What the audit is told of a session: its child's start and end, and what is typed.

Rule: of what is typed and not shown, only that it was: not even how long it is.
"""

from functools import partial
from types import MappingProxyType

from nacre.core.catalog.caller import Caller
from nacre.services.dispatch.permit import caller_now
from nacre.services.host.host import Host
from nacre.services.session.identity import Identity
from nacre.services.session.launch import Launch
from nacre.system.processes.exits import Ending

_HIDDEN = MappingProxyType({"hidden": True})


class AuditTrail:
    def __init__(self, identity: Identity, host: Host) -> None:
        self._identity = identity
        self._audit = host.audit  # None: there is none

    def start(self, launch: Launch, pid: int) -> None:
        if self._audit is not None:
            fields = {"argv": list(launch.argv), "cwd": launch.cwd, "pid": pid}
            self._audit.record("spawn", self._identity, caller_now(), fields)

    def end(self, ending: Ending, pid: int) -> None:
        if self._audit is not None:
            fields = {"exit_code": ending.exit_code, "signal": ending.signal, "pid": pid}
            self._audit.record("exit", self._identity, None, fields)

    def input(self, caller: Caller | None, shown: bytes, *, visible: bool) -> None:
        if self._audit is not None and self._audit.on:
            told = partial(self._audit.text, shown) if visible else _HIDDEN
            ahead = shown.endswith(b"\r")
            self._audit.record("input", self._identity, caller, told, ahead=ahead)
