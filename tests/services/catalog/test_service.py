"""Commands as their callers see them: real programs, in contexts of their own."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.commands import (
    CallCommand,
    CancelExecution,
    CommandList,
    ExecutionCancelled,
    ExecutionOutcome,
    GetExecutionStatus,
    ListCommands,
)
from nacre.core.text.budget import json_size
from nacre.errors import CommandNotFound, Forbidden, InvalidInput, LimitReached
from nacre.services.dispatch.dispatch import Dispatch

from services.living import living

pytestmark = pytest.mark.anyio


class Agent:
    """A caller with a context of its own."""

    def __init__(self, dispatch: Dispatch, name: str, owner: str = "") -> None:
        self._dispatch = dispatch
        self.caller = Caller(door="test", told_as=name, owner=owner)

    async def __call__(self, tool: str, **args: Any) -> ExecutionOutcome:
        return await self.call(tool=tool, args=args)

    async def call(self, **fields: Any) -> ExecutionOutcome:
        found = await self._dispatch(self.caller, CallCommand(**fields))
        assert isinstance(found, ExecutionOutcome)
        return found

    async def status(self, execution: str, **fields: Any) -> ExecutionOutcome:
        request = GetExecutionStatus(execution_id=execution, **fields)
        found = await self._dispatch(self.caller, request)
        assert isinstance(found, ExecutionOutcome)
        return found

    async def cancel(self, execution: str) -> bool:
        found = await self._dispatch(self.caller, CancelExecution(execution_id=execution))
        assert isinstance(found, ExecutionCancelled)
        return found.cancelled

    async def begun(self, tool: str, **args: Any) -> str:
        """Begin a command, and return its id."""
        return (await self.call(tool=tool, args=args, wait_ms=0)).execution_id


class Catalog:
    def __init__(self, dispatch: Dispatch, folder: Path) -> None:
        self.dispatch = dispatch
        self.folder = folder

    def agent(self, name: str = "one", owner: str = "") -> Agent:
        return Agent(self.dispatch, name, owner)


@asynccontextmanager
async def catalog(
    folder: Path, config: Path | None = None, **settings: Any
) -> AsyncIterator[Catalog]:
    async with living(home=folder, config=config, **settings) as services:
        try:
            yield Catalog(services.dispatch(), folder)
        finally:
            await services.catalog.end_all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
async def agent(folder: Path) -> AsyncIterator[Agent]:
    async with catalog(folder) as found:
        yield found.agent()


async def test_a_command_returns_output_exit_code_and_time(agent: Agent, folder: Path) -> None:
    (folder / "a.txt").write_text("one\n")
    done = await agent("ls")
    assert (done.output, done.exit_code, done.status) == ("a.txt\n", 0, "completed")
    assert done.execution_time_ms >= 0
    failed = await agent("cat", path="none")
    assert (failed.exit_code, failed.status) == (1, "failed")
    assert "No such file" in failed.output
    assert (failed.stdout, "No such file" in (failed.stderr or "")) == ("", True)


async def test_the_context_keeps_folder_variables_and_history(agent: Agent, folder: Path) -> None:
    (folder / "sub").mkdir()
    assert (await agent("cd", path="sub")).exit_code == 0
    assert (await agent("pwd")).output == f"{folder}/sub\n"
    await agent("export", name="GREETING", value="hello")
    assert (await agent("env", name="GREETING")).output == "hello\n"
    lines = (await agent("history")).output.splitlines()
    assert [line.split(None, 1)[1] for line in lines[:2]] == ["cd sub", "pwd"]
    assert (await agent("cd", path="none")).exit_code == 1


async def test_contexts_are_apart_and_named_ones_are_shared(folder: Path) -> None:
    (folder / "sub").mkdir()
    async with catalog(folder) as found:
        one, other = found.agent("one"), found.agent("other")
        await one("cd", path="sub")
        assert (await other("pwd")).output == f"{folder}\n"
        await one.call(tool="cd", args={"path": "sub"}, context="mine")
        assert (await other.call(tool="pwd", context="mine")).output == f"{folder}/sub\n"
        stranger = found.agent("one", owner="another")
        assert (await stranger.call(tool="pwd", context="mine")).output == f"{folder}\n"


async def test_calls_that_come_together_are_taken_in_their_order(
    agent: Agent, folder: Path
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "x").touch()
    outcomes = await asyncio.gather(agent("cd", path="sub"), agent("ls"), agent("pwd"))
    assert [one.output for one in outcomes] == ["", "x\n", f"{folder}/sub\n"]


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "BASH_ENV", "IFS", "GIT_SSH", "HOME"])
async def test_variables_that_change_other_programs_are_not_exported(
    name: str, agent: Agent
) -> None:
    with pytest.raises(Forbidden, match="cannot be exported"):
        await agent("export", name=name, value="x")


async def test_the_environment_of_programs_is_an_allow_list(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    await agent("export", name="MY_TOKEN", value="sk-aaaaaaaaaaaaaaaaaaaaaaaa")
    context = json.loads((await agent("get_shell_context")).output)
    assert {"cwd", "user", "history", "env"} <= set(context)
    assert "SECRET_TOKEN" not in context["env"]
    assert "MY_TOKEN" not in context["env"]
    assert context["env"]["PATH"]


async def test_refusals_raise_and_run_nothing(agent: Agent, folder: Path) -> None:
    (folder / "keep").touch()
    for tool, args in (
        ("rm", {"path": "keep"}),
        ("kill", {"job": "1"}),
        ("cat", {"path": "/etc/passwd"}),
        ("cd", {"path": "/etc"}),
        ("cat", {"path": "../x"}),
        ("echo", {"text": "a;b"}),
    ):
        with pytest.raises(Forbidden):
            await agent(tool, **args)
    with pytest.raises(CommandNotFound):
        await agent("nonsense")
    with pytest.raises(InvalidInput):
        await agent("ls", nonsense=1)
    assert (folder / "keep").exists()


async def test_delete_file_works_within_the_path_rules(agent: Agent, folder: Path) -> None:
    (folder / "old").touch()
    assert (await agent("delete_file", path="old")).exit_code == 0
    assert not (folder / "old").exists()


async def test_sed_cannot_run_a_program_or_write(folder: Path) -> None:
    (folder / "a").write_text("x\n")
    async with catalog(folder, commands_allow_patterns=True) as found:
        agent = found.agent()
        for script in ("1e id", "w out", "s/x/id/e", "r /etc/passwd"):
            done = await agent("sed", script=script, file="a")
            assert done.exit_code != 0, script
            assert "uid=" not in done.output
        with pytest.raises(Forbidden, match="Invalid characters in argument: program has @"):
            await agent("awk", program='@include "/etc/passwd"')
        assert not (folder / "out").exists()


async def test_standard_input_and_pipelines(agent: Agent, folder: Path) -> None:
    done = await agent.call(tool="sort", stdin="b\na\n")
    assert done.output == "a\nb\n"
    (folder / "n").write_text("3\n1\n2\n")
    piped = await agent.call(pipeline=[["cat", "n"], ["sort", "-n"], ["head", "-n", "2"]])
    assert (piped.output, piped.exit_codes) == ("1\n2\n", (0, 0, 0))
    echoed = await agent.call(pipeline=[["echo", "hello"], ["tr", "a-z", "A-Z"]])
    assert echoed.output == "HELLO\n"
    with pytest.raises(Forbidden, match="Command 'rm' is blacklisted"):
        await agent.call(pipeline=[["cat", "n"], ["rm", "n"]])


async def test_a_large_input_and_output_pass_whole(agent: Agent) -> None:
    text = "0123456789abcdef" * 20_000
    done = await agent.call(tool="cat", stdin=text, max_chars=1 << 31)
    assert done.output == text


async def test_a_dry_run_returns_words_and_runs_nothing(agent: Agent, folder: Path) -> None:
    done = await agent.call(tool="touch", args={"path": "new"}, dry_run=True)
    [argv] = done.argv
    assert argv[1:] == ["--", "new"]
    assert done.status == "checked"
    assert not (folder / "new").exists()
    with pytest.raises(Forbidden):
        await agent.call(tool="cat", args={"path": "/etc/x"}, dry_run=True)


async def test_output_is_bounded_and_read_in_pages(folder: Path) -> None:
    async with catalog(folder, command_output_chars=2000) as found:
        agent = found.agent()
        done = await agent("seq", last=5000)
        assert done.output.startswith("1\n2\n")
        assert done.output.endswith("4999\n5000\n")
        assert done.left_out > 10_000
        first = await agent.status(done.execution_id, max_chars=1000)
        assert first.next_offset == len(first.output) > 400
        rest = await agent.status(done.execution_id, offset=first.next_offset)
        assert first.output + rest.output == done.output
        # The other fields take more than that; a line feed is two characters.
        for most, output in ((1, "1"), (10, "1\n2\n3\n")):
            least = await agent.status(done.execution_id, max_chars=most)
            assert (least.output, least.next_offset) == (output, len(output))


async def test_a_budget_counts_the_json_of_all_that_is_sent(agent: Agent) -> None:
    """Line feeds are two characters there, and what stands apart is sent twice."""
    numbers = await agent("seq", last=100_000)
    assert numbers.next_offset == len(numbers.output)
    assert 20_000 < json_size(numbers) <= 30_000
    missing = [f"{number:0>50}" for number in range(100)]
    apart = await agent("ls", path=missing)
    assert apart.stderr == apart.output
    once = await agent("ls", path=missing[:80] * 2)
    assert 10_000 < len(once.output) < 28_000
    assert (once.next_offset, once.stdout, once.stderr) == (None, None, None)


async def test_cancel_ends_the_whole_tree_and_the_call_says_so(agent: Agent) -> None:
    execution = await agent.begun("sleep", seconds=600)
    assert (await agent.status(execution)).status == "running"
    assert await agent.cancel(execution)
    ended = await agent.status(execution, wait_ms=60_000)
    assert (ended.status, ended.exit_code) == ("cancelled", 128 + 15)
    assert not await agent.cancel(execution)


async def test_executions_are_their_owners(folder: Path) -> None:
    async with catalog(folder) as found:
        execution = await found.agent("one").begun("sleep", seconds=600)
        with pytest.raises(InvalidInput, match="no execution"):
            await found.agent("x", owner="another").cancel(execution)
        assert await found.agent("another connection").cancel(execution)


async def test_jobs_are_those_of_the_own_context(folder: Path) -> None:
    async with catalog(folder) as found:
        one, other = found.agent("one"), found.agent("other")
        execution = await one.begun("sleep", seconds=600)
        assert "[1]  running    sleep -- 600" in (await one("jobs")).output
        assert (await other("jobs")).output == ""
        assert (await other("kill", job="%1")).exit_code == 1
        assert (await one("kill", job="%1")).exit_code == 0
        ended = await one.status(execution, wait_ms=60_000)
        assert (ended.status, ended.exit_code) == ("failed", 143)


async def test_fg_waits_for_a_job_and_returns_its_output(agent: Agent) -> None:
    await agent.begun("seq", last=3)
    assert (await agent("fg", job="%1")).output == "1\n2\n3\n"


async def test_bg_says_of_a_job_that_it_has_ended(agent: Agent) -> None:
    execution = await agent.begun("seq", last=3)
    await agent.status(execution, wait_ms=60_000)
    told = await agent("bg", job="%1")
    assert (told.exit_code, told.output) == (1, "bg: job has ended: seq 3\n")
    assert "no such job" in (await agent("bg", job="%1")).output


async def test_the_wall_clock_ends_what_only_sleeps(folder: Path) -> None:
    async with catalog(folder, command_wall_seconds=0.05) as found:
        done = await found.agent()("sleep", seconds=600)
        assert (done.status, done.exit_code) == ("failed", 143)
        assert "command_wall_seconds" in (done.error or "")


async def test_programs_have_the_documents_limits(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    shown = {"name": "limits", "program": "cat", "fixed": ["/proc/self/limits"]}
    (config / "commands.json").write_text(json.dumps([{**shown, "description": "Show limits"}]))
    async with catalog(folder, config) as found:
        lines = (await found.agent()("limits")).output.splitlines()
    limits = {line[:26].strip(): line[26:].split()[1] for line in lines}
    assert limits["Max cpu time"] == "30"
    assert limits["Max address space"] == str(256 * 1024 * 1024)
    assert limits["Max file size"] == str(10 * 1024 * 1024)
    assert limits["Max open files"] == "50"
    assert limits["Max processes"].isdigit()


async def test_a_file_over_the_limit_is_not_written(folder: Path) -> None:
    async with catalog(folder, command_file_bytes=4096) as found:
        agent = found.agent()
        done = await agent("truncate", size=100_000, path="big")
        assert done.exit_code != 0
        assert not (folder / "big").exists() or (folder / "big").stat().st_size <= 4096


async def test_places_are_shared_and_the_queue_is_bounded(folder: Path) -> None:
    async with catalog(folder, command_places=2, command_queue=1) as found:
        greedy, modest = found.agent("greedy"), found.agent("modest")
        running = [await greedy.begun("sleep", seconds=600) for _ in range(2)]
        waiting = await greedy.begun("sleep", seconds=600)
        with pytest.raises(LimitReached, match="2 commands are running"):
            await greedy("true")
        turn = await modest.begun("uname")
        assert (await greedy.status(waiting)).status == "queued"
        assert (await modest.status(turn)).status == "queued"
        await greedy.cancel(running[0])
        # It has none that runs, so it comes before who waited longer.
        assert (await modest.status(turn, wait_ms=60_000)).status == "completed"
        assert await greedy.cancel(waiting)
        never = await greedy.status(waiting, wait_ms=60_000)
        assert (never.status, never.exit_code) == ("cancelled", None), "nothing of it has run"
        assert never.error == "it was cancelled before it ran"


async def test_thirty_two_run_at_once_and_none_is_lost(agent: Agent) -> None:
    begun = [await agent.begun("sleep", seconds=600) for _ in range(32)]
    states = [(await agent.status(one)).status for one in begun]
    assert states == ["running"] * 32
    extra = await agent.begun("uname")
    assert (await agent.status(extra)).status == "queued"
    for one in begun:
        assert await agent.cancel(one)
    ended = [await agent.status(one, wait_ms=60_000) for one in begun]
    assert {one.status for one in ended} == {"cancelled"}
    assert (await agent.status(extra, wait_ms=60_000)).output == f"{os.uname().sysname}\n"


async def test_each_execution_and_refusal_is_audited_once(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    async with catalog(folder, audit_log=str(log)) as found:
        agent = found.agent()
        await agent("ls", long=True)
        await agent("false")
        with pytest.raises(Forbidden):
            await agent("rm", path="x")
        with pytest.raises(Forbidden):
            await agent("cd", path="/etc")
        with pytest.raises(Forbidden, match="'rm'"):
            await agent.call(pipeline=[["echo", "a"], ["rm", "x"]])
        await agent.call(tool="ls", dry_run=True)
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["command"], one["status"], one["exit_code"]) for one in entries] == [
        ("ls", "success", 0),
        ("false", "failed", 1),
        ("rm", "denied", None),
        ("cd", "denied", None),
        ("echo", "denied", None),
    ]
    assert entries[-1]["args"] == ["a", "|", "rm", "x"], "what was refused stands there too"
    keys = ["timestamp", "user", "command", "args", "status", "exit_code", "execution_time_ms"]
    assert all(list(one) == keys for one in entries)
    assert entries[0]["args"] == ["-l", "--", "."]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_what_finds_no_place_is_audited_as_denied(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    settings: dict[str, Any] = {
        "command_places": 1,
        "command_queue": 0,
        "audit_log": str(log),
    }
    async with catalog(folder, **settings) as found:
        agent = found.agent()
        execution = await agent.begun("sleep", seconds=600)
        with pytest.raises(LimitReached):
            await agent("uname")
        with pytest.raises(LimitReached):
            await agent.call(pipeline=[["echo", "a"], ["cat"]])
        await agent.cancel(execution)
        await agent.status(execution, wait_ms=60_000)
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(one["command"], one["status"], one["exit_code"]) for one in entries]
    assert told == [("uname", "denied", None), ("echo", "denied", 1), ("sleep", "failed", 143)]


async def test_a_users_file_adds_commands_and_is_read_again(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    file = config / "commands.toml"
    file.write_text('[[command]]\nname = "hello"\nprogram = "echo"\ndescription = "Say hello"\n')
    async with catalog(folder, config) as found:
        agent = found.agent()
        assert (await agent("hello")).output == "\n"
        file.write_text(
            '[[command]]\nname = "bye"\nprogram = "echo"\ndescription = "Say goodbye"\n'
        )
        assert (await agent("bye")).output == "\n"
        with pytest.raises(CommandNotFound):
            await agent("hello")
        file.write_text("nonsense")
        listed = await found.dispatch(agent.caller, ListCommands())
        assert isinstance(listed, CommandList)
        assert "cannot read" in listed.warnings[0]
        assert any(one["name"] == "ls" for one in listed.commands)


async def test_a_users_command_cannot_run_what_is_blacklisted(folder: Path, tmp_path: Path) -> None:
    (folder / "keep").touch()
    config = tmp_path / "config"
    config.mkdir()
    (config / "eraser").symlink_to("/bin/rm")
    entries = [
        {"name": "a", "program": "env", "fixed": ["rm"], "args": ["file"]},
        {"name": "b", "program": str(config / "eraser"), "args": ["file"]},
        {"name": "c", "program": "sh", "fixed": ["-c", "rm keep"]},
    ]
    described = [{"description": "Erase", **one} for one in entries]
    (config / "commands.json").write_text(json.dumps({"commands": described}))
    async with catalog(folder, config) as found:
        agent = found.agent()
        for name, args in (("a", {"file": "keep"}), ("b", {"file": "keep"}), ("c", {})):
            with pytest.raises(Forbidden, match="blacklisted"):
                await agent(name, **args)
    assert (folder / "keep").exists()


async def test_suggest_and_search_answer_as_json_and_run_nothing(agent: Agent) -> None:
    suggested = json.loads((await agent("suggest_command", query="find all Python files")).output)
    assert suggested["command"] == "find . -name '*.py'"
    assert suggested["source"] == "recipes"
    assert suggested["tool"] is None, "its pattern is refused unless commands_allow_patterns"
    assert suggested["run_with"].startswith("a session")
    uptime = json.loads((await agent("suggest_command", query="how many lines in a.txt")).output)
    assert (uptime["tool"], uptime["command"]) == ("wc", "wc -l a.txt")
    unknown = json.loads((await agent("suggest_command", query="paint me a horse")).output)
    assert unknown["command"] is None
    found = json.loads((await agent("search_commands", query="list files")).output)
    assert found["results"][0]["name"] == "ls"
    typo = json.loads((await agent("search_commands", query="direcotry")).output)
    assert {one["name"] for one in typo["results"]} & {"ls", "mkdir", "cd", "rmdir"}


async def test_exit_ends_the_context(agent: Agent, folder: Path) -> None:
    (folder / "sub").mkdir()
    await agent("cd", path="sub")
    assert (await agent("exit", code=3)).exit_code == 3
    assert (await agent("pwd")).output == f"{folder}\n"


async def test_a_folder_that_is_gone_is_told(agent: Agent, folder: Path) -> None:
    (folder / "sub").mkdir()
    await agent("cd", path="sub")
    (folder / "sub").rmdir()
    with pytest.raises(InvalidInput, match=r"the folder .*/sub is gone; change to another one"):
        await agent("ls")
    await agent("cd", path=str(folder))
    assert (await agent("ls")).exit_code == 0


async def test_arguments_that_are_too_long_are_told(agent: Agent) -> None:
    with pytest.raises(InvalidInput, match="longer than the system allows"):
        await agent("basename", path="x" * 3_000_000)
    assert (await agent("true")).exit_code == 0


async def test_a_secret_that_was_exported_is_shown_and_logged_nowhere(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "audit.log"
    async with catalog(folder, audit_log=str(log)) as found:
        agent = found.agent()
        await agent("export", name="MY_TOKEN", value="hunter2")
        await agent("export", name="MY_PASSWORD=correct-horse")
        await agent("export", name="PLAIN", value="ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        await agent("echo", text="ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        with pytest.raises(Forbidden):
            await agent("export", name="MY_TOKEN", value="hunter2;")
        await agent("export", name="GREETING", value="hello")
        told = (await agent("get_shell_context")).output + (await agent("history")).output
        told += (await agent("env")).output + log.read_text()
    for secret in ("hunter2", "correct-horse", "ghp_abc"):
        assert secret not in told
    assert "export MY_TOKEN '[redacted]'" in told
    assert "export GREETING hello" in told


async def test_no_part_of_an_output_shows_a_part_of_a_secret(folder: Path) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    (folder / "long").write_text("x" * 30 + f" {secret} " + "y" * 40 + "\n")
    async with catalog(folder) as found:
        agent = found.agent()
        begun = await agent.call(tool="cat", args={"path": "long"}, max_chars=40)
        shown = begun.output
        for offset in range(112):
            part = await agent.status(begun.execution_id, offset=offset, max_chars=12)
            assert len(part.output) <= 12
            shown += f"|{part.output}"
        whole = (await agent.status(begun.execution_id)).output
    assert not any(secret[at : at + 5] in shown for at in range(4, len(secret) - 5))
    assert "|xxxx [redac" in shown
    assert whole == "x" * 30 + " [redacted: GitHub token] " + "y" * 40 + "\n"


async def test_a_command_that_is_called_like_a_secret_is_logged_nowhere(
    folder: Path, tmp_path: Path
) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    log = tmp_path / "audit.log"
    async with catalog(folder, audit_log=str(log)) as found:
        with pytest.raises(CommandNotFound):
            await found.agent()(secret)
    assert secret not in log.read_text()
    assert json.loads(log.read_text())["status"] == "denied"


@pytest.mark.parametrize("args", [{}, {"pid": 1234}, {"signal": "9", "pid": "1"}, {"target": "x"}])
async def test_kill_of_anything_but_a_job_is_blacklisted(
    agent: Agent, args: dict[str, Any]
) -> None:
    with pytest.raises(Forbidden, match="Command 'kill' is blacklisted for security reasons"):
        await agent("kill", **args)
    assert "kill" not in (await agent("history")).output


async def test_a_whitelist_says_what_is_listed_as_runnable(folder: Path) -> None:
    async with catalog(folder, commands_whitelist="ls, mycat, nonsense") as found:
        agent = found.agent()
        listed = await found.dispatch(agent.caller, ListCommands())
        assert isinstance(listed, CommandList)
        runnable = {one["name"] for one in listed.commands if not one.get("refused")}
        assert runnable == {"ls", "cat", "search_commands"}
        assert listed.warnings == ["commands_whitelist names 'nonsense', which is no command"]
        assert (await agent("search_commands", query="list files")).exit_code == 0
        with pytest.raises(Forbidden, match="not in the whitelist"):
            await agent("pwd")
