"""Sessions in sandboxes: they behave like others, and nothing starts without the one asked for."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from confining import needs_bubblewrap, needs_landlock
from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import RunOutcome
from nacre.core.operations.runs import Run
from nacre.core.operations.sessions import (
    CreateSession,
    ListSessions,
    RestartSession,
    StartSession,
)
from nacre.errors import BadParameter, CommandNotFound, Forbidden, InvalidInput, SandboxUnavailable
from nacre.services.observe.state import look
from nacre.services.session.session import Session
from nacre.services.wiring import Services
from nacre.settings.table import Settings
from nacre.system.processes.exits import wait_gone
from nacre.system.processes.pty import size_of
from nacre.system.sandbox.profiles import Profile
from nacre.system.sandbox.sandboxes import Sandboxes
from nacre.system.sandbox.view import SandboxView, view_of

from services.living import (
    CALLER,
    PATIENCE,
    PROMPT,
    SHELL,
    ended,
    living,
    processes_of,
    reads,
    shows,
    start,
    start_marked,
    text_of,
    until,
)

pytestmark = [pytest.mark.anyio, needs_bubblewrap]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


async def run(services: Services, session: Session, command: str) -> RunOutcome:
    return await services.runs.run(CALLER, Run(session=session.identity.id, command=command))


async def at_own_prompt(session: Session) -> None:
    await until(session, lambda: session.stream.prompting.phase == "prompt")


async def foreground_changes(session: Session, before: int | None) -> None:
    while session.foreground == before:  # the kernel has no event for that
        await session.next_change(session.now + 0.01, output=True)


@pytest.mark.parametrize("profile", ["readonly", "workspace", "strict"])
async def test_there_is_a_home_wherever_it_and_the_workspace_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    """This home is below /tmp, which is empty inside, and nothing is shown below it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").touch()
    monkeypatch.setenv("HOME", str(home))
    async with living() as services:
        line = "cd; pwd; ls -A; touch x && stat -c %a ."
        given = {"sandbox": profile, "cwd": "/usr/share", "env": {"HOME": str(home)}}
        session = await ended(await start(services, line, **given))
        assert text_of(session).split() == [str(home), "700"]


# --- a session like others -----------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_runs_have_their_exit_codes_in_every_shell(
    workspace: Path, tmp_path: Path, shell: str
) -> None:
    if shutil.which(shell) is None:
        pytest.fail(f"{shell} is not installed; 'make test' installs it", pytrace=False)
    async with living(tmp_path) as services:
        session = await start(services, shell, cwd=str(workspace), sandbox="workspace")
        await at_own_prompt(session)
        for command, code in (("true", 0), ("sh -c 'exit 9'", 9)):
            done = await run(services, session, command)
            assert (done.exit_code, done.ended_by, done.context) == (code, "mark", "native")


async def test_ctrl_z_and_fg_work_and_ctrl_c_ends_only_the_program(
    workspace: Path, tmp_path: Path
) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services, cwd=str(workspace), sandbox="workspace")
        assert session.in_foreground
        own = session.foreground
        session.write(b"sleep 1000\r")
        while look(session).program != "sleep":  # noqa: ASYNC110  # no event
            await asyncio.sleep(0)
        session.write(b"\x1a")
        await until(session, lambda: "Stopped" in text_of(session))
        await at_own_prompt(session)
        assert session.foreground == own
        session.write(b"fg\r")
        await foreground_changes(session, own)
        session.write(b"\x03")
        await at_own_prompt(session)
        assert session.alive
        assert (await run(services, session, "jobs; true")).output == ""


async def test_program_without_a_shell_gets_ctrl_c_and_its_sandbox_does_not(
    workspace: Path,
) -> None:
    line = "trap 'echo caught' INT; echo ready; while :; do read x; echo got $x; done"
    async with living() as services:
        session = await start(services, line, cwd=str(workspace), sandbox="readonly")
        await shows(session, "ready")
        await reads(session)
        session.write(b"\x03")
        await until(session, lambda: "caught" in text_of(session))
        session.write(b"on\r")
        await shows(session, "got on")
        assert session.alive


async def test_resize_reaches_the_program(workspace: Path) -> None:
    line = "trap 'stty size' WINCH; echo ready; while :; do read x; done"
    async with living() as services:
        session = await start(services, line, cwd=str(workspace), sandbox="workspace")
        await shows(session, "ready")
        await reads(session)
        session.display.resize(33, 101)
        await shows(session, "33 101")
        assert session.supervisor.last is not None
        assert size_of(session.supervisor.last.master) == (33, 101)


async def test_state_is_known_across_the_namespace(workspace: Path, tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services, cwd=str(workspace), sandbox="workspace")
        assert (look(session).state, look(session).sure) == ("prompt", True)
        session.write(b"read -p 'your name: ' x\r")
        await until(session, lambda: text_of(session).endswith("your name:"))
        await reads(session)
        state = look(session)
        assert (state.state, state.asks) == ("needs_input", "line")
        session.write(b"\r")
        await at_own_prompt(session)
        # A program that opens the terminal by the name it has inside.
        session.write(b"sh -c 'read x <$(tty)'\r")
        await foreground_changes(session, session.leader)
        await reads(session)
        assert look(session).state == "needs_input"


async def test_end_of_the_program_is_the_session_s_with_its_code(workspace: Path) -> None:
    async with living() as services:
        session = await start(services, "exit 7", cwd=str(workspace), sandbox="strict")
        assert str((await ended(session)).ending) == "exit code 7"


async def test_program_that_cleans_up_at_a_hangup_has_time_to(workspace: Path) -> None:
    line = "trap 'echo bye >left; exit' HUP; echo ready; while :; do read x; done"
    async with living(kill_grace=30.0) as services:
        session = await start(services, line, cwd=str(workspace), sandbox="workspace")
        await shows(session, "ready")
        await reads(session)
        await session.end()
        assert (workspace / "left").read_text() == "bye\n"


async def test_kill_of_the_outer_process_leaves_nothing_behind(workspace: Path) -> None:
    async with living() as services:
        line = "trap '' HUP TERM INT; (setsid sleep 1000 &); echo ready; sleep 1000"
        session = await start(services, line, cwd=str(workspace), sandbox="workspace")
        await shows(session, "ready")
        inside = processes_of(session)
        assert len(inside) >= 5
        os.kill(session.pid, 9)
        await ended(session)
        await wait_gone(inside, PATIENCE)
        assert not processes_of(session)


# --- what it is about ----------------------------------------------------------------------------


async def test_restart_keeps_the_sandbox_and_lists_show_it(workspace: Path, tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start_marked(services, cwd=str(workspace), sandbox="readonly")
        await session.restart()
        await at_own_prompt(session)
        assert (await run(services, session, "touch x")).exit_code == 1
        listed: Any = await services.sessions.list(CALLER, ListSessions())
        assert [one.sandbox for one in listed.sessions] == ["readonly"]


async def test_restart_without_a_workspace_is_refused_before_anything_is_killed(
    workspace: Path,
) -> None:
    async with living() as services:
        session = await start(services, "cat", name="dev", cwd=str(workspace), sandbox="strict")
        os.rename(workspace, f"{workspace}-elsewhere")
        with pytest.raises(InvalidInput, match="gone"):
            await services.sessions.restart(CALLER, RestartSession(session="dev"))
        assert session.alive


@pytest.mark.parametrize("profile", ["workspace", "strict"])
async def test_workspace_may_lie_beside_temporary_files(profile: str) -> None:
    """In strict, /var/tmp is else a link to /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        async with living() as services:
            session = await start(services, "pwd; touch x", cwd=folder, sandbox=profile)
            await ended(session)
            assert text_of(session) == folder
        assert os.listdir(folder) == ["x"]


async def test_default_of_the_daemon_is_used_and_only_a_person_can_lift_it(workspace: Path) -> None:
    async with living(sandbox="readonly") as services:
        confined = await start(services, "cat", cwd=str(workspace))
        assert confined.launch.sandbox == "readonly"
        request = StartSession(cwd=str(workspace), sandbox="off")
        with pytest.raises(Forbidden, match="only a person"):
            await services.sessions.start(CALLER, request)
        person = Caller(door="cli", person=True, cwd="/")
        plain = await services.sessions.start(person, request)
        assert services.registry.find(plain.session_id).launch.sandbox == "off"


async def test_environment_is_an_allow_list_and_what_the_caller_gave(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    async with living() as services:
        line = "env | sort; echo end"
        session = await start(
            services, line, cwd=str(workspace), sandbox="workspace", env={"GIVEN": "yes"}
        )
        await ended(session)
        assert "GIVEN=yes" in text_of(session)
        assert "SECRET" not in text_of(session)
        assert "SSH_AUTH_SOCK" not in text_of(session)


async def test_folders_of_the_search_path_that_are_hidden_are_left_out(
    workspace: Path, tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "my-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho mine\n")
    tool.chmod(0o755)
    env = {"PATH": f"{tool.parent}:/usr/bin:/bin"}
    async with living() as services:
        with pytest.raises(CommandNotFound):
            await start(services, "my-tool", cwd=str(workspace), sandbox="workspace")
        with pytest.raises(BadParameter, match="sandbox_read"):
            await start(services, str(tool), args=[], cwd=str(workspace), sandbox="workspace")
    async with living(sandbox_read=str(tool.parent)) as services:
        session = await start(services, "my-tool", cwd=str(workspace), sandbox="workspace", env=env)
        await shows(session, "mine")


@pytest.mark.parametrize("folder", ["/", "/tmp", "~", "/proc", "/dev"])
async def test_folder_that_would_show_what_is_hidden_is_refused(folder: str) -> None:
    async with living() as services:
        with pytest.raises(BadParameter, match="cwd"):
            await start(services, "cat", cwd=folder, sandbox="workspace")
        assert not services.registry.all()


# --- nothing starts without it -------------------------------------------------------------------


async def test_without_bubblewrap_nothing_is_started_and_the_fix_is_told(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with living(sandbox_backend="bubblewrap") as services:
        with pytest.raises(SandboxUnavailable, match="apt install bubblewrap"):
            await services.sessions.create(
                CALLER, CreateSession(command="/bin/cat", cwd=str(workspace), sandbox="strict")
            )
        assert not services.registry.all()


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "Permission denied"),
        # Something that runs the program as it is.
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "does not hold"),
    ],
)
async def test_sandbox_that_does_not_hold_is_not_used(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    version = '[ "$1" = --version ] && echo bubblewrap 0.8.0 && exit'
    fake.write_text(f"#!/bin/sh\n{version}\n{does}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    async with living(sandbox_backend="bubblewrap") as services:
        before = os.listdir("/etc")
        with pytest.raises(SandboxUnavailable, match=told):
            await start(services, "cat", cwd=str(workspace), sandbox="workspace")
        assert not services.registry.all()
        assert os.listdir("/etc") == before, "the trial ran outside"


@needs_landlock
async def test_where_bubblewrap_is_missing_landlock_confines_and_says_so(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with living() as services:
        request = CreateSession(command="/bin/cat", cwd=str(workspace), sandbox="workspace")
        created = await services.sessions.create(CALLER, request)
        assert "made by Landlock" in (created.notice or "")
        review = CreateSession(command="/bin/cat", cwd=str(workspace), sandbox="review")
        with pytest.raises(SandboxUnavailable, match="no layers"):
            await services.sessions.create(CALLER, review)


@needs_landlock
async def test_landlock_refuses_a_workspace_that_holds_what_it_has_to_hide(
    workspace: Path, tmp_path: Path
) -> None:
    own = workspace / ".nacre"
    own.mkdir()
    sandboxes = Sandboxes(Settings(sandbox_backend="landlock"), (str(own),), None)
    await sandboxes.require("workspace")
    with pytest.raises(BadParameter, match="cannot hide"):
        sandboxes.enclose(
            "workspace",
            ("/bin/cat",),
            workspace=str(workspace),
            layer="",
            cwd=str(workspace),
            env={},
        )


async def test_profile_is_tried_once(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nacre.system.sandbox import probe

    tried: list[object] = []
    judge = probe.judge

    def counting(trial: probe.Trial) -> probe.Trouble | None:
        tried.append(trial)
        return judge(trial)

    monkeypatch.setattr(probe, "judge", counting)
    async with living() as services:
        for _ in range(3):
            await start(services, "cat", cwd=str(workspace), sandbox="workspace")
    assert len(tried) == 1


async def test_what_a_start_was_planned_with_is_used_once(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def counting(profile: Profile, *rest: Any) -> SandboxView:
        looked.append(profile.name)
        return view_of(profile, *rest)

    async with living() as services:
        session = await start(services, "cat", cwd=str(workspace), sandbox="workspace")
        monkeypatch.setattr("nacre.system.sandbox.sandboxes.view_of", counting)
        await start(services, "cat", cwd=str(workspace), sandbox="workspace")
        assert looked == ["workspace"]
        await session.restart()
        assert looked == ["workspace"] * 2, "nobody has planned it"


async def test_first_prompt_is_a_plain_one(workspace: Path, tmp_path: Path) -> None:
    async with living(tmp_path) as services:
        session = await start(services, env=SHELL, cwd=str(workspace), sandbox="strict")
        await at_own_prompt(session)
        assert session.terminal.plain_lines()[0] == PROMPT
