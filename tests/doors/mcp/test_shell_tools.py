"""SILC's document over every transport: its eight tools, and the ways it shows to use them."""

import json
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from conftest import Daemon, start_daemon
from ranges import own_ports

from doors.conftest import EACH_ONCE, MODERN, Tools, connect, text_of
from doors.wire import check_schema

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

TOOLSETS = "shell,extra"  # the second for its waits

EXTRA = {
    "wait_for",
    "read_run",
    "screenshot",
    "restart_session",
    "resize_session",
    "screen_at",
    "export_recording",
    "await_input",
    "control",
    "search",
    "mouse",
    "focus",
    "snapshot",
    "get_cells",
    "screen_hash",
    "screen_diff",
    "put_file",
    "get_file",
    "edit_file",
}
DOCUMENTED = {
    "send",
    "read",
    "send_key",
    "run",
    "start_session",
    "close_session",
    "get_status",
    "list_sessions",
}
READ_ONLY = {"read", "list_sessions", "get_status"}

INVALID = "INVALID_INPUT"
NOT_FOUND = "SESSION_NOT_FOUND"

LONG = 100_000  # ms: a call that takes it all runs into DEADLINE
DEADLINE = 60  # seconds

PYTHON = f"{sys.executable} -q"

# Prints each piece of input in hex, under its number.
KEY_READER = """\
import os, tty
tty.setraw(0)
print("0:", end="\\r\\n", flush=True)
number = 0
while True:
    number += 1
    print(f"{number}:{os.read(0, 64).hex()}:", end="\\r\\n", flush=True)
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for this file whose freed ports nobody else takes."""
    started = start_daemon(tmp_path_factory.mktemp("home"), first_session_port=own_ports())
    yield started
    assert started.stop() == 0


@pytest.fixture
async def port(tools: Tools) -> int:
    """The port of a bash at its prompt."""
    started = await tools("start_session", shell="bash")
    await in_state(tools, started["port"], "prompt")
    return int(started["port"])


@pytest.fixture
async def keys(tools: Tools, port: int, tmp_path: Path) -> int:
    """The port of a program in raw mode that prints what it reads in hex."""
    script = tmp_path / "keys.py"
    script.write_text(KEY_READER)
    await tools("send", port=port, text=f"exec {sys.executable} {script}", timeout_ms=0)
    await tools("wait_for", session=port, regex="^0:$")
    return port


async def in_state(tools: Tools, port: int, *states: str) -> Any:
    waited = await tools("wait_for", session=port, state=list(states))
    assert waited["matched"], waited
    return waited["state"]


async def shown(tools: Tools, port: int, text: str) -> None:
    assert (await tools("wait_for", session=port, text=text))["matched"]


async def sent(tools: Tools, port: int, text: str, timeout_ms: int = LONG) -> list[str]:
    """Send text that must be answered long before its time is over; return the lines."""
    with anyio.fail_after(DEADLINE):
        answer = await tools("send", port=port, text=text, timeout_ms=timeout_ms)
    assert set(answer) == {"output", "lines", "alive", "generation", "state"}
    lines: list[str] = answer["output"].splitlines()
    assert answer["lines"] == len(lines)
    assert answer["alive"] is True
    return lines


# --- what the tools say of themselves ------------------------------------------------------


async def test_eight_tools_are_listed_with_valid_schemas_and_annotations(tools: Tools) -> None:
    assert set(tools.listed) == DOCUMENTED | EXTRA
    for name in DOCUMENTED:
        tool = tools.listed[name]
        assert tool.description
        assert tool.output_schema is not None
        check_schema(tool.input_schema)
        check_schema(tool.output_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READ_ONLY)


async def test_documents_parameters_and_defaults_are_offered(tools: Tools) -> None:
    documented: dict[str, dict[str, Any]] = {
        "send": {"port": ..., "text": ..., "timeout_ms": 5000},
        "read": {"port": ..., "lines": 100},
        "send_key": {"port": ..., "key": ...},
        "run": {"port": ..., "command": ..., "timeout_ms": 60000},
        "start_session": {"port": None, "shell": None, "cwd": None},
        "close_session": {"port": ...},
        "get_status": {"port": ...},
        "list_sessions": {},
    }
    for name, parameters in documented.items():
        schema = tools.listed[name].input_schema
        required = set(schema.get("required", ()))
        offered = {
            parameter: ... if parameter in required else about.get("default")
            for parameter, about in schema["properties"].items()
        }
        assert parameters.items() <= offered.items()
        if name not in ("start_session", "list_sessions"):
            assert "session" not in offered, "it is called port here"
            options = schema["properties"]["port"]
            types = {kind["type"] for kind in options.get("anyOf", [])} or set(options["type"])
            assert types == {"string", "integer"}


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", f"http-{MODERN}"])
async def test_shell_alone_offers_the_documents_tools_only(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, "shell")
        assert {tool.name for tool in (await client.list_tools()).tools} == DOCUMENTED


# --- sessions ------------------------------------------------------------------------------


async def test_session_is_started_listed_and_closed(tools: Tools) -> None:
    started = await tools("start_session", shell="bash")
    assert {"port", "session_id", "shell"} <= set(started)
    assert started["shell"] == "bash"
    listed = await tools.result("list_sessions")
    (one,) = json.loads(text_of(listed))
    assert {"port", "session_id", "alive", "idle_seconds", "shell"} <= set(one)
    assert (one["port"], one["session_id"]) == (started["port"], started["session_id"])
    assert (one["alive"], one["shell"], type(one["idle_seconds"])) == (True, "bash", int)
    with closing(socket.create_connection(("127.0.0.1", started["port"]), timeout=DEADLINE)):
        pass
    assert await tools("close_session", port=started["port"]) == {"status": "closed"}
    assert text_of(await tools.result("list_sessions")) == "[]"
    for tool, more in (("close_session", {}), ("read", {}), ("send", {"text": "x"})):
        assert await tools.refused(tool, port=started["port"], **more) == NOT_FOUND
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", started["port"]), timeout=DEADLINE)
    # The port is free: whoever asks for it gets it.
    again = await tools("start_session", port=started["port"], shell="sh")
    assert (again["port"], again["shell"]) == (started["port"], "sh")
    assert again["session_id"] != started["session_id"]


async def test_port_that_is_taken_or_out_of_range_is_refused(tools: Tools) -> None:
    asked = own_ports() + 50
    assert (await tools("start_session", port=asked, shell="sh"))["port"] == asked
    with closing(socket.socket()) as foreign:
        foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        foreign.bind(("127.0.0.1", own_ports() + 51))
        foreign.listen()
        for port in (asked, own_ports() + 51, own_ports() - 1, 80, 0, -1, 65536, "x"):
            assert await tools.refused("start_session", port=port, shell="sh") == INVALID, port
    assert len((await tools("list_sessions"))["sessions"]) == 1


async def test_shell_that_is_not_installed_is_refused_with_those_that_are(tools: Tools) -> None:
    for shell in ("cmd", "no-such-shell", ""):
        assert await tools.refused("start_session", shell=shell) == INVALID
    told = await tools.failure("start_session", shell="cmd")
    assert re.search(r"'cmd' is not installed \(there are: .*bash.*, sh", told["message"])
    assert (await tools("list_sessions"))["sessions"] == []


async def test_session_has_the_name_and_folder_asked_for(tools: Tools, tmp_path: Path) -> None:
    started = await tools("start_session", shell="bash", name="dev", cwd=str(tmp_path))
    assert started["name"] == "dev"
    assert await tools.refused("start_session", name="dev") == "SESSION_EXISTS"
    assert (await tools("run", port=started["port"], command="pwd"))["output"] == str(tmp_path)
    assert await tools.refused("start_session", cwd="/no/such/folder") == INVALID


async def test_session_starts_where_the_bridge_was_started(daemon: Daemon, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, f"stdio-{MODERN}", "shell", cwd=tmp_path)
        tools = Tools(client, (await client.list_tools()).tools)
        started = await tools("start_session")
        assert started["shell"] == "bash"
        assert (await tools("run", port=started["port"], command="pwd"))["output"] == str(tmp_path)
        await tools("close_session", port=started["port"])


async def test_port_parameter_takes_port_name_and_id(tools: Tools, port: int) -> None:
    (details,) = (await tools("list_sessions"))["sessions"]
    for reference in (port, str(port), details["name"], details["session_id"]):
        assert (await tools("get_status", port=reference))["port"] == port
        assert (await tools("read", port=reference))["lines"] == 1
        assert (await tools("send", port=reference, text="", timeout_ms=0))["alive"]
        assert (await tools("send_key", port=reference, key="ctrl+l"))["alive"]
        assert (await tools("run", port=reference, command="true"))["exit_code"] == 0
        await tools("send", port=reference, text="clear")
    assert await tools("close_session", port=details["name"]) == {"status": "closed"}


REFUSED: dict[str, list[dict[str, Any]]] = {
    "send": [{}, {"text": 5}, {"text": "x", "timeout_ms": -1}, {"text": "x", "timeout_ms": "soon"}],
    "read": [{"lines": -1}, {"lines": "all"}, {"max_chars": 0}],
    "send_key": [{}, {"key": ""}, {"key": "hyper+nope"}, {"key": "ctrl+"}, {"key": "nosuchkey"}],
    "run": [{}, {"command": ""}, {"command": " \n"}, {"command": "x", "timeout_ms": -1}],
    "close_session": [{"force": True}],
    "get_status": [{"session": "x"}],
}


@pytest.mark.parametrize("tool", REFUSED)
async def test_bad_parameters_are_invalid_and_unknown_sessions_not_found(
    tools: Tools, tool: str, port: int
) -> None:
    for arguments in REFUSED[tool]:
        assert await tools.refused(tool, port=port, **arguments) == INVALID, arguments
    fine: dict[str, Any] = {
        "send": {"text": "x"},
        "send_key": {"key": "x"},
        "run": {"command": "x"},
    }.get(tool, {})
    assert await tools.refused(tool, **fine) == INVALID
    assert await tools.refused(tool, port=[port], **fine) == INVALID
    assert await tools.refused(tool, port=port, session=port, **fine) == INVALID
    for nobody in (19, "20999", "nobody", "abcdef01"):
        assert await tools.refused(tool, port=nobody, **fine) == NOT_FOUND
    assert (await tools("read", port=port))["lines"] == 1, "none of them typed anything"


@pytest.mark.parametrize("arguments", [{"text": "x"}, {"port": [1], "text": "x"}, {"port": 1}])
async def test_what_is_wrong_is_told_in_the_tools_own_names(
    tools: Tools, arguments: dict[str, Any]
) -> None:
    message = (await tools.failure("send", **arguments))["message"]
    assert message.endswith("; send takes: port, text, timeout_ms, max_chars")
    assert "session" not in message


# --- send ----------------------------------------------------------------------------------


async def test_send_returns_when_the_command_has_ended(tools: Tools, port: int) -> None:
    lines = await sent(tools, port, "echo one; echo two")
    assert lines[:3] == ["echo one; echo two", "one", "two"]
    assert len(lines) == 4, "and the next prompt"
    # Silence does not end it, and it goes on from where it was.
    lines = await sent(tools, port, "echo three; sleep 0.4; echo four")
    assert lines[1:3] == ["three", "four"]


async def test_send_without_a_wait_returns_at_once_with_nothing(tools: Tools, port: int) -> None:
    answer = await tools("send", port=port, text="sleep 0.1; echo la''ter", timeout_ms=0)
    wait_after = answer["generation"]
    assert answer == {"output": "", "lines": 0, "alive": True, "generation": wait_after}
    await shown(tools, port, "\nlater\n")
    assert "later" in (await tools("read", port=port))["output"].splitlines()


async def test_send_returns_at_its_time_out_with_what_there_is(tools: Tools, port: int) -> None:
    answer = await tools("send", port=port, text="echo beg''un; sleep 1000", timeout_ms=1000)
    assert answer["output"].splitlines()[1:] == ["begun"]
    assert answer["alive"] is True
    await tools("send_key", port=port, key="ctrl+c")
    await in_state(tools, port, "prompt")
    assert (await sent(tools, port, "echo on"))[1] == "on"


async def test_send_to_a_shell_that_still_starts_waits_for_its_prompt(tools: Tools) -> None:
    started = await tools("start_session", shell="bash")
    assert (await sent(tools, started["port"], "echo first"))[:2] == ["echo first", "first"]


async def test_send_in_a_repl(tools: Tools, port: int) -> None:
    assert (await sent(tools, port, PYTHON))[-1] == ">>>"
    assert await sent(tools, port, "import sys") == ["import sys", ">>>"]
    assert await sent(tools, port, "6 * 7") == ["6 * 7", "42", ">>>"]
    slow = "__import__('time').sleep(0.4) or 'awa' + 'ke'"
    assert await sent(tools, port, slow) == [slow, "'awake'", ">>>"]
    assert (await tools("read", port=port, lines=1))["output"] == ">>>"
    await tools("send_key", port=port, key="ctrl+d")
    assert (await in_state(tools, port, "prompt"))["program"] == "bash"


async def test_send_answers_a_question(tools: Tools, port: int) -> None:
    question = "read -p 'go on? [y/n] ' x; echo you said $x"
    assert await sent(tools, port, question) == [question, "go on? [y/n]"]
    status = await tools("get_status", port=port)
    assert (status["state"]["state"], status["state"]["asks"]) == ("needs_input", "confirm")
    assert status["last_line"] == "go on? [y/n]"
    assert (await sent(tools, port, "y"))[:2] == ["y", "you said y"]


async def test_send_in_a_nested_shell_and_in_one_without_marks(tools: Tools, port: int) -> None:
    assert (await sent(tools, port, "PS1='nested> ' sh"))[1:] == ["nested>"]
    assert await sent(tools, port, "echo in here") == ["echo in here", "in here", "nested>"]
    assert (await sent(tools, port, "exit"))[0] == "exit"
    assert (await tools("get_status", port=port))["state"]["program"] == "bash"
    bare = (await tools("start_session", shell="sh"))["port"]
    await in_state(tools, bare, "prompt")
    assert (await sent(tools, bare, "echo plain"))[:2] == ["echo plain", "plain"]


async def test_send_ends_with_the_enter_key(tools: Tools, keys: int) -> None:
    await tools("send", port=keys, text="é", timeout_ms=0)
    waited = await tools("wait_for", session=keys, regex="^1:.*:$")
    assert waited["match"] == "1:c3a90d:"


async def test_send_that_ends_the_shell_says_so(tools: Tools, port: int) -> None:
    with anyio.fail_after(DEADLINE):
        answer = await tools("send", port=port, text="echo bye; exit 3", timeout_ms=LONG)
    assert answer["alive"] is False
    assert "bye" in answer["output"].splitlines()
    assert "bye" in (await tools("read", port=port))["output"].splitlines()
    status = await tools("get_status", port=port)
    assert (status["alive"], status["exit_code"], status["run_locked"]) == (False, 3, False)
    assert status["state"]["state"] == "exited"
    for tool, more in (("send", {"text": "x"}), ("send_key", {"key": "x"}), ("run", None)):
        told = await tools.failure(tool, port=port, **(more or {"command": "x"}))
        assert (told["code"], told["exit_code"]) == ("SESSION_DEAD", 3)


# --- read ----------------------------------------------------------------------------------


async def test_read_returns_the_last_lines_of_scrollback_and_screen(
    tools: Tools, port: int
) -> None:
    await sent(tools, port, "PS1='> '; clear; seq 1 200")
    numbers = [str(number) for number in range(1, 201)]
    for lines, expected in (
        (1, [">"]),
        (5, [*numbers[-4:], ">"]),
        (150, [*numbers[-149:], ">"]),
    ):
        answer = await tools("read", port=port, lines=lines)
        assert (answer["output"].splitlines(), answer["lines"]) == (expected, lines)
    default = await tools("read", port=port)
    assert (default["output"].splitlines()[0], default["lines"]) == ("102", 100)
    none = await tools("read", port=port, lines=0)
    assert (none["output"], none["lines"]) == ("", 0)
    assert {"output", "lines"} <= set(default)
    short = await tools("read", port=port, max_chars=180)
    assert short["output"].splitlines()[-3:] == ["199", "200", ">"]
    assert short["lines"] == len(short["output"].splitlines()) == 100 - short["omitted_lines"]
    assert "max_chars" in short["hint"]
    assert len(json.dumps(short, separators=(",", ":"), ensure_ascii=False)) <= 180
    same = await tools("read", port=port, since_generation=default["generation"])
    assert (same["output"], same["unchanged"]) == ("", True)


# --- keys ----------------------------------------------------------------------------------

# The document's table; where it gives two, the first is what xterm sends.
TABLE = {
    "ctrl+c": b"\x03",
    "ctrl+d": b"\x04",
    "ctrl+z": b"\x1a",
    "ctrl+l": b"\x0c",
    "ctrl+r": b"\x12",
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
}
MORE = {
    "Ctrl+C": b"\x03",
    "ENTER": b"\r",
    "PageUp": b"\x1b[5~",
    "f5": b"\x1b[15~",
    "shift+tab": b"\x1b[Z",
    "alt+x": b"\x1bx",
    "ctrl+Right": b"\x1b[1;5C",
    "q": b"q",
    "Q": b"Q",
    "é": "é".encode(),
    "+": b"+",
}


async def test_every_key_reaches_the_child_as_its_bytes(tools: Tools, keys: int) -> None:
    for number, (key, code) in enumerate({**TABLE, **MORE}.items(), 1):
        pressed = await tools("send_key", port=keys, key=key)
        assert set(pressed) == {"output", "alive", "generation", "state"}
        assert pressed["alive"] is True
        waited = await tools("wait_for", session=keys, regex=rf"^{number}:.*:$")
        assert waited["match"] == f"{number}:{code.hex()}:", key


async def test_key_returns_what_it_caused(tools: Tools, port: int) -> None:
    # A key that came before the program is there would be lost.
    await tools("send", port=port, text="sh -c 'echo begun; exec sleep 1000'", timeout_ms=0)
    assert (await tools("wait_for", session=port, regex="^begun$"))["matched"]
    pressed = await tools("send_key", port=port, key="ctrl+c")
    assert pressed["alive"] is True
    await in_state(tools, port, "prompt")
    assert "^C" in (await tools("read", port=port))["output"]
    assert "^C" in pressed["output"]


# --- status --------------------------------------------------------------------------------


async def test_status_tells_what_the_session_is_doing(tools: Tools, port: int) -> None:
    status = await tools("get_status", port=port)
    documented = {"session_id", "port", "alive", "idle_seconds", "last_line", "run_locked"}
    assert documented <= set(status)
    assert (status["port"], status["alive"], status["run_locked"]) == (port, True, False)
    assert type(status["idle_seconds"]) is int
    assert status["last_line"] == (await tools("read", port=port, lines=1))["output"]
    assert status["state"]["state"] == "prompt"
    assert status["state"]["evidence"][0] == "mark: prompt"


async def test_status_is_run_locked_and_a_second_run_busy_while_one_is_under_way(
    tools: Tools, port: int
) -> None:
    answers: list[Any] = []

    # In the foreground once it prints: Ctrl+C before that would reach the shell alone.
    line = "sh -c 'echo begun; exec sleep 1000'"

    async def run() -> None:
        answers.append(await tools("run", port=port, command=line, timeout_ms=LONG))

    with anyio.fail_after(DEADLINE):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            assert (await tools("wait_for", session=port, regex="^begun$"))["matched"]
            assert (await tools("get_status", port=port))["run_locked"] is True
            told = await tools.failure("run", port=port, command="echo no")
            assert (told["code"], told["status"]) == ("BUSY", "busy")
            assert (told["output"], told["exit_code"]) == ("", None)
            await tools("send_key", port=port, key="ctrl+c")
    assert (answers[0]["status"], answers[0]["exit_code"]) == ("completed", 130)
    assert (await tools("get_status", port=port))["run_locked"] is False


async def test_status_is_run_locked_while_a_run_goes_on_whose_call_timed_out(
    tools: Tools, port: int
) -> None:
    with anyio.fail_after(DEADLINE):
        ran = await tools("run", port=port, command="sleep 1000", timeout_ms=100)
        assert ran["status"] == "timeout"
        assert (await tools.failure("run", port=port, command="echo no"))["code"] == "BUSY"
        assert (await tools("get_status", port=port))["run_locked"] is True
        await tools("send_key", port=port, key="ctrl+c")
        await in_state(tools, port, "prompt")
        assert (await tools("get_status", port=port))["run_locked"] is False
        # In a shell that a run has started, the next run can start.
        started = await tools("run", port=port, command="sh", timeout_ms=LONG)
        assert started["status"] == "timeout"
        assert (await tools("get_status", port=port))["run_locked"] is False


# --- run -----------------------------------------------------------------------------------


async def test_run_returns_output_and_exit_code(tools: Tools, port: int) -> None:
    with anyio.fail_after(DEADLINE):
        ran = await tools("run", port=port, command="echo hei; sleep 0.3; cd /usr")
    assert {"output", "exit_code", "status"} <= set(ran)
    assert (ran["output"], ran["exit_code"], ran["status"]) == ("hei", 0, "completed")
    assert (ran["ended_by"], ran["context"], ran["cwd"]) == ("mark", "native", "/usr")


async def test_run_that_exits_non_zero_is_a_normal_result(tools: Tools, port: int) -> None:
    for command, code in (("(exit 3)", 3), ("no-such-command", 127), ("echo 'open'; false", 1)):
        ran = await tools("run", port=port, command=command)
        assert (ran["exit_code"], ran["status"]) == (code, "completed")


async def test_run_over_its_time_is_a_normal_result_that_says_how_to_go_on(
    tools: Tools, port: int
) -> None:
    late = await tools("run", port=port, command="echo so far; sleep 1000", timeout_ms=1000)
    assert (late["status"], late["exit_code"], late["output"]) == ("timeout", None, "so far")
    assert (late["state"]["state"], late["ended_by"]) == ("running", "deadline")
    assert late["hint"].startswith("still running after 1")
    assert late["run_id"] in late["hint"]
    # It goes on: another run is busy, though no call waits any more.
    assert (await tools("get_status", port=port))["run_locked"] is True
    told = await tools.failure("run", port=port, command="echo no", timeout_ms=1000)
    assert told["code"] == "BUSY"
    await tools("send_key", port=port, key="ctrl+c")
    waited = await tools("wait_for", run_id=late["run_id"])
    assert (waited["run"]["status"], waited["run"]["exit_code"]) == ("completed", 130)


async def test_run_that_asks_is_a_time_out_that_says_what_for(tools: Tools, port: int) -> None:
    with anyio.fail_after(DEADLINE):
        asked = await tools("run", port=port, command="read -p 'name? ' x; echo hei $x")
    assert (asked["status"], asked["ended_by"]) == ("timeout", "needs_input")
    assert (asked["state"]["asks"], asked["hint"]) == ("line", asked["state"]["hint"])
    told = await tools.failure("run", port=port, command="echo no")
    assert (told["code"], told["status"]) == ("NOT_AT_PROMPT", "error")
    assert told["message"] == told["hint"]
    assert (await sent(tools, port, "Ada"))[:2] == ["Ada", "hei Ada"]


async def test_run_where_no_command_can_be_typed_is_an_error(tools: Tools, port: int) -> None:
    await tools("send", port=port, text="seq 1 500 | less", timeout_ms=0)
    assert (await in_state(tools, port, "needs_input"))["asks"] == "pager"
    told = await tools.failure("run", port=port, command="echo no")
    assert (told["code"], told["status"], told["exit_code"]) == ("NOT_AT_PROMPT", "error", None)
    assert "q" in told["message"]
    await tools("send_key", port=port, key="q")
    await in_state(tools, port, "prompt")
    assert (await tools("run", port=port, command="echo yes"))["output"] == "yes"


async def test_run_in_a_repl_has_no_exit_code_and_says_so(tools: Tools, port: int) -> None:
    await sent(tools, port, PYTHON)
    ran = await tools("run", port=port, command="print(6 * 7)")
    assert (ran["output"], ran["exit_code"], ran["status"]) == ("42", None, "completed")
    assert (ran["context"], ran["ended_by"]) == ("repl", "prompt")
    assert "exit code" in ran["hint"]


# --- full-screen programs, as the document uses them ---------------------------------------


async def test_htop_is_started_read_and_quit(tools: Tools, port: int) -> None:
    assert shutil.which("htop"), "htop is not installed; 'make test' installs it"
    answer = await tools("send", port=port, text="htop", timeout_ms=0)
    assert answer["output"] == ""
    assert (await tools("wait_for", session=port, regex=r"F10\s*Quit"))["matched"]
    screen = await tools("read", port=port, lines=40)
    assert re.search(r"F10\s*Quit", screen["output"])
    assert screen["lines"] <= 24
    assert (await tools("get_status", port=port))["state"]["program"] == "htop"
    assert (await tools("send_key", port=port, key="q"))["alive"] is True
    assert (await in_state(tools, port, "prompt"))["program"] == "bash"


async def test_vim_is_left_by_its_keys(tools: Tools, port: int, tmp_path: Path) -> None:
    assert shutil.which("vim"), "vim is not installed; 'make test' installs it"
    target = tmp_path / "note"
    await tools("send", port=port, text=f"vim -u NONE -N {target}", timeout_ms=0)
    await shown(tools, port, "\n~\n~")
    assert (await in_state(tools, port, "needs_input"))["asks"] == "editor"
    await tools("send_key", port=port, key="i")
    await tools("send", port=port, text="typed by an agent", timeout_ms=0)
    await shown(tools, port, "typed by an agent")
    await tools("send_key", port=port, key="escape")
    await tools("send", port=port, text=":wq")
    await in_state(tools, port, "prompt")
    assert target.read_text().splitlines()[0] == "typed by an agent"
