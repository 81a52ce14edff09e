"""Numbers over a limit are cut and told; a call ends before its caller gives up on it."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from nacre.core.catalog.limits import limits_of
from nacre.core.operations.all import CATALOG, parse_operation
from nacre.errors import WaitTimedOut
from nacre.services.dispatch.dispatch import Answer
from nacre.wording import OPERATIONS

from services.living import CALLER, PATIENCE, living, start, start_marked
from services.people import House

pytestmark = pytest.mark.anyio

HASTY = replace(CALLER, patience=0.3)


async def ask(house: House, operation: str, caller: Any = CALLER, **parameters: Any) -> Answer:
    async with asyncio.timeout(PATIENCE):
        return await house.dispatch.ask(caller, parse_operation(operation, parameters))


def test_each_wait_has_a_limit_and_says_whether_it_is_the_calls_own() -> None:
    found = {
        (name, limit.parameter): limit.deadline
        for name, spec in CATALOG.items()
        for limit in limits_of(spec.type)
        if limit.most == "max_wait"
    }
    assert found == {
        ("run", "timeout_ms"): True,
        ("call_command", "wait_ms"): True,
        ("get_execution_status", "wait_ms"): True,
        ("send", "timeout_ms"): True,
        ("focus", "timeout_ms"): True,
        ("wait_for", "timeout_ms"): True,
        ("wait_for", "quiet_ms"): False,
        ("await_quiesce", "timeout_ms"): False,
        ("await_quiesce", "max_wait_ms"): True,
        ("run_command", "timeout_ms"): False,
        ("run_command", "max_wait_ms"): True,
        ("await_input", "max_wait_ms"): True,
        ("view_screen", "timeout_ms"): True,
        ("follow_run", "timeout_ms"): True,
        ("put_file", "timeout_ms"): True,
        ("get_file", "timeout_ms"): True,
        ("edit_file", "timeout_ms"): True,
        ("view_screen", "wait_idle_ms"): False,
    }


async def test_what_is_over_a_limit_is_cut_and_told() -> None:
    async with living(max_wait=100) as services:
        house = House(services)
        await start(services, "seq 1 100; exec cat", name="dev")
        above = await ask(house, "get_scrollback", session="dev", limit=20_000)
        assert above.besides() == {
            "notice": "limit was cut from 20000 to 10000, the most that there is"
        }
        waited = await ask(house, "wait_for", session="dev", text="100", timeout_ms=10**12)
        assert waited.notices == [
            "timeout_ms was cut from 1000000000000 to 100000, the most that there is"
        ]
        huge = await ask(house, "get_scrollback", session="dev", limit=10**3000)
        assert len(huge.notices[0]) < 100
        params = {"session": "dev", "limit": 20_000, "max_chars": 500}
        short = await ask(house, "get_scrollback", **params)
        told = msgspec.to_builtins(short.result, enc_hook=OPERATIONS.encode)
        sent = json.dumps({**told, **short.besides()}, separators=(",", ":"))
        assert 400 < len(sent) <= 500, "the notice is part of the answer"
        fine = await ask(house, "get_scrollback", session="dev", limit=10_000)
        assert fine.besides() == {}


async def test_an_error_tells_it_too() -> None:
    async with living(max_wait=1) as services:
        await start(services, "exec cat", name="dev")
        never = {"timeout_ms": 5000, "max_wait_ms": 1, "last_generation": 10**9}
        with pytest.raises(WaitTimedOut) as error:
            await ask(House(services), "await_quiesce", session="dev", **never)
        assert error.value.details["notice"].startswith("timeout_ms was cut from 5000 to 1000")


async def test_a_run_is_answered_before_its_caller_gives_up(tmp_path: Any) -> None:
    async with living(tmp_path) as services:
        house = House(services)
        session = await start_marked(services, name="dev")
        late = await ask(house, "run", HASTY, session="dev", command="sleep 1000")
        result: Any = late.result
        assert (result.status, result.ended_by) == ("timeout", "deadline")
        assert result.run_id in str(result.hint.next)
        assert late.notices == ["answered after 0.3 s, before clients give up on the call"]
        session.write(b"\x03")
        quick = await ask(
            house, "run", replace(CALLER, patience=50.0), session="dev", command="true"
        )
        assert quick.notices == []


async def test_waits_are_answered_in_time_as_well() -> None:
    async with living() as services:
        house = House(services)
        await start(services, "exec cat", name="dev")
        waited: Any = await ask(house, "wait_for", HASTY, session="dev", text="never")
        assert waited.result.matched is False
        with pytest.raises(WaitTimedOut) as error:
            await ask(house, "await_quiesce", HASTY, session="dev", last_generation=10**9)
        assert "answered after 0.3 s" in error.value.details["notice"]
