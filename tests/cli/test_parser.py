"""The command line as a whole: help, usage errors, pipes, interrupts, start-up."""

import os
import re
import signal
import subprocess
import sys

import pytest

from nacre import __version__
from nacre.cli.index import COMMANDS
from nacre.cli.parser import Parser, run
from nacre.core.operations.all import CATALOG
from nacre.errors import InvalidInput

from cli.conftest import Nacre


def test_without_arguments_the_short_help_is_printed(nacre: Nacre) -> None:
    told = nacre.ok()
    assert sum(line.startswith("  nacre ") for line in told.splitlines()) == 8
    assert '{"mcpServers": {"nacre": {"command": "nacre", "args": ["mcp"]}}}' in told


def test_help_lists_every_command(nacre: Nacre) -> None:
    told = nacre.ok("--help")
    for command in COMMANDS:
        assert f"  {command.name} " in told
    assert nacre.ok("help") == told


def test_help_of_a_command_is_that_of_the_command(nacre: Nacre) -> None:
    assert nacre.ok("help", "wait") == nacre.ok("wait", "--help")
    nacre.fails("INVALID_INPUT", 2, "help", "xyzzy")


def test_help_is_not_wider_than_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        run([command.name, "--help"])
        told = capsys.readouterr().out
        assert [line for line in told.splitlines() if len(line) > 80] == []


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert run([command.name, "--help"]) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"usage: nacre {command.name}")
        assert command.summary in told


def test_commands_name_operations_that_exist() -> None:
    named = [(one.operation, *one.implies.items()) for one in COMMANDS if one.operation]
    assert {name for name, *_ in named} <= set(CATALOG)
    assert {one.also for one in COMMANDS if one.also} <= set(CATALOG)
    assert len(named) == len(set(named)), "a next step would be two commands"


def test_help_takes_its_words_from_the_operations(nacre: Nacre) -> None:
    told = " ".join(nacre.ok("wait", "--help").split())
    assert "Time in ms without output that counts as quiet. [default: 2000]" in told


def test_mcp_help_documents_the_bridges_options(nacre: Nacre) -> None:
    told = nacre.ok("mcp", "--help")
    assert "--toolsets" in told
    assert "--prefix" in told


def test_version_is_printed(nacre: Nacre) -> None:
    assert nacre.ok("--version") == f"nacre {__version__}\n"


def test_an_unknown_command_gets_the_nearest_one(nacre: Nacre) -> None:
    assert "did you mean 'nacre screen'?" in nacre.fails("INVALID_INPUT", 2, "scren")
    assert "did you mean 'nacre attach'?" in nacre.fails("INVALID_INPUT", 2, "at")
    assert "'nacre --help'" in nacre.fails("INVALID_INPUT", 2, "xyzzy")


def test_options_before_the_command_are_refused(nacre: Nacre) -> None:
    assert "after the command" in nacre.fails("INVALID_INPUT", 2, "--quiet", "list")


def test_flags_are_not_abbreviated(nacre: Nacre) -> None:
    nacre.fails("INVALID_INPUT", 2, "wait", "dev", "--timeout", "5")


def test_a_missing_argument_says_where_to_look(nacre: Nacre) -> None:
    done = nacre("kill")
    assert done.returncode == 2
    assert done.stderr == "nacre: missing: SESSION; see 'nacre kill --help'\n"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("new", "--cols", "abc"), "--cols takes a whole number, not 'abc'"),
        (("audit", "tail", "-n", "x"), "--lines takes a whole number, not 'x'"),
        (("export", "dev", "--since", "x"), "--since takes a number, not 'x'"),
        (("policy", "check", "--preset", "x"), "--preset takes open, guarded or strict, not 'x'"),
        (("completion", "tcsh"), "SHELL takes bash, zsh or fish, not 'tcsh'"),
        (("web", "dev", "--nope"), "unknown option --nope"),
        (("screen", "dev", "two"), "too many words: two"),
    ],
)
def test_a_wrong_argument_is_told_in_words_for_people(
    given: tuple[str, ...], told: str, nacre: Nacre
) -> None:
    assert told in nacre.fails("INVALID_INPUT", 2, *given)


def test_a_word_that_is_no_utf8_is_refused(running: Nacre) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "screen", b"\xff"],
        env=running.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr


@pytest.mark.parametrize("command", [["--help"], ["nope", "--json"]], ids=["answer", "error"])
def test_a_closed_pipe_ends_it_quietly(nacre: Nacre, command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with nacre.start(*command, stdout=writing) as process:
        os.close(writing)
        _, told = process.communicate()
    assert "Broken" not in told
    assert process.returncode == 141


def test_ctrl_c_ends_it_with_130(nacre: Nacre) -> None:
    process = nacre.start("send", "dev", "--stdin", stdin=subprocess.PIPE)
    assert process.stdin is not None
    # More than a pipe holds: once this is written, the command is reading.
    process.stdin.write("x" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate()
    assert (process.returncode, complaint) == (130, "")


def test_a_locale_without_the_character_gets_a_question_mark(running: Nacre) -> None:
    running.call("create_session", name="pearl", command="echo grüße; exec cat")
    running.until("pearl", "grüße")
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "screen", "pearl"],
        env={**running.env, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"gr??e\n"


def test_an_error_of_the_system_is_one_line(own_nacre: Nacre) -> None:
    (own_nacre.home / "nacre").write_text("a file where the folder should be")
    done = own_nacre("new")
    assert done.returncode == 7
    assert done.stderr.startswith("nacre: the daemon cannot be started: ")
    assert "NACRE_HOME" in done.stderr
    assert done.stderr.count("\n") == 1
    os.unlink(own_nacre.home / "nacre")


HEAVY = {"asyncio", "mcp", "starlette", "argcomplete", "subprocess", "msgspec", "inspect"}


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--json"],
        ["status"],
        ["run", "SESSION", "--timeout-ms", "9999", "--", ":"],
        ["send", "SESSION", ":"],
        ["screen", "SESSION"],
        ["read", "SESSION"],
    ],
)
def test_what_is_called_all_the_time_loads_nothing_heavy(running: Nacre, words: list[str]) -> None:
    if "SESSION" in words:
        session = running.call("create_session", command="sh")["session_id"]
        words = [session if word == "SESSION" else word for word in words]
    code = (
        f"import sys; from nacre.cli.parser import run; code = run({words}); "
        "print(*sys.modules, sep='\\n', file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=running.env, capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stderr.split())


def test_the_hint_about_dashes_is_for_words_that_nobody_takes(nacre: Nacre) -> None:
    hint = "put words that begin with - after --"
    assert hint in nacre.fails("INVALID_INPUT", 2, "new", "--bogus")
    told = nacre.fails("INVALID_INPUT", 2, "new", "--rows", "unrecognized")
    assert "'unrecognized'" in told
    assert hint not in told


@pytest.mark.parametrize("closed", [">&-", "> /dev/full", "--json > /dev/full", ">&- <&-"])
@pytest.mark.parametrize("command", ["list", "status", "help", "run --help"])
def test_output_that_nobody_takes_is_one_line(running: Nacre, command: str, closed: str) -> None:
    line = f"{sys.executable} -m nacre {command} {closed}"
    env = running.env
    done = subprocess.run(line, shell=True, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(r"nacre: (standard output is closed|cannot write: .*); .*\n", done.stderr)


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "2>/dev/full >&-", ">&- 2>&- <&-"])
def test_the_exit_code_is_right_also_if_nobody_can_be_told(nacre: Nacre, closed: str) -> None:
    line = f"{sys.executable} -m nacre list --bogus {closed}"
    assert subprocess.run(line, shell=True, env=nacre.env, check=False).returncode == 2


def test_who_prints_nothing_needs_no_output(running: Nacre) -> None:
    running.call("create_session", name="mute", command="cat")
    line = f"{sys.executable} -m nacre send mute hello >&- 2>&- <&-"
    assert subprocess.run(line, shell=True, env=running.env, check=False).returncode == 0
    running.until("mute", "hello")
    running.call("manage_session", session="mute", action="kill")


def test_a_value_that_begins_with_a_hyphen_is_said_how_to_give() -> None:
    parser = Parser(prog="nacre share")
    parser.add_argument("--ttl")
    with pytest.raises(InvalidInput, match=r"--ttl needs a value; .* given as --ttl=VALUE"):
        parser.parse_args(["--ttl", "-1h"])
