"""A process that makes one film: playing and painting take a whole core for seconds.

`python -m nacre.services.films.worker` gets a task on its standard input (msgpack, until its end)
and answers on its standard output.

Rule: it ends with its daemon, by the time it may take (an alarm), or when it has answered.
"""

import signal
import sys
from itertools import pairwise

import msgspec

_LAST = 3.0  # seconds for the last frame, before it begins again


class FilmTask(msgspec.Struct, frozen=True):
    recording: str
    form: str  # gif or svg
    frames: int  # at most
    pixels: int  # of a frame, at most
    longest: float  # seconds that a frame is shown, however long nothing happened
    scale: int
    seconds: int  # that it may take


class FilmMade(msgspec.Struct, frozen=True):
    data: bytes
    width: int
    height: int
    frames: int
    of: int  # frames that the recording has
    seconds: float


class FilmTooLarge(msgspec.Struct, frozen=True):
    width: int
    height: int


def make(task: FilmTask) -> FilmMade | FilmTooLarge:
    from nacre.core.journal.played import film_of
    from nacre.core.pictures.layout import PictureLayout

    frames, count = film_of(task.recording, task.frames)
    layout = PictureLayout(task.scale)
    sizes = [layout.size(drawing.rows, drawing.cols) for _, drawing in frames]
    width, height = (max(side) for side in zip(*sizes, strict=True))
    if width * height > task.pixels:
        return FilmTooLarge(width, height)
    times = [moment for moment, _ in frames]
    lasting = [max(0.02, min(task.longest, after - at)) for at, after in pairwise(times)]
    shown = list(zip((drawing for _, drawing in frames), [*lasting, _LAST], strict=True))
    if task.form == "gif":
        from nacre.system.images.fonts import SystemFonts
        from nacre.system.images.raster import Rasteriser

        data = Rasteriser(SystemFonts()).animate(shown, task.scale)
    else:
        from nacre.core.pictures.film import paint_film
        from nacre.core.pictures.svg import paint_svg
        from nacre.system.images.fonts import packaged_outlines

        faces = packaged_outlines()
        painted = [(paint_svg(drawing, faces, task.scale), lasts) for drawing, lasts in shown]
        data = paint_film(painted, width, height).encode()
    return FilmMade(data, width, height, len(shown), count, sum(lasts for _, lasts in shown))


def main() -> int:
    task = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=FilmTask)
    signal.alarm(task.seconds)
    sys.stdout.buffer.write(msgspec.msgpack.encode(make(task)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
