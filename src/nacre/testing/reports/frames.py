"""A recording as frames: what its screen showed at each moment, by the terminal engine itself.

So a report needs no terminal in the browser, and shows what the test saw.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.journal.asciicast_reader import events_of
from nacre.core.screen.drawing import Drawing
from nacre.core.screen.screen import Cursor, Line
from nacre.core.terminal.terminal import Terminal

# Output within so many seconds is one frame: nobody sees more, and a page stays small.
_FRAME = 0.02
MOST_FRAMES = 2000  # of one recording; the later ones are kept, where it failed


class Frame(NamedTuple):
    time: float  # seconds since the beginning
    rows: list[Line]
    cols: int
    cursor: Cursor
    drawing: Drawing | None


def frames_of(recording: str, *, drawn: bool = False) -> list[Frame]:
    """Return the frames of an asciicast; with `drawn`, as drawings for pictures, too."""
    frames = list(_frames(recording, drawn))
    return frames[-MOST_FRAMES:]


def _frames(recording: str, drawn: bool) -> Iterator[Frame]:
    terminal = Terminal(*_size_in(recording), scrollback=0)
    try:
        now, begun, waiting = 0.0, 0.0, False
        for event in events_of(recording):
            now += event.delay
            if waiting and now - begun >= _FRAME:
                yield _look(terminal, begun, drawn)
                waiting = False
            if event.code == "o":
                terminal.feed(event.text.encode(errors="surrogatepass"))
            elif event.code == "r":
                cols, _, rows = event.text.partition("x")
                terminal.resize(int(rows), int(cols))
            else:
                continue
            if not waiting:
                begun, waiting = now, True
        yield _look(terminal, begun if waiting else now, drawn)
    finally:
        terminal.close()


def _look(terminal: Terminal, moment: float, drawn: bool) -> Frame:
    drawing = terminal.drawing() if drawn else None
    return Frame(moment, terminal.styled_lines(), terminal.cols, terminal.cursor(), drawing)


def _size_in(recording: str) -> tuple[int, int]:
    """Return rows and columns of an asciicast, version 3 or 2."""
    import json

    header = json.loads(recording.partition("\n")[0])
    size = header.get("term", {"rows": header.get("height"), "cols": header.get("width")})
    return int(size["rows"]), int(size["cols"])
