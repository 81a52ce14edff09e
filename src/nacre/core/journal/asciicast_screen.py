"""The screen of a recording at a moment: an asciicast goes through an engine up to there."""

import json
import re
from itertools import accumulate

from nacre.core.journal.asciicast_reader import events_of
from nacre.core.seeing.cells import ScreenCells
from nacre.core.terminal.terminal import Terminal

_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")  # of an event r: columns and rows
_USUAL = (24, 80)


def cells_of_cast(text: str, seconds: float | None = None) -> ScreenCells:
    """Return the screen after so many seconds, or at the end.

    Raises ValueError for what is no recording.
    """
    events = list(events_of(text))
    rows, cols = _size(text)
    terminal = Terminal(rows, cols, scrollback=0)
    try:
        for event, when in zip(events, accumulate(one.delay for one in events), strict=True):
            if seconds is not None and when > seconds:
                break
            if event.code == "o":
                terminal.feed(event.text.encode())
                terminal.take_replies()
            elif event.code == "r" and (size := _SIZE.fullmatch(event.text)):
                terminal.resize(int(size[2]), int(size[1]))
        return terminal.screen_cells()
    finally:
        terminal.close()


def _size(text: str) -> tuple[int, int]:
    """Return the rows and columns that a header tells: of version 3 in term, of 2 at its top."""
    header = json.loads(text.split("\n", 1)[0])
    term = header.get("term")
    facts = term if isinstance(term, dict) else {}
    rows = facts.get("rows", header.get("height"))
    cols = facts.get("cols", header.get("width"))
    whole = all(isinstance(one, int) and 0 < one < 2000 for one in (rows, cols))
    return (rows, cols) if whole else _USUAL
