"""What a session runs, and what is refused before anything is spawned."""

import asyncio
import os
import pwd
import subprocess
import threading
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from nacre.core.catalog.caller import Caller
from nacre.core.operations.sessions import CreateSession
from nacre.errors import InvalidInput
from nacre.services.session import launch as planning
from nacre.services.session.launch import Launch, plan_launch
from nacre.system.processes.environment import inherited

PATIENCE = 10.0  # seconds; only bounds how long a test that fails takes


def plan(
    command: str | None = None,
    *,
    caller: Caller | None = None,
    default_shell: str | None = "/bin/bash",
    home: str = "/",
    **more: Any,
) -> Launch:
    request = CreateSession(command=command, **more)
    asked = plan_launch(
        request, caller or Caller(door="test"), default_shell=default_shell, home=home
    )
    return asyncio.run(asked)


# --- the command -------------------------------------------------------------------------------


def test_command_with_args_is_an_argument_vector() -> None:
    launch = plan("echo", args=["a b", "$HOME", ""])
    assert launch.argv == (_which("echo"), "a b", "$HOME", "")
    assert launch.command == "echo 'a b' '$HOME' ''"
    assert launch.program == "echo"
    assert not launch.is_shell


def _which(name: str) -> str:
    for folder in os.environ["PATH"].split(os.pathsep):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    raise AssertionError(name)


def test_command_with_no_args_in_its_list_is_run_without_a_shell() -> None:
    assert plan("cat", args=[]).argv == (_which("cat"),)


@pytest.mark.parametrize(
    "line",
    [
        "ls -l",
        "ls | nosuchprogram",
        "cd / && ls",
        "exec ls",
        "if true; then echo yes; fi",
        "for x in a b; do echo $x; done",
        "while false; do :; done",
        "case x in x) echo;; esac",
        "! true",
        "[ -d / ]",
        ": nothing",
        "export A=1",
        "A=1 B='x y' ls",
        "A=1",
        "PATH=/opt/tools:$PATH tool",
        "(ls)",
        "{ ls; }",
        "f() { echo hello; }; f",
        "2>/dev/null ls",
        "> file ls",
        "'ls' -l",
        '"ls" -l',
        "\\ls",
        "$SHELL -c ls",
        "`which ls`",
        "~/bin/tool",
        "ls 'an open quote",
        "# only a comment",
        "ls\nls",
    ],
)
def test_line_is_left_to_the_shell(line: str) -> None:
    launch = plan(line)
    assert launch.argv == ("/bin/sh", "-c", line)
    assert launch.command == line
    assert not launch.is_shell


def test_line_of_one_word_runs_the_program_itself(tmp_path: Path) -> None:
    launch = plan(" cat ")
    assert launch.argv == (_which("cat"),)
    assert (launch.command, launch.program, launch.is_shell) == ("cat", "cat", False)
    tool = tmp_path / "tool"
    tool.touch(mode=0o755)
    assert plan("./tool", cwd=str(tmp_path)).argv == (f"{tmp_path}/./tool",)


def test_loop_goes_on_while_a_shell_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = threading.Event()

    def ask(*_: object) -> bool:
        return turned.wait(PATIENCE)  # a loop that waits for this never comes to set it

    monkeypatch.setattr(planning, "_ask_shell", ask)

    async def both() -> Launch:
        asyncio.get_running_loop().call_soon(turned.set)
        request = CreateSession(command="nosuchprogram at all")
        return await plan_launch(request, Caller(door="test"), default_shell=None, home="/")

    assert asyncio.run(both()).program == "nosuchprogram"


def test_shell_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(argv: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(argv, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    assert plan("nosuchprogram at all").argv == ("/bin/sh", "-c", "nosuchprogram at all")


@pytest.mark.parametrize("shell", ["bash", "sh", "/bin/bash"])
def test_line_that_is_a_shell_is_known_as_one(shell: str) -> None:
    launch = plan(shell)
    assert launch.is_shell
    assert launch.program == os.path.basename(shell)


@pytest.mark.parametrize(
    "command",
    [
        "nosuchprogram",
        "nosuchprogram -x | ls",
        "./nosuch",
        "/no/such",
        "A=1 nosuchprogram",
    ],
)
def test_first_word_that_is_not_there_is_refused(command: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"not found: '.*'; give its full path, or set PATH with env$"
    ):
        plan(command)


@pytest.mark.parametrize("command", ["nosuchprogram", "cd", "if", "ls -l", "./nosuch"])
def test_program_with_args_that_is_not_there_is_refused(command: str) -> None:
    with pytest.raises(InvalidInput, match="command not found"):
        plan(command, args=[])


@pytest.mark.parametrize(
    ("command", "told"),
    [("/etc/passwd", "not executable"), ("/tmp", "a folder"), ("/", "a folder")],
)
@pytest.mark.parametrize("args", [None, []])
def test_what_is_there_but_no_program_is_told_so(
    command: str, told: str, args: list[str] | None
) -> None:
    with pytest.raises(InvalidInput, match=f"'{command}' is {told}; give a program"):
        plan(command, args=args)


def test_word_that_is_too_long_to_ask_for_is_left_to_the_start() -> None:
    assert plan("x" * 200_000).argv[:2] == ("/bin/sh", "-c")


def test_program_is_looked_for_in_the_path_of_the_session(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "nacre-tool"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    given = {"PATH": str(tool.parent)}
    assert plan("nacre-tool", env=given).argv == (str(tool),)
    assert plan("nacre-tool", caller=Caller(door="test", env=given)).argv == (str(tool),)
    relative = plan("nacre-tool", cwd=str(tmp_path), env={"PATH": "/usr/bin:bin"})
    assert relative.argv == (str(tool),)


@pytest.mark.parametrize("command", ["", "  ", "\n\t"])
def test_empty_command_is_refused(command: str) -> None:
    with pytest.raises(InvalidInput, match="command is empty"):
        plan(command)


def test_args_without_a_command_are_refused() -> None:
    with pytest.raises(InvalidInput, match="args need a command"):
        plan(None, args=["-l"])


# --- the shell ---------------------------------------------------------------------------------


def test_without_a_command_it_is_the_shell_of_the_setting() -> None:
    launch = plan()
    assert launch.argv == ("/bin/bash",)
    assert (launch.program, launch.is_shell) == ("bash", True)


def test_without_a_setting_it_is_the_shell_of_the_environment() -> None:
    assert plan(default_shell=None, env={"SHELL": "/bin/sh"}).argv == ("/bin/sh",)


def test_shell_that_is_not_there_gives_way_to_one_that_is() -> None:
    launch = plan(default_shell="/no/such/shell")
    assert os.access(launch.argv[0], os.X_OK)
    assert launch.is_shell


# --- folder and environment --------------------------------------------------------------------


def test_folder_is_the_asked_one_else_the_caller_s_else_home(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    caller = Caller(door="test", cwd=str(tmp_path))
    assert plan(cwd="/usr", caller=caller).cwd == "/usr"
    assert plan(cwd="sub", caller=caller).cwd == str(tmp_path / "sub")
    assert plan(cwd="sub/../sub/.", caller=caller).cwd == str(tmp_path / "sub")
    assert plan(cwd="~", caller=caller).cwd == os.path.expanduser("~")
    assert plan(caller=caller).cwd == str(tmp_path)
    assert plan(home="/usr").cwd == "/usr"


def test_caller_whose_folder_is_gone_starts_at_home(tmp_path: Path) -> None:
    caller = Caller(door="test", cwd=str(tmp_path / "gone"))
    assert plan(caller=caller, home="/usr").cwd == "/usr"


@pytest.mark.parametrize("cwd", ["/no/such", "/etc/passwd", "nosuch"])
def test_folder_that_is_none_is_refused(cwd: str) -> None:
    with pytest.raises(InvalidInput, match=f"cwd is not a folder: {cwd!r}"):
        plan(cwd=cwd)


def test_environment_is_the_daemon_s_then_the_caller_s_then_the_given_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("EDITOR", "PAGER", "VISUAL", "FOUR", "PWD")
    for name in names[:3]:
        monkeypatch.setenv(name, "daemon")
    caller = Caller(door="test", env=MappingProxyType({"PAGER": "caller", "VISUAL": "caller"}))
    env = plan(caller=caller, env={"VISUAL": "given", "FOUR": ""}, cwd="/usr").env
    found = [env.get(name) for name in names]
    assert found == ["daemon", "caller", "given", "", "/usr"]


def test_what_describes_the_daemon_s_own_terminal_is_not_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TMUX", "STY", "LINES", "COLUMNS", "NACRE_TOKEN", "NACRE_SESSION_COOKIE"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("TERM", "dumb")
    env = plan().env
    assert "secret" not in env.values()
    assert env["TERM"] == "xterm-256color"
    assert env["COLORTERM"] == "truecolor"
    assert env["TERM_PROGRAM"] == "nacre"


def test_only_what_is_listed_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "MAKEFLAGS", "MAKELEVEL", "LD_PRELOAD", "MYAPP_ONE"):
        monkeypatch.setenv(name, "not for sessions")
    for name in ("LC_TIME", "VIRTUAL_ENV", "XDG_DATA_HOME", "GOPATH"):
        monkeypatch.setenv(name, "handed on")
    env = plan().env
    assert "not for sessions" not in env.values()
    assert list(env.values()).count("handed on") == 4


def test_nothing_of_another_s_path_or_language_is_mixed_with_the_caller_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = {"PATH": "/theirs/bin:/usr/bin", "VIRTUAL_ENV": "/theirs", "CC": "clang"}
    for name, value in {**theirs, "LC_ALL": "C", "LANG": "C", "EDITOR": "nano"}.items():
        monkeypatch.setenv(name, value)
    for name in ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "NODE_PATH"):
        monkeypatch.setenv(name, "/theirs/lib")
    own = {"PATH": "/usr/bin:/bin", "LANG": "de_DE.UTF-8", "PYTHONPATH": "src"}
    env = plan(caller=Caller(door="test", env=MappingProxyType(own))).env
    assert {name: env.get(name) for name in (*own, "EDITOR")} == {**own, "EDITOR": "nano"}
    left = ("VIRTUAL_ENV", "CC", "LC_ALL", "PYTHONHOME", "LD_LIBRARY_PATH", "NODE_PATH")
    assert not [name for name in left if name in env]
    alone = plan().env  # a caller by HTTP has none of its own
    assert {name: alone[name] for name in theirs} == theirs
    assert "/theirs/lib" not in alone.values()


def test_a_daemon_without_an_environment_gives_what_a_login_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOME", "USER", "LOGNAME", "SHELL", "PATH"):
        monkeypatch.delenv(name, raising=False)
    account = pwd.getpwuid(os.getuid())
    env = plan(default_shell=None).env
    assert (env["HOME"], env["USER"], env["SHELL"]) == account[5:6] + account[:1] + account[6:7]
    assert "/usr/bin" in env["PATH"].split(":")


def test_a_user_id_without_a_name_gets_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 3_999_999_999)
    monkeypatch.delenv("SHELL", raising=False)
    assert plan(default_shell=None).argv == ("/bin/sh",)


def test_the_setting_names_further_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MYAPP_ONE", "MYAPP_TWO", "GOVCR", "NACRE_TOKEN"):
        monkeypatch.setenv(name, "x")
    env = inherited("MYAPP_*, GOVCR,NACRE_*")
    found = [name for name in ("MYAPP_ONE", "MYAPP_TWO", "GOVCR", "NACRE_TOKEN") if name in env]
    assert found == ["MYAPP_ONE", "MYAPP_TWO", "GOVCR"]


def test_terminal_type_can_be_given() -> None:
    assert plan(env={"TERM": "dumb"}).env["TERM"] == "dumb"


@pytest.mark.parametrize("name", ["", "A=B", "="])
def test_name_that_no_variable_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of an environment variable"):
        plan(env={name: "x"})


@pytest.mark.parametrize(
    "parameters",
    [
        {"command": "ls\0"},
        {"command": "ls", "args": ["a", "\0"]},
        {"cwd": "/\0"},
        {"env": {"A\0": "x"}},
        {"env": {"A": "x\0"}},
        {"command": "ls \ud800"},
        {"command": "ls", "args": ["\udfff"]},
    ],
)
def test_nul_and_lone_surrogates_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"NUL|surrogate"):
        plan(**parameters)


def test_shell_that_is_asked_loads_nothing_that_a_caller_names(tmp_path: Path) -> None:
    """It runs outside of the sandbox that the session may be meant for."""
    library = tmp_path / "library.so"
    library.write_bytes(b"not a library")
    with pytest.raises(InvalidInput, match="command not found"):
        plan("no-such-program x", env={"LD_PRELOAD": str(library)})
    traced = tmp_path / "traced"
    with pytest.raises(InvalidInput):
        plan("no-such-program x", env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(traced)})
    assert not list(tmp_path.glob("traced*")), "a variable of the caller's reached it"
