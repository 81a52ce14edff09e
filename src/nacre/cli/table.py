"""An aligned table of text for a person."""

import unicodedata
from collections.abc import Sequence

from nacre.cli.answers import harmless

_GAP = "  "


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], widest: int | None) -> str:
    """Align columns; cells longer than `widest` are cut."""
    cells = [[_cell(text, widest) for text in row] for row in (header, *rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_line(row, widths) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (text + " " * (wide - width(text)) for text, wide in zip(row, widths, strict=True))
    return _GAP.join(padded).rstrip()


def _cell(text: str, widest: int | None) -> str:
    # A newline or tab would break the row.
    flat = harmless(text).replace("\n", "\\n").replace("\t", "\\t")
    if widest is None or width(flat) <= widest:
        return flat
    while width(flat) > widest - 1:
        flat = flat[:-1]
    return flat + "…"


def width(text: str) -> int:
    """Count terminal columns: East Asian wide characters take two, combining ones none (UAX 11)."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
