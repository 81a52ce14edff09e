"""Pictures of screens: painted in a thread, from a drawing that was taken on the loop.

Rule 1: painting knows no session: `paint` makes a picture of any drawing, current or earlier.
Rule 2: one thread paints one picture after the other: fonts cannot be shared between threads, and
the other cores are left to the sessions.
"""

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import PictureTaken
from nacre.core.operations.terminal import Screenshot
from nacre.core.pictures.layout import PictureLayout
from nacre.core.screen.drawing import Drawing
from nacre.core.text.redaction import redact_rows
from nacre.errors import LimitReached
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.registry.registry import Registry
from nacre.system.images.fonts import SystemFonts

if TYPE_CHECKING:
    from nacre.system.images.raster import Rasteriser

# Most pictures that wait for the painter; more are refused, since each holds a screen in memory.
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

    def handlers(self) -> Handlers:
        return Handlers().on(Screenshot, self.screenshot)

    async def screenshot(self, caller: Caller, request: Screenshot) -> PictureTaken:
        session = self._registry.find(request.session)
        terminal = session.terminal
        self._check_size(terminal.rows, terminal.cols, request.scale)
        generation, drawing = session.hand_out(), terminal.drawing()
        if not request.show_cursor:
            drawing = drawing.without_cursor()
        drawing = drawing.with_texts(redact_rows(drawing.texts(), drawing.cols))
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
            raise LimitReached(
                f"{_MAX_WAITING} screenshots are waiting to be painted", "try again later"
            )
        paint = self._paint_png if form == "png" else _paint_svg
        self._waiting += 1
        try:
            data = await self._host.loop.run_in_executor(self._painter, paint, drawing, scale)
        finally:
            self._waiting -= 1
        return Painted(*PictureLayout(scale).size(drawing.rows, drawing.cols), data)

    def _check_size(self, rows: int, cols: int, scale: int) -> None:
        width, height = PictureLayout(scale).size(rows, cols)
        limit = self._host.settings.max_picture_pixels
        if width * height > limit:
            raise LimitReached(
                f"a picture of {rows} rows and {cols} columns at scale {scale} has {width} by "
                f"{height} pixels, more than {limit} (max_picture_pixels)",
                "use a smaller scale",
                "resize the session",
            )

    def _paint_png(self, drawing: Drawing, scale: int) -> str:
        if self._rasteriser is None:
            from nacre.system.images.raster import Rasteriser  # with Pillow: 30 ms, once

            self._rasteriser = Rasteriser(self._system_fonts)
        return base64.b64encode(self._rasteriser.paint(drawing, scale)).decode()


def _paint_svg(drawing: Drawing, scale: int) -> str:
    from nacre.core.pictures.svg import paint_svg
    from nacre.system.images.fonts import packaged_outlines

    return paint_svg(drawing, packaged_outlines(), scale)
