"""Turn what a program printed into what a person would have read.

Rendered through an engine of its own: progress bars collapse to their last state, colours go, and
lines that the terminal's width wrapped are whole again.
"""

import re
from collections.abc import Iterable, Iterator

from nacre.core.terminal import Terminal

_ROWS = 24
_KEPT = 200_000  # lines; more never fit into what is rendered at once
_HARVEST = 20_000  # lines after which a long output is taken out of the engine
_ERASE_SCROLLBACK = b"\x1b[3J"  # xterm ctlseqs, ED 3

# Without any other control than line ends and tabs there is nothing to render.
_PLAIN = re.compile(rb"(?:[^\x00-\x08\x0b-\x1f\x7f]|\r\n)*\Z")


def render(data: bytes, cols: int) -> list[str]:
    """Return the lines, without blank ones at the end."""
    if not data:
        return []
    if _PLAIN.match(data):
        text = data.decode(errors="replace").replace("\r\n", "\n").expandtabs()
        return _trimmed([line.rstrip(" ") for line in text.split("\n")])
    terminal = Terminal(_ROWS, cols, scrollback=_KEPT)
    try:
        terminal.feed(data)
        return _trimmed(terminal.unwrapped_lines())
    finally:
        terminal.close()


def render_stream(chunks: Iterable[bytes], cols: int) -> Iterator[list[str]]:
    """Render an output of any length in parts, in bounded memory."""
    terminal = Terminal(_ROWS, cols, scrollback=2 * _HARVEST)
    try:
        for chunk in chunks:
            terminal.feed(chunk)
            if terminal.scrollback_total > _HARVEST:
                yield terminal.unwrapped_scrollback()
                terminal.feed(_ERASE_SCROLLBACK)
        yield _trimmed(terminal.unwrapped_lines())
    finally:
        terminal.close()


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return lines
