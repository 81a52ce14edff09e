"""An aligned table of text for a person."""

from collections.abc import Sequence

from nacre.cli.output.answers import harmless
from nacre.core.text.widths import text_width

_GAP = "  "


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], widest: int | None) -> str:
    """Align columns; cells longer than `widest` are cut."""
    cells = [[_cell(text, widest) for text in row] for row in (header, *rows)]
    widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_line(row, widths) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        text + " " * (wide - text_width(text)) for text, wide in zip(row, widths, strict=True)
    )
    return _GAP.join(padded).rstrip()


def _cell(text: str, widest: int | None) -> str:
    # A newline or tab would break the row.
    flat = harmless(text).replace("\n", "\\n").replace("\t", "\\t")
    if widest is None or text_width(flat) <= widest:
        return flat
    while text_width(flat) > widest - 1:
        flat = flat[:-1]
    return flat + "…"
