"""SVG pictures: well-formed, exact, searchable, harmless."""

from xml.etree import ElementTree

from nacre.core.pictures.svg import paint_svg
from nacre.core.terminal.terminal import Terminal
from nacre.system.images.fonts import packaged_outlines

SVG = "{http://www.w3.org/2000/svg}"


def painted(text: str, scale: int = 1, rows: int = 3, cols: int = 20) -> ElementTree.Element:
    terminal = Terminal(rows, cols)
    terminal.feed(text.encode())
    return ElementTree.fromstring(paint_svg(terminal.drawing(), packaged_outlines(), scale))


def test_size_follows_cells_and_scale() -> None:
    root = painted("", scale=2)
    assert (root.get("width"), root.get("height")) == ("352", "128")
    assert root.get("viewBox") == "0 0 176 64"


def test_letter_is_written_once_and_used_at_each_place() -> None:
    root = painted("aba\x1b[?25l")
    paths = {path.get("id"): path for path in root.iter(f"{SVG}path")}
    uses = [(use.get("href"), use.get("x")) for use in root.iter(f"{SVG}use")]
    assert len(paths) == 2
    assert [x for _href, x in uses] == ["0", "1233", "2466"]
    assert uses[0][0] == uses[2][0]
    assert {str(href)[1:] for href, _x in uses} == set(paths)


def test_text_can_be_searched() -> None:
    root = painted("  hello <world> &\x1b[?25l")
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts == ["  hello <world> &"]


def test_what_the_font_has_not_is_text_in_the_middle_of_its_cells() -> None:
    root = painted("a世\x1b[?25l")
    foreign = next(text for text in root.iter(f"{SVG}text") if text.get("text-anchor"))
    assert (foreign.text, foreign.get("x")) == ("世", str(8 + 8 + 8))


def test_background_block_and_cursor_are_rectangles() -> None:
    root = painted("\x1b[48;2;1;2;3m \x1b[0m█\x1b[6 q")
    fills = {
        rect.get("fill"): (rect.get("x"), rect.get("width")) for rect in root.iter(f"{SVG}rect")
    }
    assert fills["#010203"] == ("8", "8")
    assert ("24", "2") in [(r.get("x"), r.get("width")) for r in root.iter(f"{SVG}rect")]


def test_only_web_addresses_become_links() -> None:
    def link(target: str) -> str:
        return f"\x1b]8;;{target}\x1b\\x\x1b]8;;\x1b\\"

    root = painted(link('https://example.org/?a="<b>"&c') + " " + link("javascript:alert(1)"))
    assert [a.get("href") for a in root.iter(f"{SVG}a")] == ['https://example.org/?a="<b>"&c']


def test_everything_a_program_can_print_is_well_formed() -> None:
    every = "".join(map(chr, (*range(0x20, 0x3000, 7), 0xFFFE, 0xFFFF, 0x1F600, 0x10FFFF)))
    painted(f"<script>alert(1)</script>{every}", rows=40, cols=100)
