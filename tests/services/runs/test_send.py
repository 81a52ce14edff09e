"""send and send_key: the answer, where the session stands then, and what is missing of it."""

import asyncio
from pathlib import Path

import pytest

from nacre.core.operations.runs import Send, SendKey, WaitFor
from nacre.core.operations.terminal import PressKeys, ReadOutput, SendInput
from nacre.core.text.budget import json_size
from nacre.services.session.session import Session
from nacre.wording import Hint, Use

from runs.driving import shell_path
from services.living import CALLER, PROMPT, SHELL, living, shows, start, start_marked, until

pytestmark = pytest.mark.anyio


def lines(session: Session) -> list[str]:
    return [line for line in session.terminal.plain_lines() if line]


async def at_mark(session: Session, ended: int) -> None:
    """Return when so many commands have ended, and the next prompt is there."""
    prompting = session.stream.prompting
    await until(session, lambda: prompting.ended >= ended and prompting.phase == "prompt")


async def test_state_and_losses_are_told(tmp_path: Path) -> None:
    async with living(tmp_path, scrollback=100) as services:
        session = await start_marked(services, name="dev")
        sent = await services.talking.send(CALLER, Send(session="dev", text="seq 5000"))
        assert sent.output.splitlines()[-2:] == ["5000", PROMPT]
        assert sent.omitted_lines == 5002 - sent.lines > 4000
        assert sent.state is not None
        assert (sent.state.state, sent.generation) == ("prompt", session.generation)
        short = await services.talking.send(
            CALLER, Send(session="dev", text="seq 90", max_chars=500)
        )
        assert short.output.endswith(f"\n90\n{PROMPT}")
        assert short.lines + short.omitted_lines == 1 + 90 + 1, "the echo, the lines and the prompt"
        assert short.omitted_lines > 1
        assert 400 < json_size(short) <= 500
        assert isinstance(short.hint, Hint)
        (step,) = short.hint.next
        assert isinstance(step, Use)
        whole = await services.sessions.output(CALLER, ReadOutput(**step.params))
        assert (whole.omitted_lines, whole.lines) == (0, 92)
        assert whole.output.endswith(short.output)
        asked = await services.talking.send(CALLER, Send(session="dev", text="read -p 'name: ' x"))
        assert asked.state is not None
        assert (asked.state.state, asked.state.asks) == ("needs_input", "line")
        key = await services.talking.press(CALLER, SendKey(session="dev", key="ctrl+c"))
        assert key.state is not None
        assert (key.state.state, key.generation) == ("prompt", session.generation)
        cleared = await services.talking.send(CALLER, Send(session="dev", text="clear; echo x"))
        assert cleared.output == f"x\n{PROMPT}"


async def test_input_for_a_shell_that_starts_is_shown_once(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        for number in range(3):
            session = await start(services, env=SHELL, name=f"dev{number}")
            ref = session.identity.id
            match number:
                case 0:
                    await services.sessions.send(CALLER, SendInput(session=ref, input="echo a\r"))
                case 1:
                    keys = [*"echo", "space", "a", "enter"]
                    await services.sessions.press(CALLER, PressKeys(session=ref, keys=keys))
                case 2:
                    await services.talking.send(
                        CALLER, Send(session=ref, text="echo a", timeout_ms=0)
                    )
            await shows(session, "a")
            await at_mark(session, 1)
            assert lines(session) == [f"{PROMPT} echo a", "a", PROMPT]


@pytest.mark.parametrize("how", ["input", "send"])
async def test_a_shell_without_marks_is_awaited_until_it_reads(how: str, tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        (tmp_path / "slow").write_text("sleep 0.4\n")
        shell = shell_path("ash", tmp_path)
        env = {"PS1": "$ ", "ENV": str(tmp_path / "slow")}
        session = await start(services, shell, env=env)
        ref = session.identity.id
        if how == "input":
            await services.sessions.send(CALLER, SendInput(session=ref, input="echo a\r"))
        else:
            await services.talking.send(CALLER, Send(session=ref, text="echo a", timeout_ms=0))
        await shows(session, "a")
        assert "\n".join(lines(session)).count("echo a") == 1


async def test_inputs_for_a_shell_that_starts_stay_in_their_order(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start(services, env=SHELL, name="dev")
        parts = ["ec", "ho", " 1", "2", "3", "4\r"]
        await asyncio.gather(
            *(
                services.sessions.send(CALLER, SendInput(session="dev", input=part))
                for part in parts
            )
        )
        await shows(session, "1234")


async def test_keys_do_not_wait_for_a_shell_that_hangs_at_its_start(tmp_path: Path) -> None:
    # In the foreground once it prints: a key that came before would meet the shell.
    (tmp_path / ".bashrc").write_text("sh -c 'echo hangs; exec sleep 1000'\n")
    async with living(tmp_path, first_prompt_wait=1000) as services:
        session = await start(services, env={**SHELL, "HOME": str(tmp_path)}, name="dev")
        await shows(session, "hangs")
        await services.sessions.send(CALLER, SendInput(session="dev", input="\x03"))
        await until(session, lambda: PROMPT in session.terminal.plain_lines()[1])


async def test_generation_is_the_one_to_wait_after(tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services, name="dev", rows=5)
        for number in range(5):
            text = f"echo d{number}ne; seq 100\r"
            typed = await services.sessions.send(CALLER, SendInput(session="dev", input=text))
            await at_mark(session, number + 1)
            # All of it has scrolled off by now.
            wait = WaitFor(
                session="dev", text=f"d{number}ne", after_generation=typed.generation, timeout_ms=0
            )
            assert (await services.waiting.wait(CALLER, wait)).matched
        press = PressKeys(session="dev", keys=["enter"])
        pressed = await services.sessions.press(CALLER, press)
        assert pressed.generation >= typed.generation
        quiet = WaitFor(session="dev", quiet_ms=0, after_generation=pressed.generation)
        assert (await services.waiting.wait(CALLER, quiet)).matched
        sent = Send(session="dev", text="echo x", timeout_ms=0)
        later = await services.talking.send(CALLER, sent)
        wait = WaitFor(session="dev", text="x", after_generation=later.generation)
        assert (await services.waiting.wait(CALLER, wait)).matched
