"""PNG pictures, pixel by pixel."""

import io
from pathlib import Path

import pytest
from PIL import Image

from nacre.core.pictures.layout import PictureLayout
from nacre.core.terminal.terminal import Terminal
from nacre.system.images.fonts import SystemFonts
from nacre.system.images.raster import Rasteriser

BLACK, LIGHT, RED = (0, 0, 0), (220, 220, 220), (255, 0, 0)
INK = "\x1b[38;2;255;0;0m"


class Picture:
    """A picture, asked cell by cell."""

    def __init__(self, file: bytes, scale: int) -> None:
        self.image = Image.open(io.BytesIO(file))
        assert self.image.format == "PNG"
        self.layout = PictureLayout(scale)

    def cell(self, row: int, col: int) -> Image.Image:
        left, top = self.layout.place(row, col)
        box = (left, top, left + self.layout.cell_width, top + self.layout.cell_height)
        return self.image.crop(box)

    def colors(self, row: int, col: int) -> set[tuple[int, int, int]]:
        return {color for _count, color in self.cell(row, col).getcolors(9999)}  # type: ignore[union-attr, misc]  # an RGB cell has few

    def rows_with(self, row: int, col: int, color: tuple[int, int, int]) -> list[int]:
        """The pixel rows of a cell that are this colour from edge to edge."""
        cell = self.cell(row, col)
        return [
            y
            for y in range(cell.height)
            if all(cell.getpixel((x, y)) == color for x in range(cell.width))
        ]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Rasteriser:
    """A painter on a machine without any font."""
    return Rasteriser(SystemFonts([str(tmp_path_factory.mktemp("fonts"))]))


def paint(rasteriser: Rasteriser, text: str, scale: int = 2) -> Picture:
    terminal = Terminal(4, 20)
    terminal.feed(text.encode())
    return Picture(rasteriser.paint(terminal.drawing(), scale), scale)


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
def test_size_is_cells_and_padding(bare: Rasteriser, scale: int) -> None:
    picture = paint(bare, "", scale)
    assert picture.image.size == ((20 * 8 + 16) * scale, (4 * 16 + 16) * scale)
    assert picture.colors(0, 0) == {LIGHT}  # the cursor
    assert picture.colors(0, 1) == {BLACK}


def test_letters_have_ink_in_their_own_cell_only(bare: Rasteriser) -> None:
    picture = paint(bare, f" {INK}M ")
    assert RED in picture.colors(0, 1)
    assert picture.colors(0, 0) == picture.colors(0, 2) == {BLACK}


def test_backgrounds_fill_their_cells(bare: Rasteriser) -> None:
    picture = paint(bare, "\x1b[48;2;1;2;3m  \x1b[0m ")
    assert picture.colors(0, 0) == picture.colors(0, 1) == {(1, 2, 3)}
    assert picture.colors(0, 2) == {BLACK}


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_blocks_fill_exactly(bare: Rasteriser, scale: int) -> None:
    picture = paint(bare, f"{INK}█▀▐░", scale)
    half = 8 * scale
    assert picture.colors(0, 0) == {RED}
    assert picture.rows_with(0, 1, RED) == list(range(half))
    assert picture.rows_with(0, 1, BLACK) == list(range(half, 2 * half))
    right = picture.cell(0, 2).crop((4 * scale, 0, 8 * scale, 16 * scale))
    assert right.getcolors() == [(4 * scale * 16 * scale, RED)]
    assert picture.colors(0, 3) == {(64, 0, 0)}


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_lines_join_without_a_seam(bare: Rasteriser, scale: int) -> None:
    picture = paint(bare, f"{INK}┌─┐\r\n│ │\r\n└─┘", scale)
    left, top = picture.layout.place(0, 0)
    x, y = left + (8 * scale - scale) // 2, top + (16 * scale - scale) // 2
    across = [picture.image.getpixel((at, y)) for at in range(x, x + 16 * scale)]
    down = [picture.image.getpixel((x, at)) for at in range(y, y + 32 * scale)]
    assert set(across) == set(down) == {RED}


def test_inverse_swaps(bare: Rasteriser) -> None:
    colors = paint(bare, "\x1b[7mx").colors(0, 0)
    assert {BLACK, LIGHT} <= colors
    assert paint(bare, "\x1b[7m \x1b[0m").colors(0, 0) == {LIGHT}


@pytest.mark.parametrize("code", ["4", "4:2", "4:3", "4:4", "4:5", "9", "53"])
def test_lines_under_through_and_over_have_ink(bare: Rasteriser, code: str) -> None:
    assert RED in paint(bare, f"{INK}\x1b[{code}m \x1b[0m").colors(0, 0)


def test_underline_is_where_it_belongs(bare: Rasteriser) -> None:
    baseline = PictureLayout(2).baseline
    [first, *_rest] = rows = paint(bare, f"{INK}\x1b[4m \x1b[0m").rows_with(0, 0, RED)
    assert len(rows) == 2
    assert baseline < first < 32
    assert len(paint(bare, f"{INK}\x1b[4:2m \x1b[0m").rows_with(0, 0, RED)) == 4
    assert paint(bare, f"{INK}\x1b[9m \x1b[0m").rows_with(0, 0, RED)[-1] < baseline
    assert paint(bare, f"{INK}\x1b[53m \x1b[0m").rows_with(0, 0, RED) == [0, 1]
    own = paint(bare, f"{INK}\x1b[4;58:2::0:255:0m \x1b[0m")
    assert own.rows_with(0, 0, (0, 255, 0)) == rows


def test_bold_and_italic_are_faces_of_their_own(bare: Rasteriser) -> None:
    def ink(code: str) -> bytes:
        return paint(bare, f"\x1b[{code}mR\x1b[0m").cell(0, 0).tobytes()

    assert len({ink("0"), ink("1"), ink("3"), ink("1;3")}) == 4


def test_marks_are_put_on_their_letter(bare: Rasteriser) -> None:
    plain, marked = paint(bare, "x").cell(0, 0), paint(bare, "x\u0302").cell(0, 0)
    assert marked.getbbox()[1] < plain.getbbox()[1]  # type: ignore[index]  # both have ink
    half = PictureLayout(2).baseline
    size = (0, half - 10, 16, 32)
    assert marked.crop(size).tobytes() == plain.crop(size).tobytes()


def test_cursor_shapes(bare: Rasteriser) -> None:
    bar = paint(bare, "\x1b[6 q").cell(0, 0)
    assert [bar.getpixel((x, 9)) for x in (0, 3, 4)] == [LIGHT, LIGHT, BLACK]
    assert paint(bare, "\x1b[4 q").rows_with(0, 0, LIGHT) == [28, 29, 30, 31]
    assert paint(bare, "\x1b[?25l").colors(0, 0) == {BLACK}


def test_without_a_font_for_it_a_box_of_two_cells_stands(bare: Rasteriser) -> None:
    picture = paint(bare, f"{INK}世x")
    both = picture.image.crop((16, 16, 16 + 32, 16 + 32))
    assert both.getbbox() == (2, 6, 30, 26)
    assert both.crop((4, 8, 28, 24)).getbbox() is None
    assert RED in picture.colors(0, 2)


def test_character_the_packaged_font_lacks_comes_from_a_font_of_the_machine(
    tmp_path: Path, bare: Rasteriser
) -> None:
    # No font for it may be installed here: the packaged one, with a map that calls its "A" 世.
    (tmp_path / "Other.ttf").write_bytes(_with_cjk())
    rasteriser = Rasteriser(SystemFonts([str(tmp_path)]))
    drawn = paint(rasteriser, "世").image.crop((16, 16, 48, 48))
    assert drawn.tobytes() != paint(bare, "世").image.crop((16, 16, 48, 48)).tobytes()
    left, _top, right, _bottom = drawn.getbbox()  # type: ignore[misc]  # it has ink
    assert abs((left + right) / 2 - 16) <= 2


def test_files_that_are_no_fonts_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"\0\1\0\0\0\x05")
    (tmp_path / "empty.otf").write_bytes(b"")
    (tmp_path / "Good.ttf").write_bytes(_with_cjk())
    found = SystemFonts([str(tmp_path), str(tmp_path / "none")]).find("世", emoji=False)
    assert found is not None
    assert found.path == str(tmp_path / "Good.ttf")


def _with_cjk() -> bytes:
    """Return the packaged font with the one letter 世, which looks like its A."""
    import struct

    from nacre.core.pictures.sfnt import read_charmap, read_tables
    from nacre.system.images.fonts import font_file

    data = bytearray(Path(font_file(bold=False, italic=False)).read_bytes())
    at, size = next(read_tables(lambda at, size: bytes(data[at : at + size])))["cmap"]
    glyph = read_charmap(bytes(data[at : at + size])).glyph(ord("A"))
    table = struct.pack(">HHHHL", 0, 1, 3, 10, 12)
    table += struct.pack(">HHLLLLLL", 12, 0, 28, 0, 1, ord("世"), ord("世"), glyph)
    assert len(table) <= size
    data[at : at + len(table)] = table
    return bytes(data)
