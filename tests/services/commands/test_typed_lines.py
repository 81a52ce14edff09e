"""run_command with several lines: all of them are waited for, in each shell that makes marks."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from nacre.core.operations.results import CommandOutcome
from nacre.core.operations.runs import ReadRun, Run, RunCommand, Send, WaitFor
from nacre.core.text.budget import json_chars, json_size
from nacre.errors import Busy, WaitTimedOut
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from runs.corpus import Case
from runs.driving import NATIVE, at_work, open_shell
from services.living import CALLER, PATIENCE, until

pytestmark = pytest.mark.anyio

PLAIN = Case("plain", (), ())

# A block, a function and a text over several lines, as each shell writes them.
BLOCK = {"bash": "for i in 1 2; do\n  echo $i\ndone\n", "fish": "for i in 1 2\n  echo $i\nend\n"}
FUNCTION = {
    "bash": "f() {\n echo in f\n\n return 7\n}\nf\n",
    "fish": "function f\n echo in f\n\n return 7\nend\nf\n",
}
TEXT = {
    "bash": "cat <<EOF | tr '\\t' :\na\n\n\tb\nEOF\necho z\n",
    "fish": "echo 'a\n\n\tb' | tr '\\t' :\necho z\n",
}
SYNTAX_ERROR = "echo before\n)\necho after\n"


async def command(services: Services, session: Session, text: str, **more: Any) -> CommandOutcome:
    # Silence of a minute never comes.
    given = {"format": "plain", "timeout_ms": 60_000, "max_wait_ms": 60_000, **more}
    request = RunCommand(session=session.identity.id, input=text, **given)
    return await services.commands.run(CALLER, request)


def shows(session: Session, text: str) -> bool:
    return any(text in line for line in session.terminal.plain_lines())


@pytest.mark.parametrize("shell", NATIVE)
async def test_quick_lines_are_whole_each_time(shell: str, tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        for code in range(20):
            lines = f"echo one {code}\necho two {code}\nsh -c 'echo three; exit {code}'\n"
            ran = await command(services, session, lines)
            assert (ran.ended_by, ran.exit_code) == ("mark", code)
            assert ran.output.splitlines() == [f"one {code}", f"two {code}", "three"]
            assert ran.hint is None


VI = {"bash": "set -o vi", "zsh": "bindkey -v", "fish": "fish_vi_key_bindings"}


@pytest.mark.parametrize("shell", NATIVE)
async def test_letters_are_no_commands_of_vi_after_escape(shell: str, tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        assert (await command(services, session, f"{VI[shell]}\n")).exit_code == 0
        for keys in (b"\x1b", b"abc\x1b0"):
            session.write(keys)
            ran = await command(services, session, "echo hello\n")
            assert (ran.exit_code, ran.output) == (0, "hello")
            session.write(keys)
            request = Send(session=session.identity.id, text="echo hello")
            assert "\nhello\n" in (await services.talking.send(CALLER, request)).output


async def test_a_line_editor_that_begins_with_commands_of_vi_takes_lines(tmp_path: Path) -> None:
    init = "zle-line-init() { zle -K vicmd; }; zle -N zle-line-init\n"
    case = replace(PLAIN, files={".zshrc": init})
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "zsh", tmp_path, case)
        ran = await command(services, session, "echo hello\nsh -c 'exit 3'\n")
        assert (ran.exit_code, ran.output) == (3, "hello")


@pytest.mark.parametrize(
    ("shell", "taken"),
    [
        ("zsh", "unfunction -m '*nacre*'"),
        ("fish", "for f in (functions -an | string match '__nacre*'); functions -e $f; end"),
    ],
)
async def test_hooks_are_mended_where_the_functions_of_the_keys_have_gone_with_them(
    shell: str, taken: str, tmp_path: Path
) -> None:
    async with at_work(tmp_path, shell_answer_wait=300) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        await command(services, session, f"{taken}\n")
        # No mark says any more that it is back at its prompt.
        back = WaitFor(session=session.identity.id, state=["prompt"])
        assert (await services.waiting.wait(CALLER, back)).matched
        ran = await command(services, session, "echo one\nsh -c 'echo two; exit 3'\n")
        assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", 3, "one\ntwo")
        assert not session.stream.prompting.hurt
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        assert "_nacre_s" not in "\n".join(session.terminal.plain_lines())


async def test_lines_at_a_prompt_without_marks_are_whole_and_the_last_one_tells_its_code(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        assert (await command(services, session, "readonly PS1='r> '\n")).exit_code == 0
        for code in (3, 4):
            lines = f"echo a\nprintf b\necho c\nsh -c 'exit {code}'\n"
            ran = await command(services, session, lines)
            assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", code, "a\nb\nc")
        one = await command(services, session, "echo '2 >'; (exit 5)\n")
        assert (one.ended_by, one.exit_code, one.output) == ("mark", 5, "2 >")


@pytest.mark.parametrize("shell", NATIVE)
async def test_send_of_an_empty_line_ends_at_the_next_prompt(shell: str, tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        await command(services, session, "true\n")
        send = Send(session=session.identity.id, text="", timeout_ms=60_000)
        sent = await asyncio.wait_for(services.talking.send(CALLER, send), PATIENCE / 2)
        assert sent.state is not None
        assert sent.state.state == "prompt"


async def test_send_ends_at_the_next_prompt_where_the_hooks_are_gone(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "zsh", tmp_path, PLAIN)
        await command(services, session, "unfunction -m '*nacre*'\n")
        send = Send(session=session.identity.id, text="echo hello", timeout_ms=60_000)
        sent = await asyncio.wait_for(services.talking.send(CALLER, send), PATIENCE / 2)
        assert "\nhello\n" in sent.output


@pytest.mark.parametrize("shell", NATIVE)
async def test_a_run_that_was_just_typed_is_not_taken_for_the_prompt(
    shell: str, tmp_path: Path
) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        for count in range(5):
            line = f"sh -c 'expr {count} + 1000; exec sleep 600'"
            ran = Run(session=session.identity.id, command=line, timeout_ms=0)
            assert (await services.runs.run(CALLER, ran)).status == "timeout"
            with pytest.raises(Busy, match="nothing was typed"):
                await command(services, session, "echo hello\n")
            # Only what is in the foreground is interrupted.
            await until(session, partial(shows, session, str(1000 + count)))
            assert (await command(services, session, "\x03")).ended_by == "mark"
            assert (await command(services, session, "echo hello\n")).output == "hello"


async def test_line_that_takes_the_marks_away_ends_with_its_code(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        ran = await command(
            services, session, "echo a; unset PROMPT_COMMAND; PS1='q> '; sh -c 'exit 9'\n"
        )
        assert (ran.ended_by, ran.exit_code, ran.output) == ("mark", 9, "a")
        ran = await command(services, session, "read -e x\n")
        assert (ran.ended_by, ran.state and ran.state.asks) == ("needs_input", "line")


async def test_what_a_new_prompt_command_prints_is_no_output(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        await command(services, session, "PROMPT_COMMAND='echo noise'\n")
        for number in range(3):
            ran = await command(services, session, f"echo {number}; (exit {number})\n")
            assert (ran.exit_code, ran.output) == (number, str(number))


@pytest.mark.parametrize("shell", NATIVE)
async def test_what_a_terminal_shows_around_the_output_is_none_of_it(
    shell: str, tmp_path: Path
) -> None:
    family = "fish" if shell == "fish" else "bash"
    expected: dict[str, tuple[str, int]] = {
        "echo one\nsleep 0.2\necho two\n": ("one\ntwo", 0),
        "printf a\nprintf b": ("a\nb", 0),
        "echo a\n\n\necho b\n\n": ("a\nb", 0),
        BLOCK[family]: ("1\n2", 0),
        FUNCTION[family]: ("in f", 7),
        TEXT[family]: ("a\n\n:b\nz", 0),
        "clear; echo x": ("x", 0),
        f"echo {'w' * 300}": ("w" * 300, 0),
        "true\nfalse\n": ("", 1),
        "\tfalse\r\n": ("", 1),
    }
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        for text, (output, code) in expected.items():
            ran = await command(services, session, text)
            assert (text, ran.output, ran.exit_code, ran.ended_by) == (text, output, code, "mark")
        ran = await command(services, session, SYNTAX_ERROR)
        assert ran.output.splitlines()[0] == "before"
        assert ran.output.splitlines()[-1] == "after"
        assert (ran.exit_code, len(ran.output.splitlines())) == (0, 3)


@pytest.mark.parametrize("shell", NATIVE)
async def test_line_for_a_program_reaches_it_and_the_next_one_the_shell(
    shell: str, tmp_path: Path
) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        for _ in range(2):
            ran = await command(services, session, "cat > f\none\ntwo\n\x04\necho to the shell\n")
            assert (ran.exit_code, ran.output.splitlines()[-1]) == (0, "to the shell")
            ran = await command(services, session, "cat f; sh -c 'exit 4'")
            assert (ran.exit_code, ran.output) == (4, "one\ntwo")


@pytest.mark.parametrize("shell", NATIVE)
async def test_command_that_is_not_whole_needs_the_rest(shell: str, tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, PLAIN)
        ran = await command(services, session, "echo 'begun")
        assert (ran.ended_by, ran.exit_code) == ("needs_input", None)
        assert ran.state is not None
        assert (ran.state.asks, ran.state.program) == ("line", shell)
        rest = await command(services, session, "and done'")
        assert (rest.ended_by, rest.output) == ("mark", "begun\nand done")


async def test_line_that_somebody_typed_ahead_is_not_taken_for_the_command(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        await until(session, lambda: session.stream.prompting.phase == "prompt")
        for code in range(5):
            session.write(b"echo ahead\rfalse\rtrue\r")
            ran = await command(services, session, f"(exit {code})")
            assert (ran.exit_code, ran.output) == (code, "")


async def test_lines_that_are_left_when_the_time_is_over_are_counted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        await command(services, session, "true")
        with pytest.raises(WaitTimedOut, match="2 lines of the input were not typed") as error:
            await command(
                services, session, "echo begun\nsleep 1000\necho 1\necho 2\n", max_wait_ms=300
            )
        told = error.value.details
        assert (told["output"], told["untyped_lines"]) == ("begun", 2)
        stopped = await command(services, session, "\x03")
        assert (stopped.ended_by, stopped.exit_code) == ("mark", 130)
        # It was the end of the command: nothing of it is left for the next one.
        assert (await command(services, session, "echo on")).output == "on"
        page = await services.runs.read(CALLER, ReadRun(run_id=told["run_id"]))
        assert (page.finished, page.exit_code) == (True, 130)


async def test_long_output_is_counted_and_can_be_read_as_a_run(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        ran = await command(services, session, "seq 100000\necho end\n", max_chars=1000)
        lines = ran.output.splitlines()
        assert (lines[0], lines[-1]) == ("1", "end")
        assert ran.omitted_lines == 100_001 - (len(lines) - 1)
        assert ran.run_id is not None
        assert ran.hint is not None
        assert str(ran.omitted_lines) in ran.hint
        page = await services.runs.read(CALLER, ReadRun(run_id=ran.run_id, offset=99_998))
        assert (page.output, page.total_lines) == ("99999\n100000\nend", 100_001)


@pytest.mark.parametrize("form", ["plain", "styled"])
async def test_output_has_what_a_budget_leaves_and_the_screen_the_rest(
    form: Literal["plain", "styled"], tmp_path: Path
) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        for budget, least in ((2000, 900), (5000, 3500), (30_000, 25_000)):
            ran = await command(services, session, "seq 100000", max_chars=budget, format=form)
            assert json_size(ran) <= budget
            assert json_chars(ran.output) >= least
            assert ran.screen.omitted_lines + len(ran.screen.lines) == 24
        short = await command(services, session, "echo on", max_chars=2000, format="plain")
        assert (short.screen.omitted_lines, short.output) == (0, "on")
        with pytest.raises(WaitTimedOut) as late:
            await command(
                services, session, "seq 9000; exec sleep 9", max_chars=2000, max_wait_ms=50
            )
        assert json_size(late.value.details) <= 2000


async def test_call_that_is_given_up_leaves_a_run_that_ends(tmp_path: Path) -> None:
    async with at_work(tmp_path) as services:
        session = await open_shell(services, "bash", tmp_path, PLAIN)
        await command(services, session, "true")
        task = asyncio.create_task(command(services, session, "read x; (exit 5)\necho never\n"))
        await until(session, lambda: session.stream.prompting.phase == "running")
        run = services.ledger.last(session)
        assert run is not None
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        session.write(b"\r")
        await until(session, lambda: run.done)
        assert run.exit_code == 5
