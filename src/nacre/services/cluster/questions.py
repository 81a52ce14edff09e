"""Questions to the person at a caller's client, while its call runs on another host.

Rule 1: the host that has the session decides what is asked, and what an answer is bound to. Here
only the question and the answer travel.
Rule 2: both may be lost on the way. A question is repeated until it is answered, is put to the
person once, and its answer is repeated as often as the question.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import get_args

import msgspec

from nacre.core.cluster.messages import AskPerson
from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.services.dispatch.asking import Asking

_log = logging.getLogger("nacre.cluster")

_ANSWERS = frozenset(get_args(Answer))


class QuestionsHere:
    """At the door: what the other host asks the client of one call."""

    def __init__(
        self,
        ask: Asking,
        may_answer: Callable[[], Awaitable[bool]],
        send: Callable[[int, Answer | None], Awaitable[None]],
    ) -> None:
        """`may_answer` tells whether its answers are those of a person."""
        self._ask = ask
        self._may_answer = may_answer
        self._send = send
        self._asked: dict[int, asyncio.Task[Answer | None]] = {}
        self._sending: set[asyncio.Task[None]] = set()

    def came(self, question: AskPerson) -> None:
        if question.number not in self._asked:
            self._asked[question.number] = asyncio.create_task(self._answered(question))
        asked = self._asked[question.number]
        if not asked.done() and any(
            one.get_name() == f"{question.number}" for one in self._sending
        ):
            return  # it goes as soon as there is an answer
        sending = asyncio.create_task(self._pass_on(question.number), name=f"{question.number}")
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _answered(self, question: AskPerson) -> Answer | None:
        try:
            approval = msgspec.msgpack.decode(question.approval, type=Approval)
        except msgspec.DecodeError as error:
            _log.warning("unreadable question", extra={"error": str(error)})
            return None
        return await self._ask(approval) if await self._may_answer() else None

    async def _pass_on(self, number: int) -> None:
        await self._send(number, await asyncio.shield(self._asked[number]))

    def end(self) -> None:
        for task in (*self._asked.values(), *self._sending):
            task.cancel()


class PersonElsewhere:
    """At the host that has the session: the person at the client of a call (an Asking)."""

    def __init__(self, send: Callable[[AskPerson], None]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[AskPerson, asyncio.Future[Answer | None]]] = {}

    async def __call__(self, approval: Approval) -> Answer | None:
        number = next(self._numbers)
        question = AskPerson(number, msgspec.msgpack.encode(approval))
        answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._open[number] = question, answered
        self._send(question)
        try:
            return await answered
        finally:
            del self._open[number]

    def repeat(self) -> None:
        """Ask again what is not answered: the question may be lost."""
        for question, _ in self._open.values():
            self._send(question)

    def answered(self, number: int, answer: str | None) -> None:
        known = self._open.get(number)
        if known is not None and not known[1].done():
            known[1].set_result(answer if answer in _ANSWERS else None)  # type: ignore[arg-type]
