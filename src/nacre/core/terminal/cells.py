"""Decode a row of packed cells into spans.

Rule 1: a row is one large integer with a 64-bit lane for each cell, and arithmetic on it handles
all cells at once. A Python loop over the cells costs far more.
Rule 2: equal screens give equal lines: neighbouring runs of one style are one span, and trailing
blanks of the default style are left out.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress, groupby
from typing import Any, NamedTuple, Protocol

from nacre.core.screen.screen import COLOR_NAMES, CellRun, Line, Rgb, Span
from nacre.core.terminal.ghostty import CellLayout

CELL_BYTES = 8
_LANE = 8 * CELL_BYTES

# GhosttyCellContentTag: the high bit of the tag says that the cell is only a background.
_TAG_GRAPHEME = 1
_TAG_BACKGROUND = 2
_TAG_BACKGROUND_RGB = 3
# GhosttyCellWide: narrow, wide, and two spacers, after a wide character (2) and before one that was
# moved to the next row (3).
_WIDE_SPACER = 2


# The fields of Span between text and link, in Span's order and without trailing defaults, so that
# Span(text, *style) passes two or three values, not thirteen.
Style = tuple[Any, ...]

DEFAULT_STYLE: Style = ()
_DEFAULTS: Style = Span.__struct_defaults__[:-1]


class RowDetail(Protocol):
    """What the packed cells of a row refer to."""

    def style(self, x: int) -> Style: ...
    def cluster(self, x: int) -> str: ...
    def link(self, x: int) -> str | None: ...


@lru_cache(maxsize=256)
def palette_color(index: int) -> str:
    return COLOR_NAMES[index] if index < len(COLOR_NAMES) else f"color{index}"


class _Masks(NamedTuple):
    """The masks for the lanes of a row of a certain width."""

    size: int  # in bytes
    columns: range
    ends: range
    last: int
    last_wide: int
    visible: int
    special: int
    codepoint: int
    style: int
    background: int
    spacer: int
    grapheme: int
    run: int


class CellDecoder:
    def __init__(self, layout: CellLayout) -> None:
        self._layout = layout
        self._masks_by_width: dict[int, _Masks] = {}
        self._style_bits = layout.style.in_place
        self._link_bit = layout.hyperlink.in_place
        self._background_bit = _TAG_BACKGROUND << layout.tag.shift
        low = layout.content.shift - self._background_bit.bit_length() + 1
        self._content_span = (low, low + layout.content.mask.bit_length())

    def line(self, raw: bytes, detail: RowDetail) -> Line:
        masks = self._masks_by_width.get(len(raw)) or self._masks(len(raw))
        row = int.from_bytes(raw, "little")
        if not row & masks.visible:
            return ()
        if row & masks.special:
            return self._mixed(raw, row, masks, detail)
        text = self._text(row & masks.codepoint, len(raw))
        styles = row & masks.style
        if not styles:
            text = text.rstrip(" ")
            return (Span(text),) if text else ()
        style_bits = self._style_bits
        cells = memoryview(raw).cast("Q")
        known = {0: DEFAULT_STYLE}  # by id, which is valid only for this row
        line: list[Span] = []
        start = 0
        for end in _run_ends(styles, masks):
            style_id = cells[start] & style_bits
            style = known.get(style_id)
            if style is None:
                style = known[style_id] = detail.style(start)
            line.append(Span(text[start:end], *style))
            start = end
        return _trimmed(line)

    def _mixed(self, raw: bytes, row: int, masks: _Masks, detail: RowDetail) -> Line:
        """Decode a row with wide characters, clusters, links or cells that are only background."""
        line: list[Span] = []
        last: tuple[Style, str | None] | None = None
        for _start, cells, style, link in self._parts(raw, row, masks, detail):
            part = cells if isinstance(cells, str) else "".join(cells)
            if not part:  # only spacers
                continue
            if (style, link) == last:
                part = line.pop().text + part
            line.append(_styled(part, style, link))
            last = (style, link)
        return _trimmed(line)

    def runs(self, raw: bytes, detail: RowDetail) -> tuple[CellRun, ...]:
        """Decode a row with the column of everything in it."""
        masks = self._masks_by_width.get(len(raw)) or self._masks(len(raw))
        row = int.from_bytes(raw, "little")
        if not row & masks.visible:
            return ()
        return tuple(
            CellRun(start, tuple(cells), _styled("".join(cells), style, link))
            for start, cells, style, link in self._parts(raw, row, masks, detail)
        )

    def _parts(
        self, raw: bytes, row: int, masks: _Masks, detail: RowDetail
    ) -> Iterator[tuple[int, Sequence[str], Style, str | None]]:
        """Split a row by style: where a part begins, its cells, style and link."""
        background = row & masks.background
        # Every lane's background bit, widened to a mask over the lane's content. No lane borrows
        # from the next, because the subtrahend is smaller in each.
        low, high = self._content_span
        colors = (background << high) - (background << low)
        text = self._text(row & masks.codepoint & ~colors, len(raw))
        chars = self._chars(text, row, background, masks, detail) or text
        for start, end, style, link in self._runs(raw, row & (masks.run | colors), masks, detail):
            yield start, chars[start:end], style, link

    def _chars(
        self, text: str, row: int, background: int, masks: _Masks, detail: RowDetail
    ) -> list[str] | None:
        """Return what each cell shows, if that is not one character per cell."""
        spacers = _lanes(row & masks.spacer, masks)
        clusters = _lanes(row & masks.grapheme & ~(background >> 1), masks)
        if not spacers and not clusters:
            return None
        chars = list(text)
        for x in spacers:
            chars[x] = ""
        if row & masks.last_wide == masks.last_wide:
            # A spacer before a wide character that was moved to the next row: a blank with a
            # background. The engine may turn it into a normal blank without marking the row dirty.
            chars[-1] = " "
        for x in clusters:
            # A combining mark on a blank is dropped, as the engine's formatter does in plain text.
            if chars[x] != " ":
                chars[x] = detail.cluster(x)
        return chars

    def _runs(
        self, raw: bytes, keys: int, masks: _Masks, detail: RowDetail
    ) -> Iterator[tuple[int, int, Style, str | None]]:
        style_bits, background_bit, link_bit = (
            self._style_bits,
            self._background_bit,
            self._link_bit,
        )
        cells = memoryview(raw).cast("Q")
        known = {0: DEFAULT_STYLE}
        start = 0
        for end in _run_ends(keys, masks):
            cell = cells[start]
            if cell & background_bit:
                yield start, end, self._background(cell), None
            else:
                style_id = cell & style_bits
                style = known.get(style_id)
                if style is None:
                    style = known[style_id] = detail.style(start)
                if cell & link_bit:
                    for first, after, link in _links(start, end, detail):
                        yield first, after, style, link
                else:
                    yield start, end, style, None
            start = end

    def _background(self, cell: int) -> Style:
        layout = self._layout
        if cell >> layout.tag.shift & layout.tag.mask == _TAG_BACKGROUND_RGB:
            return None, Rgb(*(cell >> part.shift & part.mask for part in layout.rgb))
        return None, palette_color(cell >> layout.palette.shift & layout.palette.mask)

    def _text(self, codepoints: int, size: int) -> str:
        """The characters of lanes that hold nothing but their code points."""
        wide = (codepoints >> self._layout.codepoint.shift).to_bytes(size, "little")
        # A lane is two UTF-32 units, the second of them zero.
        return wide.decode("utf-32-le", "replace")[::2].replace("\0", " ")

    def _masks(self, size: int) -> _Masks:
        layout = self._layout
        lanes = sum(1 << lane * _LANE for lane in range(size // CELL_BYTES))
        background, link = self._background_bit, self._link_bit
        masks = _Masks(
            size=size,
            columns=range(size // CELL_BYTES),
            ends=range(1, size // CELL_BYTES + 1),
            last=1 << 8 * size - 1,
            last_wide=layout.wide.in_place << 8 * size - _LANE,
            visible=lanes * (layout.tag.in_place | layout.content.in_place | layout.style.in_place),
            special=lanes * (layout.tag.in_place | layout.wide.in_place | link),
            codepoint=lanes * layout.codepoint.in_place,
            style=lanes * layout.style.in_place,
            background=lanes * background,
            spacer=lanes * (_WIDE_SPACER << layout.wide.shift),
            grapheme=lanes * (_TAG_GRAPHEME << layout.tag.shift),
            run=lanes * (layout.style.in_place | background | link),
        )
        self._masks_by_width[size] = masks
        return masks


def _lanes(marks: int, masks: _Masks) -> list[int]:
    """The lanes that are not zero."""
    if not marks:
        return []
    return list(compress(masks.columns, memoryview(marks.to_bytes(masks.size, "little")).cast("Q")))


def _run_ends(keys: int, masks: _Masks) -> list[int]:
    """Return where lanes differ from the next one; the last end is the row's."""
    changes = (keys ^ keys >> _LANE | masks.last).to_bytes(masks.size, "little")
    return list(compress(masks.ends, memoryview(changes).cast("Q")))


def _links(start: int, end: int, detail: RowDetail) -> Iterator[tuple[int, int, str | None]]:
    """Split a linked run by target: the cell's bit says only that there is a link."""
    at = start
    for link, same in groupby(map(detail.link, range(start, end))):
        after = at + len(list(same))
        yield at, after, link
        at = after


def _styled(text: str, style: Style, link: str | None) -> Span:
    if link is None:
        return Span(text, *style)
    fields: tuple[Any, ...] = (text, *style, *_DEFAULTS[len(style) :], link)
    return Span(*fields)


def _trimmed(line: list[Span]) -> Line:
    """Leave out the trailing blanks of the default style."""
    if line and line[-1] == Span(line[-1].text):
        text = line.pop().text.rstrip(" ")
        if text:
            line.append(Span(text))
    return tuple(line)
