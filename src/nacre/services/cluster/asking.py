"""Asking other hosts, and taking their answers.

Rule 1: an ask is repeated, under the same id, until it is answered or its host is lost. The other
host does it once. If its daemon has died meanwhile, only what changes nothing is asked again.
Rule 2: a caller gets one error when a host is lost: what it asked for may have taken effect.
"""

import asyncio
import logging
import secrets
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result, Spec, spec_of
from nacre.core.cluster.carried import pack_operation, unpack_error, unpack_result
from nacre.core.cluster.hosts import HostTable, work_together
from nacre.core.cluster.messages import (
    AskDone,
    AskFailed,
    AskHost,
    GiveUp,
    HostAnswer,
    HostRestarted,
    RunBegun,
    Working,
)
from nacre.core.operations.control import Handover
from nacre.errors import HostUnreachable, Internal
from nacre.services.cluster.credentials import Vouching
from nacre.services.cluster.link import NO_RESPONDERS, ClusterLink
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.host.wait import bounded
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.cluster")

_ASKED_AGAIN = "look at its screen first: it may have taken effect"


class RemoteAnswer(NamedTuple):
    result: Result
    told: HandedOver | None
    notices: tuple[str, ...]


class _Told(msgspec.Struct, frozen=True, array_like=True):
    session: str
    handover: Handover


class _Nobody(Enum):
    READS = "nobody takes asks there now: it did not get this one"
    ANSWERS = "no answer came in time"


class _Open(NamedTuple):
    host: str
    came: "asyncio.Queue[HostAnswer | _Nobody]"


class Asking:
    def __init__(
        self,
        host: str,
        version: str,
        link: ClusterLink,
        hosts: HostTable,
        signing: Vouching,
        settings: Settings,
    ) -> None:
        self._host = host
        self._version = version
        self._link = link
        self._hosts = hosts
        self._signing = signing
        self._settings = settings
        self._open: dict[str, _Open] = {}
        self._heard: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def listen(self) -> None:
        await self._link.subscribe(f"nacre.h.{self._host}.answer.>", self._came)

    def host_heard(self, host: str) -> None:
        """A host has said something: who waits for it asks again."""
        if (event := self._heard.pop(host, None)) is not None:
            event.set()

    async def ask(
        self,
        host: str,
        caller: Caller,
        operation: Operation,
        *,
        tells: bool = False,
        request: str = "",
    ) -> RemoteAnswer:
        """Ask a host to run an operation. Raises what it raises there, and HostUnreachable."""
        spec = spec_of(operation)
        while True:
            incarnation = self.incarnation_of(host)
            answer = await self._answer(host, incarnation, caller, operation, tells, request)
            if isinstance(answer, AskDone):
                return self._read(spec, answer)
            if isinstance(answer, AskFailed):
                raise unpack_error(answer.error)
            if answer is not None and not (spec.read_only or spec.idempotent):
                raise HostUnreachable(
                    f"the daemon of host {host!r} restarted before it answered", _ASKED_AGAIN
                )
            await self._until_heard(host, incarnation)

    def incarnation_of(self, host: str) -> str:
        """Return the incarnation of a host's daemon. Raises HostUnreachable."""
        said = self._hosts.of(host)
        standing = self._hosts.standing(host, self._now())
        if said is None:
            raise HostUnreachable(f"there is no host {host[:64]!r} in this cluster")
        if standing in ("lost", "left"):
            raise lost(host, begun=False)
        if not work_together(said.version, self._version):
            raise HostUnreachable(
                f"host {host!r} has nacre {said.version}, and this one {self._version}: they do "
                "not work together",
                "upgrade the older one",
            )
        return said.incarnation

    async def _answer(
        self,
        host: str,
        incarnation: str,
        caller: Caller,
        operation: Operation,
        tells: bool,
        request: str,
    ) -> AskDone | AskFailed | HostRestarted | None:
        """Return a host's answer; None if its daemon is another one, and did not get the ask."""
        name, params = pack_operation(operation)
        credential = self._signing.credential(caller, host)
        identifier = secrets.token_hex(8)
        relay = relay_of_call()
        begun = None if relay is None else relay.begun
        ask = AskHost(
            id=identifier,
            incarnation=incarnation,
            credential=credential,
            operation=name,
            params=params,
            tells=tells,
            request=request,
            patience=caller.patience,
            follows=begun is not None,
        )
        data = msgspec.msgpack.encode(ask)
        came: asyncio.Queue[HostAnswer | _Nobody] = asyncio.Queue()
        self._open[identifier] = _Open(host, came)
        to, reply = (
            f"nacre.h.{host}.call.{self._host}",
            f"nacre.h.{self._host}.answer.{host}.{identifier}",
        )
        answered = reached = False  # reached: the daemon that was meant may have got it
        try:
            while True:
                with suppress(OSError):  # no connection: it is tried again
                    await self._link.publish(to, data, reply)
                answer = await self._next(came)
                while isinstance(answer, Working | RunBegun):
                    if isinstance(answer, RunBegun) and begun is not None:
                        begun(answer.run_id)
                        begun = None  # it may be told again
                    answer = await self._next(came)
                if isinstance(answer, _Nobody):
                    reached = reached or answer is _Nobody.ANSWERS
                    await self._wait_for_host(host, begun=reached)
                    continue
                answered = True
                return None if isinstance(answer, HostRestarted) and not reached else answer
        finally:
            del self._open[identifier]
            if not answered:
                self._spawn(self._give_up(to, identifier))

    async def _give_up(self, to: str, identifier: str) -> None:
        with suppress(OSError):
            await self._link.publish(to, msgspec.msgpack.encode(GiveUp(identifier)))

    async def _next(self, came: "asyncio.Queue[HostAnswer | _Nobody]") -> HostAnswer | _Nobody:
        """Return the next answer, or that there is none yet."""
        try:
            async with bounded(self._settings.cluster_retry_time):
                return await came.get()
        except TimeoutError:
            return _Nobody.ANSWERS

    async def _wait_for_host(self, host: str, *, begun: bool) -> None:
        """Return when it makes sense to ask again. Raises HostUnreachable when the host is lost."""
        while True:
            standing = self._hosts.standing(host, self._now())
            if standing == "up":
                return
            if standing != "suspect":
                raise lost(host, begun=begun)
            await self._change_of(host)
            if self._hosts.standing(host, self._now()) == "suspect":
                return

    async def _until_heard(self, host: str, incarnation: str) -> None:
        """Return when a host's next daemon has said something. Raises HostUnreachable."""
        while self.incarnation_of(host) == incarnation:
            await self._change_of(host)

    async def _change_of(self, host: str) -> None:
        """Wait until a host is heard, or until it could be lost."""
        event = self._heard[host]
        left = self._hosts.next_change(self._now())
        with suppress(TimeoutError):
            async with bounded(self._settings.cluster_lost_time if left is None else left + 0.01):
                await event.wait()

    def host_lost(self, host: str) -> None:
        """Wake those who wait for a host that is lost."""
        self.host_heard(host)
        for known in self._open.values():
            if known.host == host:
                known.came.put_nowait(_Nobody.READS)

    def _came(self, subject: str, _: str, data: bytes, status: str | None) -> None:
        host, identifier = subject.rsplit(".", 2)[-2:]
        known = self._open.get(identifier)
        if known is None or known.host != host:
            return
        if status == NO_RESPONDERS:
            self._hosts.doubt(host)
            known.came.put_nowait(_Nobody.READS)
            return
        try:
            known.came.put_nowait(msgspec.msgpack.decode(data, type=HostAnswer))
        except msgspec.DecodeError as error:
            _log.warning("unreadable answer", extra={"host": host, "error": str(error)})

    def _read(self, spec: Spec, answer: AskDone) -> RemoteAnswer:
        try:
            result = unpack_result(spec, answer.kind, answer.data)
            told = answer.told and msgspec.msgpack.decode(answer.told, type=_Told)
        except msgspec.DecodeError as error:
            raise Internal("another host's answer cannot be read: compare the versions") from error
        return RemoteAnswer(
            result, HandedOver(told.session, told.handover) if told else None, answer.notices
        )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        _BACKGROUND.add(task)
        task.add_done_callback(_BACKGROUND.discard)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


_BACKGROUND: set[asyncio.Task[None]] = set()


def lost(host: str, *, begun: bool) -> HostUnreachable:
    if begun:
        return HostUnreachable(
            f"host {host!r} was lost before it answered: what was asked for may have taken effect",
            "when the host is back, look at the session first",
            host=host,
        )
    return HostUnreachable(
        f"host {host!r} is lost: its sessions cannot be reached",
        "wait until it is back, or use a session on another host",
        host=host,
    )


def pack_told(told: HandedOver | None) -> bytes | None:
    return None if told is None else msgspec.msgpack.encode(_Told(told.session, told.handover))
