"""A recording as frames: what its screen showed at each moment, by the terminal engine itself.

So a report needs no terminal in the browser, and shows what the test saw.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.journal.played import play
from nacre.core.screen.drawing import Drawing
from nacre.core.screen.screen import Cursor, Line
from nacre.core.terminal.terminal import Terminal

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
    for moment, terminal in play(recording):
        yield _look(terminal, moment, drawn)


def _look(terminal: Terminal, moment: float, drawn: bool) -> Frame:
    drawing = terminal.drawing() if drawn else None
    return Frame(moment, terminal.styled_lines(), terminal.cols, terminal.cursor(), drawing)
