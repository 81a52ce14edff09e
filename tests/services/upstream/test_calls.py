"""What a tool answers comes through as its server sent it, within the limits of an answer."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import InvalidInput, LimitReached, UpstreamFailed, UpstreamNotFound
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by

from services.upstream.hubs import AGENT, ME, agent, hub, text_of
from upstreams.configs import odd, sdk

pytestmark = pytest.mark.anyio


async def test_every_kind_of_result_comes_through(tmp_path: Path) -> None:
    async with hub(tmp_path, sdk("s")) as house:

        async def call(tool: str, **arguments: Any) -> Any:
            return await house(
                "call_upstream_tool", AGENT, server="s", tool=tool, arguments=arguments
            )

        assert text_of(await call("echo", text="hi", times=2)) == "hihi"
        added = await call("add", a=1, b=2)
        assert added.structured_content == {"sum": 3}
        (picture,) = (await call("picture")).content
        assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
        (link,) = (await call("link")).content
        assert (link["type"], link["uri"]) == ("resource_link", "test://static/1")
        failed = await call("fail")
        assert (failed.is_error, text_of(failed)) == (True, "it went wrong")
        with pytest.raises(UpstreamFailed) as caught:
            await call("refuse")
        own = {"code": -32042, "message": "not like this", "data": {"hint": "other"}}
        assert caught.value.details["upstream"] == own
        with pytest.raises(InvalidInput, match=r"'text' is a required property; it takes text"):
            await call("echo", txt="x")
        with pytest.raises(InvalidInput, match="times: 0 is less than the minimum of 1"):
            await call("echo", text="x", times=0)
        with pytest.raises(UpstreamNotFound):
            await call("no_such_tool")

        told: list[tuple[float, float | None, str | None]] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            told.append((done, total, message))

        with relayed_by(Relay(progress=progress)):
            assert text_of(await call("progress")) == "done"
        assert told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]

        asked: list[Any] = []

        async def elicit(params: Any) -> dict[str, Any]:
            asked.append(params)
            return {"action": "accept", "content": {"ok": True}}

        with relayed_by(Relay(elicit=elicit)):
            assert text_of(await call("ask")) == "answer: accept {'ok': True}"
            assert asked[0]["message"].endswith("not nacre, asks:\n\nIs it ok?")
        assert text_of(await call("ask")) == "answer: decline None"

        # Huge texts are cut in the middle, and the whole can be read.
        huge = await call("huge")
        text = text_of(huge)
        assert len(text) < 30_000
        assert text.startswith("line 0\n")
        assert text.endswith("line 19999\n")
        assert huge.left_out > 100_000
        whole = ""
        offset: int | None = 0
        while offset is not None:
            part = await house(
                "read_upstream_result", AGENT, result_id=huge.result_id, offset=offset
            )
            whole, offset = whole + part.text, part.next_offset
        assert whole == "".join(f"line {number}\n" for number in range(20_000))
        with pytest.raises(InvalidInput, match="is kept"):
            await house("read_upstream_result", AGENT, result_id="none")

        # A call that its caller gives up is given up there, too: the next one is answered.
        began = asyncio.Event()

        async def begun(done: float, total: float | None, message: str | None) -> None:
            began.set()

        with relayed_by(Relay(progress=begun)):
            task = asyncio.create_task(call("slow"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert text_of(await call("echo", text="still there")) == "still there"


async def test_a_question_that_may_be_anybodys_is_declined(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("s", "asking")) as house:
        asked = asyncio.Event()

        async def elicit(params: Any) -> dict[str, Any]:
            asked.set()
            return {"action": "accept", "content": {"ok": True}}

        async def call(who: str, text: str) -> Any:
            with relayed_by(Relay(elicit=elicit)):
                arguments = {"text": text}
                return await house(
                    "call_upstream_tool", agent(who), server="s", tool="ask", arguments=arguments
                )

        assert text_of(await call("anna", "alone")) == "accept"
        assert asked.is_set()
        asked.clear()
        # The server asks only when both of them wait.
        both = await asyncio.gather(call("anna", "together"), call("bert", "together"))
        assert [text_of(one) for one in both] == ["decline", "decline"]
        assert not asked.is_set()


async def test_the_time_of_a_call_stops_while_a_person_is_asked(tmp_path: Path) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def elicit(params: Any) -> dict[str, Any]:
        asked.set()
        await answered.wait()
        return {"action": "accept", "content": {"ok": True}}

    async with hub(tmp_path, odd("s", "asking")) as house:
        await house("test_upstream", ME, server="s")
        server = house.services.upstreams.hub().server("s")
        (connection,) = server.connections
        with relayed_by(Relay(elicit=elicit)):
            task = asyncio.create_task(
                house("call_upstream_tool", ME, server="s", tool="ask", arguments={"text": "x"})
            )
        await asked.wait()
        (calling,) = connection._questions._calls.values()
        assert calling.timer.when() is None
        answered.set()
        assert text_of(await task) == "accept"


def test_structured_content_is_whole_or_not_there() -> None:
    from nacre.services.upstream.results import LongResults

    kept = LongResults(1_000_000)
    long = {"content": [], "structuredContent": {"text": "x" * 1000}}
    with pytest.raises(LimitReached) as caught:
        kept.fit(long, 500, has_schema=True)
    identifier = caught.value.details["result_id"]
    from nacre.core.operations.upstream import ReadUpstreamResult

    part = kept.read(ReadUpstreamResult(result_id=identifier), 100_000)
    assert part.text == '{"text":"' + "x" * 1000 + '"}'
    text = {"content": [{"type": "text", "text": "y" * 1000}], **long}
    text["content"] = [{"type": "text", "text": "y" * 1000}]
    fitted = kept.fit(text, 500, has_schema=False)
    assert fitted.structured_content is None
    assert fitted.left_out > 0
    short = {"content": [{"type": "text", "text": "z"}], "structuredContent": {"z": 1}}
    assert kept.fit(short, 500, has_schema=True).structured_content == {"z": 1}


def test_old_texts_are_dropped_first() -> None:
    from nacre.core.operations.upstream import ReadUpstreamResult
    from nacre.services.upstream.results import LongResults

    kept = LongResults(150)
    first, second = kept.keep("a" * 100), kept.keep("b" * 100)
    with pytest.raises(InvalidInput):
        kept.read(ReadUpstreamResult(result_id=first), 1000)
    assert kept.read(ReadUpstreamResult(result_id=second), 1000).text == "b" * 100


def test_short_texts_stay_whole_beside_a_long_one() -> None:
    from nacre.services.upstream.results import LongResults

    content = [{"type": "text", "text": "short"}, {"type": "text", "text": "x" * 9000}]
    fitted = LongResults(10**6).fit({"content": content}, 2000, has_schema=False)
    assert fitted.content[0] == content[0]
    assert len(fitted.content[1]["text"]) < 2000
    assert f"result_id {fitted.result_id}" in fitted.content[1]["text"]


async def test_tools_are_searched_and_described(tmp_path: Path) -> None:
    async with hub(tmp_path, odd("s", env={"TOOLS": "create_issue,list_issues,send"})) as house:
        found = await house("search_upstream_tools", ME, query="create an issue")
        assert found.tools[0].name == "mcp_s_create_issue"
        whole = await house("describe_upstream_tool", ME, tool="mcp_s_send")
        assert whole.schema["properties"] == {"text": {"type": "string"}}
        by_name = await house("call_upstream_tool", ME, tool="mcp_s_send", arguments={"text": "x"})
        assert text_of(by_name) == "x"
        assert text_of(await house("call_upstream_tool", ME, tool="send")) == ""
