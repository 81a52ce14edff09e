"""Turn what a program printed into what a person would have read.

Rendered through an engine of its own: progress bars collapse to their last state, colours go, and
lines that the terminal's width wrapped are whole again.

Rule: the engine is loaded when there is something to render, not with this module: a daemon that
was just started answers its first client before it loads the engine.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_ROWS = 24
_KEPT = 200_000  # lines; more never fit into what is rendered at once
_HARVEST = 20_000  # lines after which a long output is taken out of the engine
_SLICE = 16_384  # bytes fed at once; each could be a line
_LONGEST_LINE = 1 << 20  # characters; a longer one is given out in pieces
_ERASE_SCROLLBACK = b"\x1b[3J"  # xterm ctlseqs, ED 3

# Without any other control than line ends and tabs there is nothing to render.
_PLAIN = re.compile(rb"(?:[^\x00-\x08\x0b-\x1f\x7f]|\r\n)*\Z")


def render(data: bytes, cols: int) -> list[str]:
    """Return the lines, without blank ones at the end."""
    if not data:
        return []
    # A tab's width is counted in cells, which only the engine knows for more than ASCII.
    if _PLAIN.match(data) and (b"\t" not in data or data.isascii()):
        text = data.decode(errors="replace").replace("\r\n", "\n").expandtabs()
        return _trimmed([line.rstrip(" ") for line in text.split("\n")])
    from nacre.core.terminal import Terminal

    terminal = Terminal(_ROWS, cols, scrollback=_KEPT)
    try:
        terminal.feed(data)
        return _trimmed(terminal.unwrapped_lines())
    finally:
        terminal.close()


def render_stream(chunks: Iterable[bytes], cols: int) -> Iterator[list[str]]:
    """Render an output of any length in parts, in bounded memory."""
    from nacre.core.terminal import Terminal

    terminal = Terminal(_ROWS, cols, scrollback=2 * _HARVEST)
    begun = ""  # a line that was taken out in part: the rest of it is still on the screen
    try:
        for part in _slices(chunks):
            terminal.feed(part)
            if terminal.scrollback_total > _HARVEST:
                lines, begun = _harvest(terminal, begun)
                yield lines
        lines = terminal.unwrapped_lines()
        yield _trimmed([begun + lines[0], *lines[1:]])
    finally:
        terminal.close()


def _slices(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut so small that even line feeds alone do not run over the scrollback unseen."""
    for chunk in chunks:
        for at in range(0, len(chunk), _SLICE):
            yield chunk[at : at + _SLICE]


def _harvest(terminal: "Terminal", begun: str) -> tuple[list[str], str]:
    """Take the scrollback out of the engine; return its lines, and the one that goes on below."""
    lines = terminal.unwrapped_scrollback()
    goes_on = terminal.unwrapped_lines()[len(lines) - 1] != lines[-1]
    lines[0] = begun + lines[0]
    begun = ""
    if goes_on and len(lines[-1]) < _LONGEST_LINE:
        begun = lines.pop()
        # Its rows are full: blanks at their end are text.
        begun += " " * (-len(begun) % terminal.cols) if begun.isascii() else ""
    terminal.feed(_ERASE_SCROLLBACK)
    return lines, begun


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return lines
