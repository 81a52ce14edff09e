"""Pictures of screens: painted off the loop, from a drawing that was taken on it.

Rule 1: painting knows no session: whoever has a drawing, of now or of an earlier moment, gets its
picture from `paint`.
Rule 2: one thread paints, one picture after the other: fonts are not shared between threads, and a
second core is left to the sessions.
"""

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.caller import Caller
from nacre.core.drawing import Drawing
from nacre.core.layout import Layout
from nacre.core.operations import Screenshot
from nacre.core.results import PictureTaken
from nacre.errors import LimitReached
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.system.fonts import SystemFonts

if TYPE_CHECKING:
    from nacre.system.raster import Rasteriser

# Pictures that wait for the painter; further ones are refused: each holds a screen in memory.
_MAX_WAITING = 64


class Painted(NamedTuple):
    width: int  # in pixels
    height: int
    data: str  # base64 of a PNG file; an SVG file as it is


class Pictures:
    def __init__(
        self, registry: Registry, host: Host, system_fonts: SystemFonts | None = None
    ) -> None:
        self._registry = registry
        self._host = host
        self._system_fonts = system_fonts or SystemFonts()
        self._painter = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._rasteriser: Rasteriser | None = None
        self._waiting = 0

    async def screenshot(self, caller: Caller, request: Screenshot) -> PictureTaken:
        session = self._registry.find(request.session)
        terminal = session.terminal
        self._check_size(terminal.rows, terminal.cols, request.scale)
        generation, drawing = session.hand_out(), terminal.drawing()
        if not request.show_cursor:
            drawing = drawing.without_cursor()
        painted = await self.paint(drawing, request.format, request.scale)
        return PictureTaken(
            session=session.identity.name,
            generation=generation,
            format=request.format,
            width=painted.width,
            height=painted.height,
            rows=drawing.rows,
            cols=drawing.cols,
            data=painted.data,
        )

    async def paint(self, drawing: Drawing, form: str, scale: int) -> Painted:
        """Return the picture of a drawing as "png" or "svg".

        Raises LimitReached when it would be too large, or too many wait.
        """
        self._check_size(drawing.rows, drawing.cols, scale)
        if self._waiting >= _MAX_WAITING:
            raise LimitReached(f"{_MAX_WAITING} pictures wait to be painted; try again")
        paint = self._paint_png if form == "png" else _paint_svg
        self._waiting += 1
        try:
            data = await self._host.loop.run_in_executor(self._painter, paint, drawing, scale)
        finally:
            self._waiting -= 1
        return Painted(*Layout(scale).size(drawing.rows, drawing.cols), data)

    def _check_size(self, rows: int, cols: int, scale: int) -> None:
        width, height = Layout(scale).size(rows, cols)
        limit = self._host.settings.max_picture_pixels
        if width * height > limit:
            raise LimitReached(
                f"a picture of {rows} rows and {cols} columns at scale {scale} has {width} by "
                f"{height} pixels, more than {limit} (max_picture_pixels); take a smaller scale, "
                "or resize the session"
            )

    def _paint_png(self, drawing: Drawing, scale: int) -> str:
        if self._rasteriser is None:
            from nacre.system.raster import Rasteriser  # with Pillow: 30 ms, once

            self._rasteriser = Rasteriser(self._system_fonts)
        return base64.b64encode(self._rasteriser.paint(drawing, scale)).decode()


def _paint_svg(drawing: Drawing, scale: int) -> str:
    from nacre.core.svg import paint_svg
    from nacre.system.fonts import packaged_outlines

    return paint_svg(drawing, packaged_outlines(), scale)
