"""Paint a drawing as PNG, or several as a GIF, by Pillow.

Rule 1: Pillow is loaded with the first picture, not with the daemon.
Rule 2: only one thread paints at a time: FreeType's faces cannot be shared between threads.
Rule 3: a glyph is drawn once and kept as a mask; a picture is composed of masks.
"""

import struct
import zlib
from collections.abc import Iterable
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFont

from nacre.core.pictures.box_drawing import Shape, shapes
from nacre.core.pictures.layout import CELL_WIDTH, PictureLayout
from nacre.core.pictures.svg import parts_of
from nacre.core.screen.drawing import Drawing, Ink, StyledRun
from nacre.system.images.fonts import Font, SystemFonts, font_file, packaged_outlines

# Most masks to keep; one cell at scale 2 has 512 bytes. With more, all are dropped.
_MASKS_KEPT = 8192

# Em of a character over two cells, in widths of a cell, as in svg.py.
_WIDE_EM = 14.5 / CELL_WIDTH

# Bitmap fonts open only at their own sizes: Noto Color Emoji's, Apple Color Emoji's, others.
_BITMAP_SIZES = (109, 160, 136, 128, 96, 64)

_SMOOTH = 4  # curves and slopes are drawn this much larger, then reduced

# Steps between paper and ink at the edges of letters. With fewer than 255, pixels repeat exactly
# and compress better: two thirds of the time and size, measured on a listing in colour.
_SHADES = 15

_GIF_COLORS = 128  # of one picture of a GIF, which can have 256; fewer are quicker to find
_GIF_LEAST = 20  # ms; browsers show what is shorter for 100

_COMPRESSION = 3  # zlib's level: the next one takes twice the time for a sixth less


class _Glyph(NamedTuple):
    """The image of a cluster, relative to its cell's upper left corner."""

    mask: Image.Image
    left: int
    top: int
    colored: Image.Image | None = None  # an emoji has its own colours


_GlyphKey = tuple[str, int, bool, bool, int]  # text, width in cells, bold, italic, scale


class Rasteriser:
    def __init__(self, system_fonts: SystemFonts) -> None:
        self._system_fonts = system_fonts
        self._outlines = packaged_outlines()
        self._glyphs: dict[_GlyphKey, _Glyph | None] = {}
        self._fonts: dict[tuple[str, int, float], ImageFont.FreeTypeFont | None] = {}

    def paint(self, drawing: Drawing, scale: int) -> bytes:
        """Return the PNG file."""
        return _encode(self._painted(drawing, scale))

    def animate(self, frames: Iterable[tuple[Drawing, float]], scale: int) -> bytes:
        """Return a GIF of drawings, each shown for so many seconds; the last one stays longest.

        All get the size of the largest.
        """
        shown, layout = list(frames), PictureLayout(scale)
        sizes = [layout.size(drawing.rows, drawing.cols) for drawing, _ in shown]
        width, height = (max(side) for side in zip(*sizes, strict=True))
        # One after the other: painted, a frame takes three times the memory.
        pages = (
            _widened(self._painted(drawing, scale), width, height).quantize(
                _GIF_COLORS, dither=Image.Dither.NONE
            )
            for drawing, _ in shown
        )
        file = BytesIO()
        next(pages).save(
            file,
            "GIF",
            save_all=True,
            append_images=pages,
            duration=[max(_GIF_LEAST, round(seconds * 1000)) for _, seconds in shown],
            loop=0,
        )
        return file.getvalue()

    def _painted(self, drawing: Drawing, scale: int) -> Image.Image:
        layout = PictureLayout(scale)
        image = Image.new("RGB", layout.size(drawing.rows, drawing.cols), drawing.background)
        runs = [run for run in drawing.painted_runs() if run.cells]
        for run in runs:
            if run.paper is not None:
                _fill(image, layout.paper(run), run.paper)
        for run in runs:
            self._paint_run(image, layout, run)
        if caret := layout.caret(drawing):
            _fill(image, *caret)
        return image

    def _paint_run(self, image: Image.Image, layout: PictureLayout, run: StyledRun) -> None:
        for shape, ink in layout.lines(run):
            _fill(image, shape, ink)
        ink = run.ink
        for col, text, width in run.clusters():
            left, top = layout.place(run.row, col)
            glyph = self._glyph((text, width, run.bold, run.italic, layout.scale))
            if glyph is None:
                for shape in layout.missing(run.row, col, width):
                    _fill(image, shape, ink)
                continue
            place = (left + glyph.left, top + glyph.top)
            if glyph.colored is not None:
                image.paste(glyph.colored, place, glyph.mask)
            else:
                right, bottom = place[0] + glyph.mask.width, place[1] + glyph.mask.height
                image.paste(ink, (*place, right, bottom), glyph.mask)

    # --- glyphs ----------------------------------------------------------------------------------

    def _glyph(self, key: _GlyphKey) -> _Glyph | None:
        try:
            return self._glyphs[key]
        except KeyError:
            if len(self._glyphs) >= _MASKS_KEPT:
                self._glyphs.clear()
            glyph = self._glyphs[key] = self._make(*key)
            return glyph

    def _make(self, text: str, width: int, bold: bool, italic: bool, scale: int) -> _Glyph | None:
        """Draw a cluster; None if no font has it."""
        layout = PictureLayout(scale)
        found = shapes(text, layout.cell_width, layout.cell_height, layout.thin)
        if found is not None:
            return _shaped(found, layout)
        shown = parts_of(text)
        if not shown.strip():
            return _Glyph(Image.new("L", (1, 1)), 0, 0)
        if all(map(self._outlines[False, False].has, shown)):
            return self._own(shown, width, bold, italic, layout)
        return self._foreign(text, shown, width, bold, layout)

    def _own(
        self, shown: str, width: int, bold: bool, italic: bool, layout: PictureLayout
    ) -> _Glyph:
        """Draw letters of the packaged font, marks over them: all are as wide as a cell."""
        canvas = Image.new("L", (3 * layout.cell_width, 2 * layout.cell_height))
        place = (layout.cell_width, layout.cell_height // 2 + layout.baseline)
        regular = self._outlines[False, False]
        em = layout.cell_width * regular.units_per_em / regular.advance
        for char in shown:
            styled = self._outlines[bold, italic].has(char)
            font = self._open_own(font_file(bold=bold and styled, italic=italic and styled), em)
            layer = Image.new("L", canvas.size)
            ImageDraw.Draw(layer).text(place, char, fill=255, font=font, anchor="ls")
            canvas = ImageChops.lighter(canvas, layer)
        shift = (width - 1) * layout.cell_width // 2
        return _cropped(canvas, layout.cell_width - shift, layout.cell_height // 2)

    def _foreign(
        self, text: str, shown: str, width: int, bold: bool, layout: PictureLayout
    ) -> _Glyph | None:
        emoji = "\ufe0f" in text or ord(text[0]) >= 0x1F000
        font = self._system_fonts.find(shown, emoji=emoji)
        if font is None:
            # The first emoji of a sequence is better than a box for all of them.
            font, text = self._system_fonts.find(shown[0], emoji=emoji), shown[0]
        return None if font is None else self._fitted(font, text, width, bold, layout)

    def _fitted(
        self, font: Font, text: str, width: int, bold: bool, layout: PictureLayout
    ) -> _Glyph | None:
        """Draw a cluster with one of the machine's fonts, in the middle of its cells."""
        em = layout.cell_width * (_WIDE_EM if width > 1 else 1.66)
        opened = self._open(font.path, font.number, em)
        if opened is None:
            return self._bitmap(font, text, width, layout)
        left, top, right, bottom = (int(side) for side in opened.getbbox(text, anchor="ls"))
        if right <= left or bottom <= top:
            return self._bitmap(font, text, width, layout)
        canvas = Image.new("L", (right - left + 4, bottom - top + 4))
        draw = ImageDraw.Draw(canvas)
        draw.text((2 - left, 2 - top), text, fill=255, font=opened, anchor="ls")
        if bold:
            canvas = ImageChops.lighter(canvas, ImageChops.offset(canvas, layout.thin, 0))
        room = width * layout.cell_width
        above = top - 2
        if canvas.width - 4 > room:
            factor = room / canvas.width
            size = (room, max(1, round(canvas.height * factor)))
            canvas, above = canvas.resize(size, Image.Resampling.LANCZOS), round(above * factor)
        left = (room - canvas.width) // 2
        return _Glyph(_shaded(canvas), left, layout.baseline + above)

    def _bitmap(self, font: Font, text: str, width: int, layout: PictureLayout) -> _Glyph | None:
        """Use an emoji's own bitmap, reduced to the size of its cells."""
        for size in _BITMAP_SIZES:
            opened = self._open(font.path, font.number, size)
            if opened is None:
                continue
            left, top, right, bottom = (int(side) for side in opened.getbbox(text))
            if right <= left or bottom <= top:
                return None
            large = Image.new("RGBA", (right - left, bottom - top))
            ImageDraw.Draw(large).text(
                (-left, -top), text, font=opened, embedded_color=True, fill=(255, 255, 255)
            )
            room = (width * layout.cell_width, layout.cell_height - 2 * layout.thin)
            factor = min(room[0] / large.width, room[1] / large.height)
            small = large.resize(
                (max(1, round(large.width * factor)), max(1, round(large.height * factor))),
                Image.Resampling.LANCZOS,
            )
            x = (room[0] - small.width) // 2
            y = (layout.cell_height - small.height) // 2
            return _Glyph(small.getchannel("A"), x, y, small.convert("RGB"))
        return None

    def _open_own(self, path: str, size: float) -> ImageFont.FreeTypeFont:
        """Open a packaged font without HarfBuzz, which draws a single mark on a dotted circle."""
        key = (path, 0, size)
        font = self._fonts.get(key)
        if font is None:
            basic = ImageFont.Layout.BASIC
            font = self._fonts[key] = ImageFont.truetype(path, size, layout_engine=basic)
        return font

    def _open(self, path: str, index: int, size: float) -> ImageFont.FreeTypeFont | None:
        key = (path, index, size)
        if key not in self._fonts:
            try:
                self._fonts[key] = ImageFont.truetype(path, size, index=index)
            except OSError:  # a bitmap font without this size
                self._fonts[key] = None
        return self._fonts[key]


def _shaped(found: tuple[Shape, ...], layout: PictureLayout) -> _Glyph:
    """Draw a character that joins its neighbours; the edges of rectangles stay sharp."""
    mask = Image.new("L", (layout.cell_width, layout.cell_height))
    for shape in found:
        level = round(255 * shape.opacity)
        if shape.is_rectangle:
            left, top, right, bottom = (int(side) for side in shape.corners)
            mask.paste(level, (left, top, right, bottom))
        else:
            mask = ImageChops.lighter(mask, _smooth(shape, mask.size, level))
    return _Glyph(mask, 0, 0)


def _smooth(shape: Shape, size: tuple[int, int], level: int = 255) -> Image.Image:
    large = Image.new("L", (size[0] * _SMOOTH, size[1] * _SMOOTH))
    # Pillow includes a polygon's last pixel, so it is half a pixel smaller on every side.
    points = [(x * _SMOOTH - 0.5, y * _SMOOTH - 0.5) for x, y in shape.points]
    ImageDraw.Draw(large).polygon(points, fill=level)
    return large.resize(size, Image.Resampling.BOX)


def _cropped(canvas: Image.Image, left: int, top: int) -> _Glyph:
    box = canvas.getbbox() or (0, 0, 1, 1)
    return _Glyph(_shaded(canvas.crop(box)), box[0] - left, box[1] - top)


def _shaded(mask: Image.Image) -> Image.Image:
    """Reduce a mask to its few shades."""
    step = 255 // _SHADES
    return mask.point([(value + step // 2) // step * step for value in range(256)])


def _fill(image: Image.Image, shape: Shape, ink: Ink) -> None:
    if shape.is_rectangle:
        left, top, right, bottom = (int(side) for side in shape.corners)
        image.paste(ink, (left, top, right, bottom))
        return
    left = int(min(x for x, _y in shape.points))
    top = int(min(y for _x, y in shape.points))
    right = int(max(x for x, _y in shape.points)) + 1
    bottom = int(max(y for _x, y in shape.points)) + 1
    moved = Shape(tuple((x - left, y - top) for x, y in shape.points))
    image.paste(ink, (left, top, right, bottom), _smooth(moved, (right - left, bottom - top)))


def _widened(image: Image.Image, width: int, height: int) -> Image.Image:
    if image.size == (width, height):
        return image
    page = Image.new("RGB", (width, height), image.getpixel((0, 0)))
    page.paste(image)
    return page


def _encode(image: Image.Image) -> bytes:
    """Write a PNG file (PNG 1.2) without row filters.

    Text repeats its rows exactly, which the filters that Pillow's encoder tries on each row hide
    from zlib: about half of its time, and smaller.
    """
    pixels, stride = image.tobytes(), 3 * image.width
    rows = b"".join(
        [b"\0" + pixels[start : start + stride] for start in range(0, len(pixels), stride)]
    )
    header = struct.pack(">LLBBBBB", image.width, image.height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    packed = zlib.compress(rows, _COMPRESSION)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", packed), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", checksum)
