"""Connections start with the first call, are shared by who has equal values, and fail clearly."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import InvalidInput, UpstreamNotFound, UpstreamTimedOut, UpstreamUnavailable
from nacre.services.upstream.connections import program_transport
from nacre.services.upstream.log_ring import LogRing
from nacre.system.upstreams.program import UpstreamProgram, start_program

import upstreams
from services.upstream.hubs import AGENT, ME, agent, hub, person, text_of, write
from upstreams.configs import odd, table

pytestmark = pytest.mark.anyio

TOKEN = {"TOKEN": "$TOK"}


async def state_of(house: Any, name: str, caller: Any = ME) -> Any:
    listed = (await house("list_upstreams", caller)).servers
    return next(one for one in listed if one.name == name)


async def pid_of(house: Any, server: str, caller: Any = ME) -> int:
    return int(
        text_of(await house("call_upstream_tool", caller, server=server, tool="where")).split()[0]
    )


def holding(folder: Path, data: bytes) -> list[Path]:
    """Return the files below a folder that have these bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if data in path.read_bytes()]


async def test_a_server_is_started_by_its_first_call_and_stays(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a")) as house:
        assert (await state_of(house, "a")).state == "idle"
        first = await pid_of(house, "a")
        assert await pid_of(house, "a", AGENT) == first
        known = await state_of(house, "a")
        assert (known.state, known.tools, known.calls, known.failures) == ("connected", 3, 2, 0)
        assert known.p50_ms > 0
        where = text_of(await house("call_upstream_tool", ME, server="a", tool="where"))
        assert where.split()[1] == os.environ["HOME"]
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_callers_with_other_values_have_a_process_of_their_own(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a", env=TOKEN)) as house:
        anna, bert = agent("anna", TOK="anna's-token"), agent("bert", TOK="bert's-token")
        also_anna = agent("other", TOK="anna's-token")
        first = await pid_of(house, "a", anna)
        assert await pid_of(house, "a", also_anna) == first
        assert await pid_of(house, "a", bert) != first
        told = await house("call_upstream_tool", bert, server="a", tool="where")
        assert text_of(told).endswith("bert's-token")
        with pytest.raises(UpstreamUnavailable, match="variable TOK of its table is not set"):
            await pid_of(house, "a", agent("nobody"))


async def test_values_are_nowhere_but_in_the_server(tmp_path: Path) -> None:
    secret = "s3cret-v4lue"
    async with hub(tmp_path, odd("a", env=TOKEN)) as house:
        caller = agent(TOK=secret)
        await pid_of(house, "a", caller)
        listed = await house("list_upstreams", caller)
        log = await house("read_upstream_log", ME, server="a")
        assert "my token is $TOK" in log.lines
        assert secret not in f"{listed}{log}{caller}"
    assert holding(tmp_path, b"mcp_servers")
    assert not holding(tmp_path, secret.encode())


async def test_callers_over_http_get_what_a_person_reloaded_with(tmp_path: Path) -> None:
    from nacre.core.catalog.caller import Caller

    remote = Caller(door="mcp")
    async with hub(tmp_path, odd("a", env=TOKEN)) as house:
        with pytest.raises(UpstreamUnavailable, match="not set"):
            await pid_of(house, "a", remote)
        await house("reload_upstreams", agent(TOK="no"))
        with pytest.raises(UpstreamUnavailable, match="not set"):
            await pid_of(house, "a", remote)
        await house("reload_upstreams", person(TOK="yes-mine"))
        told = await house("call_upstream_tool", remote, server="a", tool="where")
        assert text_of(told).endswith("yes-mine")


FAILING = {
    "crash": r"it ended \(exit code 3\); it said: cannot find the database",
    "silent": "did not start within 0.5 s",
    "babble": "did not start within 0.5 s; it printed .*: Welcome to the odd server!",
    "endless": "it sent a line of more than 65536 bytes",
}


async def test_each_way_to_fail_is_told_and_disturbs_nobody(tmp_path: Path) -> None:
    soon = ("silent", "babble")
    tables = [odd(how, how, start_timeout=0.5 if how in soon else 60) for how in FAILING]
    async with hub(tmp_path, odd("good"), *tables, upstream_message_bytes=65_536) as house:
        await house("test_upstream", ME, server="good")
        for how, words in FAILING.items():
            with pytest.raises(UpstreamUnavailable, match=words):
                await house("test_upstream", ME, server=how)
            known = await state_of(house, how)
            assert known.state == "failed"
            assert known.error in str((await house("read_upstream_log", ME, server=how)).lines)
        assert await pid_of(house, "good")
        missing = table("none", command="no-such-program-here")
        write(tmp_path, odd("good"), missing)
        with pytest.raises(UpstreamUnavailable, match="no program 'no-such-program-here'"):
            await house("test_upstream", ME, server="none")


async def test_greetings_on_standard_output_are_skipped(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a", "garbage")) as house:
        assert (await house("test_upstream", ME, server="a")).tools == 3
        log = await house("read_upstream_log", ME, server="a")
        assert "Welcome to the odd server!" in str(log.lines)


async def test_a_server_that_dies_in_a_call_is_started_by_the_next(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a")) as house:
        first = await pid_of(house, "a")
        with pytest.raises(UpstreamUnavailable, match=r"lost during the call: it ended .*code 7"):
            await house("call_upstream_tool", ME, server="a", tool="die")
        known = await state_of(house, "a")
        assert (known.state, known.error) == ("failed", "it ended (exit code 7)")
        assert await pid_of(house, "a") != first
        known = await state_of(house, "a")
        assert (known.state, known.failures) == ("connected", 1)
        assert "goodbye" in (await house("read_upstream_log", ME, server="a")).lines


async def test_after_a_failure_there_is_a_pause_and_a_test_tries_at_once(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a", "crash"), upstream_retry=3600.0) as house:
        with pytest.raises(UpstreamUnavailable, match="exit code 3"):
            await house("call_upstream_tool", ME, server="a", tool="echo")
        said = len((await house("read_upstream_log", ME, server="a")).lines)
        with pytest.raises(UpstreamUnavailable, match="tried again in"):
            await house("call_upstream_tool", ME, server="a", tool="echo")
        assert len((await house("read_upstream_log", ME, server="a")).lines) == said
        with pytest.raises(UpstreamUnavailable, match="exit code 3"):
            await house("test_upstream", ME, server="a")
        assert len((await house("read_upstream_log", ME, server="a")).lines) > said
        write(tmp_path, odd("a"))  # a person corrects it
        assert await pid_of(house, "a")


async def test_a_call_without_an_answer_ends_and_a_server_that_hangs_is_let_go(
    tmp_path: Path,
) -> None:
    hanging = odd("a", "hang", call_timeout=0.2)
    async with hub(tmp_path, hanging, upstream_alive_wait=0.1) as house:
        with pytest.raises(UpstreamTimedOut, match=r"did not answer within 0\.2 s"):
            await house("call_upstream_tool", ME, server="a", tool="echo")
        server = house.services.upstreams.hub().server("a")
        (connection,) = server.connections
        await connection._leave.wait()
        assert server.error == "it does not answer any more"


async def test_hand_edits_count_and_what_is_unchanged_stays_connected(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a"), odd("b")) as house:
        first, other = await pid_of(house, "a"), await pid_of(house, "b")
        heard = asyncio.Event()
        house.services.upstreams.hub().on_change(heard.set)
        write(tmp_path, odd("a"), odd("b", cwd="/"), odd("c"))
        await asyncio.wait_for(heard.wait(), 60)  # nobody asked: the system told
        assert await pid_of(house, "a") == first
        assert await pid_of(house, "b") != other
        assert (await state_of(house, "c")).state == "idle"
        write(tmp_path, odd("a"))
        with pytest.raises(UpstreamNotFound):
            await pid_of(house, "b")


async def test_a_wrong_table_fails_alone(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("a"), "[mcp_servers.bad]\ncomand = 'x'\n") as house:
        bad = await state_of(house, "bad")
        assert (bad.state, bad.transport) == ("failed", None)
        assert "did you mean command?" in bad.error
        assert str(tmp_path / "config" / "config.toml") in bad.error
        with pytest.raises(UpstreamUnavailable, match="did you mean command"):
            await house("call_upstream_tool", ME, server="bad", tool="x")
        assert await pid_of(house, "a")


async def test_disable_ends_the_process_and_enable_brings_the_tools_back(tmp_path: Path) -> None:
    async with hub(tmp_path, "# kept\n", odd("a")) as house:
        pid = await pid_of(house, "a")
        await house("enable_upstream", ME, server="a", enabled=False)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert (await state_of(house, "a")).state == "disabled"
        assert (await house("list_upstream_tools", ME)).tools == []
        with pytest.raises(UpstreamUnavailable, match="a is disabled; enable it first"):
            await pid_of(house, "a")
        await house("enable_upstream", ME, server="a")
        assert await pid_of(house, "a")
        await house("remove_upstream", ME, server="a")
        assert "# kept" in (tmp_path / "config" / "config.toml").read_text()
        with pytest.raises(UpstreamNotFound):
            await house("remove_upstream", ME, server="a")


async def test_servers_are_added_and_imported(tmp_path: Path) -> None:
    async with hub(tmp_path) as house:
        await house("add_upstream", ME, name="a", url="https://x", headers={"A": "$B"})
        with pytest.raises(InvalidInput, match="already"):
            await house("add_upstream", ME, name="a", url="https://y")
        text = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}, "c": {}}}'
        done = await house("import_upstreams", ME, text=text)
        assert [one.name for one in done.added] == ["b"]
        assert {one.name for one in done.left_out} == {"a", "c"}
        assert [one.name for one in (await house("list_upstreams", ME)).servers] == ["a", "b"]
        with pytest.raises(InvalidInput, match="no file of MCP servers"):
            await house("import_upstreams", ME, text="nonsense")


async def test_a_server_that_failed_is_tried_again_but_not_waited_for(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"upstream_retry": 0.001, "upstream_list_wait": 600.0}
    async with hub(tmp_path, odd("good"), odd("bad", "crash"), **settings) as house:

        async def failures() -> int:
            log = await house("read_upstream_log", ME, server="bad")
            return sum("cannot connect" in line for line in log.lines)

        heard = asyncio.Event()
        assert len((await house("list_upstream_tools", ME)).tools) == 3
        assert await failures() == 1
        house.services.upstreams.hub().on_change(heard.set)
        assert len((await house("list_upstream_tools", ME)).tools) == 3
        assert await failures() == 1  # it goes on behind this list
        write(tmp_path, odd("good"), odd("bad", "plain"))
        await asyncio.wait_for(heard.wait(), 60)
        assert len((await house("list_upstream_tools", ME)).tools) == 6


# A loop that counts milliseconds wakes up early from a pause: within the second one always.
@pytest.mark.parametrize("pause", [0.01, 0.0004])
async def test_a_server_that_fails_at_first_is_tried_again_for_who_listens(
    tmp_path: Path, pause: float
) -> None:
    # One try starts it twice: once for each way to greet it.
    starts = tmp_path / "starts"
    program = f"echo >> {starts}; test $(wc -l < {starts}) -gt 2 || exit 3; exec $0 $1"
    script = str(Path(upstreams.__file__).parent / "odd_server.py")
    args = ["-c", program, sys.executable, script]
    flaky = table("flaky", command="sh", args=[one.replace("$", "$$") for one in args])
    heard = asyncio.Event()
    async with hub(tmp_path, flaky, upstream_retry=pause) as house:
        hub_of = house.services.upstreams.hub()
        hub_of.on_change(lambda: heard.set() if hub_of.tools() else None)
        assert (await house("list_upstream_tools", ME)).tools == []
        await asyncio.wait_for(heard.wait(), 60)  # nobody has asked again
        assert len((await house("list_upstream_tools", ME)).tools) == 3


async def test_servers_that_hang_do_not_hold_up_the_others(tmp_path: Path) -> None:
    hanging = [odd(f"silent{number}", "silent") for number in range(2)]
    settings: dict[str, Any] = {"max_upstream_starts": 2, "upstream_start_share": 0.01}
    async with hub(tmp_path, *hanging, odd("good"), **settings) as house:
        hung = [
            asyncio.create_task(house("list_upstream_tools", ME, server=f"silent{number}"))
            for number in range(2)
        ]
        assert await pid_of(house, "good")
        assert (await state_of(house, "silent0")).state == "connecting"
        for task in hung:
            task.cancel()


async def test_lists_come_from_what_was_kept_and_slow_servers_are_not_waited_for(
    tmp_path: Path,
) -> None:
    tables = [odd(f"s{number}") for number in range(3)]
    async with hub(tmp_path, *tables) as house:
        assert len((await house("list_upstream_tools", ME)).tools) == 9
    broken = odd("slow", "silent")
    async with hub(tmp_path, *tables, broken, upstream_list_wait=0.0) as house:
        assert len((await house("list_upstream_tools", ME)).tools) == 9
        assert (await state_of(house, "s0")).state == "idle"  # nothing was started for it


async def test_the_ends_of_a_servers_pipes_are_closed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[int] = []

    class Meanwhile(program_transport.PipeEnd):
        def close(self) -> None:
            # What another thread might open just now gets the lowest number that is free.
            others.append(os.open(os.devnull, os.O_RDONLY))
            super().close()

    monkeypatch.setattr(program_transport, "PipeEnd", Meanwhile)
    try:
        async with hub(tmp_path, odd("a")) as house:
            assert await pid_of(house, "a")
        assert len(others) == 3
        for descriptor in others:
            os.fstat(descriptor)  # raises OSError if it was closed with the pipe
    finally:
        for descriptor in others:
            with suppress(OSError):
                os.close(descriptor)


def pipes() -> list[str]:
    """Return the ends of pipes that this process has, which their number tells from others."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # of the listing itself
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted(one for one in found if one.startswith("pipe:"))


async def test_a_server_whose_start_is_cancelled_leaves_neither_process_nor_pipe() -> None:
    program: list[UpstreamProgram] = []

    def start() -> UpstreamProgram:
        program.append(start_program(["sleep", "1000"], cwd="/", env=dict(os.environ)))
        return program[0]

    before = pipes()
    transport = program_transport.ProgramTransport(start, LogRing(1000), 1000)
    entering = asyncio.create_task(transport.__aenter__())
    await asyncio.sleep(0)  # it has started the program, and opens the first pipe
    assert program
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert str(await asyncio.wait_for(program[0].wait(), 60)) == "killed by SIGKILL"
    assert pipes() == before
