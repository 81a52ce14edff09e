"""The audit: who did what, where and when.

Rule 1: the first record after a pause is handed to the system before anything is done, so that
whoever kills the daemon is recorded first. Those that come within `audit_pause` of it are collected
and written together, in order. No call waits for the disk itself.
Rule 2: no call ever fails because of the audit. If the disk takes nothing, that is said (log,
`nacre status`, `nacre doctor`), records wait up to a bound, and how many were dropped is a record.
Rule 3: what must not be known is not handed in: input that was not shown, values of secrets. What
looks like one is redacted besides (core/text/redaction.py).
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.text.redaction import Redaction, SecretValues, redacted
from nacre.core.text.unseen import value_spelled_out
from nacre.errors import NacreError
from nacre.services.audit.executions import ExecutionLog
from nacre.settings.table import Settings
from nacre.system.logs import REQUEST
from nacre.system.storage.audit_log import AuditLog

_log = logging.getLogger("nacre.audit")

_AGAIN = 1.0  # seconds until a write that failed is tried again
_HEAD_EVERY = 1.0  # seconds, while records keep coming: its seal costs as much as one of them
_BATCH = 512  # records in one write; the rest comes in the loop's next turn
_encode = msgspec.json.Encoder().encode
# What a person or the policy has decided: nobody can ask them again after a power cut.
DECISIONS = frozenset({"decision", "approval", "token"})


Fields = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


class _Noted(NamedTuple):
    at: float  # seconds since the epoch
    kind: str
    session: str
    session_id: str
    caller: Caller | None
    fields: Fields
    request: str = ""  # the id of the call that it was done for

    def settled(self) -> "_Noted":
        """Return it with its fields, so that it holds nothing else in memory."""
        return self._replace(fields=self.fields()) if callable(self.fields) else self


class AuditedSession(Protocol):
    """What a record says of its session."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


class Audit:
    """`open_log` opens the log, which is first written to when something is noted."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        open_log: Callable[[], AuditLog] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._open_log = open_log if settings.audit else None
        self._clock = clock
        self._logged: AuditLog | None = None
        self._pending: list[_Noted] = []
        self._planned: asyncio.Handle | None = None
        self._tick_planned: asyncio.TimerHandle | None = None
        self._syncing: asyncio.Future[int] | None = None
        self._dropped = 0  # records, since the disk took the last one
        self._head_moved = loop.time()
        self._trouble = ""  # why the last write failed
        self._second, self._written_second = 0, ""
        self.redaction = Redaction(SecretValues())  # of what is recorded
        self.tells_requests = False  # in a cluster: another host has records of the same call
        self.executions: ExecutionLog | None = None
        if settings.audit_log is not None:
            self.executions = ExecutionLog(settings.audit_log, lambda: self.redaction)

    @property
    def on(self) -> bool:
        """Whether anything is recorded at all."""
        return self._open_log is not None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person has to know: that records are not written."""
        found = []
        if self._trouble:
            dropped = f", {self._dropped} were dropped" if self._dropped else ""
            waiting = f"{len(self._pending)} records wait{dropped}"
            found.append(f"the audit log cannot be written ({self._trouble}): {waiting}")
        if self.executions is not None and self.executions.trouble:
            found.append(self.executions.trouble)
        return tuple(found)

    def record(
        self,
        kind: str,
        session: AuditedSession | None,
        caller: Caller | None,
        fields: Fields,
        *,
        ahead: bool = False,
    ) -> None:
        """Note that something happened; it never fails. Values are as JSON takes them.

        `ahead` writes it at once: what is about to be done may end the daemon.

        Instead of fields it takes a function that returns them: it is called when they are written,
        which for most is a moment later, so that the caller does not wait for it.
        Kinds: daemon, call, spawn, exit, input, run, decision, approval, token, login, upstream,
        file.
        """
        if self._open_log is None:
            return
        if len(self._pending) >= self._settings.audit_pending:
            self._dropped += 1
            return
        name, identifier = ("", "") if session is None else (session.name, session.id)
        request = REQUEST.get("") if self.tells_requests else ""
        self._pending.append(_Noted(self._clock(), kind, name, identifier, caller, fields, request))
        at_once = ahead or self._tick_planned is None or kind in DECISIONS
        if at_once and self._planned is None:
            self._write()

    def text(self, text: str | bytes) -> dict[str, Any]:
        """Return fields for a text of any length: it is cut, and how long it was is said."""
        most = self._settings.audit_text_chars
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        return {"text": text} if len(text) <= most else {"text": text[:most], "chars": len(text)}

    def settle(self) -> None:
        """Write what waits now, unless the disk takes nothing."""
        while self._pending and not self._trouble:
            self._write()

    def close(self) -> None:
        """Write what is left, onto the disk itself. Afterwards nothing is recorded."""
        self.settle()
        self._open_log = None
        for planned in (self._planned, self._tick_planned):
            if planned is not None:
                planned.cancel()
        self._planned = self._tick_planned = None
        if self._logged is not None:
            self._logged.close()

    # --- writing ---------------------------------------------------------------------------

    def _write(self) -> None:
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        try:
            self._write_some()
        except (OSError, NacreError) as error:
            self._complain(error)
            self._pending = [noted.settled() for noted in self._pending]
            self._planned = self._loop.call_later(_AGAIN, self._write)
            return
        if self._trouble:
            _log.warning("the audit log is written again", extra={"dropped": self._dropped})
            self._trouble = ""
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            self.record("daemon", None, None, {"event": "dropped", "records": dropped})
        if self._pending and self._planned is None:
            self._planned = self._loop.call_soon(self._write)

    def _write_some(self) -> None:
        if self._logged is None:
            assert self._open_log is not None
            self._logged = self._open_log()
        log = self._logged
        batch = self._pending[:_BATCH]
        bodies = [self._encoded(noted) for noted in batch]
        if log.found:
            found = {"event": "found", **log.found}
            bodies.insert(0, self._encoded(_Noted(self._clock(), "daemon", "", "", None, found)))
        log.write(bodies)
        log.found = {}
        del self._pending[: len(batch)]
        if self._tick_planned is None:
            self._tick_planned = self._loop.call_later(self._settings.audit_pause, self._tick)
        self._sync(log, batch)

    def _tick(self) -> None:
        """Write what came since the last write; let the head follow when that was the last."""
        self._tick_planned = None
        if self._pending and self._planned is None:
            self._write()
        elif self._logged is not None:
            self._logged.put_head()
            self._head_moved = self._loop.time()
        if self._logged is not None and self._loop.time() > self._head_moved + _HEAD_EVERY:
            self._logged.put_head()
            self._head_moved = self._loop.time()

    def _encoded(self, noted: _Noted) -> bytes:
        at, kind, session, session_id, caller, fields, request = noted
        record: dict[str, Any] = {"time": self._time(at), "kind": kind}
        if session_id:
            record["session"], record["session_id"] = session, session_id
        if caller is not None:
            record["caller"] = described(caller)
        if request:
            record["request"] = request
        record.update(fields() if callable(fields) else fields)
        record = redacted(record, self.redaction)
        try:
            return _encode(record)
        except (UnicodeEncodeError, TypeError):  # a name of bytes that are no text
            plain = json.loads(json.dumps(record, default=str))
            return _encode(value_spelled_out(plain))

    def _time(self, at: float) -> str:
        second = int(at)
        if second != self._second:
            self._second = second
            self._written_second = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._written_second}.{int((at - second) * 1000):03d}Z"

    def _sync(self, log: AuditLog, batch: list[_Noted]) -> None:
        policy = self._settings.audit_sync
        if policy == "never" or self._syncing is not None:
            return  # one that is under way may have begun before this batch: see _synced
        if policy == "decisions" and not any(noted.kind in DECISIONS for noted in batch):
            return
        self._syncing = self._loop.run_in_executor(None, log.sync)
        self._syncing.add_done_callback(self._synced)

    def _synced(self, done: "asyncio.Future[int]") -> None:
        self._syncing = None
        if done.cancelled() or self._logged is None:
            return
        if (error := done.exception()) is not None:
            self._complain(error)
        elif self._open_log is not None:
            self._logged.note_synced(done.result())

    def _complain(self, error: BaseException) -> None:
        reason = getattr(error, "strerror", None) or str(error)
        if not self._trouble:
            _log.error("the audit log cannot be written", extra={"reason": reason})
        self._trouble = reason


def described(caller: Caller) -> dict[str, Any]:
    """Return what a record says of who asked."""
    told: dict[str, Any] = {"door": caller.door, "person": caller.person}
    if caller.client:
        told["client"] = caller.client[:_CLIENT_CHARS]
    if caller.token:
        told["token"], told["token_name"] = caller.token, caller.token_name
    if caller.via:
        told["via"] = caller.via
    return told


_CLIENT_CHARS = 120  # of the name that a program gives itself
