"""Tools of upstream servers as MCP hosts list and call them, over each transport and era."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from mcp_types import TextContent

from conftest import PATIENCE, Daemon, start_daemon
from nacre.settings.paths import find_paths

from doors.conftest import connect
from doors.wire import Bridge
from upstreams.configs import odd, sdk

pytestmark = pytest.mark.anyio

Bridges = Callable[..., Bridge]

OVER = ("stdio-2025-11-25", "stdio-2026-07-28", "http-2025-06-18", "http-2026-07-28")
ADDRESS = "nacre://upstream/sdk/test%3A%2F%2Fstatic%2F1"
TEMPLATE = "nacre://upstream/sdk/test://item/{id}"
LISTS = (PromptsListChanged, ResourcesListChanged)
TABLES = (sdk("sdk"), odd("odd", env={"TOKEN": "${TOK:-none}"}), odd("asking", "asking"))


def config_of(daemon: Daemon) -> Path:
    return Path(find_paths(daemon.env).config_file)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    started = start_daemon(tmp_path_factory.mktemp("upstream"), upstream_list_wait=PATIENCE)
    config_of(started).write_text("\n".join(TABLES))
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module", params=OVER)
async def client(
    request: pytest.FixtureRequest, house: Daemon, anyio_backend: str
) -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:
        yield await connect(stack, house, request.param, "upstream")


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_tools_are_listed_as_their_servers_describe_them(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    echo = listed["mcp_sdk_echo"]
    assert echo.description == "Say a text again."
    assert echo.input_schema["required"] == ["text"]
    assert echo.annotations is not None
    assert echo.annotations.read_only_hint is True
    assert listed["mcp_sdk_add"].output_schema is not None
    assert {"mcp_odd_echo", "mcp_odd_where", "read_upstream_result"} <= set(listed)
    if (offered := client.server_capabilities.tools) is not None:  # who pins a revision asks not
        assert offered.list_changed is True


async def test_results_come_through(client: Client) -> None:
    assert text_of(await client.call_tool("mcp_sdk_echo", {"text": "hi"})) == "hi"
    added = await client.call_tool("mcp_sdk_add", {"a": 2, "b": 3})
    assert added.structured_content == {"sum": 5}
    (picture,) = (await client.call_tool("mcp_sdk_picture")).content
    assert isinstance(picture, types.ImageContent)
    failed = await client.call_tool("mcp_sdk_fail")
    assert (failed.is_error, text_of(failed)) == (True, "it went wrong")
    huge = await client.call_tool("mcp_sdk_huge")
    assert len(text_of(huge)) < 30_000
    assert huge.meta is not None
    read = await client.call_tool(
        "read_upstream_result", {"result_id": huge.meta["nacre/result"]["result_id"]}
    )
    assert read.structured_content is not None
    assert read.structured_content["text"].startswith("line 0\n")


async def test_what_was_taken_out_of_a_result_is_told_and_a_secrets_name_stays(
    client: Client,
) -> None:
    """The server sent something else, so its answer alone would not be right."""
    result = await client.call_tool("mcp_sdk_echo", {"text": "a\u200bb"})
    shown, notice = (one.text for one in result.content if isinstance(one, TextContent))
    assert shown == "a\ufffdb"
    assert "1 zero_width" in notice
    result = await client.call_tool("mcp_sdk_echo", {"text": "{{secret:DB}}"})
    shown, notice = (one.text for one in result.content if isinstance(one, TextContent))
    assert shown == "{{secret:DB}}"
    assert "stayed as it is" in notice


async def test_errors_are_results_and_a_servers_own_error_is_its_own(client: Client) -> None:
    wrong = await client.call_tool("mcp_sdk_echo", {"txt": 1})
    assert wrong.is_error
    assert wrong.meta is not None
    assert wrong.meta["nacre/error"]["code"] == "INVALID_INPUT"
    with pytest.raises(MCPError) as caught:
        await client.call_tool("mcp_sdk_refuse")
    assert (caught.value.error.code, caught.value.error.data) == (-32042, {"hint": "other"})
    died = await client.call_tool("mcp_odd_die")
    assert died.is_error
    assert died.meta is not None
    assert died.meta["nacre/error"]["code"] == "UPSTREAM_UNAVAILABLE"
    assert "exit code 7" in died.meta["nacre/error"]["message"]
    with pytest.raises(MCPError) as unknown:
        await client.call_tool("mcp_sdk_none")
    assert unknown.value.error.code == -32601


async def test_progress_comes_through(client: Client) -> None:
    told: list[str | None] = []

    async def progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        told.append(message)

    await client.call_tool("mcp_sdk_progress", progress_callback=progress)
    # The last ones may come with the answer, and the client drops them then.
    assert told == ["step 1", "step 2", "step 3"][: len(told)] != []


async def test_prompts_are_ours_and_their_links_lead_here(client: Client) -> None:
    listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    assert {"nacre:core", "mcp_sdk_greet"} <= set(listed)
    (argument,) = listed["mcp_sdk_greet"].arguments or []
    assert (argument.name, argument.required) == ("who", True)
    got = await client.get_prompt("mcp_sdk_greet", {"who": "Ada"})
    text, link = (message.content for message in got.messages)
    assert isinstance(text, TextContent)
    assert text.text == "Hello Ada"
    assert isinstance(link, types.ResourceLink)
    assert link.uri == ADDRESS
    with pytest.raises(MCPError, match="no prompt named"):
        await client.get_prompt("mcp_sdk_none")


async def test_resources_are_listed_linked_and_read_here(client: Client) -> None:
    listed = {one.uri: one for one in (await client.list_resources()).resources}
    assert {"nacre://sessions", ADDRESS} <= set(listed)
    assert (listed[ADDRESS].name, listed[ADDRESS].mime_type) == ("one", "text/plain")
    (link,) = (await client.call_tool("mcp_sdk_link")).content
    assert isinstance(link, types.ResourceLink)
    assert link.uri == ADDRESS
    (read,) = (await client.read_resource(ADDRESS)).contents
    assert isinstance(read, types.TextResourceContents)
    assert (read.uri, read.text) == (ADDRESS, "content of test://static/1")
    templates = (await client.list_resource_templates()).resource_templates
    template = TEMPLATE
    assert template in [one.uri_template for one in templates]
    # A client puts a value in that it has encoded; the server gets it as it would without us.
    (item,) = (await client.read_resource(template.replace("{id}", "a%2Fb"))).contents
    assert isinstance(item, types.TextResourceContents)
    assert item.text == "content of test://item/a%2Fb"
    with pytest.raises(MCPError) as caught:
        await client.read_resource("nacre://upstream/sdk/file%3A%2F%2F%2Fx")
    assert (caught.value.error.code, caught.value.error.data) == (-32002, {"uri": "file:///x"})
    with pytest.raises(MCPError, match="no upstream server named"):
        await client.read_resource("nacre://upstream/nobody/a%3Ab")


async def test_arguments_are_completed_by_their_server(client: Client) -> None:
    await client.list_tools()
    if client.server_capabilities.tools is not None:  # who pins a revision asks not
        assert client.server_capabilities.completions is not None
    prompt = types.PromptReference(type="ref/prompt", name="mcp_sdk_greet")
    given = {"name": "who", "value": "A"}
    found = (await client.complete(prompt, given, {"other": "x"})).completion
    assert found.values == ["Ada", "greet", "who", "{'other': 'x'}"]
    assert (found.total, found.has_more) == (9, True)
    template = types.ResourceTemplateReference(type="ref/resource", uri=TEMPLATE)
    found = (await client.complete(template, {"name": "id", "value": ""})).completion
    assert found.values == ["da", "test://item/{id}", "id", "None"]
    # What is ours, and a server that tells nothing, have nothing to say.
    ours = types.PromptReference(type="ref/prompt", name="nacre:core")
    screen = "nacre://sessions/{name}/screen"
    session = types.ResourceTemplateReference(type="ref/resource", uri=screen)
    silent = types.ResourceTemplateReference(type="ref/resource", uri="nacre://upstream/odd/a:{b}")
    for ref in (ours, session, silent):
        assert (await client.complete(ref, given)).completion.values == []
    with pytest.raises(MCPError, match="no prompt named"):
        await client.complete(types.PromptReference(type="ref/prompt", name="mcp_sdk_no"), given)
    nowhere = types.ResourceTemplateReference(type="ref/resource", uri="x://{a}")
    with pytest.raises(MCPError, match="no resource"):
        await client.complete(nowhere, given)


async def next_of(events: Any, *kinds: type) -> Any:
    async for event in events:
        if isinstance(event, kinds):
            return event
    raise AssertionError("the stream has ended")


@pytest.mark.parametrize("transport", ["stdio-2026-07-28", "http-2026-07-28"])
async def test_updates_and_changed_lists_come_through_a_stream(
    house: Daemon, transport: str
) -> None:
    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream")
        await client.list_resources()
        events = await stack.enter_async_context(
            client.listen(
                prompts_list_changed=True,
                resources_list_changed=True,
                resource_subscriptions=[ADDRESS, "nacre://upstream/odd/a%3Ab"],
            )
        )
        assert events.honored.resource_subscriptions == [ADDRESS]  # the other has no resources
        await client.call_tool("mcp_sdk_touch")
        async with asyncio.timeout(PATIENCE):
            updated = await next_of(events, ResourceUpdated)
            assert updated.uri == ADDRESS
            await client.call_tool("mcp_sdk_grow")
            both = {type(await next_of(events, *LISTS)) for _ in LISTS}
        assert both == {PromptsListChanged, ResourcesListChanged}
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert any(name.startswith("mcp_sdk_grown_") for name in names)


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", "http-2025-11-25"])
async def test_updates_and_changed_lists_are_notified(house: Daemon, transport: str) -> None:
    heard: asyncio.Queue[Any] = asyncio.Queue()

    async def hear(message: Any) -> None:
        heard.put_nowait(message)

    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream", heard=hear)
        await client.list_resources()
        await client.list_prompts()
        await client.list_tools()
        await subscribe(client, ADDRESS)
        await client.call_tool("mcp_sdk_touch")
        missing = {"updated", "tools", "prompts", "resources"}
        async with asyncio.timeout(PATIENCE):
            while "updated" in missing:
                missing -= told_by(await heard.get())
            await client.call_tool("mcp_sdk_grow")
            while missing:
                missing -= told_by(await heard.get())
        with pytest.raises(MCPError, match="does not tell of changes"):
            await subscribe(client, "nacre://upstream/odd/a%3Ab")


async def subscribe(client: Client, uri: str) -> None:
    request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    await client.session.send_request(request, types.EmptyResult)


def told_by(message: Any) -> set[str]:
    if isinstance(message, types.ResourceUpdatedNotification):
        assert message.params.uri == ADDRESS
        return {"updated"}
    kinds = {
        types.ToolListChangedNotification: "tools",
        types.PromptListChangedNotification: "prompts",
        types.ResourceListChangedNotification: "resources",
    }
    return {name for kind, name in kinds.items() if isinstance(message, kind)}


@pytest.mark.parametrize(
    "transport", ["stdio-2025-11-25", "http-2025-11-25", "stdio-2026-07-28", "http-2026-07-28"]
)
async def test_questions_reach_the_host(house: Daemon, transport: str) -> None:
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"ok": True})

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        asked.append(params.messages[0].content.text)
        said = types.TextContent(type="text", text="hello")
        return types.CreateMessageResult(role="assistant", content=said, model="m")

    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream", elicit=elicit, sample=sample)
        await client.list_tools()
        answer = await client.call_tool("mcp_sdk_ask")
        assert text_of(answer) == "answer: accept {'ok': True}"
        # These servers hold their call while they ask: it is made once.
        assert text_of(await client.call_tool("mcp_asking_ask", {"text": "alone"})) == "accept"
        sampled = await client.call_tool("mcp_asking_ask", {"text": "sample"})
        assert text_of(sampled) == "hello"
        got = await client.get_prompt("mcp_sdk_greet", {"who": "?"})
        assert isinstance(got.messages[0].content, TextContent)
        assert got.messages[0].content.text == "Hello accept {'ok': True}"
        (read,) = (await client.read_resource(TEMPLATE.replace("{id}", "ask"))).contents
        assert isinstance(read, types.TextResourceContents)
        assert read.text == "accept {'ok': True}"
    sdk_asks, odd_asks = (
        f"The server {name}, not nacre, asks:\n\nIs it ok?" for name in ("sdk", "asking")
    )
    assert asked == [sdk_asks, odd_asks, "Say hello.", sdk_asks, sdk_asks]


async def test_a_repeated_call_goes_on_with_the_one_that_asked_or_is_refused(
    house: Daemon,
) -> None:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        raise AssertionError("the client is driven by hand")

    async with AsyncExitStack() as stack:
        client = await connect(stack, house, "stdio-2026-07-28", "upstream", elicit=elicit)

        await client.list_tools()

        async def call(text: str, **more: Any) -> Any:
            params = types.CallToolRequestParams(
                name="mcp_asking_ask", arguments={"text": text}, **more
            )
            request = types.CallToolRequest(params=params)
            kind = types.CallToolResult if more else types.InputRequiredResult
            return await client.session.send_request(request, kind)

        first = await call("alone")
        (key,) = first.input_requests
        answers = {key: types.ElicitResult(action="decline")}
        for state, text in (("guessed", "alone"), (first.request_state, "other")):
            with pytest.raises(MCPError, match="the call that asked is gone"):
                await call(text, request_state=state, input_responses=answers)
        done = await call("alone", request_state=first.request_state, input_responses=answers)
        assert text_of(done) == "decline"
        with pytest.raises(MCPError, match="the call that asked is gone"):
            await call("alone", request_state=first.request_state, input_responses=answers)


@pytest.mark.parametrize("transport", ["stdio-2025-11-25", "http-2025-11-25"])
async def test_an_edit_of_the_config_is_told_to_all_who_listed(
    house: Daemon, transport: str
) -> None:
    changed = asyncio.Event()

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    config = config_of(house)
    before = config.read_text()
    async with AsyncExitStack() as stack:
        client = await connect(stack, house, transport, "upstream", heard=heard)
        await client.list_tools()
        try:
            config.write_text(before + odd("late", env={"TOOLS": "only"}))
            await asyncio.wait_for(changed.wait(), PATIENCE)
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert "mcp_late_only" in listed
            assert text_of(await client.call_tool("mcp_late_only", {"text": "x"})) == "x"
        finally:
            config.write_text(before)


def test_each_bridge_hands_over_its_own_values(house: Daemon, bridges: Bridges) -> None:
    found = []
    for token in ("anna-token", "bert-token"):
        env = {**house.env, "TOK": token}
        bridge = bridges(env, "--toolsets", "upstream").handshake()
        bridge.ask("tools/list")
        answer = bridge.ask("tools/call", {"name": "mcp_odd_where", "arguments": {}})
        found.append(answer["result"]["content"][0]["text"].split())
        bridge.close()
    assert [one[2] for one in found] == ["anna-token", "bert-token"]
    assert found[0][0] != found[1][0]


def test_a_variable_that_the_config_names_later_is_handed_over(
    house: Daemon, bridges: Bridges
) -> None:
    bridge = bridges({**house.env, "LATER": "late-token"}, "--toolsets", "upstream").handshake()
    bridge.ask("tools/list")
    config = config_of(house)
    before = config.read_text()
    try:
        config.write_text(before + odd("later", env={"TOKEN": "$LATER"}))
        bridge.ask("tools/list")
        answer = bridge.ask("tools/call", {"name": "mcp_later_where", "arguments": {}})
        assert answer["result"]["content"][0]["text"].split()[2] == "late-token"
    finally:
        config.write_text(before)
        bridge.close()


async def test_many_tools_are_three(tmp_path: Path) -> None:
    names = ",".join(f"tool_{number}" for number in range(50))
    daemon = start_daemon(tmp_path, upstream_list_wait=PATIENCE, max_upstream_tools=40)
    config_of(daemon).write_text(odd("many", env={"TOOLS": names}))
    try:
        async with AsyncExitStack() as stack:
            client = await connect(stack, daemon, OVER[0], "upstream", prefix="p_")
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed == [
                "p_search_upstream_tools",
                "p_describe_upstream_tool",
                "p_call_upstream_tool",
                "p_read_upstream_result",
            ]
            wanted = {"query": "tool 7", "most": 1}
            found = await client.call_tool("p_search_upstream_tools", wanted)
            assert found.structured_content is not None
            assert found.structured_content["tools"][0]["name"] == "mcp_many_tool_7"
            tool = {"tool": "mcp_many_tool_7"}
            whole = await client.call_tool("p_describe_upstream_tool", tool)
            assert whole.structured_content is not None
            assert whole.structured_content["schema"]["type"] == "object"
            called = {**tool, "arguments": {"text": "x"}}
            assert text_of(await client.call_tool("p_call_upstream_tool", called)) == "x"
    finally:
        assert daemon.stop() == 0
