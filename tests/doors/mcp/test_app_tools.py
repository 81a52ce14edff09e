"""The Terminal Tester's document over MCP: its nine tools, and what each of them promises."""

import hashlib
import json
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from doors.conftest import EACH_ONCE, ONE, TRANSPORTS, Tools, text_of
from doors.wire import check_schema
from programs.machine import MENU, program, surroundings

pytestmark = pytest.mark.anyio

OVER = ONE  # what the wire only carries; what depends on it names its transports
TOOLSETS = "apps"

DOCUMENTED = {
    "launch_app": {"command", "args", "env", "cwd", "rows", "cols", "sandbox"},
    "view_screen": {
        *("session_id", "format", "since_generation", "max_chars"),
        *("wait_text", "wait_idle_ms", "timeout_ms"),
    },
    "send_keys": {"session_id", "keys", "literal", "paste"},
    "get_cursor_position": {"session_id"},
    "get_screen_size": {"session_id"},
    "resize_terminal": {"session_id", "rows", "cols", "width", "height"},
    "restart_app": {"session_id"},
    "stop_app": {"session_id"},
    "list_sessions": {"session", "max_chars"},
}
INVALID = "INVALID_INPUT"

HERE = Path(MENU).parent
ECHO, PROGRESS, EDITOR = (str(HERE / name) for name in ("echo.py", "progress.py", "editor.py"))

# Prints what it reads in hex; ASK is printed before, and asks the terminal for a mode.
HEX = """\
import os, sys, tty
tty.setraw(0)
sys.stdout.write(os.environ.get("ASK", "").encode().decode("unicode_escape"))
print("ready", end="\\r\\n", flush=True)
while data := os.read(0, 64):
    print(data.hex(), end=" ", flush=True)
"""


@pytest.fixture
async def tools(connected: Tools) -> AsyncIterator[Tools]:
    """The tools, on a daemon without sessions."""
    yield connected
    for session in json.loads(text_of(await connected.result("list_sessions"))):
        await connected("stop_app", session_id=session["session_id"])


async def launch(tools: Tools, *argv: str, wait: str | None = None, **more: Any) -> str:
    """Start a program; return its id when it shows a text."""
    launched = await tools("launch_app", command=argv[0], args=list(argv[1:]), **more)
    assert launched["success"]
    session = str(launched["session_id"])
    if wait is not None:
        await shows(tools, session, wait)
    return session


async def shows(tools: Tools, session: str, text: str, **more: Any) -> Any:
    more = {"timeout_ms": 55_000, **more}
    screen = await tools("view_screen", session_id=session, wait_text=text, **more)
    assert screen["matched"], screen["content"]
    return screen


async def ended(tools: Tools, session: str) -> Any:
    """Return the screen when the program has ended."""
    screen = await tools(
        "view_screen", session_id=session, wait_text="\x00never", timeout_ms=55_000
    )
    assert not screen["alive"], screen["content"]
    return screen


async def reader(tools: Tools, ask: str = "") -> str:
    return await launch(tools, sys.executable, "-c", HEX, wait="ready", env={"ASK": ask})


async def hexes(tools: Tools, session: str, expected: str) -> None:
    """Check what the program has read since it was started; the last bytes are a full stop."""
    screen = await shows(tools, session, "2e 0d")
    got = "".join(screen["content"].split("ready", 1)[1].split()).removesuffix("2e0d")
    assert got == expected.replace(" ", ""), got


async def typed(tools: Tools, session: str, keys: Any, **more: Any) -> None:
    await tools("send_keys", session_id=session, keys=keys, **more)
    # A full stop, and what no key is: the reader gets them apart from what came before.
    await tools("send_keys", session_id=session, keys=".")
    await shows(tools, session, "2e")
    await tools("send_keys", session_id=session, keys="\r")


# --- the tools ---------------------------------------------------------------------------------


@pytest.mark.over(*TRANSPORTS)
async def test_the_nine_tools_have_the_documents_parameters(tools: Tools) -> None:
    assert set(tools.listed) == set(DOCUMENTED)
    for name, tool in tools.listed.items():
        assert set(tool.input_schema["properties"]) == DOCUMENTED[name], name
        check_schema(tool.input_schema)
    required = {name: tool.input_schema.get("required", []) for name, tool in tools.listed.items()}
    assert required["launch_app"] == ["command"]
    assert required["send_keys"] == ["session_id", "keys"]
    assert required["view_screen"] == ["session_id"]


@pytest.mark.over(*TRANSPORTS)
async def test_a_program_is_launched_viewed_typed_into_and_stopped(tools: Tools) -> None:
    launched = await tools("launch_app", command=sys.executable, args=[ECHO])
    assert set(launched) == {"session_id", "success"}
    assert launched["success"] is True
    session = launched["session_id"]
    await shows(tools, session, "ready")
    while (await tools("get_cursor_position", session_id=session))["row"] != 1:
        pass  # its line's end may come in a read of its own
    sent = await tools("send_keys", session_id=session, keys=["hello", "Enter"])
    assert sent["success"] is True
    screen = await shows(tools, session, "echo: hello", since_generation=sent["generation"])
    whole = await tools("view_screen", session_id=session)
    assert whole["content"].split("\n")[:3] == ["ready", "hello", "echo: hello"]
    assert whole["cursor"] == {"row": 3, "col": 0, "visible": True}
    assert screen["changed_rows"] == [1, 2]
    stopped = await tools("stop_app", session_id=session)
    assert stopped == {"success": True, "exit_code": None, "signal": "SIGHUP"}
    assert await tools("list_sessions") == {"sessions": []}


async def test_launch_app_needs_only_a_command_and_uses_no_shell(tools: Tools) -> None:
    session = await launch(tools, "cat")
    (listed,) = (await tools("list_sessions"))["sessions"]
    assert (listed["session_id"], listed["command"], listed["args"]) == (session, "cat", [])
    session = await launch(tools, "echo", "$HOME; `id` | wc")
    assert (await ended(tools, session))["content"].split("\n")[0] == "$HOME; `id` | wc"


async def test_launch_app_takes_folder_size_and_variables(tools: Tools, tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['COLOUR'], *os.get_terminal_size())"
    session = await launch(
        tools, sys.executable, "-c", code, cwd=str(tmp_path), rows=30, cols=200, env={"COLOUR": "ü"}
    )
    screen = await ended(tools, session)
    assert screen["content"].split("\n")[0] == f"{tmp_path} ü 200 30"
    assert (screen["rows"], screen["cols"], screen["exit_code"]) == (30, 200, 0)
    assert await tools("get_screen_size", session_id=session) == {"rows": 30, "cols": 200}


async def test_missing_program_is_refused(tools: Tools) -> None:
    told = await tools.failure("launch_app", command="no-such-program")
    assert told["code"] == INVALID
    assert "no-such-program" in told["message"]
    assert await tools.refused("launch_app", command=" ") == INVALID
    assert await tools.refused("launch_app") == INVALID
    assert await tools("list_sessions") == {"sessions": []}


async def test_whole_line_as_a_command_is_refused_and_the_message_shows_its_words(
    tools: Tools,
) -> None:
    told = await tools.failure("launch_app", command="vim -R 'my file'")
    assert told["code"] == INVALID
    assert '{"command": "vim", "args": ["-R", "my file"]}' in told["message"]


async def test_launch_app_takes_a_sandbox(tools: Tools, tmp_path: Path) -> None:
    session = await launch(
        tools, "touch", str(tmp_path / "made"), cwd=str(tmp_path), sandbox="readonly"
    )
    screen = await ended(tools, session)
    assert screen["exit_code"] == 1
    assert not (tmp_path / "made").exists()
    assert await tools.refused("launch_app", command="cat", sandbox="none") == INVALID


# --- seeing ------------------------------------------------------------------------------------

COLORS = r"""
import os, sys
sys.stdout.write("\x1b[2J\x1b[H\x1b[31mred\x1b[0m plain  \n\n\x1b[1;44m bold \x1b[0m\x1b[1;5H")
sys.stdout.flush()
os.read(0, 1)
"""


async def test_plain_is_rows_with_trailing_blanks_cut(tools: Tools) -> None:
    session = await launch(tools, sys.executable, "-c", COLORS, wait="bold", rows=5, cols=20)
    screen = await tools("view_screen", session_id=session)
    assert screen["content"] == "red plain\n\n bold\n\n"
    assert screen["cursor"] == {"row": 0, "col": 4, "visible": True}
    assert await tools("get_cursor_position", session_id=session) == screen["cursor"]


async def test_raw_is_the_screen_redrawn_with_colours(tools: Tools) -> None:
    session = await launch(tools, sys.executable, "-c", COLORS, wait="bold", rows=5, cols=20)
    screen = await tools("view_screen", session_id=session, format="raw")
    assert screen["content"] == "\x1b[31mred\x1b[0m plain\n\n\x1b[1;44m bold \x1b[0m\n\n"


async def test_raw_has_no_characters_that_nobody_sees(tools: Tools) -> None:
    code = "print('\\x1b[31mr\\u202eed\\x1b[0m', flush=True); input()"
    session = await launch(tools, sys.executable, "-c", code, wait="ed")
    screen = await tools("view_screen", session_id=session, format="raw")
    assert screen["content"].split("\n")[0] == "\x1b[31mr\ufffded\x1b[0m"
    assert "bidi" in screen["hint"]


async def test_ansi_shows_escapes_and_the_cursor_and_has_no_control_characters(
    tools: Tools,
) -> None:
    session = await launch(tools, sys.executable, "-c", COLORS, wait="bold", rows=5, cols=20)
    screen = await tools("view_screen", session_id=session, format="ansi")
    assert screen["content"] == "␛[31mred␛[0m ▮plain\n\n␛[1;44m bold ␛[0m\n\n"
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", screen["content"])


async def test_scrollback_is_the_lines_above_and_the_screen(tools: Tools) -> None:
    code = "print(*range(100), sep='\\n'); input()"
    session = await launch(tools, sys.executable, "-c", code, wait="99", rows=10)
    screen = await tools("view_screen", session_id=session, format="scrollback")
    assert screen["content"].split() == [str(number) for number in range(100)]
    assert "omitted_lines" not in screen
    short = await tools("view_screen", session_id=session, format="scrollback", max_chars=400)
    kept = short["content"].split()
    assert kept == [str(number) for number in range(100 - len(kept), 100)], "the newest"
    assert short["omitted_lines"] == 100 - len(kept)
    assert 0 < len(kept) < 100


async def test_passthrough_is_the_programs_last_bytes(tools: Tools) -> None:
    session = await launch(tools, sys.executable, "-c", COLORS, wait="bold", rows=5, cols=20)
    screen = await tools("view_screen", session_id=session, format="passthrough")
    printed = "\x1b[2J\x1b[H\x1b[31mred\x1b[0m plain  \r\n\r\n\x1b[1;44m bold \x1b[0m\x1b[1;5H"
    assert screen["content"] == printed
    code = "print('x' * 500 + 'end', flush=True); input('asks')"
    session = await launch(tools, sys.executable, "-c", code, wait="asks")
    short = await tools("view_screen", session_id=session, format="passthrough", max_chars=400)
    assert short["content"].endswith("xend\r\nasks")
    assert len(short["content"]) + short["omitted_chars"] == 509
    assert 0 < short["omitted_chars"] < 509


async def test_passthrough_has_none_of_our_marks(tools: Tools) -> None:
    created = await launch(tools, "bash", "--norc", env={"PS1": "$ "}, wait="$")
    await tools("send_keys", session_id=created, keys=["echo a", "Enter"])
    await shows(tools, created, "a\n")
    screen = await tools("view_screen", session_id=created, format="passthrough")
    assert "133;" not in screen["content"]
    assert "echo a\r\n" in screen["content"]


async def test_since_generation_returns_changed_rows_alone(tools: Tools) -> None:
    session = await launch(tools, sys.executable, MENU, wait="alpha")
    first = await tools("view_screen", session_id=session, wait_idle_ms=50)
    same = await tools("view_screen", session_id=session, since_generation=first["generation"])
    assert (same["unchanged"], same["changed_rows"], same["content"]) == (True, [], "")
    sent = await tools("send_keys", session_id=session, keys="Down")
    assert sent["generation"] == first["generation"]
    later = await shows(tools, session, "> beta", since_generation=sent["generation"])
    rows = (await tools("view_screen", session_id=session))["content"].split("\n")
    assert {2, 3} <= set(later["changed_rows"]) < set(range(24))
    assert later["content"].split("\n") == [rows[row] for row in later["changed_rows"]]
    forgotten = await tools("view_screen", session_id=session, since_generation=0)
    assert "changed_rows" not in forgotten
    assert forgotten["content"].split("\n") == rows
    assert "not remembered" in forgotten["hint"]


async def test_max_chars_keeps_the_lower_rows(tools: Tools) -> None:
    code = "print(*('x' * 70 + str(n) for n in range(20)), sep='\\n', end='', flush=True); input()"
    session = await launch(tools, sys.executable, "-c", code, wait="x19")
    result = await tools.result("view_screen", session_id=session, max_chars=600)
    assert len(text_of(result)) <= 600
    screen = json.loads(text_of(result))
    kept = screen["content"].split("\n")
    whole = (await tools("view_screen", session_id=session))["content"].split("\n")
    assert whole[screen["omitted_lines"] :] == kept
    assert 0 < len(kept) < 24


async def test_view_screen_waits_for_a_text_and_for_silence(tools: Tools) -> None:
    session = await launch(tools, sys.executable, PROGRESS, wait="0%")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(
                lambda: tools("send_keys", session_id=session, keys="xxx"),
            )
            screen = await shows(tools, session, " 30%")
    assert "[###.......]  30%" in screen["content"]
    quiet = await tools("view_screen", session_id=session, wait_idle_ms=20, timeout_ms=55_000)
    assert quiet["matched"] is True
    late = await tools("view_screen", session_id=session, wait_text="100%", timeout_ms=10)
    assert late["matched"] is False
    assert "30%" in late["content"], "the screen is there all the same"
    sent = await tools("send_keys", session_id=session, keys="xxxxxxx")
    both = await shows(tools, session, "100%", wait_idle_ms=20, since_generation=sent["generation"])
    assert both["generation"] > sent["generation"]


async def test_wait_ends_when_the_program_does(tools: Tools) -> None:
    session = await launch(tools, sys.executable, ECHO, wait="ready")
    await tools("send_keys", session_id=session, keys="Ctrl+D")
    with anyio.fail_after(60):
        screen = await tools(
            "view_screen", session_id=session, wait_text="never", timeout_ms=55_000
        )
    assert (screen["matched"], screen["alive"], screen["exit_code"]) == (False, False, 3)
    assert "bye" in screen["content"]


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["Enter", "Tab", "Backspace", "Up", "Left"], "0d 09 7f 1b5b41 1b5b44"),
        (["Home", "PageDown", "Insert", "Delete", "Space"], "1b5b48 1b5b367e 1b5b327e 1b5b337e 20"),
        (["F1", "F5", "F12", "F13"], "1b4f50 1b5b31357e 1b5b32347e 1b5b32357e"),
        (["Ctrl+C", "ctrl+d", "CTRL+A", "C-b"], "03 04 01 02"),
        (["Alt+x", "M-y", "Shift+Tab", "S-Tab"], "1b78 1b79 1b5b5a 1b5b5a"),
        (["Ctrl+Left", "Ctrl+Shift+Right", "C-M-Up"], "1b5b313b3544 1b5b313b3643 1b5b313b3741"),
        (["enter", "up", "f1", "escape"], "656e746572 7570 6631 657363617065"),
        (["c-c", "C-style", "Meta+x"], "632d63 432d7374796c65 4d6574612b78"),
        ("a\nb\r\nc\td", "61 0d 62 0d 63 09 64"),
        ("漢ü", "e6bca2 c3bc"),
        ("Enter", "0d"),
    ],
)
async def test_items_are_keys_as_the_document_writes_them_and_else_text(
    tools: Tools, keys: Any, expected: str
) -> None:
    session = await reader(tools)
    await typed(tools, session, keys)
    await hexes(tools, session, expected)


async def test_literal_types_names_of_keys(tools: Tools) -> None:
    session = await reader(tools)
    await typed(tools, session, ["Enter", "Ctrl+C"], literal=True)
    await hexes(tools, session, b"EnterCtrl+C".hex())


async def test_keys_follow_the_modes_of_the_program(tools: Tools) -> None:
    session = await reader(tools, r"\x1b[?1h")
    await typed(tools, session, ["Up", "Shift+Up"])
    await hexes(tools, session, "1b4f41 1b5b313b3241")


async def test_only_paste_makes_it_a_paste(tools: Tools) -> None:
    session = await reader(tools, r"\x1b[?2004h")
    await typed(tools, session, "ab")
    await hexes(tools, session, "6162")
    session = await reader(tools, r"\x1b[?2004h")
    await typed(tools, session, "a\nb", paste=True)
    await hexes(tools, session, "1b5b3230307e 61 0a 62 1b5b3230317e")


@pytest.mark.over(*EACH_ONCE)
async def test_wrong_combination_types_nothing_of_the_call(tools: Tools) -> None:
    session = await reader(tools)
    told = await tools.failure("send_keys", session_id=session, keys=["abc", "Ctrl+Foo"])
    assert told["code"] == INVALID
    assert "Ctrl+Foo" in told["message"]
    assert "nothing was typed" in told["message"]
    for empty in ([], "", [""]):
        assert await tools.refused("send_keys", session_id=session, keys=empty) == INVALID
    assert await tools.refused("send_keys", session_id=session, keys=[1]) == INVALID
    await typed(tools, session, "z")
    await hexes(tools, session, "7a")


async def test_escape_with_more_behind_it_is_read_alone(tools: Tools, tmp_path: Path) -> None:
    """The editor takes what follows an Escape within 50 ms for a key with Alt."""
    path = tmp_path / "text"
    session = await launch(tools, sys.executable, EDITOR, str(path), wait="NORMAL")
    await tools("send_keys", session_id=session, keys=["i", "hello", "Escape", ":wq", "Enter"])
    assert (await ended(tools, session))["exit_code"] == 0
    assert path.read_text() == "hello\n"


async def test_escape_of_one_call_and_keys_of_the_next_are_apart(
    tools: Tools, tmp_path: Path
) -> None:
    path = tmp_path / "text"
    session = await launch(tools, sys.executable, EDITOR, str(path), wait="NORMAL")
    for keys in (["i", "one", "Enter", "two", "Escape"], ":wq\n"):
        await tools("send_keys", session_id=session, keys=keys)
    assert (await ended(tools, session))["exit_code"] == 0
    assert path.read_text() == "one\ntwo\n"


async def test_vim_edits_and_writes_a_file_in_one_call(tools: Tools, tmp_path: Path) -> None:
    session = await launch(
        tools,
        *(program("vim"), "-u", "NONE", "-N", "-i", "NONE", "-n", "text"),
        cwd=str(tmp_path),
        env=surroundings(tmp_path),
        wait='"text" [New]',
    )
    keys = ["i", "first", "Enter", "second", "Escape", "dd", "Escape", ":wq", "Enter"]
    await tools("send_keys", session_id=session, keys=keys)
    assert (await ended(tools, session))["exit_code"] == 0
    assert (tmp_path / "text").read_text() == "first\n"


@pytest.mark.over(*EACH_ONCE)
async def test_floods_wait_in_order_and_nothing_is_dropped(tools: Tools) -> None:
    code = (
        "import os, tty, hashlib\n"
        "tty.setraw(0); os.write(1, b'ready'); os.read(0, 1); got = b''\n"
        "while not got.endswith(b'.'): got += os.read(0, 4096)\n"
        "os.write(1, b'%d %s' % (len(got), hashlib.sha256(got).hexdigest().encode()))\n"
    )
    session = await launch(tools, sys.executable, "-c", code, wait="ready")
    texts = [f"{number:05d}" * 2000 for number in range(20)]
    for text in ["g", *texts, "."]:
        await tools("send_keys", session_id=session, keys=text, literal=True)
    sent = "".join([*texts, "."]).encode()
    await shows(tools, session, f"{len(sent)} {hashlib.sha256(sent).hexdigest()[:40]}")


async def test_keys_pass_the_policy(tools: Tools, tmp_path: Path) -> None:
    """Typed lines are judged, so send_keys is no way around."""
    session = await launch(tools, "bash", "--norc", env={"PS1": "$ "}, wait="$", cwd=str(tmp_path))
    told = await tools.failure("send_keys", session_id=session, keys=["rm -rf /", "Enter"])
    assert told["code"] == "POLICY_DENIED"
    screen = await tools("view_screen", session_id=session)
    assert "rm -rf" not in screen["content"]
    assert await tools.refused("launch_app", command="rm", args=["-rf", "/"]) == "POLICY_DENIED"


# --- life --------------------------------------------------------------------------------------


@pytest.mark.over(*EACH_ONCE)
async def test_restart_works_on_a_running_and_on_an_ended_program(
    tools: Tools, tmp_path: Path
) -> None:
    code = (
        "import os, sys; print(sys.argv[1], os.getcwd(), os.environ['COLOUR']); input(); print('x')"
    )
    session = await launch(
        tools,
        *(sys.executable, "-c", code, "argument"),
        wait="argument",
        cwd=str(tmp_path),
        rows=12,
        cols=100,
        env={"COLOUR": "blue"},
    )
    again = await tools("restart_app", session_id=session)
    assert again == {"session_id": session, "success": True}
    await shows(tools, session, f"argument {tmp_path} blue")
    await tools("send_keys", session_id=session, keys="Enter")
    assert (await ended(tools, session))["content"].count("argument") == 1
    assert await tools("restart_app", session_id=session) == again
    screen = await shows(tools, session, "blue")
    assert screen["content"].rstrip("\n") == f"argument {tmp_path} blue", "an empty screen before"
    assert (screen["rows"], screen["cols"], screen["alive"]) == (12, 100, True)


async def test_stopped_program_is_not_restarted_but_launched(tools: Tools) -> None:
    session = await launch(tools, sys.executable, ECHO, wait="ready")
    await tools("stop_app", session_id=session)
    told = await tools.failure("restart_app", session_id=session)
    assert told["code"] == INVALID
    assert "launch_app" in told["message"]


@pytest.mark.over(*EACH_ONCE)
async def test_ended_program_is_read_and_stopped_but_not_typed_into(tools: Tools) -> None:
    session = await launch(tools, sys.executable, ECHO, wait="ready")
    await tools("send_keys", session_id=session, keys="Ctrl+D")
    await ended(tools, session)
    for tool, arguments in (
        ("send_keys", {"keys": "x"}),
        ("resize_terminal", {"rows": 10, "cols": 40}),
    ):
        told = await tools.failure(tool, session_id=session, **arguments)
        assert told["code"] == "SESSION_DEAD"
        assert "restart_app" in told["message"]
    (listed,) = (await tools("list_sessions"))["sessions"]
    assert (listed["running"], listed["exit_code"]) == (False, 3)
    assert "bye" in (await tools("view_screen", session_id=session))["content"]
    await tools("get_cursor_position", session_id=session)
    stopped = await tools("stop_app", session_id=session)
    assert stopped == {"success": True, "exit_code": 3, "signal": None}
    assert await tools("stop_app", session_id=session) == stopped
    assert "bye" in (await tools("view_screen", session_id=session))["content"]


@pytest.mark.over(*EACH_ONCE)
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("view_screen", {}),
        ("send_keys", {"keys": "x"}),
        ("get_cursor_position", {}),
        ("get_screen_size", {}),
        ("resize_terminal", {"rows": 5, "cols": 5}),
        ("restart_app", {}),
        ("stop_app", {}),
    ],
)
async def test_unknown_session_is_a_result_with_the_stable_code(
    tools: Tools, tool: str, more: dict[str, Any]
) -> None:
    assert await tools.refused(tool, session_id="nobody", **more) == "SESSION_NOT_FOUND"
    assert await tools.refused(tool, **more) == INVALID


async def test_resize_reaches_the_program_by_either_names(tools: Tools) -> None:
    session = await launch(tools, sys.executable, MENU, wait="24x80")
    resized = await tools("resize_terminal", session_id=session, rows=30, cols=100)
    assert resized == {"success": True, "rows": 30, "cols": 100}
    await shows(tools, session, "30x100")
    resized = await tools("resize_terminal", session_id=session, width=90, height=20)
    assert resized == {"success": True, "rows": 20, "cols": 90}
    await shows(tools, session, "20x90")
    assert await tools("get_screen_size", session_id=session) == {"rows": 20, "cols": 90}
    for wrong in ({}, {"rows": 0, "cols": 5}, {"rows": 5, "height": 6}, {"cols": "wide"}):
        assert await tools.refused("resize_terminal", session_id=session, **wrong) == INVALID


async def test_list_sessions_adds_arguments_and_activity_and_never_the_environment(
    tools: Tools,
) -> None:
    before = time.time()
    session = await launch(
        tools, sys.executable, ECHO, wait="ready", env={"PASSWORD": "hunter2-very-secret"}
    )
    result = await tools.result("list_sessions")
    (listed,) = json.loads(text_of(result))
    assert (listed["session_id"], listed["args"]) == (session, [ECHO])
    assert before - 1 <= listed["last_active"] <= time.time() + 1
    assert "hunter2" not in str(result)
    assert "env" not in listed


async def test_sessions_run_side_by_side(tools: Tools) -> None:
    ids = [await launch(tools, sys.executable, ECHO) for _ in range(8)]
    for number, session in enumerate(ids):
        await shows(tools, session, "ready")
        await tools("send_keys", session_id=session, keys=[f"number {number}", "Enter"])
    for number, session in enumerate(ids):
        screen = await shows(tools, session, f"echo: number {number}")
        others = {f"number {other}" for other in range(8)} - {f"number {number}"}
        assert not any(other in screen["content"] for other in others)
