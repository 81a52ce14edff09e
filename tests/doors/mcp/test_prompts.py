"""The skills as prompts: what is listed, what they say, and that what they say is so.

Every example in them is called for real, in the order of the page, by an agent that knows nothing
but the page; what the page says is returned must be returned.
"""

import json
import os
import re
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ImageContent, TextContent
from websockets.sync.client import ClientConnection

from conftest import Daemon, start_daemon
from nacre.doors.mcp.prompts import SKILLS, brand_of, named_tools, read_skill, render
from nacre.doors.mcp.tools.selection import Selection, parse_selection
from nacre.doors.mcp.tools.toolsets import TOOLSETS as OFFERED
from nacre.errors import InvalidInput

from doors.conftest import EACH_ONCE, ONE, TRANSPORTS, Tools, connect
from doors.mcp.test_http import handshake, message_of, modern, post, request
from doors.sockets import log_in, open_socket, receive
from doors.wire import Bridge, check_fits

pytestmark = pytest.mark.anyio

OVER = EACH_ONCE

ALL = parse_selection("all", None)
WSH = parse_selection("terminal", "wsh_")

# The wsh document's table.
DOCUMENTED = {
    "core": "API primitives and the send/wait/read/decide loop",
    "drive-process": "Running CLI commands, handling prompts",
    "tui": "Operating full-screen TUI applications",
    "multi-session": "Parallel session orchestration",
    "agent-orchestration": "Driving other AI agents",
    "monitor": "Watching terminal activity",
    "visual-feedback": "Overlays and panels",
    "input-capture": "Capturing keyboard input",
    "generative-ui": "Dynamic interactive experiences",
}


# --- over the wire -------------------------------------------------------------------------


async def text_of_prompt(client: Client, name: str) -> str:
    answer = await client.get_prompt(name)
    assert answer.description
    [message] = answer.messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_the_nine_prompts_are_listed_and_each_is_a_page(tools: Tools) -> None:
    listed = (await tools.client.list_prompts()).prompts
    assert {prompt.name: prompt.description for prompt in listed} == {
        f"nacre:{skill}": description for skill, description in DOCUMENTED.items()
    }
    for prompt in listed:
        assert prompt.title
        assert not prompt.arguments
        text = await text_of_prompt(tools.client, prompt.name)
        assert text.startswith("# ")
        assert len(text.splitlines()) >= 80


async def test_core_teaches_tools_and_no_curl(tools: Tools) -> None:
    text = await text_of_prompt(tools.client, "nacre:core")
    for tool in ("create_session", "run_command", "send_input", "get_screen", "await_quiesce"):
        assert tool in text
    assert "curl" not in text
    assert "/api" not in text


@pytest.mark.over(*ONE)
@pytest.mark.parametrize("name", ["nacre:nothing", "core", "wsh:core", "nacre:", "nacre:../x", ""])
async def test_an_unknown_prompt_is_refused(tools: Tools, name: str) -> None:
    with pytest.raises(MCPError) as caught:
        await tools.client.get_prompt(name)
    assert caught.value.error.code == -32602
    assert isinstance(caught.value.error.data, dict)
    assert caught.value.error.data["code"] == "INVALID_INPUT"
    assert "nacre:core" in caught.value.error.message


@pytest.mark.parametrize("transport", EACH_ONCE)
async def test_names_and_text_follow_the_prefix(daemon: Daemon, transport: str) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, transport, toolsets="all", prefix="wsh_")
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == [f"wsh:{skill}" for skill in DOCUMENTED]
        served = {tool.name for tool in (await client.list_tools()).tools}
        for name in names:
            text = await text_of_prompt(client, name)
            assert "nacre:" not in text
            assert "nacre://" not in text
            assert {call.tool for call in calls_in(text)} <= served
        assert "wsh_run_command" in await text_of_prompt(client, "wsh:core")
        assert "wsh://sessions" in await text_of_prompt(client, "wsh:monitor")


def test_prompts_on_the_raw_wires(daemon: Daemon, bridges: Callable[..., Bridge]) -> None:
    opened = handshake(daemon, "/mcp?toolsets=terminal&prefix=wsh_")
    session = {"Mcp_Session_Id": opened.headers["mcp-session-id"]}
    asked = request("prompts/get", {"name": "wsh:tui"})
    over_http = message_of(post(daemon, asked, "/mcp?toolsets=terminal&prefix=wsh_", **session))[
        "result"
    ]
    bridge = bridges(daemon.env, "--prefix", "wsh_").handshake()
    over_stdio = bridge.ask("prompts/get", {"name": "wsh:tui"})["result"]
    assert over_http == over_stdio
    assert [message["role"] for message in over_http["messages"]] == ["user"]
    listed = modern(daemon, "prompts/list", "/mcp?toolsets=terminal&prefix=wsh_")["result"][
        "prompts"
    ]
    assert bridge.ask("prompts/list")["result"]["prompts"] == listed
    error = bridge.ask("prompts/get", {"name": "wsh:none"})["error"]
    assert (error["code"], error["data"]["code"]) == (-32602, "INVALID_INPUT")


# --- the pages -----------------------------------------------------------------------------

_BLOCK = re.compile(r"```(\w*)\n(.*?)\n```", re.DOTALL)


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]
    returns: Any  # what the page shows of the answer; None: nothing


def calls_in(text: str) -> list[Call]:
    """Return a page's examples; every block is a call or what a call returns."""
    calls: list[Call] = []
    for kind, body in _BLOCK.findall(text):
        assert kind in ("call", "returns"), kind
        if kind == "call":
            tool, _, arguments = body.partition(" ")
            calls.append(Call(tool, json.loads(arguments), None))
        else:
            assert calls
            assert calls[-1].returns is None
            calls[-1] = calls[-1]._replace(returns=json.loads(body))
    return calls


def test_the_documents_table_is_what_is_offered() -> None:
    assert SKILLS == DOCUMENTED
    folder = Path(read_skill.__wrapped__.__code__.co_filename).parent / "skills"
    assert {path.stem for path in folder.iterdir()} == set(SKILLS)


@pytest.mark.parametrize("skill", SKILLS)
def test_every_prompt_stands_in_the_mcp_page(skill: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "mcp.md"
    assert f"| `nacre:{skill}` | {SKILLS[skill]} |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("skill", SKILLS)
def test_every_example_fits_its_tools_schema(skill: str) -> None:
    for selection in (ALL, parse_selection("all", "wsh_")):
        tools = selection.tools()
        calls = calls_in(render(selection, skill))
        assert len(calls) >= 8
        for call in calls:
            check_fits(call.arguments, tools[call.tool].as_wire()["inputSchema"])


@pytest.mark.parametrize("skill", SKILLS)
def test_a_page_is_plain_and_complete(skill: str) -> None:
    source, text = read_skill(skill), render(ALL, skill)
    assert 80 <= len(source.splitlines()) <= 160
    assert "{{" not in text
    assert all(
        len(line) <= 110 or line.startswith(("{{", "|", "{")) for line in source.splitlines()
    )
    assert text.isascii() or set(text) - set(map(chr, range(128))) <= set("…→↑↓")
    # Tools are named by placeholders alone, or the prefix would not reach them.
    bare = re.sub(r"\{\{[^{}]*\}\}|```returns\n.*?\n```", "", source, flags=re.DOTALL)
    for tools in OFFERED.values():
        for tool in tools:
            if "_" in tool:
                assert not re.search(rf"\b{tool}\b", bare), tool
    for named in named_tools(source):
        assert any(named in tools for tools in OFFERED.values()), named
    for other in re.findall(r"\{\{prompt:([^{}]*)\}\}", source):
        assert other in SKILLS


@pytest.mark.parametrize("skill", SKILLS)
def test_tools_that_are_not_offered_are_said_to_be_missing(skill: str) -> None:
    assert "Not offered" not in render(ALL, skill)
    served = WSH.tools()
    text = render(WSH, skill)
    missing = [name for name in named_tools(read_skill(skill)) if f"wsh_{name}" not in served]
    if not missing:
        assert "Not offered" not in text
        return
    [paragraph] = [line for line in text.splitlines() if line.startswith("Not offered")]
    for name in missing:
        # agent has tools of the same names, which take other parameters.
        others = {toolset: tools for toolset, tools in OFFERED.items() if toolset != "agent"}
        toolset = next(toolset for toolset, tools in others.items() if name in tools)
        assert f"wsh_{name}" in paragraph
        assert f"toolset `{toolset}`" in paragraph
    assert "--toolsets terminal," in paragraph
    # The default toolset can wait, too.
    if "wait_for" in missing:
        assert "Instead of wsh_wait_for below, use wsh_await_quiesce" in paragraph


@pytest.mark.parametrize(
    ("prefix", "brand"), [("", "nacre"), ("wsh_", "wsh"), ("a-b-", "a-b"), ("_", "nacre")]
)
def test_every_prefix_makes_a_brand(prefix: str, brand: str) -> None:
    assert brand_of(prefix) == brand


def test_a_page_that_there_is_not_has_no_file_read() -> None:
    from nacre.doors.mcp.prompts import get_prompt

    with pytest.raises(InvalidInput):
        get_prompt(Selection(("terminal",)), "nacre:../prompts")


# --- an agent that does what the pages say -------------------------------------------------

# What the pages' commands stand for; they come before the real ones on PATH.
PROGRAMS = {
    "make": """#!/bin/bash
case $1 in
  test) echo "12 passed"; echo "done: tests";;
  lint) echo "app.py: unused import"; echo "done: 2 problems"; exit 2;;
esac
""",
    "deploy": """#!/bin/bash
read -p 'Deploy to staging? [y/N] ' answer
[ "$answer" = y ] && echo deployed
""",
    "unlock": """#!/bin/bash
stty -echo
trap 'stty echo; exit 1' INT
read -p 'Password: ' secret
stty echo
""",
    "dev-server": """#!/usr/bin/env python3
import os, select
print("listening on http://localhost:3000", flush=True)
seen = 0
while True:
    select.select([], [], [], 0.05)
    now = os.path.getsize("requests.txt") if os.path.exists("requests.txt") else 0
    if now > seen:
        seen = now
        print("handled 1", flush=True)
""",
    "agent-cli": """#!/usr/bin/env python3
import sys
if "--print" in sys.argv:
    print("There are 12 tests.")
    raise SystemExit
print("What shall I do?")
try:
    input("> ")
    if input("Allow running: make test? (y/n) ") == "y":
        print("12 passed")
    print("FINISHED")
    input("> ")
except KeyboardInterrupt:
    print("bye")
""",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "bin").mkdir()
    for name, source in PROGRAMS.items():
        path = folder / "bin" / name
        path.write_text(source)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture(scope="module")
def stocked(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose sessions find the pages' programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{project / 'bin'}:{os.environ['PATH']}")
        started = start_daemon(tmp_path_factory.mktemp("stocked"))
    yield started
    assert started.stop() == 0


class Person:
    """Somebody who looks at a session on the page, and types when an agent asks."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._stack = ExitStack()
        self._page: ClientConnection | None = None

    def watch(self, session: str) -> None:
        key = log_in(self._daemon)
        self._page = open_socket(self._daemon, f"/ws/raw/{session}", token=key)
        self._stack.callback(self._page.close)
        while not isinstance(receive(self._page), bytes):
            pass

    def press(self, keys: str) -> None:
        assert self._page is not None
        self._page.send(keys.encode())

    def leave(self) -> None:
        self._stack.close()


class Agent:
    """Follows a page to the letter; what it knows of earlier answers it fills in."""

    def __init__(self, tools: Tools, person: Person, keys: list[str]) -> None:
        self._tools = tools
        self._person = person
        self._keys = keys
        self._generations: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._last = 0

    async def follow(self, page: str) -> None:
        for number, call in enumerate(calls_in(page)):
            arguments = self._filled(call)
            with anyio.fail_after(60):
                result = await self._call(call.tool, arguments)
            told = _told(result)
            where = f"call {number}: {call.tool} {arguments} returned {told}"
            if call.returns is None:
                assert not result.is_error, where
            else:
                assert fits(call.returns, told), f"{where}, not {call.returns}"
            self._learn(call, arguments, told)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        if tool == "await_input":
            # People answer before an agent asks: the page says how that is not lost.
            self._person.press(self._keys.pop(0))
        return await self._tools.result(tool, **arguments)

    def _filled(self, call: Call) -> dict[str, Any]:
        known = dict(self._ids)
        known["ID"] = known.get(call.tool.removeprefix("remove_"), known.get("ID", ""))
        arguments = {
            name: known.get(value, value) if isinstance(value, str) else value
            for name, value in call.arguments.items()
        }
        for name in ("generation", "since_generation", "last_generation", "after_generation"):
            if name in arguments:
                arguments[name] = self._generations[arguments["session"]]
        if "after" in arguments:
            arguments["after"] = self._last
        return arguments

    def _learn(self, call: Call, arguments: dict[str, Any], told: Any) -> None:
        if "generation" in told and (session := arguments.get("session")):
            self._generations[session] = told["generation"]
        if call.tool in ("overlay", "panel") and "id" in told and "id" not in arguments:
            self._ids[call.tool] = told["id"]
            self._ids["PANEL_ID" if call.tool == "panel" else "ID"] = told["id"]
        self._last = told.get("last", self._last)
        if call.tool == "create_session" and self._keys:
            self._person.watch(arguments["name"])

    def over(self) -> bool:
        return not self._keys


def _told(result: CallToolResult) -> Any:
    if result.is_error:
        text = result.content[0]
        assert isinstance(text, TextContent)
        return {"isError": True, **json.loads(text.text)}
    picture, *besides = result.content
    if isinstance(picture, ImageContent):
        assert isinstance(besides[0], TextContent)
        return json.loads(besides[0].text)
    assert isinstance(picture, TextContent)
    return result.structured_content


def fits(shown: Any, told: Any) -> bool:
    """Tell whether an answer is what a page shows of it; … stands for anything."""
    if isinstance(shown, dict):
        return isinstance(told, dict) and all(
            name in told and fits(value, told[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        if not isinstance(told, list):
            return False
        if "…" in shown:
            return all(any(fits(one, other) for other in told) for one in shown if one != "…")
        return len(shown) == len(told) and all(map(fits, shown, told))
    if isinstance(shown, str) and "…" in shown:
        pattern = ".*".join(map(re.escape, shown.split("…")))
        return isinstance(told, str) and re.fullmatch(pattern, told, re.DOTALL) is not None
    return bool(shown == told)


def test_an_answer_fits_by_what_is_shown_of_it() -> None:
    assert fits({"a": "x…z", "b": [1, {"c": 2}]}, {"a": "xyz", "b": [1, {"c": 2, "d": 3}], "e": 0})
    assert fits(["…", "two", "…"], ["one", "two", "three"])
    assert not fits(["…", "four"], ["one"])
    assert not fits({"a": 1}, {})
    assert not fits([1], [1, 2])
    assert not fits("x…", "yx")


# What a person types, call by call, where a page has the agent wait for it.
KEYS = {
    "input-capture": ["y", "\r"],
    "generative-ui": ["\x1b[B", " ", "\r"],
}
NEEDS = {"tui": ("less", "vi"), "drive-process": ("less", "python3")}


@asynccontextmanager
async def connected_to(daemon: Daemon, cwd: Path) -> AsyncIterator[Tools]:
    async with AsyncExitStack() as stack:
        client = await connect(stack, daemon, TRANSPORTS[0], toolsets="all", cwd=cwd)
        yield Tools(client, (await client.list_tools()).tools)


@pytest.mark.parametrize("skill", SKILLS)
async def test_an_agent_that_follows_the_page_sees_what_it_promises(
    stocked: Daemon, project: Path, tmp_path: Path, skill: str
) -> None:
    for program in NEEDS.get(skill, ()):
        assert shutil.which(program), f"{program} is needed to try what the page says"
    person = Person(stocked)
    async with connected_to(stocked, tmp_path) as tools:
        agent = Agent(tools, person, list(KEYS.get(skill, ())))
        try:
            page = await text_of_prompt(tools.client, f"nacre:{skill}")
            await agent.follow(page)
            assert agent.over()
        finally:
            person.leave()
            for session in (await tools("list_sessions"))["sessions"]:
                await tools("manage_session", session=session["session_id"], action="kill")
