"""What is sent to a model's endpoint, and how its answer is read, in both APIs."""

import json
from typing import Any

import httpx2
import pytest

from nacre.cli.chat.apis.anthropic import AnthropicReader
from nacre.cli.chat.apis.events import (
    BadAnswer,
    Calls,
    Done,
    ModelEvent,
    ModelTool,
    TextPiece,
    Usage,
)
from nacre.cli.chat.apis.openai import OpenAiReader
from nacre.cli.chat.conversation import Conversation, Image, ModelCall
from nacre.cli.chat.endpoint import Api, Endpoint, ask
from nacre.errors import InvalidInput

from cli.chat.model import ScriptedModel

pytestmark = pytest.mark.anyio

LS = ModelTool("run", "Run a command.", {"type": "object"})
CALL = ModelCall("toolu_1", "run", {"command": "ls"})


def endpoint(api: Api, url: str, **more: Any) -> Endpoint:
    return Endpoint(api, url, "small", **{"key": "k-1", "most": 100, "silence": 60.0, **more})


async def answered(api: Api, url: str, conversation: Conversation) -> list[ModelEvent]:
    async with httpx2.AsyncClient() as client:
        asked = ask(client, endpoint(api, url), "Be short.", conversation.messages, [LS])
        return [event async for event in asked]


def a_conversation() -> Conversation:
    conversation = Conversation()
    conversation.say("what is here?")
    conversation.answer("I look.", [CALL])
    conversation.result(CALL, "a\nb", images=(Image("image/png", "QQ=="),))
    return conversation


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPiece))


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_an_answer_comes_in_pieces_with_its_calls_and_tokens(
    api: Api, model: ScriptedModel
) -> None:
    model.answers = [["Two files: ä, b.", ("run", {"command": "ls"}), ("run", {})]]
    events = await answered(api, model.url, a_conversation())
    assert text_of(events) == "Two files: ä, b."
    calls = [event.call for event in events if isinstance(event, Calls)]
    assert [(call.name, call.arguments) for call in calls] == [
        ("run", {"command": "ls"}),
        ("run", {}),
    ]
    assert len({call.id for call in calls}) == 2
    usage = [event for event in events if isinstance(event, Usage)]
    assert 11 in {one.tokens_in for one in usage}
    assert 7 in {one.tokens_out for one in usage}
    assert events[-1] == Done(cut=False)


async def test_anthropic_gets_results_as_the_users_turn(model: ScriptedModel) -> None:
    await answered("anthropic", model.url, a_conversation())
    sent = model.requests[0]
    assert model.headers[0]["x-api-key"] == "k-1"
    assert sent["system"] == "Be short."
    assert sent["tools"] == [
        {"name": "run", "description": "Run a command.", "input_schema": {"type": "object"}}
    ]
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]
    result = sent["messages"][2]["content"][0]
    assert (result["tool_use_id"], result["is_error"]) == ("toolu_1", False)
    assert result["content"][0] == {"type": "text", "text": "a\nb"}
    assert result["content"][1]["source"]["data"] == "QQ=="


async def test_openai_gets_results_as_tools_and_images_as_the_users(model: ScriptedModel) -> None:
    await answered("openai", model.url, a_conversation())
    sent = model.requests[0]
    assert model.headers[0]["authorization"] == "Bearer k-1"
    roles = [turn["role"] for turn in sent["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert json.loads(sent["messages"][2]["tool_calls"][0]["function"]["arguments"]) == {
        "command": "ls"
    }
    assert sent["messages"][3] == {"role": "tool", "tool_call_id": "toolu_1", "content": "a\nb"}
    assert sent["messages"][4]["content"][0]["image_url"]["url"] == "data:image/png;base64,QQ=="


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_an_endpoint_that_breaks_off_is_not_taken_for_done(
    api: Api, model: ScriptedModel
) -> None:
    model.answers = [["half an ans"]]
    model.break_off = True
    with pytest.raises(BadAnswer, match="stopped in the middle"):
        await answered(api, model.url, a_conversation())


async def test_a_refusal_is_told_in_the_endpoints_words_with_the_next_step(
    model: ScriptedModel,
) -> None:
    model.refuse = (401, json.dumps({"error": {"message": "invalid x-api-key"}}))
    with pytest.raises(BadAnswer, match="401: invalid x-api-key; check chat_key") as refused:
        await answered("anthropic", model.url, a_conversation())
    assert "k-1" not in str(refused.value)


async def test_an_endpoint_that_is_not_there_is_told_by_its_address() -> None:
    with pytest.raises(BadAnswer, match=r"127\.0\.0\.1:1"):
        await answered("openai", "http://127.0.0.1:1", a_conversation())


@pytest.mark.parametrize(
    ("api", "data"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}),
        ("openai", {"error": {"message": "overloaded_error: later"}}),
    ],
)
def test_an_error_in_the_stream_is_an_error(api: Api, data: dict[str, Any]) -> None:
    reader = AnthropicReader() if api == "anthropic" else OpenAiReader()
    with pytest.raises(BadAnswer, match="overloaded_error: later"):
        list(reader.read(data))


def test_broken_arguments_are_told_and_not_guessed() -> None:
    reader = OpenAiReader()
    piece = {"index": 0, "id": "c", "function": {"name": "run", "arguments": '{"command": "l'}}
    list(reader.read({"choices": [{"delta": {"tool_calls": [piece]}}]}))
    with pytest.raises(BadAnswer, match="broken JSON"):
        list(reader.end())


def test_pieces_without_numbers_belong_to_the_last_call() -> None:
    reader = OpenAiReader()
    for piece in (
        {"id": "a", "function": {"name": "read", "arguments": "{}"}},
        {"id": "b", "function": {"name": "run", "arguments": '{"command":'}},
        {"function": {"arguments": ' "ls"}'}},
    ):
        list(reader.read({"choices": [{"delta": {"tool_calls": [piece]}}]}))
    calls = [event.call for event in reader.end() if isinstance(event, Calls)]
    assert [(call.id, call.arguments) for call in calls] == [("a", {}), ("b", {"command": "ls"})]


@pytest.mark.parametrize(
    ("api", "url", "address"),
    [
        ("anthropic", "", "https://api.anthropic.com/v1/messages"),
        ("openai", "", "https://api.openai.com/v1/chat/completions"),
        ("openai", "http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1/chat/completions"),
        ("openai", "http://box/v1/chat/completions", "http://box/v1/chat/completions"),
        ("anthropic", "http://box/proxy", "http://box/proxy/v1/messages"),
    ],
)
def test_an_address_is_taken_with_or_without_its_version(api: Api, url: str, address: str) -> None:
    assert endpoint(api, url).checked().address == address


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be such as http"):
        endpoint("openai", "localhost:11434").checked()


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        ((401, '{"error": {"message": "no such key"}}'), "401: no such key; check chat_key"),
        ((429, "slow down"), "429: slow down; wait a moment, then say it again"),
        ((500, ""), "answered 500"),
        ((502, "<html>" + "x" * 1000), "answered 502: <html>xxx"),
        ((200, "<html>It works!</html>"), "and not with the events of the API"),
    ],
)
@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_each_way_to_fail_is_told_in_a_sentence(
    api: Api, model: ScriptedModel, refusal: tuple[int, str], words: str
) -> None:
    model.refuse = refusal
    with pytest.raises(BadAnswer) as caught:
        await answered(api, model.url, a_conversation())
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(InvalidInput, match="it must be such as"):
        endpoint("openai", "http://127.0.0.1:99999").checked()
