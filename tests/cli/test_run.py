"""`nacre run` and `nacre wait` with conditions: output, exit codes, what is said beside them."""

from collections.abc import Iterator

import pytest

from cli.conftest import Nacre


@pytest.fixture(scope="module")
def shell(running: Nacre) -> Iterator[str]:
    running.call("create_session", name="runs", command="bash", args=["--norc"])
    yield "runs"
    running.call("manage_session", session="runs", action="kill")


def test_run_prints_the_output_and_exits_with_the_commands_code(running: Nacre, shell: str) -> None:
    assert running.ok("run", shell, "--", "echo", "two  words", "$HOME") == "two  words $HOME\n"
    done = running("run", shell, "--", "echo before; sh -c 'exit 7'")
    assert (done.returncode, done.stdout) == (7, "before\n")


def test_run_with_json_is_the_operations_result(running: Nacre, shell: str) -> None:
    outcome = running.json("run", shell, "--", "printf hi")
    assert (outcome["output"], outcome["exit_code"], outcome["status"]) == ("hi", 0, "completed")


def test_run_that_takes_too_long_is_124_and_says_what_to_do(running: Nacre) -> None:
    running.call("create_session", name="slow", command="bash", args=["--norc"])
    running.ok("wait", "slow", "--state", "prompt")
    done = running("run", "slow", "--timeout-ms", "1000", "--", "echo begun; sleep 30")
    assert done.returncode == 124
    assert "begun" in done.stdout
    assert done.stderr.startswith("nacre: ")
    assert done.stderr.count("\n") == 1
    busy = running("run", "slow", "--timeout-ms", "300", "--", "echo")
    assert busy.returncode == 75
    running.call("manage_session", session="slow", action="kill")


def test_run_in_a_repl_has_no_exit_code_and_says_so(running: Nacre) -> None:
    running.call("create_session", name="repl", command="python3", args=["-q"])
    done = running("run", "repl", "--", "6*7")
    assert (done.returncode, done.stdout) == (0, "42\n")
    assert "no exit code" in done.stderr
    running.call("manage_session", session="repl", action="kill")


def test_run_without_a_command_or_a_session_is_refused(running: Nacre, shell: str) -> None:
    running.fails("INVALID_INPUT", 2, "run", shell)
    done = running("run", "nope", "--", "true")
    assert done.returncode == 3


def test_wait_for_text_state_exit_and_a_run(running: Nacre) -> None:
    running.call("create_session", name="waits", command="echo up; read x; echo got $x; exit 4")
    running.ok("wait", "waits", "--text", "up")
    outcome = running.json("wait", "waits", "--regex", "^u.$")
    assert outcome["matched"] is True
    running.call("send_input", session="waits", input="it\r")
    running.ok("wait", "waits", "--exit", "--timeout-ms", "20000")
    running.ok("wait", "waits", "--state", "exited", "--state", "prompt")
    running.call("dismiss_session", session="waits")


def test_wait_that_is_not_fulfilled_is_124(running: Nacre, echo: str) -> None:
    done = running("wait", echo, "--text", "never to be seen", "--timeout-ms", "50")
    assert done.returncode == 124
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "flags",
    [
        ["--after-generation", "3"],
        ["--text", "x", "--max-wait-ms", "5"],
        ["--exit", "--last-generation", "5"],
        ["--state", "asleep"],
    ],
)
def test_wait_refuses_flags_that_do_not_go_together(
    running: Nacre, echo: str, flags: list[str]
) -> None:
    running.fails("INVALID_INPUT", 2, "wait", echo, *flags)
