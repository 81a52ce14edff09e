"""What a run printed is rendered beside the loop, and as it was when somebody asked."""

import asyncio

import pytest

from nacre.core.shell.dialects import dialect_of
from nacre.services.runs.outputs.run_output import RunOutput

pytestmark = pytest.mark.anyio


def printed(data: bytes) -> RunOutput:
    output = RunOutput(80, memory=1 << 19)
    output.record(data)
    return output


async def turns_during(output: RunOutput) -> int:
    """Prepare an output; return how many turns the loop made meanwhile."""
    task = asyncio.create_task(output.prepare(asyncio.Semaphore(1)))
    turns = 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    await task
    return turns


async def test_output_that_is_slow_to_draw_is_rendered_while_the_loop_goes_on() -> None:
    output = printed(b"x\x1b[65535b" * 500 + b"\r\nEND\r\n")
    assert await turns_during(output) > 10
    assert output.rendered().head[-1] == "END"


async def test_a_few_lines_are_rendered_at_once() -> None:
    output = printed(b"one\r\ntwo\r\n")
    assert await turns_during(output) <= 2
    assert output.lines() == ["one", "two"]


async def test_what_was_prepared_is_what_was_there_then_and_is_used_once() -> None:
    output = printed(b"before\r\n" * 4000)
    await output.prepare(asyncio.Semaphore(1))
    output.record(b"after\r\n")
    assert "after" not in output.lines()
    assert output.lines()[-1] == "after"


@pytest.mark.parametrize("end", [b"", b"x", b"\x1b[31mx", b"\x1b[m"])
def test_every_line_that_is_left_out_is_counted(end: bytes) -> None:
    output = RunOutput(80, memory=1000)
    output.record(b"".join(b"%d\r\n" % number for number in range(2000)) + end)
    kept, left_out = output.text(400)
    shown = [line for line in kept.splitlines() if "left out" not in line]
    assert len(shown) + left_out == 2000 + end.endswith(b"x")


def test_what_may_be_a_prompt_is_no_output_yet() -> None:
    output = RunOutput(80, 1000)
    output.record(b"50%\x1b[1m\x1b[7m%")
    assert output.end() == 3, "zsh may be about to show that the line has no end"
    output.record(b" of it\r\n")
    assert output.end() == 20
    output.record(b"\x1b[?2004hba")
    assert (output.end(), output.end("bash$ "), output.end("> ")) == (30, 20, 30)
    assert output.bytes_from(3, 20) == (3, b"\x1b[1m\x1b[7m% of it\r\n")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_fish_prints_before_a_command_is_not_its_output(size: int) -> None:
    fishes = b"\x1b[?2004l\x1b]0;echo hi ~\x07\x1b[30m\x1b(B\x1b[m\r"
    own = b"\x1b[m\x1b]0;mine\x07hi\r\n"
    output = RunOutput(80, memory=1 << 19)
    output.leave_out(dialect_of("fish").after_start)
    for at in range(0, len(fishes + own), size):
        output.record((fishes + own)[at : at + size])
    assert output.bytes_from(0, output.end()) == (0, own)
    nothing = RunOutput(80, memory=1 << 19)
    nothing.leave_out(dialect_of("fish").after_start)
    nothing.record(fishes)
    nothing.close()
    assert nothing.end() == 0
