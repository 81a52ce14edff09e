"""What other hosts ask of this one.

Rule 1: an ask that comes again is answered again, and done once: answers are kept for a while, but
for what only reads, which can be done again. Of an answer that has no more room it is known that
there was one.
Rule 2: an ask that was meant for an earlier daemon of this host is not done: nobody knows what
that one did.
Rule 3: it passes dispatch as any other call does, with the scope that its own host has signed.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from nacre.core.catalog.catalog import CATALOG, UNLISTED
from nacre.core.cluster.carried import pack_error, pack_result, unpack_operation
from nacre.core.cluster.messages import (
    AskDone,
    AskFailed,
    AskHost,
    GiveUp,
    HostAnswer,
    HostRestarted,
    NotHere,
    PersonAnswered,
    RunBegun,
    StillAsked,
    Working,
    read_to_host,
)
from nacre.errors import HostUnreachable, Internal, InvalidInput, LimitReached, NacreError
from nacre.services.cluster.asking import pack_told
from nacre.services.cluster.credentials import Believing
from nacre.services.cluster.piped.feeding import FedRuns
from nacre.services.cluster.questions import PersonElsewhere
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.settings.table import Settings
from nacre.system.logs import REQUEST

_log = logging.getLogger("nacre.cluster")


class _Running(NamedTuple):
    """An ask that is being done."""

    task: "asyncio.Task[None]"
    person: PersonElsewhere


class HostServing:
    def __init__(
        self,
        host: str,
        incarnation: str,
        link: ClusterLink,
        believing: Believing,
        settings: Settings,
        fed: FedRuns,
    ) -> None:
        self.fed = fed
        self._host = host
        self._incarnation = incarnation
        self._link = link
        self._believing = believing
        self._settings = settings
        self._dispatch: Dispatch | None = None
        self.served = 0  # calls so far
        self._running: dict[str, _Running] = {}
        self._counts: Counter[str] = Counter()  # of them, by the host that asks
        self._answered: OrderedDict[str, bytes] = OrderedDict()
        self._kept = 0  # bytes of them
        self._forgotten: OrderedDict[str, None] = OrderedDict()  # answered, and not kept

    @property
    def count(self) -> int:
        """Return how many calls are under way."""
        return len(self._running)

    async def listen(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        await self._link.subscribe(f"nacre.h.{self._host}.call.*", self._came)

    def end(self) -> None:
        for running in self._running.values():
            running.task.cancel()
        self.fed.end()

    def end_of(self, host: str) -> None:
        """Stop what the callers of another host's daemon asked for, which is gone."""
        for known, running in list(self._running.items()):
            if known.startswith(f"{host}/"):
                running.task.cancel()

    def _came(self, subject: str, reply: str, data: bytes, _: str | None) -> None:
        sender = subject.rpartition(".")[2]
        try:
            message = read_to_host(data)
        except msgspec.DecodeError as error:
            _log.warning("unreadable message", extra={"host": sender, "error": str(error)})
            return
        known = f"{sender}/{message.id}"
        running = self._running.get(known)
        if isinstance(message, GiveUp):
            if running is not None:
                running.task.cancel()
        elif isinstance(message, PersonAnswered):
            if running is not None:
                running.person.answered(message.number, message.answer)
        elif not reply.startswith(f"nacre.h.{sender}.answer.{self._host}."):
            _log.warning("an ask without a way back", extra={"host": sender})
        elif running is not None:
            self._send_soon(reply, Working())
            running.person.repeat()
        elif (before := self._answered.get(known)) is not None:
            self._send_data_soon(reply, before)
        elif known in self._forgotten:
            self._send_soon(reply, _FORGOTTEN)
        elif isinstance(message, StillAsked):
            ours = message.incarnation == self._incarnation
            self._send_soon(reply, NotHere() if ours else HostRestarted(self._incarnation))
        elif self._counts[sender] >= self._settings.cluster_asks:
            self._send_soon(reply, self._too_many())
        else:
            self._begin(known, sender, message, reply)

    def _begin(self, known: str, sender: str, ask: AskHost, reply: str) -> None:
        person = PersonElsewhere(partial(self._send_soon, reply))
        task = asyncio.create_task(self._serve(known, sender, ask, reply, person))
        self._running[known] = _Running(task, person)
        self._counts[sender] += 1
        self.served += 1

        def ended(_: object) -> None:
            del self._running[known]
            self._counts[sender] -= 1

        task.add_done_callback(ended)

    def _too_many(self) -> AskFailed:
        most = self._settings.cluster_asks
        return AskFailed(
            pack_error(
                LimitReached(
                    f"host {self._host!r} has {most} calls of this host under way already "
                    "(cluster_asks)",
                    "wait until some are answered",
                )
            )
        )

    def _send_soon(self, reply: str, message: HostAnswer) -> None:
        self._send_data_soon(reply, _encode(message))

    def _send_data_soon(self, reply: str, data: bytes) -> None:
        task = asyncio.create_task(self._send(reply, data))
        _SENDING.add(task)
        task.add_done_callback(_SENDING.discard)

    async def _send(self, reply: str, data: bytes) -> None:
        with suppress(OSError):  # it will ask again
            await self._link.publish(reply, data)

    async def _serve(
        self, known: str, sender: str, ask: AskHost, reply: str, person: PersonElsewhere
    ) -> None:
        def begun(run_id: str) -> None:
            if fed is not None:
                self.fed.begun(run_id, fed)
            if ask.follows:
                self._send_soon(reply, RunBegun(run_id))

        fed = self.fed.prepare(sender, ask.input) if ask.input else None
        relay = None
        if ask.follows or fed is not None:
            relay = Relay(begun=begun, input_path=None if fed is None else fed.path)
        try:
            if relay is None and not ask.asks:  # nearly all of them
                answer = await self._answer(sender, ask)
            else:
                with relayed_by(relay), asked_by(person if ask.asks else None):
                    answer = await self._answer(sender, ask)
        finally:
            if fed is not None and not fed.has_begun:
                fed.close()
        try:
            data = _encode(answer)
        except (TypeError, ValueError) as error:  # else it would be asked for again and again
            _log.exception("an answer cannot be sent")
            data = _encode(_unexpected(error))
        if len(data) > self._settings.cluster_parts_bytes // 2:
            data = _encode(_too_long(len(data)))
        if not isinstance(answer, HostRestarted) and not _only_reads(ask.operation):
            self._keep(known, data)
        await self._send(reply, data)

    def _keep(self, known: str, data: bytes) -> None:
        """Keep an answer; of what has no room, that there was one."""
        settings = self._settings
        self._answered[known] = data
        self._kept += len(data)
        while len(self._answered) > settings.cluster_kept_answers:
            self._kept -= len(self._drop_oldest())
        while self._answered and self._kept > settings.cluster_kept_bytes:
            self._kept -= len(self._drop_oldest())
        while len(self._forgotten) > settings.cluster_kept_answers:
            self._forgotten.popitem(last=False)

    def _drop_oldest(self) -> bytes:
        known, data = self._answered.popitem(last=False)
        self._forgotten[known] = None
        return data

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
    spec = CATALOG.get(operation) or UNLISTED.get(operation)
    return spec is not None and spec.read_only


def _too_long(size: int) -> AskFailed:
    message = f"it was done, but the answer is longer ({size} bytes) than one host sends another"
    return AskFailed(
        pack_error(LimitReached(f"{message} (half of cluster_parts_bytes)", "ask for less"))
    )


def _unexpected(error: Exception) -> AskFailed:
    kind = type(error).__name__
    return AskFailed(pack_error(Internal(f"unexpected error in another host's daemon ({kind})")))


_encode = msgspec.msgpack.Encoder().encode
_FORGOTTEN = AskFailed(
    pack_error(
        HostUnreachable(
            "this was done, but its answer got lost on the way and is no longer kept",
            "look at the session first: it has taken effect",
        )
    )
)
_SENDING: set[asyncio.Task[None]] = set()
