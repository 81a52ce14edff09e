"""An ask that is repeated is done once, whatever gets lost on the way."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any, cast

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.cluster.hosts import Heartbeat, HostTable
from nacre.core.operations.hosts.cluster import GetCluster
from nacre.core.operations.results import InputSent
from nacre.core.operations.terminal import SendInput
from nacre.errors import HostUnreachable
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.credentials import Believing, Vouching, load_key
from nacre.services.cluster.serving import HostServing
from nacre.services.dispatch.dispatch import Answer
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


class Typist:
    """Stands for dispatch: it counts what it was asked to type."""

    def __init__(self) -> None:
        self.typed = 0
        self.began = asyncio.Event()

    async def noted(self, caller: Caller, operation: object) -> Answer:
        self.typed += 1
        self.began.set()
        await asyncio.sleep(0)
        return Answer(InputSent(generation=self.typed), None)


class Pair:
    def __init__(self, tmp: Any) -> None:
        self.settings = Settings(cluster_retry_time=0.02)
        self.wire = cast("Any", Wire())
        self.hosts = HostTable(overdue=30, lost=60)
        signing = Vouching("door", load_key(str(tmp / "key")), 300.0)

        async def key_of(_: str) -> bytes:
            return signing.public_key

        self._believing = Believing("owner", key_of, 300.0)
        self.asking = Asking("door", "1.0.0", self.wire, self.hosts, signing, self.settings)

    async def begin(self, incarnation: str) -> Typist:
        """Start a daemon of the host `owner`, in the place of the one before it."""
        self.wire.cut("owner")
        typist: Any = Typist()
        serving = HostServing("owner", incarnation, self.wire, self._believing, self.settings)
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
    numbers = itertools.count()
    # Two of three of them do not arrive.
    pair.wire.loses = lambda subject, _: f".{lost}." in subject and next(numbers) % 3 != 2
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
    with pytest.raises(HostUnreachable, match="no host 'nobody'"):
        await pair.asking.ask("nobody", CALLER, GetCluster())


async def test_answers_are_kept_within_their_bytes(pair: Pair) -> None:
    pair.settings = Settings(cluster_retry_time=0.02, cluster_kept_bytes=0)
    typist = await pair.begin("first")
    pair.hear("first")
    await pair.asking.ask("owner", CALLER, TYPE)
    assert typist.typed == 1
    [(_, take)] = [one for one in pair.wire._readers if ".call." in one[0]]
    assert take.__self__._answered == {}
