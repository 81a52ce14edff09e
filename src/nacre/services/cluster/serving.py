"""What other hosts ask of this one.

Rule 1: an ask that comes again is answered again, and done once: answers are kept for a while, but
for what only reads, which can be done again.
Rule 2: an ask that was meant for an earlier daemon of this host is not done: nobody knows what
that one did.
Rule 3: it passes dispatch as any other call does, with the scope that its own host has signed.
"""

import asyncio
import logging
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace

import msgspec

from nacre.core.catalog.catalog import CATALOG
from nacre.core.cluster.carried import pack_error, pack_result, unpack_operation
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
from nacre.errors import Internal, InvalidInput, NacreError
from nacre.services.cluster.asking import pack_told
from nacre.services.cluster.credentials import Believing
from nacre.services.cluster.link import ClusterLink
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.settings.table import Settings
from nacre.system.logs import REQUEST

_log = logging.getLogger("nacre.cluster")


class HostServing:
    def __init__(
        self,
        host: str,
        incarnation: str,
        link: ClusterLink,
        believing: Believing,
        settings: Settings,
    ) -> None:
        self._host = host
        self._incarnation = incarnation
        self._link = link
        self._believing = believing
        self._settings = settings
        self._dispatch: Dispatch | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._answered: OrderedDict[str, bytes] = OrderedDict()
        self._kept = 0  # bytes of them

    async def listen(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        await self._link.subscribe(f"nacre.h.{self._host}.call.*", self._came)

    def end(self) -> None:
        for task in self._running.values():
            task.cancel()

    def end_of(self, host: str) -> None:
        """Stop what the callers of another host's daemon asked for, which is gone."""
        for known, task in list(self._running.items()):
            if known.startswith(f"{host}/"):
                task.cancel()

    def _came(self, subject: str, reply: str, data: bytes, _: str | None) -> None:
        sender = subject.rpartition(".")[2]
        try:
            message = msgspec.msgpack.decode(data, type=AskHost | GiveUp)
        except msgspec.DecodeError as error:
            _log.warning("unreadable message", extra={"host": sender, "error": str(error)})
            return
        known = f"{sender}/{message.id}"
        if isinstance(message, GiveUp):
            if (running := self._running.get(known)) is not None:
                running.cancel()
        elif not reply.startswith(f"nacre.h.{sender}.answer.{self._host}."):
            _log.warning("an ask without a way back", extra={"host": sender})
        elif known in self._running:
            self._send_soon(reply, msgspec.msgpack.encode(Working()))
        elif (before := self._answered.get(known)) is not None:
            self._send_soon(reply, before)
        else:
            task = asyncio.create_task(self._serve(known, sender, message, reply))
            self._running[known] = task
            task.add_done_callback(lambda _: self._running.pop(known, None))

    def _send_soon(self, reply: str, data: bytes) -> None:
        task = asyncio.create_task(self._send(reply, data))
        _SENDING.add(task)
        task.add_done_callback(_SENDING.discard)

    async def _send(self, reply: str, data: bytes) -> None:
        with suppress(OSError):  # it will ask again
            await self._link.publish(reply, data)

    async def _serve(self, known: str, sender: str, ask: AskHost, reply: str) -> None:
        def begun(run_id: str) -> None:
            self._send_soon(reply, msgspec.msgpack.encode(RunBegun(run_id)))

        with relayed_by(Relay(begun=begun) if ask.follows else None):
            answer = await self._answer(sender, ask)
        try:
            data = msgspec.msgpack.encode(answer)
        except (TypeError, ValueError) as error:  # else it would be asked for again and again
            _log.exception("an answer cannot be sent")
            data = msgspec.msgpack.encode(_unexpected(error))
        if not isinstance(answer, HostRestarted) and not _only_reads(ask.operation):
            self._keep(known, data)
        await self._send(reply, data)

    def _keep(self, known: str, data: bytes) -> None:
        settings = self._settings
        self._answered[known] = data
        self._kept += len(data)
        while self._answered and (
            len(self._answered) > settings.cluster_kept_answers
            or self._kept > settings.cluster_kept_bytes
        ):
            self._kept -= len(self._answered.popitem(last=False)[1])

    async def _answer(self, sender: str, ask: AskHost) -> HostAnswer:
        if ask.incarnation != self._incarnation:
            return HostRestarted(self._incarnation)
        assert self._dispatch is not None
        try:
            caller = await self._believing.caller(ask.credential, sender)
            operation = unpack_operation(ask.operation, ask.params)
            if ask.patience is not None:
                caller = replace(caller, patience=ask.patience)
            REQUEST.set(ask.request)
            if ask.tells:
                answer = await self._dispatch.ask(caller, operation)
            else:
                answer = await self._dispatch.noted(caller, operation)
            kind, data = pack_result(answer.result)
        except NacreError as error:
            return AskFailed(pack_error(error))
        except msgspec.ValidationError as error:
            return AskFailed(
                pack_error(InvalidInput(f"what another host asked is not valid: {error}"))
            )
        except Exception as error:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            _log.exception("a call for another host failed")
            return _unexpected(error)
        return AskDone(kind, data, pack_told(answer.told), tuple(answer.notices))


def _only_reads(operation: str) -> bool:
    spec = CATALOG.get(operation)
    return spec is not None and spec.read_only


def _unexpected(error: Exception) -> AskFailed:
    kind = type(error).__name__
    return AskFailed(pack_error(Internal(f"unexpected error in another host's daemon ({kind})")))


_SENDING: set[asyncio.Task[None]] = set()
