"""screenshot over MCP and REST: pictures as pictures."""

import base64
import io
import json
import urllib.error
import urllib.request
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

from doors.conftest import Tools
from doors.wire import check_fits, check_schema, http_call

TOOLSETS = "terminal,extra"


async def take(tools: Tools, **arguments: object) -> CallToolResult:
    """Call the tool; check what its result says beside the picture."""
    result = await tools.result("screenshot", **arguments)
    assert not result.is_error
    schema = tools.listed["screenshot"].output_schema
    assert schema is not None
    check_fits(result.structured_content, schema)
    assert result.structured_content is not None
    assert "data" not in result.structured_content
    _picture, told = result.content
    assert isinstance(told, TextContent)
    assert json.loads(told.text) == result.structured_content
    return result


@pytest.mark.anyio
async def test_png_is_an_image_a_model_sees(tools: Tools, echo: str) -> None:
    listed = tools.listed["screenshot"]
    check_schema(listed.input_schema)
    assert listed.annotations is not None
    assert listed.annotations.read_only_hint is True
    result = await take(tools, session=echo)
    picture = result.content[0]
    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/png"
    image = Image.open(io.BytesIO(base64.b64decode(picture.data)))
    told = result.structured_content
    assert told is not None
    assert image.size == (told["width"], told["height"]) == (1312, 800)
    assert (told["session"], told["rows"], told["cols"]) == (echo, 24, 80)


@pytest.mark.anyio
async def test_svg_is_a_resource(tools: Tools, echo: str) -> None:
    picture = (await take(tools, session=echo, format="svg")).content[0]
    assert isinstance(picture, EmbeddedResource)
    assert isinstance(picture.resource, TextResourceContents)
    assert picture.resource.mime_type == "image/svg+xml"
    assert "ready" in "".join(ElementTree.fromstring(picture.resource.text).itertext())


@pytest.mark.anyio
async def test_bad_parameters_are_refused(tools: Tools, echo: str) -> None:
    assert await tools.error("screenshot", session="none") == (-32602, "SESSION_NOT_FOUND")
    assert await tools.error("screenshot", session=echo, scale=9) == (-32602, "INVALID_INPUT")
    assert await tools.error("screenshot", session=echo, format="gif") == (-32602, "INVALID_INPUT")


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
