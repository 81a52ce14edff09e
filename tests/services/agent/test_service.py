"""The tools of the toolset agent, on real sessions: what a model reads of each."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nacre.core.agent import status
from nacre.core.agent.tools import (
    AgentAnswer,
    AgentRead,
    AgentRun,
    AgentScreenshot,
    AgentSessions,
    AgentType,
    AgentWait,
)
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.control import Control
from nacre.core.operations.results import SessionState
from nacre.core.operations.runs import GetSessionStatus, WaitFor
from nacre.core.operations.watch import TypeAtScreen, WatchSession
from nacre.errors import (
    BadParameter,
    Busy,
    Forbidden,
    HostUnreachable,
    InvalidInput,
    NotAtPrompt,
    PolicyDenied,
    SessionNotFound,
)
from nacre.services.agent.service import Agents
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.wiring import Services

from services.living import living, until
from services.people import ANNA

pytestmark = pytest.mark.anyio


@dataclass
class Agent:
    """A client of the tools."""

    services: Services
    dispatch: Dispatch
    caller: Caller

    async def ask(self, tool: Operation) -> AgentAnswer:
        answer = await self.dispatch.ask(self.caller, tool)
        assert isinstance(answer.result, AgentAnswer)
        return answer.result

    async def run(self, command: str, **more: Any) -> str:
        return (await self.ask(AgentRun(command=command, **more))).text

    async def type(self, text: str | None = None, **more: Any) -> str:
        return (await self.ask(AgentType(text=text, **more))).text

    async def wait(self, **more: Any) -> str:
        return (await self.ask(AgentWait(**more))).text

    async def read(self, **more: Any) -> str:
        return (await self.ask(AgentRead(**more))).text

    async def sessions(self, **more: Any) -> str:
        return (await self.ask(AgentSessions(**more))).text

    def another(self, name: str, **more: Any) -> "Agent":
        caller = structs.replace(self.caller, told_as=f"mcp:{name}", client=f"{name} 2", **more)
        return replace(self, caller=caller)


@asynccontextmanager
async def agent(tmp_path: Path, **settings: Any) -> AsyncIterator[Agent]:
    runtime, work = tmp_path / "run", tmp_path / "work"
    runtime.mkdir(mode=0o700)
    work.mkdir()
    async with living(runtime, **settings) as services:
        caller = Caller(door="mcp", cwd=str(work), told_as="mcp:one", client="host 1.2")
        yield Agent(services, services.dispatch(), caller)


def timeless(text: str) -> str:
    """Return an answer with its times left out."""
    return re.sub(r"\d+(\.\d+)?s\b", "Ts", text, count=1)


async def test_the_first_call_just_works_and_folder_and_variables_stay(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        work = one.caller.cwd
        first = timeless(await one.run("pwd"))
        assert first == f"[exit 0 · Ts · {work} · run 1 · new session main]\n{work}"
        moved = timeless(await one.run("mkdir sub; cd sub; X=7; false"))
        assert moved == f"[exit 1 · Ts · {work}/sub · run 2]\n(no output)"
        assert (await one.run("echo $X")).endswith("run 3]\n7")
        heredoc = "cat > a.txt <<'EOF'\nit's $X\n  two\nEOF\ncat a.txt; wc -l < a.txt"
        assert (await one.run(heredoc)).endswith("run 4]\nit's $X\n  two\n2")
        long = "echo " + "x" * 20_000
        assert (await one.run(f"{long} | wc -c")).endswith("\n20001")


async def test_each_client_has_a_main_session_and_people_see_whose_it_is(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        two = one.another("two")
        await one.run("A=1")
        assert "new session main-2]" in await two.run("echo [$A]")
        assert (await two.run("echo [$A]")).endswith("\n[]")
        tags = {known.identity.name: known.identity.tags for known in one.services.registry}
        assert tags["main"][0].startswith("agent: host 1.2 (")
        assert tags["main-2"][0].startswith("agent: two 2 (")
        listed = await two.sessions()
        assert listed.startswith("[2 sessions]\n")
        assert "\nmain-2 (yours: main) · " in listed
        assert "· agent: host 1.2 (" in listed
        # A daemon that has forgotten its clients knows the session by its tag.
        later = replace(two, dispatch=one.services.dispatch())
        assert (await later.run("echo again")).startswith("[exit 0")
        assert "main-3" not in await later.sessions()
        # By its name it is anybody's.
        assert (await two.run("echo [$A]", session="server")).count("new session") == 1
        assert "[1]" in await one.another("three").run("A=1; echo [$A]", session="server")


async def test_a_question_is_answered_and_a_password_is_a_persons(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("true")
        asked = await one.run("read -p 'Really? [y/n] ' x; echo got $x")
        assert asked.split("\n")[0] == f"[asks confirm · run 2 · {one.caller.cwd} · type answers]"
        assert asked.split("\n")[1].startswith("Really? [y/n]")
        answered = timeless(await one.type("y"))
        assert answered == (f"[exit 0 · Ts · {one.caller.cwd} · run 2]\nReally? [y/n] y\ngot y")
        secret = await one.run("read -s -p 'Password: ' x; echo; echo thanks")
        assert secret.startswith("[asks password · run 3 · ")
        assert "a person types it" in secret.split("\n")[0]
        still = await one.wait(wait=0.2)
        assert still.startswith("[asks password · run 3 · "), "nobody has typed it"
        waiting = asyncio.ensure_future(one.wait())
        await one.dispatch(ANNA, TypeAtScreen(session="main", data=b"hunter2\r"))
        assert timeless(await waiting).startswith("[exit 0 · Ts · ")


async def test_what_takes_longer_goes_on_and_each_wait_has_what_is_new(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("mkfifo gate door; true")
        started = await one.run("read x < gate; echo two; read x < door; false", wait=0)
        assert started.startswith("[running 0.")
        assert started.endswith('s · run 2 · wait continues, type keys ["C-c"] stops]\n(no output)')
        with pytest.raises(Busy, match="run 2 is still running"):
            await one.run("echo no")
        await one.run("echo > gate", session="other", cwd=one.caller.cwd)
        found = await one.wait(pattern="two|three")
        assert found.split("\n")[0].startswith('[matched "two|three" · run 2 · ')
        assert found.split("\n")[1:] == ["two"]
        again = await one.wait(pattern="two", wait=0)
        head, *lines = again.split("\n")
        assert re.fullmatch(r"\[running [\d.]+s · run 2 · 1 line · wait continues, type .*", head)
        assert lines == ["(nothing new)"], "what was waited for before does not count again"
        waiting = asyncio.ensure_future(one.wait())
        await one.run("echo > door", session="other")
        ended = timeless(await waiting)
        assert ended == f"[exit 1 · Ts · {one.caller.cwd} · run 2]\n(nothing new)"
        assert (await one.wait()).startswith("[exit 1 · "), "and it does not wait for nothing"


async def test_a_text_may_be_there_before_the_wait_and_the_end_ends_it(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("mkfifo gate; echo 'ready (1)'; read x < gate; exit 4", wait=0)
        ready = await one.wait(pattern="ready (1)")
        assert ready.startswith('[matched "ready (1)" · run 1 · ')
        await one.run("true", session="b")
        await one.run("sleep 1000", session="b", wait=0)
        # Of several, the first that moves.
        waiting = asyncio.ensure_future(one.wait(sessions=["b", "main"], pattern="never"))
        (tmp_path / "work" / "gate").write_text("\n")
        over = await waiting
        assert timeless(over).startswith("[exit 4 · Ts · ")
        assert '· run 1 · no match for "never" · session ended]' in over
        stopped = await one.type(keys=["C-c"], session="b")
        assert timeless(stopped).startswith("[exit 130 · Ts · ")
        assert stopped.split("\n")[-1] == "^C"


async def test_of_several_sessions_one_on_a_lost_host_is_left_out(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        dispatch, lost = one.dispatch, {"away"}

        async def ask(caller: Caller, operation: Operation) -> Any:
            if getattr(operation, "session", None) in lost:
                raise HostUnreachable("host 'two' is lost: its sessions cannot be reached")
            if isinstance(operation, WaitFor) and operation.session in going:
                lost.add(str(operation.session))  # while it is waited for
                raise HostUnreachable("host 'two' is lost: its sessions cannot be reached")
            return await dispatch.ask(caller, operation)

        tools = Agents(ask)
        going: set[str] = set()
        for name in ("stays", "goes"):
            await tools.sessions(one.caller, AgentSessions(action="start", session=name))
        status = await dispatch(one.caller, GetSessionStatus(session="goes"))
        assert isinstance(status, SessionState)
        going.add(status.session_id)
        names: list[str | int] = ["away", "goes", "stays"]
        waited = await tools.wait(one.caller, AgentWait(sessions=names, wait=0))
        first, *told = waited.text.split("\n")[:3]
        assert " · stays" in first
        assert told == [
            f"(not waited for: {name} (host 'two' is lost: its sessions cannot be reached))"
            for name in ("away", "goes")
        ]
        for gone in (["away"], ["away", "goes"]):
            with pytest.raises(HostUnreachable, match="'two' is lost"):
                await tools.wait(one.caller, AgentWait(sessions=[*gone], wait=0))


async def test_at_its_prompt_nothing_is_running_or_nested(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("echo ready")
        # The run ends before its next prompt stands there; with that the wait is over.
        head, *screen = (await one.wait(pattern="never", wait=60)).split("\n")
        assert head == f'[no match for "never" · {one.caller.cwd} · prompt]'
        assert "ready" in screen


async def test_what_is_typed_after_a_run_is_no_part_of_it(tmp_path: Path) -> None:
    """Its own answer had come before its end, so nothing else was begun since."""
    async with agent(tmp_path) as one:
        assert (await one.run("cat")).startswith("[asks line · run 1 · ")
        assert timeless(await one.type(keys=["C-c"])).startswith("[exit 130 · ")
        assert (await one.type("echo later")).split("\n")[2] == "later"
        assert await one.read() == "[run 1 · lines 1–1 of 1 · exit 130]\n^C"


async def test_an_editor_shows_its_screen_and_then_what_changed(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        opened = await one.run("vim -u NONE -N f.txt")
        assert opened.startswith(f"[editor vim · run 1 · {one.caller.cwd} · new session main · ")
        assert opened.split("\n")[2:5] == ["~", "~", "~"]
        with pytest.raises(BadParameter, match="keys are not valid: 'Ctrl\\+Foo'"):
            await one.type(keys=["Ctrl+Foo"])
        # `end` is a word, and O behind an Escape is no arrow key.
        typed = await one.type(keys=["i", "end", "Esc", "O", "hello", "Esc"])
        assert typed.split("\n")[0] == f"[editor vim · run 1 · {one.caller.cwd} · type keys]"
        assert "\n 1 hello\n 2 end" in typed
        assert "~" not in typed
        with pytest.raises(NotAtPrompt, match="not run: vim is open"):
            await one.run("ls")
        closed = await one.type(keys=[":wq", "Enter"])
        assert timeless(closed).startswith(f"[exit 0 · Ts · {one.caller.cwd} · run 1]")
        assert (await one.run("cat f.txt")).endswith("\nhello\nend")


async def test_code_goes_into_a_repl_that_is_open(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        assert (await one.run("python3 -q")).startswith("[repl python3 · run 1 · ")
        done = timeless(await one.run("x = 6 * 7"))
        assert done.split("\n")[0].startswith("[done · Ts · ")
        assert done.endswith("run 2 · no exit code in a REPL]\n(no output)")
        assert (await one.run("print(x)")).endswith("]\n42")
        typed = await one.type("print(x + 1)")
        assert typed.startswith("[repl python3 · run 1 · ")
        assert "\n43\n" in typed
        assert "42" not in typed.partition("\n")[2], "what other answers had is not shown again"
        with pytest.raises(BadParameter, match="cwd needs a shell"):
            await one.run("1", cwd="/")
        left = await one.type(keys=["C-d"])
        assert timeless(left).startswith(f"[exit 0 · Ts · {one.caller.cwd} · run 1]")


async def test_long_output_is_cut_and_found_again(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        cut = await one.run("seq 20000; echo 'error: in line' $((1 + 1)); false")
        lines = cut.split("\n")
        assert len(cut) <= 12_200
        assert (lines[1], lines[-1]) == ("1", "error: in line 2")
        mark = next(line for line in lines if line.startswith("… lines "))
        assert mark.endswith(' cut: read(what="run 1", search="…") …')
        found = await one.read(search="error|FAIL")
        assert found.split("\n") == [
            "[1 match · run 1 · 20,001 lines · exit 1]",
            " 19999  19999",
            " 20000  20000",
            ">20001  error: in line 2",
        ]
        assert (await one.read(what="run 1", first=777, lines=2)).split("\n") == [
            "[run 1 · lines 777–778 of 20,001 · exit 1]",
            "777",
            "778",
        ]
        last = await one.read(lines=2)
        assert last.split("\n")[1:] == ["20000", "error: in line 2"]
        many = await one.read(search="0")
        assert re.match(r"\[first \d+ matches · run 1 · 20,001 lines · exit 1 · from \d+ has", many)
        assert len(many) <= 16_200
        assert "(no match)" in await one.read(search="not there (at all")


async def test_what_was_found_in_a_long_line_is_shown(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("""printf '%03000dneedle%03000d\\nlast\\n' 0 0""")
        for what in ("last", "all"):
            found = await one.read(what=what, search="needle", context=0)
            assert "needle0" in found.split("\n")[-1], what
            assert len(found) < 1000
        # Of lines that are too long for one answer the last ones come, as of others.
        await one.run(
            """awk 'BEGIN {for (i = 0; i < 9; i++) printf "%0100000d\\n", i; print "end"}'"""
        )
        assert (await one.read()).endswith("\nend")


async def test_a_match_comes_without_the_lines_around_it_if_there_is_no_room(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path) as one:
        await one.run("""for i in $(seq 99); do printf '%s %0150d\\n' "$i" 0; done""")
        for what in ("last", "all"):
            found = await one.read(what=what, search="^50 ", context=50, max_chars=1000)
            lines = found.split("\n")
            assert lines[1].startswith("(the lines around it are left out")
            assert re.match(r">\d+  50 000", lines[-1])
            assert len(found) <= 1000
            tiny = await one.read(what=what, search="^50 ", context=50, max_chars=200)
            assert re.match(r">\d+  50 000", tiny.split("\n")[-1])
            assert len(tiny) <= 300
            whole = await one.read(what=what, search="^50 ", context=50)
            assert whole.count("\n ") >= 98


async def test_a_screen_is_cut_to_what_was_asked_for_and_says_so(tmp_path: Path) -> None:
    wide: dict[str, Any] = {"session": "wide"}
    async with agent(tmp_path) as one:
        await one.run(
            "for i in $(seq 300); do printf '%s %0300d\\n' line$i 0; done > long; true", **wide
        )
        await one.sessions(action="resize", **wide, rows=150, cols=320)
        opened = await one.run("less long", max_chars=1000, **wide)
        assert opened.startswith("[pager less · ")
        mark = re.search(r'… lines (\d+)–\d+ cut: read\(what="screen"\) with a h', opened)
        assert mark is not None
        assert len(opened) <= 1000
        assert len(await one.type(keys=["Space"], max_chars=1000, **wide)) <= 1000
        await one.type(keys=["g"], **wide)
        # A screen of 45,000 characters: nothing of it is gone without a word.
        screen = await one.read(what="screen", max_chars=100_000, **wide)
        rows = [line.split(" ")[0] for line in screen.split("\n")[1:-1]]
        assert rows == [f"line{number}" for number in range(1, 150)]
        assert len(await one.read(what="screen", max_chars=1000, **wide)) <= 1000
        assert len(await one.another("two").wait(wait=0, max_chars=1000, **wide)) <= 1000
        await one.type(keys=["q"], **wide)


async def test_the_first_line_and_what_is_told_count(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        hidden = "x\N{ZERO WIDTH SPACE}y"
        many = await one.run(f"yes {hidden} | head -n 500", max_chars=400)
        assert len(many) <= 400
        for what in ("last", "all"):
            assert len(await one.read(what=what, max_chars=400)) <= 400


async def test_numbers_over_a_limit_are_cut_and_the_answer_says_so(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("seq 3")
        read = await one.read(lines=20_000, context=99, search="2")
        told = [
            f"({name} was cut from {number} to {most}, the most that there is)"
            for name, number, most in (("context", 99, 50), ("lines", 20_000, 10_000))
        ]
        assert read.split("\n")[1:3] == told
        assert read.split("\n")[-3:] == [" 1  1", ">2  2", " 3  3"]


async def test_a_folder_with_a_nul_character_is_refused(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("true")
        with pytest.raises(InvalidInput, match="NUL character"):
            await one.run("true", cwd="a\0b")


async def test_the_whole_terminal_and_its_screen_are_read(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("echo first; seq 100; echo last")
        screen = await one.read(what="screen")
        assert screen.startswith("[screen · ")
        assert "\nlast" in screen
        assert "\nfirst\n" not in screen
        everything = await one.read(what="all", search="^(first|last)$", context=0)
        assert everything.startswith("[2 matches · main · ")
        assert re.search(r"^>\d+  first\n--\n>\d+  last$", everything, re.MULTILINE)
        assert "\n100\nlast" in await one.read(what="all", lines=5)
        with pytest.raises(BadParameter, match="what 'nothing' is unknown"):
            await one.read(what="nothing")
        with pytest.raises(InvalidInput, match="no run 9"):
            await one.read(what="run 9")


async def test_a_batch_for_one_session_takes_turns(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        answers = await asyncio.gather(*(one.run(f"echo {number}") for number in range(5)))
        assert [answer.split("\n")[-1] for answer in answers] == list("01234")
        assert [number for number in range(1, 6) if f"run {number}" in answers[number - 1]] == [
            *range(1, 6)
        ]
        hurried = replace(one, caller=structs.replace(one.caller, patience=0.5))
        assert (await hurried.run("sleep 1000")).startswith("[running")
        with pytest.raises(Busy):
            await replace(one, caller=structs.replace(one.caller, patience=0.4)).run("echo late")


async def test_sessions_are_started_closed_renamed_and_made_again(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        with pytest.raises(SessionNotFound, match="you have no session yet"):
            await one.type("x")
        await one.run("true")
        started = await one.sessions(action="start", session="cat", command="cat")
        assert started == f"[started · cat · {one.caller.cwd} · cat]"
        assert "hello\nhello" in await one.type("hello", session="cat")
        assert await one.sessions(action="rename", session="cat", name="dog") == (
            "[renamed · cat · now dog]"
        )
        sized = await one.sessions(action="resize", session="dog", cols=100)
        assert sized == "[resized · dog · 30 rows, 100 columns]"
        assert await one.sessions(action="restart", session="dog") == "[restarted · dog]"
        assert await one.sessions(action="close", session="dog") == "[closed · dog]"
        with pytest.raises(BadParameter, match="name is missing"):
            await one.sessions(action="rename")
        with pytest.raises(BadParameter, match="rows is missing"):
            await one.sessions(action="resize")
        ended = await one.run("exit 3")
        assert timeless(ended).split("\n")[0].endswith("run 2 · session ended]")
        assert "new session main]" in await one.run("echo again")
        await one.sessions(action="close")
        assert "new session main]" in await one.run("echo again")


async def test_what_does_not_go_with_an_action_of_sessions_is_refused(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        started = await one.sessions(action="start", name="web", command="cat")
        assert started == f"[started · web · {one.caller.cwd} · cat]"
        for given in (
            {"action": "start", "session": "other", "rows": 10},
            {"action": "start", "session": "other", "name": "another"},
            {"action": "close", "name": "dog"},
            {"action": "restart", "command": "top"},
            {"action": "rename", "name": "dog", "cwd": "/"},
            {"action": "resize", "rows": 10, "command": "top"},
        ):
            with pytest.raises(BadParameter):
                await one.sessions(**{"session": "web", **given})
        assert "web · " in (listed := await one.sessions())
        assert "other" not in listed


async def test_a_folder_is_entered_first(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        assert "\n/usr" in await one.run("pwd", cwd="/usr")
        assert "· /etc · run 2]\n/etc" in await one.run("pwd", cwd="/etc")
        with pytest.raises(BadParameter, match=r"cwd cannot be entered: .*nowhere"):
            await one.run("touch no", cwd="/nowhere")
        assert (await one.run("ls /etc/no")).startswith("[exit 2")


async def test_a_picture_is_alone(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("true")
        taken = await one.ask(AgentScreenshot())
        assert taken.picture is not None
        assert taken.picture.startswith("iVBOR")
        assert taken.text == ""


async def test_what_a_person_did_meanwhile_is_told_once(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        await one.run("true")
        session = one.services.registry.find("main")
        async with one.dispatch.watch(ANNA, WatchSession(session="main", rows=24, cols=80)):
            await one.dispatch(ANNA, Control(session="main", action="take"))
            await one.dispatch(ANNA, TypeAtScreen(session="main", data=b"echo by hand\r"))
            await until(session, lambda: "by hand" in session.terminal.plain_lines())
            await one.dispatch(ANNA, Control(session="main", action="give"))
        told = (await one.run("echo mine")).split("\n")
        assert told[0].startswith("[exit 0")
        assert told[1].startswith("(A person (Anna) drove session 'main'")
        assert told[-1] == "mine"
        assert (await one.run("echo mine")).count("\n") == 1


async def test_the_tools_pass_scope_and_policy(tmp_path: Path) -> None:
    async with agent(tmp_path, policy="strict", approval_wait_alone=0.0) as one:
        looking = one.another("looking", scope=Scope.OBSERVE)
        with pytest.raises(Forbidden):
            await looking.run("true")
        with pytest.raises(PolicyDenied):
            await one.run("rm -rf /srv")


async def test_names_of_tools_in_an_answer_have_the_clients_prefix(tmp_path: Path) -> None:
    async with agent(tmp_path) as plain:
        one = replace(plain, caller=structs.replace(plain.caller, prefix="wsh_"))
        assert "· wsh_type answers]" in await one.run("read -p 'Go? [y/n] ' x")
        await one.type("y")
        long = await one.run("seq 20000", max_chars=400)
        assert 'cut: wsh_read(what="run 2", search="…")' in long
        assert "cut: wsh_read(from=1, …)" in await one.read(first=1, lines=900, max_chars=400)
        going = await one.run("cat", wait=0.1)
        assert re.search(r"· wsh_type (answers|keys)", going.split("\n")[0]), going
        left = await one.run("true", session="other", wait=20)
        assert "wsh_" not in left
        told = status.standing(None, 3, 0, status.Whereabouts("run 1", prefix="wsh_"))
        assert told.endswith('wsh_wait continues, wsh_type keys ["C-c"] stops]')


async def test_who_may_share_a_main_session_is_told_so_once(tmp_path: Path) -> None:
    async with agent(tmp_path) as plain:
        one = replace(plain, caller=structs.replace(plain.caller, alike=True))
        assert "/mcp?client=NAME" in (await one.run("true")).split("\n")[1]
        assert "client=NAME" not in await one.run("true")
        assert "client=NAME" not in await one.run("true", session="named")
