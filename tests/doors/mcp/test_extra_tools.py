"""wait_for, read_run, screen_at and export_recording over every transport."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from doors.conftest import EACH_ONCE, Tools
from doors.wire import check_schema

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

TOOLSETS = "terminal,shell,extra"

INVALID = "INVALID_INPUT"
NOT_FOUND = "SESSION_NOT_FOUND"


async def test_both_tools_are_listed_and_read_only(tools: Tools) -> None:
    for name in ("wait_for", "read_run"):
        tool = tools.listed[name]
        check_schema(tool.input_schema)
        check_schema(tool.output_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
    offered = tools.listed["wait_for"].input_schema["properties"]
    assert {"session", "sessions", "match", "text", "regex", "quiet_ms", "run_id"} <= set(offered)
    assert {"state", "exit", "cursor", "after_generation", "timeout_ms"} <= set(offered)
    assert (offered["timeout_ms"]["default"], offered["match"]["default"]) == (30_000, "any")
    assert tools.listed["wait_for"].input_schema.get("required", []) == []
    paged = tools.listed["read_run"].input_schema
    assert paged["required"] == ["run_id"]


async def test_tool_that_two_toolsets_have_is_one(tools: Tools) -> None:
    assert set(tools.listed) >= {"create_session", "start_session", "list_sessions", "run_command"}
    assert len(tools.listed) == 15 + 8 + 19 - 2


async def test_earlier_screen_and_recording(tools: Tools, echo: str) -> None:
    listed = tools.listed
    for name, read_only in (("screen_at", True), ("export_recording", False)):
        annotations = listed[name].annotations
        assert annotations is not None
        assert annotations.read_only_hint is read_only
        check_schema(listed[name].input_schema)
        check_schema(listed[name].output_schema)
    before = await tools("get_screen", session=echo, format="plain")
    await tools("send_input", session=echo, input="and more\r")
    await tools("wait_for", session=echo, text="and more")
    then = await tools("screen_at", session=echo, generation=before["generation"])
    assert then["lines"] == before["lines"]
    recorded = await tools("export_recording", session=echo, input=True)
    assert '"o","and more' in recorded["recording"]
    assert '"i"' not in recorded["recording"], "echo was off there"


async def test_search_finds_what_was_shown_and_when(tools: Tools, echo: str) -> None:
    check_schema(tools.listed["search"].input_schema)
    check_schema(tools.listed["search"].output_schema)
    await tools("send_input", session=echo, input="a rare word\r")
    await tools("wait_for", session=echo, text="a rare word")
    found = await tools("search", text="rare word", session=echo)
    hit = found["hits"][0]
    assert (hit["session"], hit["text"][hit["start"] : hit["end"]]) == (echo, "rare word")
    then = await tools("screen_at", session=echo, generation=hit["generation"])
    assert hit["text"] in then["lines"]
    assert found["complete"] is True


async def test_screen_is_seen_as_what_it_shows(tools: Tools) -> None:
    drawn = r"printf '+-- Sure? --+\n| [ OK ]    |\n+-----------+\n\033[1mbold\033[0m'; exec cat"
    session = (await tools("create_session", command=drawn))["session"]
    await tools("wait_for", session=session, text="bold")
    for name in ("snapshot", "get_cells", "screen_hash", "screen_diff"):
        annotations = tools.listed[name].annotations
        assert annotations is not None
        assert annotations.read_only_hint is True
        check_schema(tools.listed[name].input_schema)
        check_schema(tools.listed[name].output_schema)
    seen = await tools("snapshot", session=session)
    found = {element["ref"]: element for element in seen["elements"]}
    assert (found["box1"]["text"], found["button1"]["text"]) == ("Sure?", "OK")
    assert found["button1"]["inside"] == "box1"
    assert seen["lines"][3] == "bold"
    [run] = (await tools("get_cells", session=session, text="bold"))["runs"]
    assert run == {"text": "bold", "bold": True, "row": 3, "col": 0, "width": 4}
    hashed = await tools("screen_hash", session=session)
    assert hashed["text_hash"] == seen["text_hash"]
    await tools("send_input", session=session, input="more\r")
    await tools("wait_for", session=session, text="more")
    changed = await tools("screen_diff", session=session, generation=seen["generation"])
    assert changed["changes"][0]["before"] == "bold"
    assert changed["changes"][0]["after"] == "boldmore"
    refused = await tools.failure("mouse", session=session, ref="button1")
    assert "mouse" in refused["message"]


async def test_file_is_put_edited_and_read(tools: Tools, tmp_path: Path) -> None:
    session = (await tools("create_session", cwd=str(tmp_path)))["session"]
    await tools("wait_for", session=session, state=["prompt"])
    for name in ("put_file", "get_file", "edit_file"):
        check_schema(tools.listed[name].input_schema)
        check_schema(tools.listed[name].output_schema)
    written = await tools("put_file", session=session, path="a.txt", content="one\n", mode="600")
    assert (written["success"], written["size"], written["mode"]) == (True, 4, "600")
    edited = await tools("edit_file", session=session, path="a.txt", old="one", new="two")
    assert edited["replacements"] == 1
    read = await tools("get_file", session=session, path="a.txt")
    assert (read["content"], read["sha256"]) == ("two\n", edited["sha256"])
    assert (tmp_path / "a.txt").read_text() == "two\n"
    assert (
        await tools.refused("edit_file", session=session, path="a.txt", old="x", new="") == INVALID
    )
    failed = await tools.failure("get_file", session=session, path="missing")
    assert failed["code"] == "FAILED"


async def test_text_regex_cursor_and_quiet(tools: Tools, echo: str) -> None:
    found = await tools("wait_for", session=echo, text="ready")
    assert (found["matched"], found["session"], found["condition"]) == (True, echo, "text")
    assert found["match"] == "ready"
    assert (await tools("wait_for", session=echo, cursor=[1, 0]))["condition"] == "cursor"
    assert (await tools("wait_for", session=echo, quiet_ms=50))["condition"] == "quiet"
    await tools("send_input", session=echo, input="port 8080\r")
    regex = await tools("wait_for", session=echo, regex=r"\d{4}")
    assert (regex["condition"], regex["match"]) == ("regex", "8080")


async def test_old_match_does_not_count_after_a_generation(tools: Tools, echo: str) -> None:
    seen = (await tools("get_screen", session=echo))["generation"]
    answers: list[Any] = []

    async def wait() -> None:
        answers.append(await tools("wait_for", session=echo, text="ready", after_generation=seen))

    late = await tools("wait_for", session=echo, text="ready", after_generation=seen, timeout_ms=50)
    assert late["matched"] is False
    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        # The wait has begun when a later call is answered.
        assert (await tools("get_screen", session=echo))["generation"] == seen
        assert answers == []
        await tools("send_input", session=echo, input="and now ready\r")
    assert answers[0]["matched"] is True
    assert answers[0]["generation"] > seen


async def test_deadline_is_a_normal_result_with_the_state(tools: Tools, echo: str) -> None:
    await tools("wait_for", session=echo, state=["needs_input"])
    late = await tools("wait_for", session=echo, text="never", timeout_ms=20)
    assert (late["matched"], late["session"]) == (False, echo)
    assert late["state"]["state"] == "needs_input"


async def test_exit_and_state_exited(tools: Tools) -> None:
    created = await tools("create_session", command="echo bye; exit 3")
    found = await tools("wait_for", session=created["session"], exit=True)
    assert found["condition"] == "exit"
    state = await tools("wait_for", session=created["session_id"], state=["exited"])
    assert state["state"]["evidence"] == ["exit code 3"]


async def test_any_and_all_of_several_sessions(tools: Tools) -> None:
    for name in ("one", "two"):
        await tools("create_session", name=name, command="stty -echo; echo ready; exec cat")
    both = ["one", "two"]
    assert (await tools("wait_for", sessions=both, match="all", text="ready"))["matches"] == both
    await tools("send_input", session="two", input="hello\r")
    assert (await tools("wait_for", sessions=both, text="hello"))["session"] == "two"
    some = await tools("wait_for", sessions=both, match="all", text="hello", timeout_ms=50)
    assert (some["matched"], some["matches"], some["session"]) == (False, ["two"], "one")


async def test_run_is_waited_for_and_read_in_pages(tools: Tools) -> None:
    port = (await tools("start_session", shell="bash"))["port"]
    late = await tools("run", port=port, command="seq 1 300; read x; (exit 4)", max_chars=60)
    assert (late["status"], late["omitted_lines"] > 0) == ("timeout", True)
    run_id = late["run_id"]
    # What it waits for, and what is not shown, are both told.
    left_out = f"{late['omitted_lines']} lines are left out of the middle"
    reading = f'read those lines with read_run {{"run_id": "{run_id}"}}'
    assert late["hint"] == f"{late['state']['hint']}; {left_out}; {reading}"
    assert (await tools("read_run", run_id=run_id, limit=1))["finished"] is False
    await tools("send", port=port, text="")
    waited = await tools("wait_for", run_id=run_id)
    assert (waited["condition"], waited["run"]["exit_code"]) == ("run", 4)
    page = await tools("read_run", run_id=run_id, offset=100, limit=2)
    assert (page["output"], page["offset"], page["lines"]) == ("101\n102", 100, 2)
    assert (page["finished"], page["exit_code"]) == (True, 4)
    assert page["total_lines"] >= 300


async def test_something_is_found_in_a_run_without_paging(tools: Tools) -> None:
    port = (await tools("start_session", shell="bash"))["port"]
    ran = await tools("run", port=port, command="seq 1 3000; (exit 4)", max_chars=60)
    run_id = ran["run_id"]
    found = await tools("read_run", run_id=run_id, find="299", context=1, max_matches=3)
    assert [one["line"] for one in found["matches"]] == [298, 1298, 2298]
    assert found["matches"][1] == {
        "line": 1298,
        "text": "1299",
        "before": ["1298"],
        "after": ["1300"],
    }
    assert (found["total_lines"], found["exit_code"], found["next_offset"]) == (3000, 4, 2989)
    more = await tools("read_run", run_id=run_id, find="299", offset=found["next_offset"])
    assert [one["text"] for one in more["matches"]] == [str(n) for n in range(2990, 3000)]
    assert "next_offset" not in more
    by_regex = await tools("read_run", run_id=run_id, find="^(1|3)000$", regex=True)
    assert [one["line"] for one in by_regex["matches"]] == [999, 2999]
    none = await tools("read_run", run_id=run_id, find="(a*)*nothing", regex=True)
    assert (none["matches"], none["lines"]) == ([], 0)
    for wanted in ({"find": "(?<=x)y", "regex": True}, {"find": "a\nb"}, {"find": ""}):
        assert await tools.refused("read_run", run_id=run_id, **wanted) == INVALID, wanted


async def test_bad_input_is_invalid(tools: Tools, echo: str) -> None:
    refused: list[dict[str, Any]] = [
        {"session": echo},
        {"text": "x"},
        {"session": echo, "text": "x", "regex": "y"},
        {"session": echo, "regex": "["},
        {"session": echo, "text": ""},
        {"session": echo, "cursor": [1, 2, 3]},
        {"session": echo, "state": []},
        {"session": echo, "state": ["asleep"]},
        {"session": echo, "run_id": "nope"},
        {"session": echo, "text": "x", "match": "some"},
        {"session": echo, "text": "x", "timeout_ms": -1},
        {"session": echo, "text": "x", "timeout_ms": "soon"},
        {"session": echo, "text": "x", "port": 1},
    ]
    for arguments in refused:
        assert await tools.refused("wait_for", **arguments) == INVALID, arguments
    assert await tools.refused("wait_for", sessions=[echo, "nobody"], text="x") == NOT_FOUND
    for arguments in ({}, {"run_id": "nope"}, {"run_id": 5}, {"run_id": "x", "limit": 0}):
        assert await tools.refused("read_run", **arguments) == INVALID, arguments
