"""An ask that is repeated is done once, whatever gets lost on the way."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.cluster.hosts import Heartbeat, HostTable
from nacre.core.cluster.messages import AskHost, ToHost
from nacre.core.operations.hosts.cluster import GetCluster
from nacre.core.operations.results import InputSent
from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.core.operations.terminal import SendInput
from nacre.errors import HostUnreachable, LimitReached, MayBeDone, NacreError, SessionNotFound
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.credentials import Believing, Vouching, load_key
from nacre.services.cluster.piped.feeding import FedRuns
from nacre.services.cluster.routing import ClusterRouting
from nacre.services.cluster.serving import HostServing
from nacre.services.dispatch.asking import asked_by, asking_of_call
from nacre.services.dispatch.dispatch import Answer as Answered
from nacre.settings.table import Settings

pytestmark = pytest.mark.anyio

CALLER = Caller(door="test")
TYPE = SendInput(session="dev", input="x")


class Wire:
    """The servers between two hosts; `loses` says of each message whether it gets lost."""

    def __init__(self) -> None:
        self._readers: list[tuple[str, Callable[..., None]]] = []
        self.loses: Callable[[str, bytes], bool] = lambda subject, data: False

    async def subscribe(self, subject: str, take: Callable[..., None], **_: object) -> None:
        self._readers.append((subject.rstrip(">*"), take))

    def cut(self, host: str) -> None:
        self._readers = [one for one in self._readers if not one[0].startswith(f"nacre.h.{host}.")]

    async def publish(self, subject: str, data: bytes, reply: str = "", **_: object) -> None:
        if self.loses(subject, data):
            return
        takers = [take for begin, take in self._readers if subject.startswith(begin)]
        if not takers and reply:  # as a server does: nobody reads it
            await self._tell(reply, "", b"", "503")
        for take in takers:
            take(subject, reply, data, None)

    async def _tell(self, *message: object) -> None:
        for begin, take in self._readers:
            if str(message[0]).startswith(begin):
                take(*message)


async def _no_input(host: str, request: object) -> None:
    return None


async def _never_inside(caller: Caller) -> bool:
    return False


class Typist:
    """Stands for dispatch: it counts what it was asked to type."""

    def __init__(self) -> None:
        self.typed = 0
        self.began = asyncio.Event()
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.question: Approval | None = None
        self.answer: str | None = None

    async def noted(self, caller: Caller, operation: object) -> Answered:
        self.typed += 1
        self.began.set()
        if self.question is not None:
            ask = asking_of_call()
            assert ask is not None
            self.answer = await ask(self.question)
        await self.goes_on.wait()
        await asyncio.sleep(0)
        return Answered(InputSent(generation=self.typed), None)


class Pair:
    def __init__(self, tmp: Any) -> None:
        self.settings = Settings(cluster_retry_time=0.02)
        self.wire = cast("Any", Wire())
        self.hosts = HostTable(overdue=30, lost=60)
        signing = Vouching("door", load_key(str(tmp / "key")), 300.0)

        async def key_of(_: str) -> bytes:
            return signing.public_key

        self._believing = Believing("owner", key_of, 300.0, lambda _: None)
        self.asking = Asking(
            "door", "1.0.0", self.wire, self.hosts, signing, self.settings, _never_inside
        )

    async def begin(self, incarnation: str) -> Typist:
        """Start a daemon of the host `owner`, in the place of the one before it."""
        self.wire.cut("owner")
        typist: Any = Typist()
        serving = HostServing(
            "owner", incarnation, self.wire, self._believing, self.settings, FedRuns(_no_input)
        )
        await serving.listen(typist)
        return typist  # type: ignore[no-any-return]

    def hear(self, incarnation: str) -> None:
        said = Heartbeat(
            host="owner", incarnation=incarnation, version="1.0.0", sessions=0, capacity=1
        )
        self.hosts.hear(said, asyncio.get_running_loop().time())
        self.asking.host_heard("owner")


@pytest.fixture
async def pair(tmp_path: Any) -> Pair:
    made = Pair(tmp_path)
    await made.asking.listen()
    return made


@pytest.mark.parametrize("lost", ["call", "answer"])
async def test_a_lost_message_types_nothing_twice(pair: Pair, lost: str) -> None:
    typist = await pair.begin("first")
    pair.hear("first")
    chance = random.Random(7)  # two of three of them do not arrive
    pair.wire.loses = lambda subject, _: f".{lost}." in subject and chance.random() < 2 / 3
    for count in range(1, 8):
        pair.hear("first")
        answer = await pair.asking.ask("owner", CALLER, TYPE)
        assert isinstance(answer.result, InputSent)
        assert answer.result.generation == typist.typed == count


async def test_what_an_earlier_daemon_may_have_typed_is_not_typed_again(pair: Pair) -> None:
    first = await pair.begin("first")
    pair.hear("first")
    pair.wire.loses = lambda _, data: b"done" in data[:8]  # what the first one answers
    asked = asyncio.create_task(pair.asking.ask("owner", CALLER, TYPE))
    await first.began.wait()
    second = await pair.begin("second")
    with pytest.raises(HostUnreachable, match="may have taken effect"):
        await asked
    assert (first.typed, second.typed) == (1, 0)


async def test_what_no_daemon_got_is_asked_of_the_next_one(pair: Pair) -> None:
    pair.hear("first")
    pair.wire.cut("owner")
    asked = asyncio.create_task(pair.asking.ask("owner", CALLER, TYPE))
    await asyncio.sleep(0)
    second = await pair.begin("second")
    pair.hear("second")
    assert (await asked).result == InputSent(generation=1)
    assert second.typed == 1


async def test_a_silent_host_is_lost_and_its_callers_are_told(pair: Pair) -> None:
    pair.hear("first")
    pair.hosts.overdue, pair.hosts.lost = 0.05, 0.1
    pair.wire.loses = lambda subject, data: True
    with pytest.raises(HostUnreachable, match="was lost before it answered"):
        await pair.asking.ask("owner", CALLER, TYPE)
    pair.settings = Settings(cluster_retry_time=60)
    pair.hear("first")
    asked = asyncio.create_task(pair.asking.ask("owner", CALLER, TYPE))
    await asyncio.sleep(0)
    pair.hosts.lost = 0
    pair.asking.host_lost("owner")  # before it was asked whether the ask has arrived
    with pytest.raises(HostUnreachable, match="may have taken effect"):
        await asked
    pair.hosts.lost = 0.1
    pair.hear("first")
    asked = asyncio.create_task(pair.asking.ask("owner", CALLER, GetCluster()))
    await asyncio.sleep(0)
    pair.hosts.lost = 0
    pair.asking.host_lost("owner")
    with pytest.raises(HostUnreachable, match="is lost: its sessions") as reading:
        await asked
    assert not isinstance(reading.value, MayBeDone)  # reading has no effect
    with pytest.raises(HostUnreachable, match="no host 'nobody'"):
        await pair.asking.ask("nobody", CALLER, GetCluster())


async def test_an_ask_on_its_way_may_arrive_after_its_host_did_not_know_it(pair: Pair) -> None:
    """A server held the ask up. Its host says that it has none, dies, and types it meanwhile."""
    first = await pair.begin("first")
    pair.hear("first")
    first.goes_on.clear()
    held: list[tuple[str, bytes, str]] = []
    publish = pair.wire.publish

    async def hold(subject: str, data: bytes, reply: str = "", **_: object) -> None:
        if ".call." not in subject or not isinstance(
            msgspec.msgpack.decode(data, type=ToHost), AskHost
        ):
            await publish(subject, data, reply)
        elif not held:
            held.append((subject, data, reply))
        else:  # the second one: the first arrives before it, and the daemon dies
            await publish(*held[0])
            await first.began.wait()
            second = await pair.begin("second")
            pair.hear("second")
            later.append(second)
            await publish(subject, data, reply)

    later: list[Typist] = []
    pair.wire.publish = hold
    with pytest.raises(HostUnreachable, match="may have taken effect"):
        await pair.asking.ask("owner", CALLER, TYPE)
    assert (first.typed, later[0].typed) == (1, 0)


async def test_an_answer_that_had_no_room_is_not_made_again(pair: Pair) -> None:
    pair.settings = Settings(cluster_retry_time=0.02, cluster_kept_bytes=0)
    typist = await pair.begin("first")
    pair.hear("first")
    answers = itertools.count()
    pair.wire.loses = lambda subject, _: ".answer." in subject and next(answers) == 0
    with pytest.raises(HostUnreachable, match="no longer kept"):
        await pair.asking.ask("owner", CALLER, TYPE)
    assert typist.typed == 1


async def test_an_ask_that_arrived_is_not_sent_again(pair: Pair) -> None:
    typist = await pair.begin("first")
    typist.goes_on.clear()
    pair.hear("first")
    sent: list[str] = []
    asked_again = asyncio.Event()

    def note(subject: str, data: bytes) -> bool:
        if ".call." in subject:
            message = msgspec.msgpack.decode(data, type=ToHost)
            sent.append(type(message).__name__)
            if sent.count("StillAsked") == 3:
                asked_again.set()
        return False

    pair.wire.loses = note
    asked = asyncio.create_task(pair.asking.ask("owner", CALLER, TYPE))
    await asked_again.wait()
    typist.goes_on.set()
    await asked
    assert (sent[0], sent.count("AskHost"), typist.typed) == ("AskHost", 1, 1)


async def test_a_host_runs_so_many_calls_of_another_and_refuses_more(pair: Pair) -> None:
    pair.settings = Settings(cluster_retry_time=0.02, cluster_asks=2)
    typist = await pair.begin("first")
    typist.goes_on.clear()
    pair.hear("first")
    under_way = [asyncio.create_task(pair.asking.ask("owner", CALLER, TYPE)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(LimitReached, match="cluster_asks"):
        await pair.asking.ask("owner", CALLER, TYPE)
    typist.goes_on.set()
    await asyncio.gather(*under_way)
    assert (await pair.asking.ask("owner", CALLER, TYPE)).result
    assert typist.typed == 3


async def test_a_question_and_its_answer_are_repeated_until_they_arrive(pair: Pair) -> None:
    """The person is asked once, however often the question comes."""
    typist = await pair.begin("first")
    typist.question = Approval(
        id="q", command="rm", session="dev", session_id="0", cwd=None, policy="guarded",
        asked_by="", reasons=[], rule=None, answers=["once", "deny"], asked=0, expires=0,
        waiting=True,
    )  # fmt: skip
    pair.hear("first")
    shown: list[str] = []

    async def ask_person(approval: Approval) -> Answer | None:
        shown.append(approval.command)
        return "once"

    lost = itertools.count()

    def loses(subject: str, data: bytes) -> bool:
        asks = data[:8].find(b"person") > 0 or data[:10].find(b"answered") > 0
        return asks and next(lost) in (0, 2)

    pair.wire.loses = loses
    with asked_by(ask_person):
        await pair.asking.ask("owner", CALLER, TYPE)
    assert (shown, typist.answer, next(lost)) == (["rm"], "once", 5)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_many_callers_over_a_bad_line_type_each_line_once(pair: Pair, seed: int) -> None:
    """Four of ten messages get lost, either way; answers soon have no room to be kept."""
    pair.settings = Settings(cluster_retry_time=0.02, cluster_kept_answers=50)
    typed: Counter[str] = Counter()

    class Counting(Typist):
        async def noted(self, caller: Caller, operation: object) -> Answered:
            assert isinstance(operation, SendInput)
            typed[operation.input] += 1
            return await super().noted(caller, operation)

    typist: Any = Counting()
    serving = HostServing(
        "owner", "first", pair.wire, pair._believing, pair.settings, FedRuns(_no_input)
    )
    await serving.listen(typist)
    pair.hear("first")
    chance = random.Random(seed)
    pair.wire.loses = lambda subject, data: chance.random() < 0.4
    asks = [
        pair.asking.ask("owner", CALLER, SendInput(session="dev", input=f"line {number}"))
        for number in range(40)
    ]
    done = await asyncio.gather(*asks)
    assert len(done) == 40
    assert typed == {f"line {number}": 1 for number in range(40)}


@pytest.mark.parametrize(
    ("error", "finds"),
    [
        (MayBeDone("was lost, and may have taken effect"), "third"),
        (MayBeDone("was lost, and may have taken effect"), None),
        (HostUnreachable("is lost"), HostUnreachable("the others cannot be asked")),
        (SessionNotFound("no session"), "owner"),
    ],
)
async def test_the_first_error_is_told_if_no_other_host_may_be_asked(
    error: NacreError, finds: object
) -> None:
    async def find(_: object) -> tuple[object, str]:
        if isinstance(finds, Exception):
            raise finds
        return finds, "dev"

    routing = cast("Any", SimpleNamespace(_find=find))
    with pytest.raises(NacreError) as told:
        await ClusterRouting._other_place(routing, "dev", "owner", error)
    assert told.value is error
    finds = "third"
    assert await ClusterRouting._other_place(routing, "dev", "owner", HostUnreachable("x")) == finds
