"""Turn a program's output into what a person would have read.

It is rendered through a separate engine: progress bars collapse to their last state, colours are
dropped, and wrapped lines are joined again.

Rule: the engine is loaded when there is something to render, not with this module, because a new
daemon answers its first client before it loads the engine.
"""

from nacre.core.screen.controls import ERASE_LINE
from nacre.late_pattern import late_pattern

ROWS = 24
_KEPT = 200_000  # lines; more than fit into one rendering
_HARVEST = 5_000  # rows after which long output is taken out of the engine
_SLICE = 4096  # bytes fed at once; each could be a line
_TORN = 64  # bytes at the end of a part in which a sequence may be cut
_LONGEST_LINE = 1 << 20  # characters; a longer line is returned in pieces
_ERASE_SCROLLBACK = b"\x1b[3J"  # xterm ctlseqs, ED 3
_CLEARED = late_pattern(rb"(?:\x1b\[H)?\x1b\[[23]J")  # xterm ctlseqs, CUP and ED 2, 3

# A sequence that is whole (ECMA-48, 5.4 and 5.6).
_SEQUENCE = late_pattern(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[PX\]^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])"
)

# Without control characters other than line ends and tabs there is nothing to render.
_PLAIN = late_pattern(rb"(?:[^\x00-\x08\x0b-\x1f\x7f]|\r\n)*\Z")


def render(data: bytes, cols: int) -> list[str]:
    """Return the lines, without blank ones at the end."""
    if not data:
        return []
    # A tab's width depends on cells, which only the engine knows beyond ASCII.
    if _PLAIN.match(data) and (b"\t" not in data or data.isascii()):
        text = data.decode(errors="replace").replace("\r\n", "\n").expandtabs()
        return trimmed([line.rstrip(" ") for line in text.split("\n")])
    from nacre.core.terminal.terminal import Terminal

    terminal = Terminal(ROWS, cols, scrollback=_KEPT)
    try:
        terminal.feed(data)
        return trimmed(terminal.unwrapped_lines())
    finally:
        terminal.close()


def render_below(above: list[str], data: bytes, rows: int, cols: int) -> list[str]:
    """Return the lines below those that stood on a screen of this size, the cursor at their end."""
    from nacre.core.terminal.terminal import Terminal

    cleared = [found.end() for found in _CLEARED.finditer(data)]
    data, after = (data[: cleared[-1]], data[cleared[-1] :]) if cleared else (data, b"")
    if cleared:
        data = _CLEARED.sub(b"", data)
    terminal = Terminal(max(rows, len(above)), cols, scrollback=_KEPT)
    try:
        terminal.feed("\r\n".join(above).encode())
        terminal.feed(data)
        # A line that fills its rows leaves the cursor below it: some editors go up again at Enter.
        at_edge = len(above) > 1 and not above[-1]
        lines = terminal.unwrapped_from(len(above) - at_edge)
        if at_edge and lines and not lines[0]:
            del lines[0]
        return trimmed(trimmed(lines) + render(after, cols))
    finally:
        terminal.close()


class Redrawn:
    """An output in which rows may be written over: an engine knows what it came to show.

    Memory is bounded: what has moved out of the screen is final, and is given out.
    """

    def __init__(self, cols: int) -> None:
        from nacre.core.terminal.terminal import Terminal

        self._terminal = Terminal(ROWS, cols, scrollback=2 * _HARVEST)
        self._begun = ""  # a line that was given out in part: the rest of it is on the screen
        self._held = b""  # what may be the beginning of a sequence or a character

    def feed(self, data: bytes) -> list[str]:
        """Take more of it; return the lines that are final."""
        final: list[str] = []
        # Nothing that was printed is lost to who reads it all.
        data = (self._held + data).replace(_ERASE_SCROLLBACK, b"")
        at = 0
        # So small that even line feeds alone do not run over the scrollback unseen.
        while piece := whole_part(data[at : at + _SLICE]):
            self._terminal.feed(piece)
            at += len(piece)
            if self._terminal.scrollback_total > _HARVEST:
                final += self._harvest()
        self._held = data[at:]
        return final

    def rest(self, *, last: bool = False) -> list[str]:
        """Return what is not final yet, down to the screen's last row; `last`: nothing follows."""
        if last:
            self._terminal.feed(self._held)
        lines = self._terminal.unwrapped_lines()
        lines[0] = self._begun + lines[0]
        return lines

    def above(self) -> list[str]:
        """Return all that is not final above the line at whose start the cursor stands."""
        self._terminal.feed(b"x")  # or else blank lines at the end would be missing
        lines = self.rest()[:-1]
        self._terminal.feed(ERASE_LINE)
        return lines

    def close(self) -> None:
        self._terminal.close()

    def _harvest(self) -> list[str]:
        """Take the scrollback out of the engine, but for a line that goes on below."""
        terminal = self._terminal
        lines = terminal.unwrapped_scrollback()
        blank = self._blank_rows()
        goes_on = not blank and terminal.unwrapped_lines()[len(lines) - 1] != lines[-1]
        lines = [*trimmed(lines), *[""] * blank]
        lines[0] = self._begun + lines[0]
        self._begun = ""
        if goes_on and len(lines[-1]) < _LONGEST_LINE:
            self._begun = lines.pop()
            # Its rows are full: blanks at their end are text.
            blanks = -len(self._begun) % terminal.cols
            self._begun += " " * blanks if self._begun.isascii() else ""
        terminal.feed(_ERASE_SCROLLBACK)
        return lines

    def _blank_rows(self) -> int:
        """Count the blank rows at the end of the scrollback: as lines they are left out."""
        total = self._terminal.scrollback_total
        count = 0
        while count < total and self._terminal.scrollback_plain(total - count - 1, 1) == [""]:
            count += 1
        return count


def whole_part(data: bytes) -> bytes:
    """Return it up to its last line feed, or else to where no sequence or character is cut."""
    if end := data.rfind(b"\n") + 1:
        return data[:end]
    torn = data.rfind(b"\x1b", max(0, len(data) - _TORN))
    if torn >= 0 and _SEQUENCE.match(data, torn) is None:
        return data[:torn]
    for back in range(1, min(4, len(data)) + 1):  # a character has up to four bytes
        byte = data[-back]
        if byte >= 0xC0:
            size = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return data if back >= size else data[:-back]
        if byte < 0x80:
            break
    return data


def trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return lines
