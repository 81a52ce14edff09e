"""Large outputs, late outputs, and many runs at once."""

import asyncio
import os
from pathlib import Path

import pytest

from nacre.core.operations.runs import ReadRun, WaitFor
from nacre.core.operations.runs import Run as RunRequest
from nacre.services.observe.state import line_before_cursor
from nacre.services.wiring import Services

from runs.corpus import Case
from runs.driving import Drive, at_work, open_shell, require
from services.living import CALLER, lines_of, start, until

pytestmark = pytest.mark.anyio

PLAIN = Case("plain", (), ())


async def driven(services: Services, folder: Path, shell: str = "bash") -> Drive:
    return Drive(services, await open_shell(services, shell, folder, PLAIN), shell, {})


def resident() -> int:
    """Return this process's resident memory in kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


async def test_twenty_megabytes_keep_head_and_tail_and_all_can_be_read(tmp_path: Path) -> None:
    count = 2_600_000  # lines, 20 MB
    async with at_work(tmp_path) as services:
        drive = await driven(services, tmp_path)
        await drive.run("true")
        before = resident()
        ran = await drive.run(f"seq {count}", 60_000, max_chars=2000)
        assert (ran.status, ran.exit_code) == ("completed", 0)
        lines = ran.output.split("\n")
        assert lines[:3] == ["1", "2", "3"]
        assert lines[-3:] == [str(count - 2), str(count - 1), str(count)]
        assert ran.omitted_lines + len(lines) - 1 == count
        assert len(ran.output) < 2200
        assert ran.run_id is not None
        at = 0
        for offset in (0, 123_456, count - 7):
            page = await services.runs.read(
                CALLER, ReadRun(run_id=ran.run_id, offset=offset, limit=1000)
            )
            at = min(offset + 1000, count)
            assert page.output == "\n".join(map(str, range(offset + 1, at + 1)))
            assert (page.total_lines, page.finished, page.lost_bytes) == (count, True, 0)
        assert resident() - before < 60_000


async def test_the_whole_output_is_paged_without_a_gap(tmp_path: Path) -> None:
    async with at_work(tmp_path, run_memory_bytes=8192) as services:
        drive = await driven(services, tmp_path)
        ran = await drive.run("seq 5000", max_chars=1000)
        assert ran.run_id is not None
        read: list[str] = []
        while len(read) < 5000:
            request = ReadRun(run_id=ran.run_id, offset=len(read), limit=700)
            page = await services.runs.read(CALLER, request)
            assert page.lines > 0
            read += page.output.split("\n")
        assert read == [str(number) for number in range(1, 5001)]


async def test_output_over_the_quota_is_counted(tmp_path: Path) -> None:
    async with at_work(tmp_path, run_memory_bytes=8192, max_run_bytes=50_000) as services:
        drive = await driven(services, tmp_path)
        ran = await drive.run("seq 20000", max_chars=1000)
        assert ran.output.endswith("\n19999\n20000")
        assert ran.run_id is not None
        page = await services.runs.read(CALLER, ReadRun(run_id=ran.run_id))
        # seq's bytes, with a CR for each line.
        assert page.lost_bytes == sum(len(f"{n}\r\n") for n in range(1, 20_001)) - 50_000


async def test_output_of_a_run_is_not_mixed_with_what_a_job_prints_after_it(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        drive = await driven(services, tmp_path)
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        ran = await drive.run(f"(read x < {gate}; echo late-output) & echo now")
        assert "now" in ran.output
        assert "late-output" not in ran.output
        session = drive.session
        # The run is over with its mark; the prompt is drawn behind that.
        await until(session, lambda: line_before_cursor(session) == "bash> ")
        await asyncio.to_thread(gate.write_text, "go\n")
        await until(session, lambda: session.terminal.plain_lines().count("bash> late-output") == 1)


async def test_a_second_run_at_the_same_time_is_told_that_it_is_busy(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        drive = await driven(services, tmp_path)
        first, second = await asyncio.gather(
            drive.run("sleep 0.2; echo first"), drive.run("echo second")
        )
        assert (first.output, first.exit_code) == ("first", 0)
        assert (second.status, second.exit_code, second.output) == ("busy", None, "")
        assert (await drive.run("echo third")).output == "third"


async def test_a_run_that_nobody_waits_for_is_typed_once_at_the_other_end_of_ssh(
    tmp_path: Path,
) -> None:
    """Which shell is there is tried out; one that is only slow must not get the second try, too."""
    (tmp_path / "ssh").symlink_to(require("bash"))
    async with at_work(tmp_path) as services:
        env = {"PS1": "$ ", "HISTFILE": ""}
        session = await start(services, str(tmp_path / "ssh"), args=["--norc"], env=env)
        await until(session, lambda: session.terminal.plain_lines()[0] == "$")
        drive = Drive(services, session, "ssh", {})
        late = await drive.run("echo once", timeout_ms=0)
        assert (late.status, late.context) == ("timeout", "wrapped")
        assert late.state is None, "what stands there is the prompt that it was typed at"
        waited = await services.waiting.wait(CALLER, WaitFor(run_id=late.run_id))
        assert waited.run is not None
        assert (waited.run.output, waited.run.exit_code) == ("once", 0)
        assert (await drive.run("echo on")).output == "on"
        await until(session, lambda: lines_of(session)[-1] == "$")
        assert lines_of(session)[-4:] == ["once", "$ echo on", "on", "$"]


async def test_a_program_finds_no_nonce_to_forge_an_end_with(tmp_path: Path) -> None:
    """In a wrapped run the nonce is typed: the shell must not keep it anywhere."""
    async with at_work(tmp_path) as services:
        for shell in ("dash", "ash"):
            drive = await driven(services, tmp_path, shell)
            found = await drive.run("{ set; env; alias; } | grep -c 'n=[0-9a-f]\\{32\\}'")
            assert (found.output, found.exit_code) == ("0", 1)


async def test_twenty_sessions_run_thirty_commands_each_at_once(tmp_path: Path) -> None:
    """No exit code is wrong, none is lost, none goes to another session."""
    shells = ["bash"] * 8 + ["dash"] * 6 + ["zsh"] * 6

    async def work(services: Services, number: int, shell: str) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        session = await open_shell(services, shell, folder, PLAIN)
        for count in range(30):
            code = (number * 31 + count * 7) % 256
            command = f"echo {number}-{count}; sh -c 'exit {code}'"
            ran = await services.runs.run(
                CALLER,
                RunRequest(session=session.identity.id, command=command, timeout_ms=60_000),
            )
            assert (ran.status, ran.output, ran.exit_code) == (
                "completed",
                f"{number}-{count}",
                code,
            ), (shell, ran)

    async with at_work(tmp_path) as services, asyncio.TaskGroup() as group:
        for number, shell in enumerate(shells):
            group.create_task(work(services, number, shell))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_what_is_typed_at_the_very_moment_a_run_ends_is_no_part_of_the_next(
    tmp_path: Path, shell: str
) -> None:
    async with at_work(tmp_path) as services:
        drive = await driven(services, tmp_path, shell)
        ran = await drive.run("echo on")
        drive.session.write(b"typed ahead ")
        ended = services.ledger.find(ran.run_id or "").state.ended
        assert ended is not None
        drive.session.input.last_input = ended  # as a clock says that counts milliseconds
        assert (await drive.run("echo x")).output == "x"
