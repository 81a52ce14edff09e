"""Paint a drawing as SVG.

Rule 1: it looks the same in every viewer: letters are outlines of the packaged font, each written
once, and lines and blocks are shapes. Characters that the font does not have (CJK, emoji) are text
in the middle of their cells, in a font of the viewer.
Rule 2: it can be selected and searched: an invisible text lies over each row.
Rule 3: text and links come from an untrusted program: none of it becomes markup, and only web and
mail addresses become links.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from nacre.core.pictures.box_drawing import Shape, shapes
from nacre.core.pictures.layout import CELL_HEIGHT, CELL_WIDTH, PictureLayout
from nacre.core.pictures.sfnt import Outlines
from nacre.core.screen.drawing import Drawing, Ink, StyledRun

# What XML 1.0 cannot contain [2.2, Char].
_UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINK = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)

_FAMILIES = (
    "'DejaVu Sans Mono','Noto Sans Mono CJK SC','Noto Sans CJK SC','PingFang SC','Microsoft YaHei',"
    "'Apple Color Emoji','Noto Color Emoji','Segoe UI Emoji',monospace"
)
_WIDE_SIZE = 14.5  # pixels; for a character over two cells, whose em fits between the lines

Faces = Mapping[tuple[bool, bool], Outlines]  # by bold and italic


def paint_svg(drawing: Drawing, faces: Faces, scale: int) -> str:
    """Return the picture; `scale` is its size in a viewer, everything inside is the same."""
    return _Painter(drawing, faces).paint(scale)


def parts_of(text: str) -> str:
    """Compose a cluster where composed characters exist, without invisible parts."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(c for c in composed if unicodedata.category(c) != "Cf" and not _is_selector(c))


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


class _Painter:
    def __init__(self, drawing: Drawing, faces: Faces) -> None:
        self._drawing = drawing
        self._faces = faces
        self._layout = PictureLayout(1)
        self._runs = [run for run in drawing.painted_runs() if run.cells]
        self._symbols: dict[tuple[bool, bool, str], tuple[str, str]] = {}  # id, path data

    def paint(self, scale: int) -> str:
        drawing = self._drawing
        width, height = self._layout.size(drawing.rows, drawing.cols)
        glyphs = self._glyphs()  # collects the symbols, which are written first
        body = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale}" '
            f'height="{height * scale}" viewBox="0 0 {width} {height}">',
            f'<rect width="{width}" height="{height}" fill="{_hex(drawing.background)}"/>',
            *_group('shape-rendering="crispEdges"', self._papers()),
            f"<defs>{''.join(self._defined())}</defs>",
            *_group("", self._shapes()),
            *glyphs,
            *_group(_text_style(), self._foreign()),
            *_group("", self._lines()),
            *_group(_text_style("fill-opacity:0"), self._texts()),
            *self._links(),
            "</svg>\n",
        ]
        return "\n".join(body)

    # --- what is under and over the text ---------------------------------------------------------

    def _papers(self) -> Iterator[str]:
        for run in self._runs:
            if run.paper is not None:
                yield _polygon(self._layout.paper(run), run.paper)

    def _shapes(self) -> Iterator[str]:
        layout = self._layout
        for run in self._runs:
            for col, text, _width in run.clusters():
                found = shapes(text, CELL_WIDTH, CELL_HEIGHT, layout.thin)
                for shape in found or ():
                    yield _polygon(shape, run.ink, layout.place(run.row, col))

    def _lines(self) -> Iterator[str]:
        for run in self._runs:
            for shape, ink in self._layout.lines(run):
                yield _polygon(shape, ink)
        if caret := self._layout.caret(self._drawing):
            yield _polygon(*caret)

    # --- letters ---------------------------------------------------------------------------------

    def _glyphs(self) -> list[str]:
        """Use the outlines; in their own units a cell is as wide as every letter's advance."""
        regular = self._faces[False, False]
        size = CELL_WIDTH / regular.advance
        parts = []
        for run in self._runs:
            uses = "".join(self._uses(run, regular.advance))
            if uses:
                parts.append(f'<g fill="{_hex(run.ink)}">{uses}</g>')
        layout = self._layout
        left, top = layout.place(0, 0)
        move = f"translate({left} {top + layout.baseline}) scale({size:.6g} {-size:.6g})"
        return list(_group(f'transform="{move}"', parts))

    def _uses(self, run: StyledRun, advance: int) -> Iterator[str]:
        height = advance * CELL_HEIGHT // CELL_WIDTH
        face = self._faces[run.bold, run.italic]
        for col, text, width in run.clusters():
            if self._is_foreign(text, width):
                continue
            # A letter in two cells, as of an ambiguous width, stands in their middle.
            x, y = col * advance + (width - 1) * advance // 2, -run.row * height
            for char in parts_of(text):
                drawn = face if face.has(char) else self._faces[False, False]
                if symbol := self._symbol(drawn is face, run, char, drawn):
                    yield f'<use href="#{symbol}" x="{x}" y="{y}"/>'

    def _symbol(self, styled: bool, run: StyledRun, char: str, face: Outlines) -> str | None:
        key = (run.bold and styled, run.italic and styled, char)
        if key not in self._symbols:
            path = face.path(char)
            self._symbols[key] = (f"g{len(self._symbols)}" if path else "", path)
        return self._symbols[key][0] or None

    def _defined(self) -> Iterator[str]:
        for name, path in self._symbols.values():
            if name:
                yield f'<path id="{name}" d="{path}"/>'

    def _is_foreign(self, text: str, width: int) -> bool:
        """Return whether a cluster is left to the viewer's fonts."""
        if shapes(text, CELL_WIDTH, CELL_HEIGHT, 1) is not None:
            return True
        regular = self._faces[False, False]
        return not all(map(regular.has, parts_of(text)))

    def _foreign(self) -> Iterator[str]:
        layout = self._layout
        for run in self._runs:
            style = f'fill="{_hex(run.ink)}"' + (' font-weight="bold"' if run.bold else "")
            for col, text, width in run.clusters():
                shown = _clean(text)
                is_shape = shapes(text, CELL_WIDTH, CELL_HEIGHT, 1) is not None
                if is_shape or not shown or not self._is_foreign(text, width):
                    continue
                left, top = layout.place(run.row, col)
                x, y = left + width * CELL_WIDTH / 2, top + layout.baseline
                size = f' font-size="{_WIDE_SIZE}"' if width > 1 else ""
                yield (
                    f'<text x="{x:g}" y="{y}" text-anchor="middle" {style}{size} '
                    f'style="user-select:none">{escape(shown)}</text>'
                )

    # --- what is not seen ------------------------------------------------------------------------

    def _texts(self) -> Iterator[str]:
        layout = self._layout
        rows: dict[int, list[StyledRun]] = {}
        for run in self._runs:
            rows.setdefault(run.row, []).append(run)
        for row, runs in rows.items():
            text, cols = _row_text(runs)
            if text.strip():
                left, top = layout.place(row, 0)
                yield (
                    f'<text x="{left}" y="{top + layout.baseline}" xml:space="preserve" '
                    f'textLength="{cols * CELL_WIDTH}" lengthAdjust="spacingAndGlyphs">'
                    f"{escape(_clean(text))}</text>"
                )

    def _links(self) -> Iterator[str]:
        for run in self._runs:
            if run.link and _LINK.fullmatch(run.link):
                area = _polygon(self._layout.paper(run), (0, 0, 0), opacity=0)
                yield f"<a href={quoteattr(_clean(run.link))}>{area}</a>"


def _row_text(runs: list[StyledRun]) -> tuple[str, int]:
    """Return a row's text up to its last letter, and how many columns that is."""
    cells: dict[int, str] = {}
    for run in runs:
        cells.update(enumerate(run.cells, run.col))
    filled = [cells.get(col, " ") for col in range(max(cells) + 1)]
    while filled and filled[-1] == " ":
        filled.pop()
    return "".join(filled), len(filled)


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("", text)


def _text_style(more: str = "") -> str:
    # The em at which the packaged font's letters are as wide as a cell.
    return f'font-family="{_FAMILIES}" font-size="13.29" style="white-space:pre;{more}"'


def _group(attributes: str, parts: Iterable[str]) -> Iterator[str]:
    written = list(parts)
    if written:
        yield f"<g {attributes}>".replace(" >", ">")
        yield from written
        yield "</g>"


def _hex(ink: Ink) -> str:
    return "#{:02x}{:02x}{:02x}".format(*ink)


def _polygon(
    shape: Shape, ink: Ink, at: tuple[int, int] = (0, 0), opacity: float | None = None
) -> str:
    left, top = at
    visible = shape.opacity if opacity is None else opacity
    fill = f'fill="{_hex(ink)}"' + (f' fill-opacity="{visible:g}"' if visible < 1 else "")
    if shape.is_rectangle:
        x0, y0, x1, y1 = shape.corners
        return (
            f'<rect x="{left + x0:g}" y="{top + y0:g}" width="{x1 - x0:g}" '
            f'height="{y1 - y0:g}" {fill}/>'
        )
    points = " ".join(f"{left + x:.6g},{top + y:.6g}" for x, y in shape.points)
    return f'<polygon points="{points}" {fill}/>'
