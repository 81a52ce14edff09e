"""A model behind an HTTP endpoint: ask it, and read its answer as it comes.

Rule 1: the key is sent to the endpoint alone, and stands in no message, file or error.
Rule 2: an endpoint that fails is reported in one sentence; what it has said so far is not lost.
"""

import json
from collections.abc import AsyncIterator, Sequence
from types import ModuleType
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

import httpx2

from nacre.cli.chat.apis import anthropic, openai
from nacre.cli.chat.apis.anthropic import AnthropicReader
from nacre.cli.chat.apis.events import BadAnswer, ModelEvent, ModelTool
from nacre.cli.chat.apis.openai import OpenAiReader
from nacre.cli.chat.conversation import ChatMessage
from nacre.errors import InvalidInput

Api = Literal["anthropic", "openai"]

_APIS: dict[Api, ModuleType] = {"anthropic": anthropic, "openai": openai}
_READERS: dict[Api, type[AnthropicReader] | type[OpenAiReader]] = {
    "anthropic": AnthropicReader,
    "openai": OpenAiReader,
}
_DEFAULT_URL: dict[Api, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
}
_LONGEST_COMPLAINT = 300  # characters of what an endpoint says when it refuses


class Endpoint(NamedTuple):
    """Which model, where. `silence` is how many seconds it may say nothing."""

    api: Api
    url: str
    model: str
    key: str
    most: int  # tokens of an answer
    silence: float
    connect: float = 10.0  # seconds

    @property
    def address(self) -> str:
        """Where requests go: a URL is taken with or without /v1, or whole."""
        path: str = _APIS[self.api].PATH
        base = (self.url or _DEFAULT_URL[self.api]).rstrip("/")
        if base.endswith(path.removeprefix("v1")):
            return base
        return f"{base}/{path.removeprefix('v1/') if base.endswith('/v1') else path}"

    def checked(self) -> "Endpoint":
        """Return itself. Raises InvalidInput when its address is none."""
        parts = urlsplit(self.address)
        try:
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # the port is none
            valid = False
        if not valid:
            raise InvalidInput(
                f"chat_url is {self.url!r}; it must be such as http://127.0.0.1:11434/v1"
            )
        return self


async def ask(
    client: httpx2.AsyncClient,
    endpoint: Endpoint,
    system: str,
    messages: Sequence[ChatMessage],
    tools: Sequence[ModelTool],
) -> AsyncIterator[ModelEvent]:
    """Yield the model's answer. Raises BadAnswer when the endpoint fails or stops in the middle."""
    api = _APIS[endpoint.api]
    body = api.request(endpoint.model, system, messages, tools, endpoint.most)
    reader = _READERS[endpoint.api]()
    began = False
    try:
        async with client.stream(
            "POST",
            endpoint.address,
            json=body,
            headers=api.headers(endpoint.key),
            timeout=httpx2.Timeout(endpoint.silence, connect=endpoint.connect),
        ) as response:
            if response.status_code != httpx2.codes.OK:
                raise BadAnswer(await _complaint(response))
            async for line in response.aiter_lines():
                if not line.startswith("data:"):  # events name their kind in their data, too
                    continue
                began = True
                data = line.removeprefix("data:").strip()
                if data == "[DONE]":
                    reader.finished = reader.finished or "stop"
                    break
                for event in _read(reader, data):
                    yield event
            if not began:
                kind = response.headers.get("content-type", "nothing")
                raise BadAnswer(
                    f"{_host(endpoint)} answered with {kind} and not with the events of the API "
                    f"{endpoint.api}; check chat_url and chat_api"
                )
    except httpx2.ConnectTimeout:
        raise BadAnswer(
            f"{_host(endpoint)} cannot be reached within {endpoint.connect:g} s (chat_connect)"
        ) from None
    except httpx2.TimeoutException:
        raise BadAnswer(
            f"{_host(endpoint)} said nothing for {endpoint.silence:g} s (chat_silence)"
        ) from None
    except httpx2.HTTPError as error:
        raise BadAnswer(f"{_host(endpoint)}: {error or type(error).__name__}") from None
    if reader.finished is None:
        raise BadAnswer(f"{_host(endpoint)} stopped in the middle of its answer")
    for event in reader.end():
        yield event


def _read(reader: AnthropicReader | OpenAiReader, data: str) -> list[ModelEvent]:
    """Return what an event says. Raises BadAnswer when it is none of the API's."""
    try:
        return list(reader.read(json.loads(data)))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise BadAnswer(f"the endpoint sent what its API does not have: {data[:80]}") from None


async def _complaint(response: httpx2.Response) -> str:
    """Return why an endpoint refused, in its own words as far as they can be found."""
    text = (await response.aread()).decode(errors="replace")
    try:
        error = json.loads(text)["error"]
        text = error["message"] if isinstance(error, dict) else str(error)
    except (ValueError, KeyError, TypeError):
        pass
    next_step = {
        401: "; check chat_key",
        403: "; check chat_key",
        404: "; check chat_url and chat_model",
        429: "; wait a moment, then say it again",
    }
    said = f": {text[:_LONGEST_COMPLAINT].strip()}" if text.strip() else ""
    status = response.status_code
    return f"the endpoint answered {status}{said}{next_step.get(status, '')}"


def _host(endpoint: Endpoint) -> str:
    return urlsplit(endpoint.address).netloc
