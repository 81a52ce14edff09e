"""Overlays, panels, keys and screen mode as tools, over every transport."""

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import CallToolResult, TextContent

from conftest import Daemon

from doors.conftest import EACH_ONCE, TRANSPORTS, Tools, connect, text_of
from doors.wire import GREETING, Line, check_fits, check_schema, local_line

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

TOOLSETS = "terminal,extra"

INVALID = (-32602, "INVALID_INPUT")
NO_SESSION = (-32602, "SESSION_NOT_FOUND")
NO_OVERLAY = (-32602, "OVERLAY_NOT_FOUND")
NO_PANEL = (-32602, "PANEL_NOT_FOUND")
KINDS = pytest.mark.parametrize("kind", ["overlay", "panel"])
NOT_FOUND = {"overlay": NO_OVERLAY, "panel": NO_PANEL}

SIZES = """
import os, signal
def tell(*_):
    size = os.get_terminal_size()
    os.write(1, b"%dx%d\\n" % (size.lines, size.columns))
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    signal.pause()
"""

PRINTF = 'stty -echo; echo ready; while IFS= read -r line; do printf "$line"; done'


async def listing(tools: Tools, kind: str, session: str) -> list[Any]:
    """Return all of a kind: a bare array as text, an object as structured content."""
    result = await tools.result(kind, session=session, list=True)
    assert not result.is_error
    listed = json.loads(text_of(result))
    assert isinstance(listed, list)
    assert result.structured_content == {f"{kind}s": listed}
    check_fits(result.structured_content, tools.listed[kind].output_schema)
    return listed


async def texts(tools: Tools, kind: str, session: str) -> list[str]:
    return [one["spans"][0]["text"] for one in await listing(tools, kind, session)]


async def put(tools: Tools, kind: str, session: str, text: str, **more: Any) -> Any:
    return await tools(kind, session=session, spans=[{"text": text}], **more)


class Person:
    """Somebody at `nacre attach`, by the socket's own lines."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def type(self, data: bytes) -> None:
        self._line.send({"input": base64.b64encode(data).decode()})

    def take_or_give_control(self) -> None:
        self._line.send({"control": True})

    def leave(self) -> None:
        """Go, and return when the daemon has noticed."""
        self._line.connection.shutdown(socket.SHUT_WR)
        self._line.reader.read()

    def until(self, kind: str) -> Any:
        while kind not in (message := self._line.read()):
            assert "error" not in message, message
        return message[kind]


@contextmanager
def attached(daemon: Daemon, session: str) -> Iterator[Person]:
    with local_line(daemon.env) as line:
        line.send({**GREETING, "door": "attach", "person": True, "session": session})
        assert "error" not in line.read()
        person = Person(line)
        person.until("snapshot")
        yield person


# --- what the tools say of themselves ------------------------------------------------------


async def test_the_documents_parameters_are_offered(tools: Tools) -> None:
    documented = {
        "overlay": "session id x y z width height background spans list",
        "remove_overlay": "session id",
        "panel": "session id position height z background spans list",
        "remove_panel": "session id",
        "input_mode": "session mode focus unfocus",
        "screen_mode": "session action",
    }
    for name, parameters in documented.items():
        tool = tools.listed[name]
        assert tool.output_schema is not None
        check_schema(tool.input_schema)
        check_schema(tool.output_schema)
        assert set(parameters.split()) <= set(tool.input_schema["properties"])
        assert tool.input_schema["required"] == ["session"]
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False


# --- overlays and panels -------------------------------------------------------------------


@KINDS
async def test_created_listed_updated_read_back_and_removed(
    tools: Tools, echo: str, kind: str
) -> None:
    assert await listing(tools, kind, echo) == []
    spans = [{"text": "one", "fg": "red", "bold": True}, {"text": "two", "id": "b"}]
    made = await tools(kind, session=echo, spans=spans)
    assert made["spans"] == spans
    assert await listing(tools, kind, echo) == [made]
    changed = await tools(kind, session=echo, id=made["id"], spans=[{"text": "three"}])
    fits = {"width": 5} if kind == "overlay" else {}  # it is as large as its text
    assert changed == {**made, "spans": [{"text": "three"}], **fits}
    assert await listing(tools, kind, echo) == [changed]
    removed = await tools(f"remove_{kind}", session=echo, id=made["id"])
    assert removed == {"success": True}
    assert await listing(tools, kind, echo) == []


async def test_all_of_an_overlays_parameters_are_stored(tools: Tools, echo: str) -> None:
    given = {
        "x": 5,
        "y": 6,
        "z": -7,
        "width": 30,
        "height": 4,
        "background": "blue",
        "focusable": False,
        "spans": [{"text": "a\nb"}],
    }
    made = await tools("overlay", session=echo, **given)
    assert {name: made[name] for name in given} == given
    assert made["screen_mode"] == "normal"
    moved = await tools("overlay", session=echo, id=made["id"], x=0, y=0, z=9)
    assert moved == {**made, "x": 0, "y": 0, "z": 9}


async def test_all_of_a_panels_parameters_are_stored(tools: Tools, echo: str) -> None:
    given = {
        "position": "top",
        "height": 3,
        "z": 4,
        "background": {"bg": "#102030"},
        "focusable": False,
        "spans": [{"text": "a"}],
    }
    made = await tools("panel", session=echo, **given)
    assert {name: made[name] for name in given} == given
    assert (made["visible"], made["screen_mode"]) == (True, "normal")
    moved = await tools("panel", session=echo, id=made["id"], position="bottom", height=1, z=0)
    assert moved == {**made, "position": "bottom", "height": 1, "z": 0}


@KINDS
async def test_one_is_removed_and_the_others_remain_or_all_are_cleared(
    tools: Tools, echo: str, kind: str
) -> None:
    other = "panel" if kind == "overlay" else "overlay"
    await put(tools, other, echo, "other")
    made = [await put(tools, kind, echo, text) for text in ("a", "b", "c")]
    await tools(f"remove_{kind}", session=echo, id=made[1]["id"])
    assert await texts(tools, kind, echo) == ["a", "c"]
    assert await tools.error(f"remove_{kind}", session=echo, id=made[1]["id"]) == NOT_FOUND[kind]
    assert await tools(f"remove_{kind}", session=echo) == {"success": True}
    assert await tools(f"remove_{kind}", session=echo) == {"success": True}
    assert await listing(tools, kind, echo) == []
    assert await texts(tools, other, echo) == ["other"]


@KINDS
async def test_unknown_sessions_and_elements_are_refused(
    tools: Tools, echo: str, kind: str
) -> None:
    stranger = await tools("create_session", command="cat")
    made = await put(tools, kind, echo, "here")
    for tool in (kind, f"remove_{kind}"):
        assert await tools.error(tool, session="nobody") == NO_SESSION
        assert await tools.error(tool, session=echo, id="nothing") == NOT_FOUND[kind]
        assert (
            await tools.error(tool, session=stranger["session"], id=made["id"]) == NOT_FOUND[kind]
        )
    assert await tools.error(kind, session="nobody", list=True) == NO_SESSION
    assert await listing(tools, kind, echo) == [made]


@KINDS
async def test_list_ignores_all_other_parameters(tools: Tools, echo: str, kind: str) -> None:
    made = await put(tools, kind, echo, "one")
    result = await tools.result(
        kind, session=echo, list=True, id="nothing", spans=[{"text": "two"}], z=9
    )
    assert json.loads(text_of(result)) == [made]


@KINDS
async def test_a_background_is_returned_as_it_was_given(tools: Tools, echo: str, kind: str) -> None:
    made = await tools(kind, session=echo)
    for background in (
        "blue",
        "Bright-Red",
        "color200",
        "#A0b0C0",
        {"bg": "blue"},
        {"bg": {"r": 1, "g": 2, "b": 3}},
    ):
        changed = await tools(kind, session=echo, id=made["id"], background=background)
        assert changed == {**made, "background": background}
        assert await listing(tools, kind, echo) == [changed]


@KINDS
async def test_colours_are_taken_in_all_forms_and_what_is_none_is_explained(
    tools: Tools, echo: str, kind: str
) -> None:
    spans = [
        {"text": "x", "fg": "red", "bg": "bright_black"},
        {"text": "x", "fg": "color0", "bg": "color255"},
        {"text": "x", "fg": "#000000", "bg": "#FFFFFF"},
        {"text": "x", "fg": {"r": 0, "g": 128, "b": 255}},
    ]
    assert (await tools(kind, session=echo, spans=spans))["spans"] == spans
    for wrong in (
        {"spans": [{"text": "x", "fg": "reddish"}]},
        {"background": "reddish"},
        {"background": {"bg": "#12"}},
        {"writes": [{"row": 0, "col": 0, "text": "x", "bg": "color256"}]},
    ):
        with pytest.raises(MCPError) as refused:
            await tools.result(kind, session=echo, **wrong)
        assert refused.value.error.code == -32602
        assert isinstance(refused.value.error.data, dict)
        assert refused.value.error.data["code"] == "INVALID_INPUT"
        message = refused.value.error.message
        for allowed in ("black", "white", "bright_red", "color0 to color255", "#rrggbb", "{r, g"):
            assert allowed in message


@KINDS
async def test_wrong_parameters_are_refused_and_change_nothing(
    tools: Tools, echo: str, kind: str
) -> None:
    made = await put(tools, kind, echo, "one")
    assert await tools.error(kind) == INVALID
    own: list[dict[str, Any]]
    if kind == "overlay":
        own = [{"x": -1}, {"y": -1}, {"x": 10**9}, {"width": 0}, {"position": "top"}, {"y": "one"}]
    else:
        own = [{"position": "left"}, {"position": "Top"}, {"x": 1}, {"width": 3}]
    wrong: list[dict[str, Any]] = [
        {"height": 0},
        {"height": -1},
        {"height": 10**6},
        {"z": "high"},
        {"z": 2**40},
        {"spans": "text"},
        {"spans": [{"no": "text"}]},
        {"spans": [{"text": "x", "blink": True}]},
        {"spans": [{"text": "x", "fg": {"r": 256, "g": 0, "b": 0}}]},
        {"background": 5},
        {"background": {"bg": "red", "fg": "blue"}},
        {"update": [{"id": "nobody", "text": "x"}]},
        {"update": [{"text": "x"}]},
        {"writes": [{"row": -1, "col": 0, "text": "x"}]},
        {"writes": [{"row": 0, "col": 10**30, "text": "x"}]},
        {"list": "yes"},
        {"unknown": 1},
    ]
    for given in own + wrong:
        assert await tools.error(kind, session=echo, **given) == INVALID
        assert await tools.error(kind, session=echo, id=made["id"], **given) == INVALID
    for given in ({"id": 5}, {"other": "x"}):
        assert await tools.error(f"remove_{kind}", session=echo, **given) == INVALID
    assert await tools.error(f"remove_{kind}") == INVALID
    assert await listing(tools, kind, echo) == [made]


@KINDS
async def test_single_spans_are_patched_and_cells_written(
    tools: Tools, echo: str, kind: str
) -> None:
    spans = [{"text": "CPU ", "bold": True}, {"text": "10 %", "id": "cpu", "fg": "green"}]
    made = await tools(kind, session=echo, spans=spans)
    hot = await tools(
        kind, session=echo, id=made["id"], update=[{"id": "cpu", "text": "99 %", "fg": "red"}]
    )
    assert hot["spans"] == [spans[0], {"text": "99 %", "id": "cpu", "fg": "red"}]
    writes = [{"row": 0, "col": 2, "text": "x"}, {"row": 99, "col": 9999, "text": "outside"}]
    dotted = await tools(kind, session=echo, id=made["id"], writes=writes)
    assert dotted["region_writes"] == writes
    again = await tools(
        kind, session=echo, id=made["id"], writes=[{"row": 0, "col": 2, "text": "y"}]
    )
    assert again["region_writes"] == [{"row": 0, "col": 2, "text": "y"}, writes[1]]


async def test_control_characters_in_a_text_are_taken_and_told_as_data(
    tools: Tools, echo: str
) -> None:
    text = "a\x1b[31m\x07\r\x9b\u202eb 日本 🦪"
    made = await put(tools, "overlay", echo, text)
    assert made["spans"] == [{"text": "a\ufffd\r\ufffdb 日本 🦪"}]


async def test_too_many_and_too_large_ones_are_refused(tools: Tools, echo: str) -> None:
    limit = (-32602, "RESOURCE_LIMIT")
    assert await tools.error("overlay", session=echo, spans=[{"text": "x" * 20_001}]) == limit
    await put(tools, "panel", echo, "x" * 20_000)
    async with anyio.create_task_group() as group:
        for number in range(99):
            group.start_soon(put, tools, "overlay", echo, str(number))
    assert len(await listing(tools, "overlay", echo)) == 99
    assert await tools.error("overlay", session=echo) == limit
    assert await tools.error("panel", session=echo) == limit


async def test_updates_at_once_are_all_done(tools: Tools, echo: str) -> None:
    spans = [{"text": "-", "id": str(number)} for number in range(10)]
    made = await tools("overlay", session=echo, spans=spans)

    async def change(number: int) -> None:
        update = [{"id": str(number), "text": str(number)}]
        await tools("overlay", session=echo, id=made["id"], update=update)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(change, number)
    [now] = await listing(tools, "overlay", echo)
    assert "".join(span["text"] for span in now["spans"]) == "0123456789"


async def test_overlays_do_not_touch_the_screen(tools: Tools, echo: str) -> None:
    before = await tools("get_screen", session=echo)
    await put(tools, "overlay", echo, "over the first line")
    assert await tools("get_screen", session=echo) == before


async def test_panels_are_anchored_and_shrink_the_terminal(tools: Tools) -> None:
    created = await tools("create_session", command="python3", args=["-c", SIZES], rows=20)
    session = created["session"]
    await tools.until(session, "20x80")
    top = await put(tools, "panel", session, "top", position="top", height=2)
    assert (top["position"], top["visible"]) == ("top", True)
    await tools.until(session, "18x80")
    bottom = await put(tools, "panel", session, "bottom", height=3)
    assert (bottom["position"], bottom["visible"]) == ("bottom", True)
    await tools.until(session, "15x80")
    assert (await tools("get_screen", session=session))["rows"] == 15
    assert (await tools("list_sessions", session=session))["rows"] == 15
    hidden = await put(tools, "panel", session, "no room", height=15, z=-1)
    assert hidden["visible"] is False
    await tools("panel", session=session, id=top["id"], height=1)
    await tools.until(session, "16x80")
    still = [one["visible"] for one in await listing(tools, "panel", session)]
    assert still == [True, True, False]
    await tools("remove_panel", session=session)
    lines = await tools.until(session, "20x80\n18x80\n15x80\n16x80\n20x80")
    assert [line for line in lines if line] == ["20x80", "18x80", "15x80", "16x80", "20x80"]


# --- keys ----------------------------------------------------------------------------------


async def test_input_mode_is_read_set_and_released(tools: Tools, echo: str) -> None:
    passthrough = {"mode": "passthrough", "focused_element": None}
    captured = {"mode": "capture", "focused_element": None}
    assert await tools("input_mode", session=echo) == passthrough
    assert await tools("input_mode", session=echo, mode="capture") == captured
    assert await tools("input_mode", session=echo) == captured
    assert await tools("input_mode", session=echo, mode="capture") == captured
    assert await tools("input_mode", session=echo, mode="release") == passthrough
    assert await tools("input_mode", session=echo, mode="release") == passthrough
    assert await tools("input_mode", session=echo) == passthrough


@KINDS
async def test_focus_is_set_moved_and_cleared(tools: Tools, echo: str, kind: str) -> None:
    first, second = await put(tools, kind, echo, "a"), await put(tools, kind, echo, "b")
    now = await tools("input_mode", session=echo, mode="capture", focus=first["id"])
    assert now == {"mode": "capture", "focused_element": first["id"]}
    now = await tools("input_mode", session=echo, focus=second["id"])
    assert now == {"mode": "capture", "focused_element": second["id"]}
    now = await tools("input_mode", session=echo, unfocus=True)
    assert now == {"mode": "capture", "focused_element": None}
    await tools("input_mode", session=echo, focus=first["id"])
    await tools(f"remove_{kind}", session=echo, id=first["id"])
    assert (await tools("input_mode", session=echo))["focused_element"] is None
    await tools("input_mode", session=echo, focus=second["id"])
    released = await tools("input_mode", session=echo, mode="release")
    assert released == {"mode": "passthrough", "focused_element": None}


async def test_a_focus_that_cannot_be_is_refused(tools: Tools, echo: str) -> None:
    fixed = await put(tools, "overlay", echo, "x", focusable=False)
    free = await put(tools, "overlay", echo, "y")
    for given in (
        {"focus": "nothing"},
        {"focus": fixed["id"]},
        {"mode": "capture", "focus": "nothing"},
        {"mode": "release", "focus": free["id"]},
        {"unfocus": True, "focus": free["id"]},
        {"mode": "passthrough"},
        {"mode": ""},
        {"unfocus": "yes"},
        {"focus": 5},
    ):
        assert await tools.error("input_mode", session=echo, **given) == INVALID
    assert await tools.error("input_mode") == INVALID
    assert await tools.error("input_mode", session="nobody") == NO_SESSION
    assert await tools("input_mode", session=echo) == {
        "mode": "passthrough",
        "focused_element": None,
    }


async def test_a_persons_keys_are_awaited_while_they_are_captured(
    tools: Tools, echo: str, daemon: Daemon
) -> None:
    menu = await put(tools, "overlay", echo, "yes or no?")
    await tools("input_mode", session=echo, mode="capture", focus=menu["id"])
    told: list[Any] = []

    async def wait() -> None:
        told.append(await tools("await_input", session=echo, after=0))

    with attached(daemon, echo) as person:
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            person.type(b"y")
        assert told[0]["mode"] == "capture"
        [key] = told[0]["keys"]
        assert key == {
            "number": 1,
            "raw": [121],
            "parsed": {"key": "y", "modifiers": []},
            "focused_element": menu["id"],
        }
        # What callers send is not captured; what a person types after Ctrl+\ neither.
        await tools("send_input", session=echo, input="sent\r")
        person.type(b"\x1b[1;5C\x1cafter\r")
        more = await tools("await_input", session=echo, after=told[0]["last"])
        assert [one["parsed"] for one in more["keys"]] == [
            {"key": "ArrowRight", "modifiers": ["ctrl"]}
        ]
        assert more["mode"] == "passthrough"
        lines = await tools.until(echo, "sent", "after")
        assert [line for line in lines if line] == ["ready", "sent", "after"]
    assert (await tools("input_mode", session=echo))["focused_element"] is None


async def test_nothing_typed_is_an_empty_answer_at_the_deadline(tools: Tools, echo: str) -> None:
    assert await tools.refused("await_input", session=echo) == INVALID[1]
    assert await tools.refused("await_input", session="nobody") == NO_SESSION[1]
    await tools("input_mode", session=echo, mode="capture")
    for given in ({"max_wait_ms": -1}, {"after": -1}, {"after": "x"}):
        assert await tools.refused("await_input", session=echo, **given) == INVALID[1]
    told = await tools("await_input", session=echo, max_wait_ms=20)
    assert told == {"keys": [], "last": 0, "mode": "capture"}


async def test_the_end_of_the_session_ends_the_capture(tools: Tools) -> None:
    created = await tools("create_session", command="echo ready; read x")
    session = created["session"]
    await tools.until(session, "ready")
    await tools("input_mode", session=session, mode="capture")
    told: list[Any] = []

    async def wait() -> None:
        try:
            told.append(await tools("await_input", session=session))
        except MCPError as error:
            told.append(error.error.message)

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        assert (await tools("input_mode", session=session))["mode"] == "capture"
        await tools("send_input", session=session, input="\r")
    # Requests over HTTP have no order: the wait may come when all is over.
    late = "input is not captured, so no key will come; capture it with input_mode first"
    assert told in ([{"keys": [], "last": 0, "mode": "passthrough"}], [late])


# --- who drives ----------------------------------------------------------------------------


async def test_an_agent_waits_while_a_person_drives(
    tools: Tools, echo: str, daemon: Daemon
) -> None:
    now = await tools("control", session=echo)
    assert now == {"driver": None, "yours": False}
    assert await tools.refused("control", session=echo, action="take") == "FORBIDDEN"
    assert await tools.refused("control", session=echo, action="steal") == INVALID[1]
    assert await tools.refused("control", session="nobody") == NO_SESSION[1]
    sent: list[CallToolResult] = []

    async def send() -> None:
        sent.append(await tools.result("send_input", session=echo, input="agent\r"))

    with attached(daemon, echo) as person:
        person.take_or_give_control()
        person.type(b"person\r")
        await tools.until(echo, "person")
        now = await tools("control", session=echo)
        assert (now["driver"], now["yours"]) == ("attach", False)
        async with anyio.create_task_group() as group:
            group.start_soon(send)
            # Later calls are answered, this one is not.
            assert (await tools("control", session=echo))["driver"] == "attach"
            assert sent == []
            person.take_or_give_control()
    # Its answer is as ever; what the person did stands beside it, once.
    [result] = sent
    assert result.structured_content is not None
    # For hosts that show a model only what is structured, and those that show only the text.
    assert result.structured_content.pop("handover") == (result.meta or {})["nacre/handover"]
    assert result.structured_content["success"] is True
    answer, words = result.content
    assert isinstance(answer, TextContent)
    assert isinstance(words, TextContent)
    assert json.loads(answer.text) == result.structured_content
    assert words.text.startswith(f"A person (attach) drove session {echo!r}")
    assert result.meta is not None
    told = result.meta["nacre/handover"]
    assert (told["session"], told["driver"], told["keys"]) == (echo, "attach", len("person\r"))
    assert told["last_line"] == "person"
    again = await tools.result("control", session=echo)
    assert len(again.content) == 1
    assert again.structured_content is not None
    assert again.structured_content["handover"]["driver"] == "attach"
    lines = await tools.until(echo, "agent")
    assert [line for line in lines if line] == ["ready", "person", "agent"]


async def test_a_bare_array_stays_one_beside_a_handover(
    tools: Tools, echo: str, daemon: Daemon
) -> None:
    made = await put(tools, "overlay", echo, "x")
    with attached(daemon, echo) as person:
        person.take_or_give_control()
        person.take_or_give_control()
        person.leave()
    result = await tools.result("overlay", session=echo, list=True)
    text, words = result.content
    assert isinstance(text, TextContent)
    assert isinstance(words, TextContent)
    assert json.loads(text.text) == [made]
    assert "commands: none that the shell reported" in words.text
    assert result.structured_content is not None
    assert result.structured_content["handover"]["driver"] == "attach"
    assert await listing(tools, "overlay", echo) == [made]


# --- the screen mode -----------------------------------------------------------------------


async def test_screen_mode_is_read_entered_and_left(tools: Tools, echo: str) -> None:
    assert await tools("screen_mode", session=echo) == {"mode": "normal"}
    assert await tools.error("screen_mode", session=echo, action="exit_alt") == INVALID
    assert await tools("screen_mode", session=echo, action="enter_alt") == {"mode": "alt"}
    assert await tools.error("screen_mode", session=echo, action="enter_alt") == INVALID
    assert await tools("screen_mode", session=echo) == {"mode": "alt"}
    # The child is not touched.
    assert (await tools("get_screen", session=echo))["mode"] == "normal"
    assert await tools("screen_mode", session=echo, action="exit_alt") == {"mode": "normal"}
    assert await tools.error("screen_mode", session=echo, action="toggle") == INVALID
    assert await tools.error("screen_mode", session="nobody") == NO_SESSION
    assert await tools.error("screen_mode") == INVALID


@KINDS
async def test_elements_of_alt_are_gone_after_it_and_the_others_are_back(
    tools: Tools, echo: str, kind: str
) -> None:
    await put(tools, kind, echo, "normal")
    await tools("screen_mode", session=echo, action="enter_alt")
    assert await listing(tools, kind, echo) == []
    alt = await put(tools, kind, echo, "alt")
    assert alt["screen_mode"] == "alt"
    assert await texts(tools, kind, echo) == ["alt"]
    await tools("screen_mode", session=echo, action="exit_alt")
    assert await texts(tools, kind, echo) == ["normal"]
    assert await tools.error(kind, session=echo, id=alt["id"]) == NOT_FOUND[kind]


async def test_the_mode_follows_a_full_screen_program(tools: Tools) -> None:
    session = (await tools("create_session", command=PRINTF))["session"]
    await tools.until(session, "ready")
    await put(tools, "panel", session, "normal", height=4)
    await tools("send_input", session=session, input="\\033[?1049hfull\n")
    await tools.until(session, "full")
    screen = await tools("get_screen", session=session)
    assert (screen["mode"], screen["rows"]) == ("alt", 24)
    assert await tools("screen_mode", session=session) == {"mode": "alt"}
    assert await tools.error("screen_mode", session=session, action="enter_alt") == INVALID
    assert await tools.error("screen_mode", session=session, action="exit_alt") == INVALID
    await put(tools, "panel", session, "alt")
    await tools("send_input", session=session, input="\\033[?1049lback\n")
    await tools.until(session, "back")
    assert await tools("screen_mode", session=session) == {"mode": "normal"}
    assert await texts(tools, "panel", session) == ["normal"]
    assert (await tools("get_screen", session=session))["rows"] == 20


# --- under the document's own names ----------------------------------------------------------


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_matrix_holds_under_the_prefix_too(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, prefix="wsh_")
        tools = Tools(client, (await client.list_tools()).tools)
        session = (await tools("wsh_create_session", command="cat"))["session"]
        for kind in ("wsh_overlay", "wsh_panel"):
            made = await tools(kind, session=session, spans=[{"text": "x"}], background="red")
            changed = await tools(kind, session=session, id=made["id"], z=5)
            assert (changed["z"], changed["background"]) == (5, "red")
            result = await tools.result(kind, session=session, list=True)
            assert json.loads(text_of(result)) == [changed]
            now = await tools("wsh_input_mode", session=session, mode="capture", focus=made["id"])
            assert now["focused_element"] == made["id"]
            remove = kind.replace("wsh_", "wsh_remove_")
            assert await tools(remove, session=session, id=made["id"]) == {"success": True}
            assert (await tools.error(kind, session=session, id="x"))[0] == -32602
            assert await tools.error(kind) == INVALID
        assert (await tools("wsh_input_mode", session=session))["focused_element"] is None
        assert (await tools("wsh_input_mode", session=session, mode="release"))["mode"] == (
            "passthrough"
        )
        for action, mode in (("enter_alt", "alt"), ("exit_alt", "normal")):
            assert await tools("wsh_screen_mode", session=session, action=action) == {"mode": mode}
        with pytest.raises(MCPError) as unknown:
            await tools.result("overlay", session=session)
        assert unknown.value.error.code == -32601
        await tools("wsh_manage_session", session=session, action="kill")
        listed = await tools.result("wsh_list_sessions")
        assert isinstance(listed.content[0], TextContent)


@KINDS
async def test_answers_with_much_text_are_within_the_budget_and_say_what_is_missing(
    tools: Tools, kind: str
) -> None:
    made = await tools("create_session", command="cat")
    name = made["session"]
    spans = [{"text": '"' * 900, "id": f"s{number}"} for number in range(20)]
    for _ in range(2):
        put_there = await tools(kind, session=name, spans=spans)
        assert put_there["spans_left_out"] is True
        assert put_there["spans"] == []
    await tools(kind, session=name, spans=[{"text": "short"}])
    result = await tools.result(kind, session=name, list=True)
    array, hint = result.content
    assert isinstance(array, TextContent)
    assert isinstance(hint, TextContent)
    assert len(array.text) < 2000
    assert [one["spans_left_out"] for one in json.loads(array.text)] == [True, True, True]
    assert "a higher max_chars" in hint.text
    check_fits(result.structured_content, tools.listed[kind].output_schema)
    whole = await tools.result(kind, session=name, list=True, max_chars=200_000)
    assert [len(one["spans"]) for one in json.loads(text_of(whole))] == [20, 20, 1]
    array, hint = (await tools.result(kind, session=name, list=True, max_chars=1)).content
    assert isinstance(array, TextContent)
    assert isinstance(hint, TextContent)
    assert array.text == "[]"
    assert hint.text.startswith("3 elements and the spans are left out")
    await tools("manage_session", session=name, action="kill")
