"""Who drives: a person takes a session over, the others wait, and are told what was done."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.control import CommandRun, Handover
from nacre.errors import ControlHeld, Forbidden, SessionExited, SessionNotFound
from nacre.services.session.session import Session

from services.clock import advance, with_clock
from services.living import (
    PATIENCE,
    PROMPT,
    at_prompt,
    ended,
    lines_of,
    shows,
    start,
    start_marked,
    until,
)
from services.people import AGENT, ANNA, BERT, House, house

pytestmark = pytest.mark.anyio

ECHO = "stty -echo; echo ready; exec cat"
SECRET = "hunter-two"


async def echoing(ask: House) -> Session:
    session = await start(ask.services, ECHO)
    await shows(session, "ready")
    return session


async def take(ask: House, who: Caller, session: Session) -> Any:
    return await ask("control", who, session=session.identity.id, action="take")


async def give(ask: House, who: Caller, session: Session) -> Any:
    return await ask("control", who, session=session.identity.id, action="give")


async def marked_again(session: Session) -> None:
    """Wait until a marked shell is at its next prompt."""
    await until(session, lambda: session.stream.prompting.phase == "prompt")
    await at_prompt(session)


async def types_line(watch: Any, session: Session, line: str) -> None:
    """Type a command and wait for the prompt after it."""
    before = session.stream.prompting.ended
    await watch.type(line.encode() + b"\r")
    await until(session, lambda: session.stream.prompting.ended > before)
    await marked_again(session)


# --- who takes it ----------------------------------------------------------------------------


async def test_only_a_person_who_watches_takes_a_session_over() -> None:
    async with house() as ask:
        session = await echoing(ask)
        with pytest.raises(Forbidden, match="at a screen"):
            await take(ask, ANNA, session)
        async with ask.watch(AGENT, session):
            with pytest.raises(Forbidden):
                await take(ask, AGENT, session)
            with pytest.raises(Forbidden):
                await take(ask, ANNA, session)
        async with ask.watch(ANNA, session):
            told = await take(ask, ANNA, session)
            assert (told.driver, told.yours) == ("Anna", True)
            assert told.since is not None
            again = await take(ask, ANNA, session)
            assert again.since == told.since
            other = await ask("control", session=session.identity.id)
            assert (other.driver, other.yours, other.since) == ("Anna", False, told.since)
            details = await ask("list_sessions", session=session.identity.id)
            assert (details.driver, details.viewers) == ("Anna", 1)
        with pytest.raises(SessionNotFound):
            await ask("control", ANNA, session="nobody", action="take")


async def test_who_cannot_be_told_from_others_takes_nothing() -> None:
    nobody = Caller(door="cli", person=True)
    async with house() as ask:
        session = await echoing(ask)
        async with ask.watch(nobody, session):
            with pytest.raises(Forbidden):
                await take(ask, nobody, session)
        assert (await ask("control", session=session.identity.id)).driver is None


async def test_a_session_that_has_ended_is_nobodys_to_take() -> None:
    async with house() as ask:
        session = await ended(await start(ask.services, "true"))
        async with ask.watch(ANNA, session):
            with pytest.raises(SessionExited):
                await take(ask, ANNA, session)


async def test_another_person_moves_the_lease_and_only_the_holder_gives_it_back() -> None:
    async with house() as ask:
        session = await echoing(ask)
        async with ask.watch(ANNA, session) as anna, ask.watch(BERT, session) as bert:
            await take(ask, ANNA, session)
            await anna.type(b"by anna\r")
            for other in (BERT, AGENT):
                with pytest.raises(Forbidden, match="Anna drives, not you"):
                    await give(ask, other, session)
            with pytest.raises(ControlHeld) as held:
                await bert.type(b"by bert\r")
            assert held.value.details == {"driver": "Anna"}
            told = await take(ask, BERT, session)
            assert (told.driver, told.handover.driver) == ("Bert", "Anna")
            with pytest.raises(ControlHeld):
                await anna.type(b"too late\r")
            await bert.type(b"now bert\r")
            await shows(session, "now bert")
            told = await give(ask, BERT, session)
            assert (told.driver, told.yours, told.handover.driver) == (None, False, "Bert")
            await anna.type(b"all may\r")
            await shows(session, "all may")
        assert lines_of(session) == ["ready", "by anna", "now bert", "all may"]
        assert session.stream.taps == []


async def test_who_takes_over_gets_captured_keys_back() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        overlay = await ask("overlay", session=ref, spans=[{"text": "menu"}])
        await ask("input_mode", session=ref, mode="capture", focus=overlay.id)
        async with ask.watch(ANNA, session) as anna:
            waiting = asyncio.create_task(ask("await_input", session=ref))
            await asyncio.sleep(0)
            await take(ask, ANNA, session)
            told = await waiting
            assert (told.keys, told.mode) == ([], "passthrough")
            assert (await ask("input_mode", session=ref)).focused_element is None
            await anna.type(b"to the program\r")
            await shows(session, "to the program")


async def test_nobody_else_captures_the_keys_of_who_drives() -> None:
    async with house(control_wait=0) as ask:
        session = await echoing(ask)
        ref = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            await take(ask, ANNA, session)
            for other in (AGENT, BERT):
                with pytest.raises(ControlHeld):
                    await ask("input_mode", other, session=ref, mode="capture")
            assert (await ask("input_mode", session=ref)).mode == "passthrough"
            assert (await ask("input_mode", session=ref, mode="release")).mode == "passthrough"
            await anna.type(b"still hers\r")
            await shows(session, "still hers")
            assert (await ask("input_mode", ANNA, session=ref, mode="capture")).mode == "capture"
            await take(ask, ANNA, session)  # it was hers already
            assert (await ask("input_mode", session=ref)).mode == "capture"


async def test_who_drives_is_told_that_an_agent_waits_and_since_when() -> None:
    async with house(control_wait=PATIENCE) as ask:
        session = await echoing(ask)
        ref = session.identity.id
        async with ask.watch(ANNA, session), ask.follow(session, "control") as told:
            await told.next()  # the sync
            await take(ask, ANNA, session)
            assert (await told.next()).waiting_since is None
            waits = [
                asyncio.create_task(ask("send_input", session=ref, input=f"{word}\r"))
                for word in ("one", "two")
            ]
            since = (await told.next()).waiting_since
            assert since is not None
            assert (await ask("control", ANNA, session=ref)).waiting_since == since
            await ask("control", ANNA, session=ref, action="give")
            await asyncio.gather(*waits)
            now = await ask("control", ANNA, session=ref)
            assert (now.driver, now.waiting_since) == (None, None)


def test_who_types_nothing_for_long_gives_back() -> None:
    async def test() -> None:
        async with house(lease_idle=60) as ask:
            session = await echoing(ask)
            ref = session.identity.id
            async with ask.watch(ANNA, session) as anna:
                await take(ask, ANNA, session)
                await advance(50)
                await anna.type(b"still here\r")
                await advance(50)
                assert (await ask("control", ANNA, session=ref)).yours
                await advance(20)
                assert (await ask("control", ANNA, session=ref)).driver is None

    with_clock(test)


async def test_a_capture_waits_for_who_drives() -> None:
    async with house() as ask:
        session = await echoing(ask)
        ref = session.identity.id
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            waiting = asyncio.create_task(ask("input_mode", session=ref, mode="capture"))
            await asyncio.sleep(0)
            assert not waiting.done()
            await give(ask, ANNA, session)
            assert (await waiting).mode == "capture"


async def test_a_lease_ends_when_its_holder_leaves_the_last_screen() -> None:
    async with house() as ask:
        session = await echoing(ask)
        async with ask.watch(ANNA, session):
            async with ask.watch(ANNA, session):
                await take(ask, ANNA, session)
            assert (await ask("control", session=session.identity.id)).driver == "Anna"
            waiting = asyncio.create_task(
                ask("send_input", session=session.identity.id, input="late\r")
            )
            await asyncio.sleep(0)
            assert not waiting.done()
        async with asyncio.timeout(PATIENCE):
            await waiting
        await shows(session, "late")
        assert (await ask("control", session=session.identity.id)).driver is None
        assert session.stream.taps == []


async def test_a_lease_ends_with_the_child_and_with_a_restart() -> None:
    async with house() as ask:
        session = await echoing(ask)
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            await ask("restart_session", BERT, session=session.identity.id)
            assert (await ask("control", session=session.identity.id)).driver is None
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            waiting = asyncio.create_task(
                ask("send_input", session=session.identity.id, input="late\r")
            )
            await asyncio.sleep(0)
            await ask("manage_session", BERT, session=session.identity.id, action="kill")
            with pytest.raises(SessionExited):
                await waiting
        assert session.stream.taps == []


# --- the others ------------------------------------------------------------------------------


async def test_what_others_type_waits_and_goes_through_in_the_end(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            await take(ask, ANNA, session)
            calls: dict[str, dict[str, Any]] = {
                "send_input": {"input": "true;"},
                "press_keys": {"keys": ["space"]},
                "send_key": {"key": "space"},
                "signal_session": {"signal": "WINCH"},
            }
            waiting = [
                asyncio.create_task(ask(name, session=ref, **given))
                for name, given in calls.items()
            ]
            # Reading and drawing wait for nobody.
            await ask("get_screen", session=ref)
            await ask("overlay", session=ref, spans=[{"text": "I wait"}])
            await types_line(anna, session, "echo by hand")
            assert not any(call.done() for call in waiting)
            await give(ask, ANNA, session)
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*waiting)
            ran = await ask("run_command", session=ref, input="\x15echo agent")
            assert ran.exit_code == 0
        assert lines_of(session)[:2] == [f"{PROMPT} echo by hand", "by hand"]


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("send_input", {"input": "x"}),
        ("press_keys", {"keys": ["x"]}),
        ("run_command", {"input": "x"}),
        ("run", {"command": "x"}),
        ("send", {"text": "x"}),
        ("send_key", {"key": "x"}),
        ("signal_session", {"signal": "INT"}),
    ],
)
async def test_patience_that_runs_out_is_told_with_who_drives(
    operation: str, given: dict[str, Any]
) -> None:
    async with house(control_wait=0.0) as ask:
        session = await start(ask.services, ECHO, name="dev")
        await shows(session, "ready")
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            with pytest.raises(ControlHeld, match=r"a person \(Anna\) has driven session 'dev'"):
                await ask(operation, session="dev", **given)
            await give(ask, ANNA, session)
        assert lines_of(session) == ["ready"]


async def test_the_holders_own_calls_do_not_wait() -> None:
    async with house(control_wait=0.0) as ask:
        session = await echoing(ask)
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            await ask("send_input", ANNA, session=session.identity.id, input="mine\r")
            await shows(session, "mine")


# --- what is told of it ------------------------------------------------------------------------


async def test_a_handover_tells_the_commands_and_their_exit_codes(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        await ask("run_command", session=ref, input="echo before")
        async with ask.watch(ANNA, session) as anna:
            await take(ask, ANNA, session)
            before = session.generation
            await types_line(anna, session, "true")
            await types_line(anna, session, "")
            await types_line(anna, session, "(exit 3)")
            await types_line(anna, session, "echo 'two words' | cat")
            long = f"echo {'x' * 100} {'y' * 60}"
            await types_line(anna, session, long)
            await types_line(anna, session, "echo 日本 é")
            await anna.type(b"sleep 1000\r")
            await until(session, lambda: session.stream.prompting.phase == "running")
            told = (await give(ask, ANNA, session)).handover
        assert told.commands == [
            CommandRun(command="true", exit_code=0),
            CommandRun(command="(exit 3)", exit_code=3),
            CommandRun(command="echo 'two words' | cat", exit_code=0),
            CommandRun(command=long, exit_code=0),
            CommandRun(command="echo 日本 é", exit_code=0),
            CommandRun(command="sleep 1000", exit_code=None),
        ]
        assert (told.driver, told.generation_before) == ("Anna", before)
        assert told.generation_after == session.generation
        assert told.last_line == f"{PROMPT} sleep 1000"
        typed = ["true", "", "(exit 3)", "echo 'two words' | cat", long, "echo 日本 é"]
        assert told.keys == sum(len(line.encode()) + 1 for line in typed) + len("sleep 1000\r")
        assert "'true' (exit 0), '(exit 3)' (exit 3)" in told.in_words("dev")
        assert told.in_words("dev").endswith(repr(told.last_line))


async def test_what_was_typed_but_not_shown_stands_in_no_handover(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        ref = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            await take(ask, ANNA, session)
            line = b"read -rs word; echo took ${#word}\r"
            await anna.type(line)
            state = await ask("wait_for", session=ref, state=["needs_input"])
            assert state.matched
            await anna.type(SECRET.encode() + b"\r")
            await shows(session, f"took {len(SECRET)}")
            await marked_again(session)
            told = (await give(ask, ANNA, session)).handover
        everything = msgspec.json.encode(told).decode() + told.in_words("dev")
        assert SECRET not in everything
        assert [one.exit_code for one in told.commands] == [0]
        assert told.keys == len(line) + len(SECRET) + 1


async def test_only_the_last_commands_are_told(tmp_path: Path) -> None:
    async with house(tmp_path, max_handover_commands=3) as ask:
        session = await start_marked(ask.services)
        async with ask.watch(ANNA, session) as anna:
            for numbers in (range(5), range(5, 7)):
                await take(ask, ANNA, session)
                for number in numbers:
                    await types_line(anna, session, f": {number}")
                told = (await give(ask, ANNA, session)).handover
                last = [f": {number}" for number in numbers][-3:]
                assert [one.command for one in told.commands] == last
        both = await ask.told(AGENT, session)
        assert both is not None
        assert [one.command for one in both[1].commands] == [": 4", ": 5", ": 6"]


async def test_an_agent_is_told_once_and_a_person_is_not() -> None:
    async with house() as ask:
        session = await echoing(ask)
        assert await ask.told(AGENT, session) is None
        async with ask.watch(ANNA, session):
            await take(ask, ANNA, session)
            assert await ask.told(AGENT, session) is None
            await give(ask, ANNA, session)
        assert await ask.told(ANNA, session) is None
        told = await ask.told(AGENT, session)
        assert told is not None
        assert told[0] == session.identity.name
        assert told[1].driver == "Anna"
        assert await ask.told(AGENT, session) is None


async def test_what_two_people_did_before_the_agent_asked_is_told_together(tmp_path: Path) -> None:
    async with house(tmp_path) as ask:
        session = await start_marked(ask.services)
        async with ask.watch(ANNA, session) as anna, ask.watch(BERT, session) as bert:
            await take(ask, ANNA, session)
            before = session.generation
            await types_line(anna, session, "true")
            await take(ask, BERT, session)
            await types_line(bert, session, "false")
            await give(ask, BERT, session)
            now = await ask("control", BERT, session=session.identity.id)
            assert [one.command for one in now.handover.commands] == ["false"]
        told = await ask.told(AGENT, session)
        assert told is not None
        assert told[1].driver == "Anna, Bert"
        assert [one.command for one in told[1].commands] == ["true", "false"]
        assert (told[1].keys, told[1].generation_before) == (len("true\rfalse\r"), before)
        assert told[1].generation_after == session.generation


def test_a_handover_without_commands_says_so() -> None:
    told = Handover(
        driver="Anna",
        seconds=61.4,
        keys=3,
        commands=[],
        generation_before=1,
        generation_after=9,
        last_line="$ ",
    )
    assert told.in_words("dev") == (
        "A person (Anna) drove session 'dev' for 61 s and gave it back: 3 bytes typed, commands: "
        "none that the shell reported. The screen may have changed since generation 1 (now 9); "
        "read it before you continue. Its last line: '$ '"
    )
    assert json.loads(msgspec.json.encode(told))["commands"] == []


async def test_agents_neither_end_nor_bend_what_a_person_drives() -> None:
    async with house(control_wait=0.0) as ask:
        session = await echoing(ask)
        reference = session.identity.id
        async with ask.watch(ANNA, session) as anna:
            await take(ask, ANNA, session)
            for operation, more in (
                ("manage_session", {"action": "detach"}),
                ("manage_session", {"action": "kill"}),
                ("close_session", {}),
                ("restart_session", {}),
                ("signal_session", {"signal": "INT"}),
                ("resize_session", {"rows": 9, "cols": 33}),
            ):
                with pytest.raises(ControlHeld):
                    await ask(operation, session=reference, **more)
            await ask("manage_session", session=reference, action="rename", new_name="hers")
            with pytest.raises(ControlHeld, match="'hers'"):  # by the name that it has now
                await ask("send_input", session=reference, input="x")
            await anna.type(b"still here\r")
            await shows(session, "still here")
            # Another person may: `nacre kill` is one's own.
            await ask("resize_session", BERT, session=reference, rows=9, cols=33)
            await ask("manage_session", BERT, session=reference, action="kill")
            assert not session.alive


async def test_agents_send_everybody_off_where_nobody_drives() -> None:
    async with house(control_wait=0.0) as ask:
        session = await echoing(ask)
        async with ask.watch(ANNA, session):
            await ask("manage_session", session=session.identity.id, action="detach")
            assert not session.viewers
        await ask("manage_session", session=session.identity.id, action="detach")
