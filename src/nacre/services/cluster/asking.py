"""Asking other hosts, and taking their answers.

Rule 1: an ask is sent once. While no answer comes, its host is asked whether it arrived, and it is
repeated, under the same id, only if it did not. The other host does it once. If its daemon has died
meanwhile, only what changes nothing is asked again.
Rule 2: a caller gets one error when a host is lost: what it asked for may have taken effect.
"""

import asyncio
import itertools
import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, cast

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result, Spec, spec_of
from nacre.core.catalog.metering import CallCounts
from nacre.core.cluster.carried import pack_operation, unpack_error, unpack_result
from nacre.core.cluster.hosts import HostTable, work_together
from nacre.core.cluster.messages import (
    AskDone,
    AskFailed,
    AskHost,
    AskPerson,
    GiveUp,
    HostRestarted,
    NotHere,
    PersonAnswered,
    RunBegun,
    StillAsked,
    ToHost,
    Working,
    read_answer,
)
from nacre.core.operations.control import Handover
from nacre.core.operations.safety.approvals import Answer
from nacre.errors import HostUnreachable, Internal, LimitReached, MayBeDone, NacreError
from nacre.services.cluster.credentials import Vouching
from nacre.services.cluster.questions import QuestionsHere
from nacre.services.cluster.servers.link import NO_RESPONDERS, ClusterLink
from nacre.services.cluster.underway import Nobody, Underway
from nacre.services.dispatch.asking import asking_of_call
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.host.wait import bounded
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.cluster")

# What a program inside of a session may not do in the name of a person, or not unjudged.
_PEOPLE_ALONE = frozenset(
    {
        *("answer_approval", "answer_question"),
        *("export_recording", "put_file", "get_file", "edit_file"),
    }
)
_LOOKS = 0.2  # of cluster_retry_time, between two looks
_ASKED_AGAIN = "look at its screen first: it may have taken effect"


class RemoteAnswer(NamedTuple):
    result: Result
    told: HandedOver | None
    notices: tuple[str, ...]


class _Besides(NamedTuple):
    """What an ask says beside who asks for what."""

    tells: bool
    request: str
    fed: str


class _Told(msgspec.Struct, frozen=True, array_like=True):
    session: str
    handover: Handover


class Asking:
    def __init__(
        self,
        host: str,
        version: str,
        link: ClusterLink,
        hosts: HostTable,
        signing: Vouching,
        settings: Settings,
        is_inside: Callable[[Caller], Awaitable[bool]],
    ) -> None:
        """`is_inside` tells of a caller in a session of this host."""
        self._is_inside = is_inside
        self._host = host
        self._version = version
        self._link = link
        self._hosts = hosts
        self._signing = signing
        self._settings = settings
        self._open: dict[str, Underway] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._ours = secrets.token_hex(8)  # no other daemon has asked under such an id
        self._numbers = itertools.count(1)
        self.calls = CallCounts(
            (
                "nacre_cluster_call_seconds",
                "histogram",
                "How long calls took that other hosts answered, by the names of operations.",
            ),
            ("nacre_cluster_errors_total", "counter", "Such calls that failed, by their codes."),
        )
        self._heard: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.when_nobody: Callable[[str], object] = hosts.doubt  # a call found nobody at a host

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
        fed: str = "",
    ) -> RemoteAnswer:
        """Ask a host to run an operation. Raises what it raises there, and HostUnreachable.

        `fed` names the input that it may read here.
        """
        began, failed = time.monotonic(), None
        try:
            return await self._ask(host, caller, operation, _Besides(tells, request, fed))
        except NacreError as error:
            failed = error.code
            raise
        finally:
            self.calls.note(spec_of(operation).name, time.monotonic() - began, failed)

    async def _ask(
        self, host: str, caller: Caller, operation: Operation, besides: "_Besides"
    ) -> RemoteAnswer:
        spec = spec_of(operation)
        if spec.name in _PEOPLE_ALONE:
            caller = await self.placed(caller)
        while True:
            incarnation = self.incarnation_of(host)
            try:
                answer = await self._answer(host, incarnation, caller, operation, besides)
            except MayBeDone:
                if spec.read_only:  # then there is nothing that may have been done
                    raise lost(host, begun=False) from None
                raise
            if isinstance(answer, AskDone):
                return self._read(spec, answer)
            if isinstance(answer, AskFailed):
                raise unpack_error(answer.error)
            if answer is not None and not (spec.read_only or spec.idempotent):
                raise MayBeDone(
                    f"the daemon of host {host!r} restarted before it answered", _ASKED_AGAIN
                )
            await self._until_heard(host, incarnation)

    async def placed(self, caller: Caller) -> Caller:
        """Return the caller with what only this host can find out: whether a session runs it."""
        if caller.pid is None or not caller.person:
            return caller
        return msgspec.structs.replace(caller, inside=await self._is_inside(caller))

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
        besides: "_Besides",
    ) -> AskDone | AskFailed | HostRestarted | None:
        """Return a host's answer; None if its daemon is another one, and did not get the ask."""
        name, params = pack_operation(operation)
        if len(params) > self._settings.cluster_parts_bytes // 2:
            raise LimitReached(
                f"this is longer ({len(params)} bytes) than one host sends to another at once "
                "(half of cluster_parts_bytes)",
                "send it in parts",
            )
        relay, person = relay_of_call(), asking_of_call()
        begun = None if relay is None else relay.begun
        ask = AskHost(
            id=f"{self._ours}-{next(self._numbers):x}",
            incarnation=incarnation,
            credential=self._signing.credential(caller, host),
            operation=name,
            params=params,
            tells=besides.tells,
            request=besides.request,
            input=besides.fed,
            patience=caller.patience,
            follows=begun is not None,
            asks=person is not None,
        )
        questions = None
        if person is not None:
            questions = QuestionsHere(
                person,
                partial(self._speaks_for_a_person, caller),
                partial(self._pass_answer_on, host, ask.id),
            )
        underway = Underway(host, begun, questions)
        self._open[ask.id] = underway
        answered = False
        try:
            answer = await self._until_answered(ask, underway)
            answered = True
            return answer
        finally:
            del self._open[ask.id]
            if questions is not None:
                questions.end()
            if not answered:
                self._spawn(self._send(host, GiveUp(ask.id)))

    async def _until_answered(
        self, ask: AskHost, underway: Underway
    ) -> AskDone | AskFailed | HostRestarted | None:
        """Ask once; then ask whether that arrived, until there is an answer."""
        host, message = underway.host, cast("ToHost", ask)
        still = StillAsked(ask.id, ask.incarnation)
        reached = False  # the daemon that was meant may have got it, or may still get it
        while True:
            await self._send(host, message)
            answer = await self._next(underway)
            if isinstance(answer, Nobody):
                reached = reached or answer is Nobody.ANSWERS
                await self._wait_for_host(host, begun=reached)
                message = still if reached else ask
            elif isinstance(answer, NotHere):
                message = ask  # the first one may be on its way yet: the host does one of them
            else:
                return None if isinstance(answer, HostRestarted) and not reached else answer

    async def _send(self, host: str, message: ToHost) -> None:
        to = f"nacre.h.{host}.call.{self._host}"
        reply = f"nacre.h.{self._host}.answer.{host}.{message.id}"
        with suppress(OSError):  # no connection: it is tried again
            await self._link.publish(to, msgspec.msgpack.encode(message), reply)

    async def _next(
        self, underway: Underway
    ) -> AskDone | AskFailed | HostRestarted | NotHere | Nobody:
        """Return the next answer, or that there is none yet; tell what happens meanwhile."""
        while True:
            self._look_for_due()
            answer = await underway.next(self._now() + self._settings.cluster_retry_time)
            if isinstance(answer, RunBegun):
                underway.tell_begun(answer.run_id)
            elif isinstance(answer, AskPerson):
                if underway.questions is not None:
                    underway.questions.came(answer)
            elif not isinstance(answer, Working):
                return answer

    def _look_for_due(self) -> None:
        """Look now and then which asks are due, while there are any: one timer for all of them."""
        if self._looking is None:
            pause = self._settings.cluster_retry_time * _LOOKS
            self._looking = asyncio.get_running_loop().call_later(pause, self._end_waits)

    def _end_waits(self) -> None:
        self._looking = None
        now = self._now()
        for underway in list(self._open.values()):
            if underway.due <= now:
                underway.end_wait()
        if self._open:
            self._look_for_due()

    async def _speaks_for_a_person(self, caller: Caller) -> bool:
        return not await self._is_inside(caller)

    async def _pass_answer_on(
        self, host: str, identifier: str, number: int, answer: Answer | None
    ) -> None:
        await self._send(host, PersonAnswered(identifier, number, answer))

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
                known.take(Nobody.ANSWERS)  # it may have got the ask

    def _came(self, subject: str, _: str, data: bytes, status: str | None) -> None:
        host, identifier = subject.rsplit(".", 2)[-2:]
        known = self._open.get(identifier)
        if known is None or known.host != host:
            return
        if status == NO_RESPONDERS:
            self.when_nobody(host)
            known.take(Nobody.READS)
            return
        try:
            known.take(read_answer(data))
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
        if self._loop is None:  # asking for it costs a system call each time
            self._loop = asyncio.get_running_loop()
        return self._loop.time()


_BACKGROUND: set[asyncio.Task[None]] = set()


def lost(host: str, *, begun: bool) -> HostUnreachable:
    if begun:
        return MayBeDone(
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
