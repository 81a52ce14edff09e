"""screenshot over MCP and REST: pictures as pictures."""

import base64
import io
import json
import urllib.error
import urllib.request
from typing import Any
from xml.etree import ElementTree

import pytest
from mcp_types import (
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from PIL import Image

from conftest import Daemon

from doors.conftest import EACH_ONCE, Tools
from doors.wire import check_schema, http_call

OVER = EACH_ONCE

TOOLSETS = "terminal,extra"


async def take(tools: Tools, **arguments: object) -> tuple[CallToolResult, Any]:
    """Call the tool; return its result, and what is told beside the picture."""
    result = await tools.result("screenshot", **arguments)
    assert not result.is_error
    # Hosts that prefer structured content drop the rest: the picture would never arrive.
    assert tools.listed["screenshot"].output_schema is None
    assert result.structured_content is None
    _picture, told = result.content
    assert isinstance(told, TextContent)
    facts = json.loads(told.text)
    assert "data" not in facts
    return result, facts


@pytest.mark.anyio
async def test_png_is_an_image_a_model_sees(tools: Tools, echo: str) -> None:
    listed = tools.listed["screenshot"]
    check_schema(listed.input_schema)
    assert listed.annotations is not None
    assert listed.annotations.read_only_hint is True
    result, told = await take(tools, session=echo)
    picture = result.content[0]
    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/png"
    image = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    assert image.size == (told["width"], told["height"]) == (1312, 800)
    assert (told["session"], told["rows"], told["cols"]) == (echo, 24, 80)


@pytest.mark.anyio
async def test_svg_is_a_resource(tools: Tools, echo: str) -> None:
    picture = (await take(tools, session=echo, format="svg"))[0].content[0]
    assert isinstance(picture, EmbeddedResource)
    assert isinstance(picture.resource, TextResourceContents)
    assert picture.resource.mime_type == "image/svg+xml"
    assert "ready" in "".join(ElementTree.fromstring(picture.resource.text).itertext())


@pytest.mark.anyio
async def test_bad_parameters_are_refused(tools: Tools, echo: str) -> None:
    assert await tools.refused("screenshot", session="none") == "SESSION_NOT_FOUND"
    assert await tools.refused("screenshot", session=echo, scale=0) == "INVALID_INPUT"
    assert await tools.refused("screenshot", session=echo, format="gif") == "INVALID_INPUT"


@pytest.mark.anyio
async def test_a_scale_over_the_limit_is_cut_and_told(tools: Tools, echo: str) -> None:
    _result, told = await take(tools, session=echo, scale=9)
    assert told["notice"] == "scale was cut from 9 to 4, the most that there is"
    assert (told["width"], told["height"]) == (2624, 1600)


@pytest.mark.anyio
async def test_an_svg_that_hosts_would_cut_is_refused(tools: Tools) -> None:
    colours = (
        "for i in $(seq 1 1500); do printf '\\033[38;5;%dmx' $((i % 250)); done; echo; exec cat"
    )
    created = await tools("create_session", command=colours)
    await tools.until(created["session"], "xxx")
    await tools("await_quiesce", session=created["session"], timeout_ms=200)
    told = await tools.failure("screenshot", session=created["session"], format="svg")
    assert told["code"] == "RESOURCE_LIMIT"
    assert "png" in told["message"]


# --- REST ----------------------------------------------------------------------------------------


def fetch(daemon: Daemon, path: str) -> tuple[str, bytes]:
    request = urllib.request.Request(
        f"{daemon.url}/api{path}", headers={"Authorization": f"Bearer {daemon.token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        return answer.headers["Content-Type"], answer.read()


def test_rest_answers_with_the_picture_itself(daemon: Daemon) -> None:
    daemon.rest("POST", "/sessions", {"name": "pic", "command": "exec cat", "rows": 4, "cols": 10})
    kind, data = fetch(daemon, "/sessions/pic/screenshot.png?scale=1&show_cursor=false")
    image = Image.open(io.BytesIO(data))
    assert (kind, image.size) == ("image/png", (96, 80))
    assert image.getcolors() == [(96 * 80, (0, 0, 0))]
    kind, data = fetch(daemon, "/sessions/pic/screenshot.svg")
    assert kind.startswith("image/svg+xml")
    assert ElementTree.fromstring(data).get("width") == "192"
    told = daemon.rest("GET", "/sessions/pic/screenshot")
    assert base64.b64decode(told["data"]).startswith(b"\x89PNG")
    # The path says which it is.
    kind, _data = fetch(daemon, "/sessions/pic/screenshot.png?format=svg")
    assert kind == "image/png"
    daemon.rest("POST", "/sessions/pic/close", {})


def test_rest_refuses_as_ever(daemon: Daemon) -> None:
    answer = http_call(daemon, "GET", "/api/sessions/none/screenshot.png")
    assert (answer.status, answer.json["error"]["code"]) == (404, "SESSION_NOT_FOUND")
    answer = http_call(daemon, "GET", "/api/sessions/none/screenshot.png?scale=many")
    assert (answer.status, answer.json["error"]["code"]) == (400, "INVALID_INPUT")


def test_openapi_describes_both_pictures(daemon: Daemon) -> None:
    paths = http_call(daemon, "GET", "/api/openapi.json").json["paths"]
    for form, media in (("png", "image/png"), ("svg", "image/svg+xml")):
        described = paths[f"/api/sessions/{{session}}/screenshot.{form}"]["get"]
        assert list(described["responses"]["200"]["content"]) == [media]
        named = [parameter["name"] for parameter in described["parameters"]]
        assert named == ["session", "scale", "show_cursor"]
