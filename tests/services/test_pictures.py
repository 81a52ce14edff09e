"""Screenshots of real sessions."""

import base64
import io
import subprocess
import sys

import anyio
import pytest
from PIL import Image

from nacre.core.operations.terminal import Screenshot
from nacre.errors import LimitReached, SessionNotFound

from services.living import CALLER, living, shows, start

pytestmark = pytest.mark.anyio

PROGRAM = r"printf '\033[48;2;1;2;3m  \033[0m\r\nready\r\n'; exec cat"


def opened(data: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(data)))


async def test_png_shows_the_session_and_tells_its_measures() -> None:
    async with living() as services:
        session = await start(services, PROGRAM, name="dev", rows=5, cols=30)
        await shows(session, "ready")
        taken = await services.pictures.screenshot(CALLER, Screenshot(session="dev"))
        image = opened(taken.data)
        assert (taken.session, taken.format, taken.rows, taken.cols) == ("dev", "png", 5, 30)
        assert image.size == (taken.width, taken.height) == (30 * 16 + 32, 5 * 32 + 32)
        assert taken.generation == session.generation
        assert image.getpixel((17, 17)) == (1, 2, 3)
        hidden = Screenshot(session="dev", show_cursor=False)
        without = opened((await services.pictures.screenshot(CALLER, hidden)).data)
        cursor = (17, 16 + 2 * 32 + 1)
        assert (image.getpixel(cursor), without.getpixel(cursor)) == ((220,) * 3, (0,) * 3)


async def test_svg_and_an_ended_session() -> None:
    async with living() as services:
        session = await start(services, "echo last words")
        await shows(session, "last words")
        request = Screenshot(session=session.identity.id, format="svg", scale=1)
        taken = await services.pictures.screenshot(CALLER, request)
        assert taken.data.startswith("<svg ")
        assert "last words" in taken.data
        assert (taken.width, taken.height) == (656, 400)


async def test_many_at_once_are_painted_one_after_the_other() -> None:
    async with living() as services:
        session = await start(services, PROGRAM)
        await shows(session, "ready")
        found: set[str] = set()

        async def take() -> None:
            request = Screenshot(session=session.identity.id)
            found.add((await services.pictures.screenshot(CALLER, request)).data)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(take)
        assert len(found) == 1


async def test_picture_over_the_limit_is_refused_with_its_name() -> None:
    async with living(max_picture_pixels=500_000) as services:
        session = await start(services, PROGRAM)
        with pytest.raises(LimitReached, match="max_picture_pixels"):
            await services.pictures.screenshot(CALLER, Screenshot(session=session.identity.id))
        small = Screenshot(session=session.identity.id, scale=1)
        assert (await services.pictures.screenshot(CALLER, small)).width == 656
        with pytest.raises(SessionNotFound):
            await services.pictures.screenshot(CALLER, Screenshot(session="none"))


def test_nothing_heavy_is_loaded_with_the_services() -> None:
    check = "import sys, nacre.services.wiring; print('PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
