"""Pictures of a scenario: its last screen as SVG, all of it as a GIF."""

from itertools import pairwise

from nacre.core.pictures.svg import paint_svg
from nacre.system.images.fonts import SystemFonts, packaged_outlines
from nacre.system.images.raster import Rasteriser
from nacre.testing.reports.frames import frames_of

_LONGEST = 2.0  # seconds that a frame is shown, however long nothing happened
_LAST = 3.0  # seconds for the last one, before it begins again
_MOST = 300  # frames; more than that is no picture any more but a film, and megabytes


def still(recording: str) -> bytes:
    """Return an SVG of the last screen that is not empty: a program that ends clears its own."""
    drawings = [frame.drawing for frame in frames_of(recording, drawn=True) if frame.drawing]
    shown = [one for one in drawings if any(text.strip() for text in one.texts())] or drawings
    return paint_svg(shown[-1], packaged_outlines(), scale=1).encode()


def animation(recording: str, scale: int = 1) -> bytes:
    """Return a GIF of a recording (asciicast). Long pauses are shortened."""
    frames = frames_of(recording, drawn=True)[-_MOST:]
    times = [frame.time for frame in frames]
    shown = [min(_LONGEST, after - at) for at, after in pairwise(times)]
    drawings = [frame.drawing for frame in frames if frame.drawing is not None]
    rasteriser = Rasteriser(SystemFonts())
    return rasteriser.animate(zip(drawings, [*shown, _LAST], strict=True), scale)
