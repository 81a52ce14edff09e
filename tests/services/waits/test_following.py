"""follow_run: a run's bytes as they come, from a position on; its end only with its last bytes."""

import asyncio
import base64
import threading
from pathlib import Path

import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.results import RunPart
from nacre.core.operations.runs import FollowRun, Run, WaitFor
from nacre.errors import Forbidden
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.waits.following import RunFollowing
from nacre.services.wiring import Services

from services.living import CALLER, PATIENCE, living, start_marked

pytestmark = pytest.mark.anyio

PERSON = Caller(door="cli", scope=Scope.ADMIN, person=True)


def following(services: Services) -> RunFollowing:
    return RunFollowing(services.ledger, services.host, services.runs.revisit)


async def part(services: Services, run_id: str, position: int = 0, **more: int) -> RunPart:
    request = FollowRun(run_id=run_id, position=position, **{"timeout_ms": 20_000, **more})
    return await asyncio.wait_for(following(services).follow(PERSON, request), PATIENCE)


def data_of(told: RunPart) -> bytes:
    return base64.b64decode(told.data)


async def test_an_end_that_comes_while_bytes_are_read_waits_for_the_last_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, goes_on = threading.Event(), threading.Event()
    read = RunOutput.bytes_from

    def slowly(self: RunOutput, position: int, end: int) -> tuple[int, bytes]:
        reading.set()
        goes_on.wait(PATIENCE)
        return read(self, position, end)

    async with living(tmp_path, run_memory_bytes=2000) as services:
        session = await start_marked(services)
        late = await services.runs.run(
            PERSON, Run(session=session.identity.id, command="seq 2000; read x; seq 3")
        )
        assert late.run_id is not None
        monkeypatch.setattr(RunOutput, "bytes_from", slowly)
        task = asyncio.create_task(part(services, late.run_id))
        await asyncio.to_thread(reading.wait, PATIENCE)
        session.write(b"\r")
        await services.waiting.wait(PERSON, WaitFor(run_id=late.run_id, timeout_ms=20_000))
        goes_on.set()
        first = await task
        assert not first.finished, "there is more than was read"
        rest = await part(services, late.run_id, first.next_position)
        assert rest.finished
        assert (data_of(first) + data_of(rest)).endswith(b"\r\n1\r\n2\r\n3\r\n")


async def test_a_run_that_a_dead_daemon_may_not_have_sent_is_said_to_be_so(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services)
        await services.runs.run(PERSON, Run(session=session.identity.id, command="true"))
        run = services.ledger.begin(session, "native", "make")
        run.state.restored = True  # as the next daemon finds it
        told = await part(services, run.id)
        assert (told.finished, told.started, told.exit_code) == (True, False, None)
        again = await services.runs.run(
            PERSON, Run(session=session.identity.id, command="echo free")
        )
        assert again.output == "free"


async def test_only_the_answer_to_who_follows_is_without_the_output(tmp_path: Path) -> None:
    begun: list[str] = []
    async with living(tmp_path) as services:
        session = await start_marked(services)
        request = Run(session=session.identity.id, command="echo printed")
        with relayed_by(Relay(begun=begun.append, follows=True)):
            followed = await services.runs.run(PERSON, request)
        assert (followed.output, followed.run_id) == ("", begun[0])
        waited = await services.waiting.wait(PERSON, WaitFor(run_id=begun[0]))
        assert waited.run is not None
        assert waited.run.output == "printed"
        with relayed_by(Relay(begun=begun.append)):
            told = await services.runs.run(PERSON, request)
        assert (told.output, told.run_id) == ("printed", begun[1])


async def test_bytes_are_for_people_alone(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        with pytest.raises(Forbidden, match="for people alone"):
            await following(services).follow(CALLER, FollowRun(run_id="x"))
