"""Recordings as GIF and as an SVG that moves."""

import base64
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

from nacre.core.operations.recordings import FilmRecording, FilmTaken
from nacre.errors import Failed, LimitReached
from nacre.services.wiring import Services

from services.living import CALLER, living, shows, start

pytestmark = pytest.mark.anyio

SVG = "{http://www.w3.org/2000/svg}"
PRINTS = "for n in 1 2 3 4 5 6 7 8 9; do echo line $n; sleep 0.05; done; echo end; cat"


async def film(services: Services, form: Any, **parameters: Any) -> FilmTaken:
    session = await start(services, PRINTS, rows=12, cols=30)
    await shows(session, "end")
    request = FilmRecording(session=session.identity.id, format=form, **parameters)
    made = await services.dispatch()(CALLER, request)
    assert isinstance(made, FilmTaken)
    return made


async def test_gif_and_svg_have_the_frames_of_the_recording(tmp_path: Path) -> None:
    async with living(journals=tmp_path) as services:
        gif = await film(services, "gif")
        picture = Image.open(BytesIO(base64.b64decode(gif.data)))
        assert (picture.width, picture.height) == (gif.width, gif.height)
        assert getattr(picture, "n_frames", 1) > 2
        svg = await film(services, "svg")
        root = ElementTree.fromstring(svg.data)
        images = root.findall(f"{SVG}image")
        assert len(images) == svg.frames > 2
        assert svg.omitted_frames == 0
        last = base64.b64decode(images[-1].attrib["href"].partition(",")[2]).decode()
        assert "line 9" in last
        lasting = {one.attrib["dur"] for one in root.iter(f"{SVG}animate")}
        assert lasting == {f"{svg.seconds:.3f}s"}


async def test_film_is_bounded_and_counts_what_is_left_out(tmp_path: Path) -> None:
    async with living(journals=tmp_path, max_film_frames=3) as services:
        svg = await film(services, "svg")
        assert 2 <= svg.frames <= 3
        assert svg.omitted_frames > 0
        last = ElementTree.fromstring(svg.data).findall(f"{SVG}image")[-1].attrib["href"]
        assert "end" in base64.b64decode(last.partition(",")[2]).decode()
    async with living(journals=tmp_path, max_picture_pixels=100_000) as services:
        with pytest.raises(LimitReached, match="max_picture_pixels"):
            await film(services, "gif", scale=4)
    async with living() as services:
        with pytest.raises(Failed, match="no journal"):
            await film(services, "gif")
