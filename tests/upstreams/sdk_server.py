"""A server by the official SDK, with what a server can send: run it with stdio, http or sse.

`sdk_server.py stdio`, or `sdk_server.py http`, `sdk_server.py sse`, which print their port.
"""

import os
import socket
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

Context = ServerRequestContext[Any, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"  # the head of one
ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
    "required": ["text"],
}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
ANY: dict[str, Any] = {"type": "object", "properties": {}}

more: list[str] = []  # tools, prompts and resources that were added while it ran
bus = InMemorySubscriptionBus()


def _tool(name: str, schema: dict[str, Any] | None = None, **rest: Any) -> types.Tool:
    about = rest.pop("description", f"Tool {name}.")
    return types.Tool(name=name, description=about, input_schema=schema or ANY, **rest)


async def list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
    hints = types.ToolAnnotations(read_only_hint=True)
    return types.ListToolsResult(
        tools=[
            _tool("echo", ECHO, description="Say a text again.", annotations=hints),
            _tool("add", NUMBERS, output_schema=SUM),
            _tool("picture"),
            _tool("link"),
            _tool("environment"),
            _tool("progress"),
            _tool("slow"),
            _tool("huge"),
            _tool("fail"),
            _tool("refuse"),
            _tool("ask"),
            _tool("sample"),
            _tool("grow"),
            _tool("touch"),
            *(_tool(name) for name in more),
        ]
    )


def _text(text: str, **rest: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **rest)


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Any:
    given = params.arguments or {}
    name = params.name
    if name == "echo":
        return _text(given["text"] * given.get("times", 1))
    if name == "add":
        total = given["a"] + given["b"]
        return _text(str(total), structured_content={"sum": total})
    if name == "picture":
        return types.CallToolResult(
            content=[types.ImageContent(type="image", data=PIXEL, mime_type="image/png")]
        )
    if name == "link":
        return types.CallToolResult(
            content=[types.ResourceLink(type="resource_link", uri="test://static/1", name="one")]
        )
    if name == "environment":
        return _text(" ".join(f"{key}={os.environ.get(key)}" for key in ("TOKEN", "PATH", "HOME")))
    if name == "progress":
        for step in range(1, 4):
            await ctx.session.report_progress(step, 3, f"step {step}")
        return _text("done")
    if name == "slow":
        await ctx.session.report_progress(0, None, "began")
        await anyio.sleep(600)
    if name == "huge":
        return _text("".join(f"line {number}\n" for number in range(20_000)))
    if name == "fail":
        return _text("it went wrong", is_error=True)
    if name == "refuse":
        from mcp.shared.exceptions import MCPError

        raise MCPError(-32042, "not like this", {"hint": "other"})
    if name == "ask":
        return await _ask(ctx, params)
    if name == "sample":
        return await _sample(ctx)
    if name == "grow":
        more.append(f"grown_{len(more)}")
        await _publish(ctx, ToolsListChanged(), PromptsListChanged(), ResourcesListChanged())
        return _text("grown")
    if name == "touch":
        await _publish(ctx, ResourceUpdated(uri="test://static/1"))
        return _text("touched")
    return _text(f"tool {name}")


async def _publish(ctx: Context, *events: Any) -> None:
    """Tell of changes, in the way of the client's revision."""
    if ctx.protocol_version == "2026-07-28":
        for event in events:
            await bus.publish(event)
        return
    for event in events:
        if isinstance(event, ResourceUpdated):
            await ctx.session.send_resource_updated(event.uri)
        elif isinstance(event, ToolsListChanged):
            await ctx.session.send_tool_list_changed()
        elif isinstance(event, PromptsListChanged):
            await ctx.session.send_prompt_list_changed()
        else:
            await ctx.session.send_resource_list_changed()


async def _ask(ctx: Context, params: types.InputResponseRequestParams) -> Any:
    told = await _answer(ctx, params)
    return told if isinstance(told, types.InputRequiredResult) else _text(f"answer: {told}")


async def _answer(ctx: Context, params: types.InputResponseRequestParams) -> Any:
    """Ask the client, in the way of its revision; return its words, or the question."""
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    if ctx.protocol_version == "2026-07-28":
        given = (params.input_responses or {}).get("ok")
        if given is None:
            form = types.ElicitRequestFormParams(message="Is it ok?", requested_schema=schema)
            request = types.ElicitRequest(params=form)
            return types.InputRequiredResult(input_requests={"ok": request}, request_state="1")
        assert isinstance(given, types.ElicitResult)
        return f"{given.action} {given.content}"
    answer = await ctx.session.elicit_form("Is it ok?", schema, ctx.request_id)
    return f"{answer.action} {answer.content}"


async def _sample(ctx: Context) -> Any:
    message = types.SamplingMessage(
        role="user", content=types.TextContent(type="text", text="Say hello.")
    )
    answer = await ctx.session.create_message(messages=[message], max_tokens=10)
    return _text(f"sampled: {answer.content}")


async def list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
    argument = types.PromptArgument(name="who", required=True)
    greet = types.Prompt(name="greet", description="Greet.", arguments=[argument])
    return types.ListPromptsResult(prompts=[greet, *(types.Prompt(name=one) for one in more)])


async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> Any:
    who = (params.arguments or {}).get("who")
    if who == "?":
        who = await _answer(ctx, params)
        if isinstance(who, types.InputRequiredResult):
            return who
    text = types.TextContent(type="text", text=f"Hello {who}")
    link = types.ResourceLink(type="resource_link", uri="test://static/1", name="one")
    said: list[types.ContentBlock] = [text, link]
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=one) for one in said]
    )


async def list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
    one = types.Resource(uri="test://static/1", name="one", mime_type="text/plain")
    grown = [types.Resource(uri=f"test://grown/{name}", name=name) for name in more]
    return types.ListResourcesResult(resources=[one, *grown])


async def list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(
        resource_templates=[types.ResourceTemplate(uri_template="test://item/{id}", name="item")]
    )


async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
    from mcp.shared.exceptions import MCPError

    if not params.uri.startswith("test://"):
        raise MCPError(-32002, "no such resource", {"uri": params.uri})
    text = f"content of {params.uri}"
    if params.uri == "test://item/ask":
        text = await _answer(ctx, params)
        if isinstance(text, types.InputRequiredResult):
            return text
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=params.uri, text=text)]
    )


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Complete with what was asked for, and all that is known with it."""
    ref, context = params.ref, params.context
    named = ref.name if isinstance(ref, types.PromptReference) else ref.uri
    known = context.arguments if context is not None else None
    values = [params.argument.value + "da", named, params.argument.name, str(known)]
    return types.CompleteResult(completion=types.Completion(values=values, total=9, has_more=True))


async def subscribe(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


class _Server(Server[Any]):
    def get_capabilities(self, *_: Any, **rest: Any) -> types.ServerCapabilities:
        changing = NotificationOptions(
            tools_changed=True, prompts_changed=True, resources_changed=True
        )
        return super().get_capabilities(changing, {}, None, **rest)


def build() -> Server[Any]:
    return _Server(
        "tester",
        version="1.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=subscribe,
        on_subscriptions_listen=ListenHandler(bus),
        on_read_resource=read_resource,
        on_completion=complete,
    )


async def _stdio() -> None:
    server = build()
    print("the server is up", file=sys.stderr, flush=True)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _http(kind: str) -> None:
    import uvicorn

    app = build().streamable_http_app() if kind == "http" else _sse_app()
    listener = socket.create_server(("127.0.0.1", 0))  # who connects now waits in it
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


def _sse_app() -> Any:
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")
    server = build()

    async def events(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            reading, writing = streams
            await server.run(reading, writing, server.create_initialization_options())
        return Response()

    return Starlette(
        routes=[
            Route("/mcp/sse", events),
            Route("/sse", events),
            Mount("/messages/", transport.handle_post_message),
        ]
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["stdio"]:
        anyio.run(_stdio)
    else:
        _http(sys.argv[1])
