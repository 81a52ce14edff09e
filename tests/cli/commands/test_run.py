"""`nacre run` and `nacre wait` with conditions: output, exit codes, what is said beside them."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PATIENCE
from nacre.cli.commands.run import _comment
from nacre.cli.commands.wait import _STATES
from nacre.cli.output.words import CommandWords
from nacre.core.catalog.schema import input_schema
from nacre.core.operations.runs import WaitFor

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


def test_output_is_printed_as_it_comes(running: Nacre, shell: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = running.start("run", shell, "--", f"echo begun; read x < {fifo}; echo got $x")
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    fifo.write_text("it\n")
    assert process.communicate(timeout=PATIENCE) == ("got it\n", "")
    assert process.returncode == 0


def test_lines_that_are_drawn_over_are_printed_as_they_came_to_be(
    running: Nacre, shell: str
) -> None:
    drawn = r"seq 3; printf 'one\ntwo\n\033[2A'; echo ONE; echo TWO; echo end"
    assert running.ok("run", shell, "--", drawn).split() == [*"123", "ONE", "TWO", "end"]
    assert (
        running.ok("run", shell, "--", r"seq 3; printf '\033[H\033[2J'; echo x").split()[-1] == "x"
    )


def test_a_long_output_is_whole(running: Nacre, shell: str) -> None:
    printed = running.ok("run", shell, "--", "seq 200000")
    assert printed.split() == [str(number) for number in range(1, 200_001)]


def test_raw_is_what_the_program_printed(running: Nacre, shell: str) -> None:
    assert running.ok("run", shell, "--raw", "--", r"printf 'a\tb  \n\033[1mc'") == (
        "a\tb  \n\033[1mc"
    )


def test_events_tell_what_happens(running: Nacre, shell: str) -> None:
    done = running("run", shell, "--events", "--", "echo x; (exit 4)")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events] == ["started", "output", "ended"]
    assert (events[1]["data"], events[2]["exit_code"], done.returncode) == ("x\r\n", 4, 4)
    assert "output" not in events[2], "it was told already"
    failed = running("run", "nobody", "--events", "--", "true")
    error = json.loads(failed.stdout)
    assert (error["event"], error["error"]["code"]) == ("error", "SESSION_NOT_FOUND")


@pytest.mark.parametrize(
    "flags",
    [
        ["--events", "--json"],
        ["--events", "--max-chars", "99"],
        ["--raw", "--json"],
        ["--raw", "--max-chars", "99"],
        ["--timeout-ms", "-1"],
    ],
)
def test_run_refuses_flags_that_do_not_go_together(
    running: Nacre, shell: str, flags: list[str]
) -> None:
    done = running("run", shell, *flags, "--", "echo ran")
    assert (done.returncode, "ran" in done.stdout) == (2, False)
    assert all(flag in done.stderr for flag in flags if flag.startswith("--"))


def test_ctrl_c_interrupts_the_command(running: Nacre, shell: str) -> None:
    # What prints is in the foreground by then: else Ctrl+C may reach the shell alone.
    line = "sh -c 'echo begun; exec sleep 60'; echo not reached"
    process = running.start("run", shell, "--", line)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, told = process.communicate(timeout=PATIENCE)
    assert (output, process.returncode) == ("^C\n", 130)
    assert told == "nacre: interrupted; Ctrl+C again leaves the command running\n"


def test_ctrl_c_interrupts_a_command_whose_output_is_shown_at_the_end(
    running: Nacre, shell: str
) -> None:
    line = "sh -c 'echo begun at last; exec sleep 60'"
    process = running.start("run", shell, "--json", "--", line)
    running.until(shell, "\nbegun at last")
    process.send_signal(signal.SIGINT)
    output, told = process.communicate(timeout=PATIENCE)
    outcome = json.loads(output)
    assert (outcome["exit_code"], process.returncode) == (130, 130)
    assert outcome["output"] == "begun at last\n^C"
    assert told == "nacre: interrupted; Ctrl+C again leaves the command running\n"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_command_that_ends_its_session_is_no_success(running: Nacre, flags: list[str]) -> None:
    running.call("create_session", name="doomed", command="bash", args=["--norc"])
    done = running("run", "doomed", *flags, "--", "kill -9 $$")
    assert done.returncode == 6
    assert done.stderr == "nacre: the session's process has ended (killed by SIGKILL)\n"
    if flags:
        run_id = json.loads(done.stdout)["run_id"]
        waited = running("wait", "--run", run_id)
        assert waited.returncode == 6
        assert "there is no exit code" in waited.stderr
    running.call("dismiss_session", session="doomed")


def test_ctrl_c_twice_leaves_the_command_running(running: Nacre, shell: str) -> None:
    process = running.start("run", shell, "--", "trap '' INT; echo begun; sleep 60")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    way = re.fullmatch(
        r"nacre: the command goes on; wait for it: nacre (wait runs --run \w+); "
        r"look at it: nacre attach runs\n",
        told,
    )
    assert way
    running.call("signal_session", session=shell, signal="KILL")
    waited = running(*way[1].split())
    assert waited.returncode == 137, "a run's exit code is that of the wait for it"
    running.ok("run", shell, "--", "trap - INT")


def test_standard_input_is_passed_on(running: Nacre, shell: str) -> None:
    given = "line\n" * 3000 + "\ttabs and no end"
    assert running.ok("run", shell, "--", "wc", "-c", stdin=given) == f"{len(given)}\n"
    assert running.ok("run", shell, "--no-stdin", "--", "echo x", stdin=given) == "x\n"
    assert running("run", shell, "--", "if true", stdin="x").stdout.count("}") == 0
    running.call("create_session", name="fishy", command="fish")
    assert running.ok("run", "fishy", "--", "cat", stdin="from a pipe\n") == "from a pipe\n"
    assert running.ok("run", "fishy", "--raw", "--", "echo typed") == "typed\n", "no title"
    running.call("manage_session", session="fishy", action="kill")


def test_standard_input_that_comes_late_is_passed_on_if_it_is_asked_for(
    running: Nacre, shell: str
) -> None:
    process = running.start("run", shell, "--stdin", "--", "cat", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for line in ("one\n", "two\n"):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == line
    assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0
    with open(os.devnull) as nothing:
        process = running.start("run", shell, "--stdin", "--", "cat", stdin=nothing)
        assert process.communicate(timeout=PATIENCE) == ("", "")
        assert process.returncode == 0


def test_standard_input_is_judged_by_the_same_words_each_time(running: Nacre) -> None:
    running.call("create_session", name="watched", policy="guarded")
    assert running.ok("run", "watched", "--", "cat", stdin="harmless\n") == "harmless\n"
    running.call("manage_session", session="watched", action="kill")


def test_standard_input_that_cannot_be_passed_on_is_refused(running: Nacre) -> None:
    running.call("create_session", name="snake", command="python3", args=["-q"])
    done = running("run", "snake", "--", "6*7", stdin="data\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "standard input can be passed only to a command of a shell on this machine" in done.stderr
    )
    assert "--no-stdin" in done.stderr
    assert running("run", "snake", "--no-stdin", "--", "6*7", stdin="data\n").stdout == "42\n"
    running.call("manage_session", session="snake", action="kill")
    running.call("create_session", name="boxed", command="bash", sandbox="readonly")
    done = running("run", "boxed", "--", "cat", stdin="data\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input cannot be passed into a sandbox" in done.stderr
    running.call("manage_session", session="boxed", action="kill")


def test_a_reader_that_leaves_ends_the_command(running: Nacre, shell: str) -> None:
    process = running.start("run", shell, "--", "yes")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert running.ok("run", shell, "--", "echo free") == "free\n"
    assert process.stderr is not None
    process.stderr.close()


def test_an_output_that_nobody_can_take_ends_the_command(running: Nacre, shell: str) -> None:
    with open("/dev/full", "w") as full:
        process = running.start("run", shell, "--", "yes", stdout=full)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert re.fullmatch(r"nacre: cannot write: No space left on device.*\n", told)
    assert running.ok("run", shell, "--", "echo free") == "free\n"


def test_a_run_is_read_and_searched_by_its_id(running: Nacre, shell: str) -> None:
    ran = running.call("run", session=shell, command="seq 25000", max_chars=300)["run_id"]
    assert running.ok("read", "--run", ran).split() == [str(n) for n in range(1, 25_001)]
    found = running.ok("read", "--run", ran, "--find", "^2499", "--regex", "--context", "1")
    assert found.split()[:6] == [
        "2498-2498",
        "2499:2499",
        "2500-2500",
        "--",
        "24989-24989",
        "24990:24990",
    ]
    none = running("read", "--run", ran, "--find", "nowhere")
    assert (none.returncode, none.stdout) == (1, "")
    running.fails("INVALID_INPUT", 2, "read", shell, "--find", "x")
    running.fails("INVALID_INPUT", 2, "read")


def test_run_with_json_is_the_operations_result(running: Nacre, shell: str) -> None:
    outcome = running.json("run", shell, "--", "printf hi")
    assert (outcome["output"], outcome["exit_code"], outcome["status"]) == ("hi", 0, "completed")


def test_run_says_where_the_rest_of_a_long_output_is(running: Nacre, shell: str) -> None:
    done = running("run", shell, "--max-chars", "200", "--", "seq 1000")
    assert re.search(r"^\[… \d+ lines left out …\]$", done.stdout, re.MULTILINE)
    way = re.search(r"lines are left out of the middle; read those lines: (.+)$", done.stderr)
    assert way
    assert running.ok(*way[1].split()[1:]).split() == [str(number) for number in range(1, 1001)]


def test_run_that_takes_too_long_is_124_and_says_what_to_do(running: Nacre) -> None:
    running.call("create_session", name="slow", command="bash", args=["--norc"])
    running.ok("wait", "slow", "--state", "prompt")
    done = running("run", "slow", "--timeout-ms", "1000", "--", "echo begun; sleep 30")
    assert done.returncode == 124
    assert "begun" in done.stdout
    assert re.fullmatch(
        r"nacre: still running after 1(\.\d)? s; wait for it: nacre wait slow --run \w+; "
        r"read it: nacre read slow; interrupt it: nacre keys slow ctrl\+c\n",
        done.stderr,
    )
    busy = running("run", "slow", "--timeout-ms", "300", "--json", "--", "echo")
    assert busy.returncode == 75
    assert re.fullmatch(
        r"nacre: a command is running; wait for it: nacre wait slow --run \w+; "
        r"interrupt it: nacre keys slow ctrl\+c\n",
        busy.stderr,
    )
    assert busy.stderr == f"nacre: {json.loads(busy.stdout)['hint']}\n"
    running.call("manage_session", session="slow", action="kill")


def test_run_that_may_take_no_time_says_what_to_do(running: Nacre) -> None:
    running.call("create_session", name="hasty", command="bash", args=["--norc"])
    running.ok("wait", "hasty", "--state", "prompt")
    done = running("run", "hasty", "--timeout-ms", "0", "--", "sleep 30")
    assert (done.returncode, done.stdout) == (124, "")
    # The prompt that is there may still be the one that it was typed at: no shell came up.
    assert re.match(
        r"nacre: still running after \S+ s; wait for it: nacre wait hasty ", done.stderr
    )
    running.call("manage_session", session="hasty", action="kill")


def test_a_duration_of_nothing_is_left_out_of_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = {"status": "timeout", "exit_code": None, "ended_by": "needs_input", "hint": "it asks"}
    _comment(asked, CommandWords("run"))
    assert capsys.readouterr().err == "nacre: still running after 0 s; it asks\n"


def test_run_says_what_it_waits_for_and_what_is_not_shown(running: Nacre) -> None:
    running.call("create_session", name="long-run", command="bash", args=["--norc"])
    done = running("run", "long-run", "--max-chars", "50", "--", "seq 1 100; read x")
    assert done.returncode == 124
    told = re.fullmatch(
        r"nacre: still running after \S+ s; the program waits for a line; "
        r"\d+ lines are left out of the middle; type one: nacre send long-run TEXT; "
        r"interrupt it: nacre keys long-run ctrl\+c; read those lines: (nacre read --run .*)\n",
        done.stderr,
    )
    assert told
    shown = running.ok(*told[1].split()[1:]).splitlines()
    assert shown == [str(line) for line in range(1, 101)]
    running.call("manage_session", session="long-run", action="kill")


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


def test_every_state_that_is_offered_can_be_waited_for(running: Nacre, shell: str) -> None:
    offered = input_schema(WaitFor)["properties"]["state"]["items"]["enum"]
    assert sorted(_STATES) == sorted(offered)
    refused = running("wait", shell, "--state", "lost")
    assert refused.returncode == 2
    assert "--state takes prompt, running, needs_input or exited" in refused.stderr
