"""The wsh document's matrix for its first eight tools, over both transports and both eras.

What a wire or an era could break is called over all four of them; long tables of what is refused,
which the same code decides for all, over one.
"""

import base64
import json
import os
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError

from conftest import PATIENCE, Daemon

from doors.conftest import EACH_ONCE, ONE, TRANSPORTS, Tools, connect, text_of
from doors.wire import check_schema

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

QUIET = 400  # ms: long enough for a busy machine, short enough for a suite

DOCUMENTED = {
    "create_session",
    "list_sessions",
    "manage_session",
    "send_input",
    "get_screen",
    "get_scrollback",
    "await_quiesce",
    "run_command",
    "overlay",
    "remove_overlay",
    "panel",
    "remove_panel",
    "input_mode",
    "screen_mode",
}
READ_ONLY = {"list_sessions", "get_screen", "get_scrollback", "await_quiesce", "read_run"}

INVALID = (-32602, "INVALID_INPUT")
NOT_FOUND = (-32602, "SESSION_NOT_FOUND")
TAKEN = (-32602, "SESSION_EXISTS")


def compact(answer: Any) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)


async def kill(tools: Tools, *sessions: str) -> None:
    for session in sessions:
        assert await tools("manage_session", session=session, action="kill") == {"success": True}


async def listed(tools: Tools) -> list[str]:
    return [session["name"] for session in (await tools("list_sessions"))["sessions"]]


# --- what the tools say of themselves ------------------------------------------------------


@pytest.mark.over(*TRANSPORTS)
async def test_the_fourteen_tools_are_listed_with_valid_schemas_and_annotations(
    tools: Tools,
) -> None:
    assert set(tools.listed) == DOCUMENTED | {"read_run"}
    for name, tool in tools.listed.items():
        assert tool.description
        assert tool.output_schema is not None
        check_schema(tool.input_schema)
        check_schema(tool.output_schema)
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READ_ONLY)
        assert tool.annotations.destructive_hint is not None
        assert tool.annotations.idempotent_hint is not None


async def test_the_documents_parameters_and_defaults_are_offered(tools: Tools) -> None:
    def offered(tool: str) -> dict[str, Any]:
        schema = tools.listed[tool].input_schema
        required = set(schema.get("required", ()))
        return {
            name: ... if name in required else about.get("default")
            for name, about in schema["properties"].items()
        }

    wait = {"timeout_ms": 2000, "max_wait_ms": 30000}
    sizes = {"rows": 24, "cols": 80}
    documented: dict[str, dict[str, Any]] = {
        "create_session": {"name": None, "command": None, "cwd": None, "env": None, **sizes},
        "list_sessions": {"session": None},
        "manage_session": {"session": ..., "action": ..., "new_name": None},
        "send_input": {"session": ..., "input": ..., "encoding": "utf8"},
        "get_screen": {"session": ..., "format": "styled"},
        "get_scrollback": {"session": ..., "offset": 0, "limit": 100, "format": "styled"},
        "await_quiesce": {"session": ..., **wait},
        "run_command": {"session": ..., "input": ..., "format": "styled", **wait},
    }
    for tool, parameters in documented.items():
        assert parameters.items() <= offered(tool).items()


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", "http-2025-06-18", "http-2024-11-05"])
async def test_the_handshake_revisions_that_the_suite_leaves_out_work_too(
    daemon: Daemon, transport: str
) -> None:
    assert transport not in TRANSPORTS
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport)
        tools = Tools(client, (await client.list_tools()).tools)
        assert set(tools.listed) == DOCUMENTED | {"read_run"}
        assert json.loads(text_of(await tools.result("list_sessions"))) == []


# --- sessions ------------------------------------------------------------------------------


@pytest.mark.over(*TRANSPORTS)
async def test_a_created_session_is_listed_until_it_is_killed(tools: Tools) -> None:
    created = await tools("create_session", name="short-lived", command="cat")
    assert created["session"] == "short-lived"
    assert (created["rows"], created["cols"]) == (24, 80)
    assert await listed(tools) == ["short-lived"]
    process = os.pidfd_open(created["pid"])
    try:
        await kill(tools, "short-lived")
        # Its end is what kill waits for: the descriptor is readable already.
        with anyio.fail_after(PATIENCE):
            await anyio.wait_readable(process)
    finally:
        os.close(process)
    assert await listed(tools) == []
    assert await tools.error("list_sessions", session="short-lived") == NOT_FOUND


async def test_name_command_args_size_folder_and_variables_take_effect(
    tools: Tools, tmp_path: Path
) -> None:
    script = 'stty size; pwd; echo "$GREETING-$1"; exec cat'
    created = await tools(
        "create_session",
        name="custom",
        command="sh",
        args=["-c", script, "sh", "it's one word"],
        rows=10,
        cols=200,
        cwd=str(tmp_path),
        env={"GREETING": "hei ho"},
        tags=["one", "two"],
    )
    assert (created["session"], created["rows"], created["cols"]) == ("custom", 10, 200)
    lines = await tools.until_line("custom", "hei ho-it's one word")
    assert lines[:3] == ["10 200", str(tmp_path), "hei ho-it's one word"]
    details = await tools("list_sessions", session="custom")
    assert details["name"] == "custom"
    assert details["command"].startswith("sh -c ")
    assert (details["rows"], details["cols"], details["cwd"]) == (10, 200, str(tmp_path))
    assert details["pid"] == created["pid"]
    assert details["running"] is True
    assert details["tags"] == ["one", "two"]


async def test_a_command_without_args_is_a_line_for_the_shell(tools: Tools) -> None:
    created = await tools("create_session", command="echo $((6 * 7)) | tr 4 x; exec cat")
    assert (await tools.until(created["session"], "x2"))[0] == "x2"


async def test_without_a_command_the_users_shell_starts(tools: Tools) -> None:
    created = await tools("create_session")
    assert (await tools("list_sessions", session=created["session"]))["shell"] == "bash"


async def test_a_taken_name_is_refused_on_create_and_rename(tools: Tools) -> None:
    await tools("create_session", name="first", command="cat")
    await tools("create_session", name="second", command="cat")
    assert await tools.error("create_session", name="first", command="cat") == TAKEN
    assert (
        await tools.error("manage_session", session="second", action="rename", new_name="first")
        == TAKEN
    )
    assert await listed(tools) == ["first", "second"]


async def test_a_renamed_session_is_found_under_its_new_name_only(tools: Tools) -> None:
    await tools("create_session", name="before", command="cat")
    renamed = await tools("manage_session", session="before", action="rename", new_name="after")
    assert renamed == {"success": True}
    assert await listed(tools) == ["after"]
    assert await tools.error("get_screen", session="before") == NOT_FOUND
    # Detaching succeeds with nobody attached, and the child goes on.
    assert await tools("manage_session", session="after", action="detach") == {"success": True}
    assert (await tools("list_sessions", session="after"))["running"] is True


@pytest.mark.over(*TRANSPORTS)
async def test_list_is_a_bare_array_as_text_and_an_object_as_structured_content(
    tools: Tools,
) -> None:
    await tools("create_session", name="alpha", command="cat")
    await tools("create_session", name="beta", command="cat")
    many = await tools.result("list_sessions")
    assert many.structured_content is not None
    assert set(many.structured_content) == {"sessions"}
    array = json.loads(text_of(many))
    assert array == many.structured_content["sessions"]
    assert [session["name"] for session in array] == ["alpha", "beta"]
    documented = {"name", "pid", "command", "rows", "cols", "running"}
    assert all(documented <= set(session) for session in array)

    one = await tools.result("list_sessions", session="beta")
    assert json.loads(text_of(one)) == one.structured_content
    assert one.structured_content is not None
    assert one.structured_content["name"] == "beta"
    await kill(tools, "alpha", "beta")
    assert text_of(await tools.result("list_sessions")) == "[]"


async def test_a_session_is_called_by_name_id_or_port(tools: Tools, echo: str) -> None:
    details = await tools("list_sessions", session=echo)
    port = details["port"]
    for reference in (echo, details["session_id"], details["session_id"].upper(), port, str(port)):
        assert (await tools("list_sessions", session=reference))["pid"] == details["pid"]
        assert (await tools("get_screen", session=reference, format="plain"))["lines"][0] == "ready"
        assert (await tools("send_input", session=reference, input=""))["success"] is True


async def test_three_sessions_are_independent_and_killing_one_leaves_the_others(
    tools: Tools,
) -> None:
    names = ["one", "two", "three"]
    script = "stty -echo; echo ready; exec cat"
    created = {name: await tools("create_session", name=name, command=script) for name in names}
    for name in names:
        await tools.until_line(name, "ready")
    for name in names:
        ran = await tools(
            "run_command", session=name, input=f"I am {name}", timeout_ms=QUIET, format="plain"
        )
        assert [line for line in ran["screen"]["lines"] if line] == ["ready", f"I am {name}"]
    await kill(tools, "two")
    assert await listed(tools) == ["one", "three"]
    for name in ("one", "three"):
        await tools("send_input", session=name, input="still here\r")
        assert (await tools.until(name, "still here"))[1] == f"I am {name}"

    # A killed session stays readable by its id, and only by it.
    gone = created["two"]
    assert await tools.error("get_screen", session="two") == NOT_FOUND
    assert await tools.error("get_screen", session=gone["port"]) == NOT_FOUND
    screen = await tools("get_screen", session=gone["session_id"], format="plain")
    assert screen["lines"][1] == "I am two"
    assert (await tools("list_sessions", session=gone["session_id"]))["running"] is False
    # Its name is free.
    assert (await tools("create_session", name="two", command="cat"))["pid"] != gone["pid"]


@pytest.mark.over(*TRANSPORTS)
async def test_calls_after_the_process_exited_say_so_and_reading_goes_on(tools: Tools) -> None:
    created = await tools("create_session", name="brief", command="echo last words; exit 3")
    ended = await tools.ended("brief")
    assert (ended["code"], ended["exit_code"]) == ("SESSION_DEAD", 3)
    assert (await tools.failure("send_input", session="brief", input="x"))["code"] == "SESSION_DEAD"
    ran = await tools.failure("run_command", session="brief", input="x", timeout_ms=QUIET)
    assert ran["code"] == "SESSION_DEAD"
    assert (await tools("get_screen", session="brief", format="plain"))["lines"][0] == "last words"
    assert (await tools("get_scrollback", session="brief"))["total"] == 0
    # It stays listed until it is dismissed, or a new one takes its name.
    details = await tools("list_sessions", session="brief")
    assert (details["running"], details["exit_code"], details["pid"]) == (False, 3, created["pid"])
    again = await tools("create_session", name="brief", command="cat")
    assert again["session"] == "brief"
    assert await tools.error("create_session", name="brief", command="cat") == TAKEN
    before = await tools("get_screen", session=created["session_id"], format="plain")
    assert before["lines"][0] == "last words"
    await kill(tools, "brief")
    assert await listed(tools) == []


async def test_a_process_that_exits_during_a_command_is_a_failure_with_its_screen(
    tools: Tools, shell: str
) -> None:
    told = await tools.failure(
        "run_command", session=shell, input="echo bye; exit 7", timeout_ms=10_000, format="plain"
    )
    assert (told["code"], told["exit_code"]) == ("SESSION_DEAD", 7)
    assert "bye" in told["screen"]["lines"]


# --- the agent's loop ----------------------------------------------------------------------


@pytest.mark.over(*TRANSPORTS)
async def test_run_command_returns_the_screen_with_the_output(tools: Tools, shell: str) -> None:
    ran = await tools("run_command", session=shell, input="echo hello", timeout_ms=QUIET)
    assert {"screen", "generation", "output", "exit_code", "cwd", "ended_by"} <= set(ran)
    assert {"lines", "cursor", "rows", "cols", "mode"} <= set(ran["screen"])
    text = ["".join(span["text"] for span in line) for line in ran["screen"]["lines"]]
    assert text[:3] == ["$ echo hello", "hello", "$ "] or text[:3] == ["$ echo hello", "hello", "$"]
    assert ran["screen"]["cursor"]["row"] == 2
    assert ran["screen"]["cursor"]["col"] == 2
    assert ran["screen"]["mode"] == "normal"
    assert ran["output"] == "hello"
    assert (ran["ended_by"], ran["omitted_lines"]) == ("prompt", 0)
    assert (await tools("read_run", run_id=ran["run_id"]))["finished"]
    assert "Enter" in ran["hint"]
    # The result is a screen like any other.
    assert ran["screen"] == await tools("get_screen", session=shell)
    assert ran["generation"] == ran["screen"]["generation"]


async def test_sequential_commands_each_return_the_state_they_left(
    tools: Tools, shell: str
) -> None:
    expected: list[str] = []
    for word, enter in (("one", "\r"), ("two", "\n"), ("three", "")):
        ran = await tools(
            "run_command",
            session=shell,
            input=f"echo {word}{enter}",
            timeout_ms=QUIET,
            format="plain",
        )
        expected += [f"$ echo {word}", word]
        assert ran["screen"]["lines"][: len(expected) + 1] == [*expected, "$"]
        assert (ran["hint"] is None) is bool(enter)


async def test_a_command_that_prints_in_two_bursts_is_waited_for(tools: Tools, shell: str) -> None:
    ran = await tools(
        "run_command",
        session=shell,
        input="echo fir''st; sleep 0.1; echo sec''ond",
        timeout_ms=400,
        format="plain",
    )
    assert ran["screen"]["lines"][1:4] == ["first", "second", "$"]


@pytest.mark.over(*TRANSPORTS)
async def test_a_command_over_its_deadline_is_a_failure_that_carries_the_screen(
    tools: Tools, shell: str
) -> None:
    told = await tools.failure(
        "run_command",
        session=shell,
        input="echo beg''un; sleep 60",
        timeout_ms=30_000,
        max_wait_ms=1000,
        format="plain",
    )
    assert told["code"] == "TIMEOUT"
    assert told["screen"]["lines"][:2] == ["$ echo beg''un; sleep 60", "begun"]
    assert told["generation"] == told["screen"]["generation"]
    # The session goes on: it can be interrupted and used.
    await tools("send_input", session=shell, input="\x03")
    await tools("send_input", session=shell, input="echo us''able\r")
    await tools.until(shell, "\nusable\n")


async def test_send_wait_read_gives_what_run_command_gives(tools: Tools, shell: str) -> None:
    first = await tools(
        "run_command", session=shell, input="clear; echo same", timeout_ms=QUIET, format="plain"
    )
    seen = first["generation"]
    sent = await tools("send_input", session=shell, input="clear; echo same\r")
    assert sent == {"success": True, "generation": seen}
    waited = await tools("await_quiesce", session=shell, timeout_ms=QUIET, last_generation=seen)
    screen = await tools("get_screen", session=shell, format="plain")
    assert waited["generation"] == screen["generation"] > seen
    assert {**screen, "generation": 0} == {**first["screen"], "generation": 0}
    assert screen["lines"][:2] == ["same", "$"]


async def test_base64_input_reaches_the_program_byte_by_byte(tools: Tools, shell: str) -> None:
    sent = base64.b64encode("printf '%s' 'ä€' | od -An -tx1\r".encode()).decode()
    await tools("send_input", session=shell, input=sent, encoding="base64")
    await tools.until(shell, "c3 a4 e2 82 ac")


@pytest.mark.over(*TRANSPORTS)
async def test_waiting_past_a_generation_blocks_until_there_is_new_output(
    tools: Tools, echo: str
) -> None:
    quiet = await tools("await_quiesce", session=echo, timeout_ms=QUIET)
    seen = quiet["generation"]
    # Without last_generation a quiet session is quiet at once; with it, never by itself.
    assert await tools("await_quiesce", session=echo, timeout_ms=QUIET) == quiet
    told = await tools.failure(
        "await_quiesce", session=echo, timeout_ms=0, max_wait_ms=50, last_generation=seen
    )
    assert told["code"] == "TIMEOUT"
    answers: list[Any] = []

    async def wait() -> None:
        answers.append(
            await tools("await_quiesce", session=echo, timeout_ms=0, last_generation=seen)
        )

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        # Other calls are answered meanwhile.
        assert (await tools("get_screen", session=echo))["generation"] == seen
        assert answers == []
        await tools("send_input", session=echo, input="wake up\r")
    assert answers[0]["generation"] > seen


async def test_run_command_takes_last_generation_too(tools: Tools, echo: str) -> None:
    seen = (await tools("await_quiesce", session=echo, timeout_ms=QUIET))["generation"]
    ran = await tools(
        "run_command", session=echo, input="x", timeout_ms=0, last_generation=seen, format="plain"
    )
    assert ran["generation"] > seen
    told = await tools.failure(
        "run_command", session=echo, input="", timeout_ms=0, max_wait_ms=200, last_generation=10**9
    )
    assert told["code"] == "TIMEOUT"


@pytest.mark.over(*TRANSPORTS)
async def test_a_wait_over_its_deadline_is_a_failure(tools: Tools, echo: str) -> None:
    told = await tools.failure("await_quiesce", session=echo, timeout_ms=60_000, max_wait_ms=20)
    assert told["code"] == "TIMEOUT"
    assert "20 ms" in told["message"]


# --- reading -------------------------------------------------------------------------------


async def test_scrollback_is_paged_from_the_oldest_line_and_leaves_out_the_screen(
    tools: Tools,
) -> None:
    # 500 numbers and the empty line the cursor stands in: 24 rows are screen.
    created = await tools("create_session", command="seq 1 500; exec cat")
    name = created["session"]
    assert (await tools.until_line(name, "500"))[-2:] == ["500", ""]

    async def page(**arguments: Any) -> list[str]:
        read = await tools("get_scrollback", session=name, format="plain", **arguments)
        assert read["total"] == 477
        lines: list[str] = read["lines"]
        return lines

    def numbers(first: int, last: int) -> list[str]:
        return [str(number) for number in range(first, last + 1)]

    assert await page() == numbers(1, 100)
    assert await page(offset=100) == numbers(101, 200)
    assert await page(offset=470, limit=100) == numbers(471, 477)
    assert await page(offset=10, limit=3) == ["11", "12", "13"]
    assert await page(limit=0) == []
    assert await page(offset=477) == []
    assert await page(offset=10**30) == []
    assert await page(limit=10_000) == numbers(1, 477)
    styled = await tools("get_scrollback", session=name, offset=1, limit=2)
    assert styled["lines"] == [[{"text": "2"}], [{"text": "3"}]]
    assert styled["total"] == 477

    # The budget keeps the first lines that fit; an unchanged session sends none.
    short = await tools("get_scrollback", session=name, format="plain", max_chars=300)
    assert short["lines"] == numbers(1, len(short["lines"]))
    assert len(short["lines"]) + short["omitted_lines"] == 100
    assert len(compact(short)) <= 300
    assert f'"offset": {len(short["lines"])}' in short["hint"]
    same = await tools("get_scrollback", session=name, since_generation=styled["generation"])
    assert (same["lines"], same["unchanged"], same["total"]) == ([], True, 477)


async def test_plain_lines_are_text_and_styled_lines_are_spans(tools: Tools) -> None:
    script = (
        r"printf '\033[1;31mred\033[0m \033[3;4;38;2;1;2;3;48;5;200mfancy\033[0m "
        r"\033]8;;http://example.com/\033\\link\033]8;;\033\\ plain\n"
        r"\033]2;a title\007done'; exec cat"
    )
    created = await tools("create_session", command=script)
    name = created["session"]
    assert (await tools.until(name, "done"))[0] == "red fancy link plain"
    styled = await tools("get_screen", session=name)
    assert styled["lines"][0] == [
        {"text": "red", "fg": "red", "bold": True},
        {"text": " "},
        {
            "text": "fancy",
            "fg": {"r": 1, "g": 2, "b": 3},
            "bg": "color200",
            "italic": True,
            "underline": True,
        },
        {"text": " "},
        {"text": "link", "link": "http://example.com/"},
        {"text": " plain"},
    ]
    plain = await tools("get_screen", session=name, format="plain")
    assert {**plain, "lines": 0} == {**styled, "lines": 0}
    assert len(plain["lines"]) == len(styled["lines"]) == 24
    assert (styled["cursor"]["row"], styled["cursor"]["col"]) == (1, 4)
    assert styled["title"] == "a title"
    assert styled["mode"] == "normal"


async def test_a_full_screen_program_shows_as_mode_alt(tools: Tools) -> None:
    script = r"echo below; printf '\033[?1049h\033[2;3Hinside'; read _; printf '\033[?1049l'; cat"
    created = await tools("create_session", command=script, rows=5, cols=20)
    name = created["session"]
    lines = await tools.until(name, "inside")
    assert [line.strip() for line in lines] == ["", "inside", "", "", ""]
    screen = await tools("get_screen", session=name)
    assert (screen["mode"], screen["rows"], screen["cols"]) == ("alt", 5, 20)
    await tools("send_input", session=name, input="\r")
    await tools.until(name, "below")
    assert (await tools("get_screen", session=name))["mode"] == "normal"


async def test_an_unchanged_screen_and_a_budget_save_what_is_sent(tools: Tools, echo: str) -> None:
    await tools("send_input", session=echo, input="alpha\rbeta\rgamma\r")
    await tools.until_line(echo, "gamma")
    screen = await tools("get_screen", session=echo, format="plain")
    assert screen.get("unchanged", False) is False
    same = await tools("get_screen", session=echo, since_generation=screen["generation"])
    assert (same["lines"], same["unchanged"]) == ([], True)
    assert same["cursor"] == screen["cursor"]
    older = await tools(
        "get_screen", session=echo, format="plain", since_generation=screen["generation"] - 1
    )
    assert older == screen
    await tools("send_input", session=echo, input=("x" * 79 + "\r") * 20 + "all\r")
    await tools.until_line(echo, "all")
    for form in ("plain", "styled"):
        short = await tools("get_screen", session=echo, format=form, max_chars=800)
        assert len(short["lines"]) == 24 - short["omitted_lines"] < 24
        assert len(compact(short)) <= 800
        assert "max_chars" in short["hint"]
    ran = await tools(
        "run_command", session=echo, input="x", timeout_ms=QUIET, format="plain", max_chars=900
    )
    assert ran["screen"]["omitted_lines"] == 24 - len(ran["screen"]["lines"]) > 0


async def test_very_large_output_is_read_whole(tools: Tools) -> None:
    script = "seq -f '%0200.0f' 1 3000; echo end; exec cat"
    created = await tools("create_session", command=script, rows=1000, cols=200)
    name = created["session"]
    lines = await tools.until_line(name, "end")
    assert lines[-3:] == [f"{3000:0200}", "end", ""]
    assert 100 < len(lines) < 150, "what fits"
    whole = 300_000
    lines = (await tools("get_screen", session=name, format="plain", max_chars=whole))["lines"]
    assert len(lines) == 1000
    styled = await tools("get_screen", session=name, max_chars=whole)
    assert [line[0]["text"] for line in styled["lines"][:-1]] == lines[:-1]
    scrollback = await tools(
        "get_scrollback",
        session=name,
        format="plain",
        offset=1000,
        limit=1000,
        max_chars=whole,
    )
    assert scrollback["total"] == 2002
    assert scrollback["lines"][-1] == f"{2000:0200}"


async def test_ten_thousand_full_lines_of_scrollback_arrive_in_bounded_pages(tools: Tools) -> None:
    created = await tools("create_session", command="seq -f '%080.0f' 1 10100; echo end; exec cat")
    name = created["session"]
    await tools.until_line(name, "end")
    lines: list[str] = []
    while True:
        page = await tools(
            "get_scrollback", session=name, format="plain", limit=10_000, offset=len(lines)
        )
        assert len(compact(page)) <= 30_000
        lines += page["lines"]
        assert len(lines) + page.get("omitted_lines", 0) == min(page["total"], 10_000)
        if "omitted_lines" not in page:
            break
    numbers = [int(line) for line in lines]
    assert len(lines) > 9_000
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.parametrize(
    "text",
    [
        "naïve Ærøskøbing",
        "日本語 中文 한국어",
        "e\u0301 n\u0303 a\u0308\u0323",
        "👍 👩\u200d👩\u200d👧 🏳️‍🌈 🇳🇴",
        "مرحبا שלום",
    ],
    ids=["latin", "wide", "combining", "emoji", "right-to-left"],
)
async def test_unicode_goes_in_and_comes_out_unchanged(tools: Tools, echo: str, text: str) -> None:
    await tools("send_input", session=echo, input=f"{text}\r")
    assert (await tools.until(echo, text))[1] == text
    styled = await tools("get_screen", session=echo)
    assert "".join(span["text"] for span in styled["lines"][1]) == text


async def test_a_wide_character_takes_two_columns(tools: Tools) -> None:
    created = await tools("create_session", command="printf '日本'; exec cat")
    await tools.until(created["session"], "日本")
    assert (await tools("get_screen", session=created["session"]))["cursor"]["col"] == 4


@pytest.mark.over(*TRANSPORTS)
async def test_concurrent_calls_to_one_session_do_not_corrupt_each_other(
    tools: Tools, echo: str
) -> None:
    words = [f"word-{number:02}-{'x' * 40}" for number in range(20)]

    async def send(word: str) -> None:
        await tools("send_input", session=echo, input=f"{word}\r")

    async def read() -> None:
        screen = await tools("get_screen", session=echo, format="plain")
        assert len(screen["lines"]) == 24

    async with anyio.create_task_group() as group:
        for word in words:
            group.start_soon(send, word)
            group.start_soon(read)
    lines = await tools.until(echo, *words)
    assert sorted(line for line in lines if line) == ["ready", *words]


# --- refusals ------------------------------------------------------------------------------


@pytest.mark.over(*TRANSPORTS)
async def test_an_unknown_tool_is_method_not_found(tools: Tools) -> None:
    assert await tools.error("no_such_tool") == (-32601, "UNKNOWN_OPERATION")
    assert await tools.error("wsh_list_sessions") == (-32601, "UNKNOWN_OPERATION")
    # An operation that no toolset here offers is none either.
    assert await tools.error("stop") == (-32601, "UNKNOWN_OPERATION")
    with pytest.raises(MCPError, match=r"did you mean get_screen\? there are"):
        await tools.result("get_screan")


@pytest.mark.over(*TRANSPORTS)
async def test_each_kind_of_refusal_is_told_over_every_wire(tools: Tools, echo: str) -> None:
    assert await tools.error("send_input", session=echo) == INVALID
    assert await tools.error("create_session", rows=0) == INVALID
    assert await tools.error("create_session", name=echo, command="cat") == TAKEN
    assert await tools.error("get_screen", session="nobody") == NOT_FOUND
    assert await tools.error("get_screen", session=["list"]) == INVALID


REFUSED: dict[str, list[dict[str, Any]]] = {
    "manage_session": [
        {},
        {"action": "explode"},
        {"action": "rename"},
        {"action": "kill", "new_name": "x"},
        {"action": "rename", "new_name": "20000"},
        {"action": "rename", "new_name": "a/b"},
    ],
    "send_input": [
        {},
        {"input": 5},
        {"input": "x", "encoding": "utf16"},
        {"input": "no base64!", "encoding": "base64"},
        {"input": "abc", "encoding": "base64"},
        {"input": "é", "encoding": "base64"},
        {"input": "x", "surplus": 1},
    ],
    "get_screen": [{"format": "html"}, {"max_chars": 0}, {"since_generation": -1}],
    "get_scrollback": [
        {"offset": -1},
        {"limit": -1},
        {"limit": "many"},
        {"limit": 1.5},
        {"limit": True},
    ],
    "await_quiesce": [
        {"timeout_ms": -1},
        {"max_wait_ms": -1},
        {"last_generation": "x"},
    ],
    "run_command": [
        {},
        {"input": "x", "timeout_ms": -1},
        {"input": "x", "format": "html"},
        {"input": ["x"]},
    ],
}


@pytest.mark.parametrize("tool", REFUSED)
@pytest.mark.over(*ONE)
async def test_bad_parameters_are_invalid_params(tools: Tools, tool: str) -> None:
    created = await tools("create_session", name="target", command="cat")
    for arguments in REFUSED[tool]:
        assert await tools.error(tool, session="target", **arguments) == INVALID, arguments
    # None of them did anything.
    screen = await tools("get_screen", session="target", format="plain")
    assert "".join(screen["lines"]) == ""
    assert (await tools("list_sessions", session="target"))["pid"] == created["pid"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "12345"},
        {"name": "deadbeef"},
        {"name": "a/b"},
        {"name": ""},
        {"name": "two words"},
        {"name": "-flag"},
        {"name": "x" * 65},
        {"name": "new\nline"},
        {"name": 5},
        {"rows": 0},
        {"rows": -5},
        {"rows": 1001},
        {"cols": 0},
        {"cols": 2001},
        {"rows": "tall"},
        {"cwd": "/no/such/folder"},
        {"cwd": "/etc/passwd"},
        {"command": "no-such-program-here"},
        {"command": "no-such-program-here --flag"},
        {"command": "/no/such/program", "args": []},
        {"command": "  "},
        {"args": ["x"]},
        {"command": "cat", "args": "x"},
        {"command": "cat", "args": ["nul\0byte"]},
        {"env": {"A=B": "x"}},
        {"env": {"": "x"}},
        {"env": {"A": 1}},
        {"env": ["A"]},
        {"sandbox": "nope"},
        {"color": "blue"},
    ],
    ids=json.dumps,
)
@pytest.mark.over(*ONE)
async def test_a_session_that_cannot_be_is_refused_and_nothing_is_spawned(
    tools: Tools, arguments: dict[str, Any]
) -> None:
    assert await tools.error("create_session", **arguments) == INVALID
    assert await listed(tools) == []


@pytest.mark.parametrize("session", ["nobody", "abcdef01", 19, "20999", "", "🐚", "../etc"])
@pytest.mark.over(*ONE)
async def test_a_session_that_is_not_there_is_not_found_by_any_tool(
    tools: Tools, session: str | int
) -> None:
    calls: dict[str, dict[str, Any]] = {
        "list_sessions": {},
        "manage_session": {"action": "kill"},
        "send_input": {"input": "x"},
        "get_screen": {},
        "get_scrollback": {},
        "await_quiesce": {},
        "run_command": {"input": "x"},
    }
    for tool, arguments in calls.items():
        assert await tools.error(tool, session=session, **arguments) == NOT_FOUND


@pytest.mark.parametrize("tool", sorted(DOCUMENTED - {"create_session", "list_sessions"}))
@pytest.mark.over(*ONE)
async def test_a_missing_or_misshapen_session_is_invalid(tools: Tools, tool: str) -> None:
    needed: dict[str, Any] = {"manage_session": {"action": "kill"}}.get(tool, {})
    needed |= {"input": "x"} if tool in ("send_input", "run_command") else {}
    assert await tools.error(tool, **needed) == INVALID
    for session in (["list"], {"name": "x"}, True, 1.5):
        assert await tools.error(tool, session=session, **needed) == INVALID


async def test_null_means_not_given(tools: Tools) -> None:
    created = await tools("create_session", command="cat", name=None, rows=None, env=None)
    assert created["rows"] == 24


@pytest.mark.over(*TRANSPORTS)
async def test_ten_megabytes_of_input_are_refused_and_the_daemon_goes_on(
    tools: Tools, echo: str
) -> None:
    huge = "x" * 10_000_000
    assert await tools.error("send_input", session=echo, input=huge) == INVALID
    assert await tools.error("send_input", session=echo, input=huge, encoding="base64") == INVALID
    assert await tools.error("run_command", session=echo, input=huge) == INVALID
    await tools("send_input", session=echo, input="still here\r")
    assert (await tools.until(echo, "still here"))[1] == "still here"


async def test_a_folder_whose_name_is_not_text_breaks_no_list(tools: Tools, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(folder)
    try:
        created = await tools(
            "create_session", cwd=str(tmp_path), command="cd ./*; echo here; exec cat"
        )
        await tools.until(created["session"], "here")
        details = await tools("list_sessions", session=created["session"])
        assert details["cwd"].startswith(str(tmp_path))
        assert await listed(tools) == [created["session"]]
    finally:
        await kill(tools, created["session"])
        shutil.rmtree(folder)
