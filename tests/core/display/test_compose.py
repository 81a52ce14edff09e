"""What is composed is what a terminal then shows: screen, overlays, panels, status line."""

from typing import Any

import pytest

from nacre.core.display.canvas import Canvas
from nacre.core.display.compose import NOTHING, Scene, Shown, compose, status_row
from nacre.core.operations.elements import Overlay, Panel, RegionWrite, VisualSpan
from nacre.core.screen.screen import Span
from nacre.core.terminal.terminal import Terminal

ROWS, COLS = 6, 20


def overlay(text: str = "", x: int = 0, y: int = 0, **fields: Any) -> Overlay:
    given = {"z": 0, "width": len(text) or 1, "height": 1, **fields}
    spans = given.pop("spans", [VisualSpan(text=text)])
    return Overlay(id="o", x=x, y=y, spans=spans, focusable=True, screen_mode="normal", **given)


def panel(text: str, position: Any = "bottom", **fields: Any) -> Panel:
    given = {"z": 0, "height": 1, **fields}
    return Panel(
        id="p",
        position=position,
        spans=[VisualSpan(text=text)],
        focusable=True,
        screen_mode="normal",
        visible=True,
        **given,
    )


def session(data: bytes = b"") -> Terminal:
    terminal = Terminal(ROWS, COLS)
    terminal.feed(data)
    return terminal


def seen(scene: Scene, status: str = "") -> Terminal:
    """Return a terminal on which a scene was drawn, over something else."""
    rows = len(scene.rows) + bool(status)
    shown = Terminal(rows, scene.cols)
    shown.feed(b"\x1b[41mold\r\n" * (rows + 3) + b"\x1b[2;3r\x1b[?6h\x1b[?1000h\x1b[4h")
    line = status_row([VisualSpan(text=status, inverse=True)], scene.cols) if status else None
    shown.feed(Canvas().draw(scene, line))
    return shown


def show(data: bytes, *overlays: Overlay, **panels: list[Panel]) -> Terminal:
    return seen(compose(session(data).picture(), Shown(overlays, **panels)))


def test_a_screen_without_elements_is_shown_as_it_is() -> None:
    child = session(
        "\x1b[1;31mred\x1b[m plain\r\n漢字 \x1b[44mfull row of blue......\x1b[m\r\nx".encode()
    )
    shown = seen(compose(child.picture(), NOTHING))
    assert shown.styled_lines() == child.styled_lines()
    assert shown.cursor() == child.cursor()


def test_panels_take_the_edges_and_move_the_cursor() -> None:
    shown = show(
        b"child\r\n$ ", top=[panel("one", "top"), panel("two", "top")], bottom=[panel("end")]
    )
    assert shown.plain_lines() == ["one", "two", "child", "$", "", "", "", "", "end"]
    assert (shown.cursor().row, shown.cursor().col) == (3, 2)


def test_an_overlay_covers_its_box_and_nothing_else() -> None:
    text = b"0123456789abcdefghij" * 3
    shown = show(text, overlay("top\nlow", x=5, y=1, width=4, height=2))
    assert shown.plain_lines()[:4] == [
        "0123456789abcdefghij",
        "01234top 9abcdefghij",
        "01234low 9abcdefghij",
        "",
    ]


@pytest.mark.parametrize(
    ("x", "y", "row", "line"),
    [
        (-2, 0, 0, "c..............."),
        (17, 0, 0, "................ abc"),
        (18, 0, 0, "................  ab"),
        (0, -1, 0, "................"),
        (0, 6, 5, ""),
        (25, 0, 0, "................"),
    ],
)
def test_what_is_outside_of_the_childs_area_is_cut_off(x: int, y: int, row: int, line: str) -> None:
    shown = show(b"................", overlay("abc", x=x, y=y), bottom=[panel("end")])
    assert shown.plain_lines()[row] == line
    assert shown.plain_lines()[-1] == "end"


def test_the_higher_z_lies_on_top() -> None:
    low, high = overlay("lowlow", x=0, z=1), overlay("hi", x=2, z=2)
    for order in ((low, high), (high, low)):
        assert show(b"", *order).plain_lines()[0] == "lohiow"


@pytest.mark.parametrize(
    ("x", "width", "line"),
    [(1, 1, " X字漢"), (0, 1, "X 字漢"), (1, 2, " X  漢"), (2, 2, "漢X 漢"), (3, 1, "漢 X漢")],
)
def test_a_wide_character_that_is_half_covered_leaves_a_blank(
    x: int, width: int, line: str
) -> None:
    shown = show("漢字漢".encode(), overlay("X", x=x, width=width))
    assert shown.plain_lines()[0] == line


def test_a_wide_character_that_does_not_fit_into_the_box_is_left_out() -> None:
    assert show(b"......", overlay("a漢", x=1, width=2)).plain_lines()[0] == ".a ..."


def test_styles_and_backgrounds_are_drawn() -> None:
    spans = [
        VisualSpan(text="a", fg="bright_red", bold=True),
        VisualSpan(text="b", bg="#102030", underline=True),
        VisualSpan(text="c", inverse=True, faint=True, italic=True, strikethrough=True),
    ]
    [first, second, third, rest] = show(
        b"", overlay(spans=spans, width=5, background="blue")
    ).styled_lines()[0]
    assert first == Span("a", fg="bright_red", bg="blue", bold=True)
    assert second.text == "b"
    assert second.underline
    assert second.bg is not None
    assert not isinstance(second.bg, str)
    assert (second.bg.r, second.bg.g, second.bg.b) == (0x10, 0x20, 0x30)
    assert third == Span("c", bg="blue", inverse=True, faint=True, italic=True, strikethrough=True)
    assert rest == Span("  ", bg="blue")


def test_region_writes_stand_over_the_spans_and_are_cut_at_the_box() -> None:
    writes = [
        RegionWrite(row=0, col=1, text="漢", bold=True),
        RegionWrite(row=1, col=4, text="xyz"),
        RegionWrite(row=7, col=0, text="no"),
        RegionWrite(row=1, col=-1, text="-1"),
    ]
    element = overlay("abcdef\nghijkl", width=6, height=2, region_writes=writes)
    assert show(b"", element).plain_lines()[:2] == ["a漢def", "1hijxy"]


def test_control_characters_of_an_element_are_not_drawn() -> None:
    shown = show(b"", overlay("a\x1b[31mb\x07\r\tc", width=12))
    assert shown.plain_lines()[0] == "a[31mbc"
    assert shown.title == ""


def test_the_cursor_is_hidden_under_an_overlay_only() -> None:
    assert not show(b"ab", overlay("xyz", x=1)).cursor().visible
    assert show(b"abcdef", overlay("xyz", x=1)).cursor().visible
    assert not show(b"\x1b[?25labcdef").cursor().visible


def test_a_status_line_is_the_last_row() -> None:
    shown = seen(compose(session(b"$ ").picture(), NOTHING), status="dev")
    assert shown.plain_lines() == ["$", "", "", "", "", "", "dev"]
    assert shown.styled_lines()[-1] == (Span("dev" + " " * (COLS - 3), inverse=True),)


def test_another_size_shows_what_is_around_the_cursor_or_blank_rows() -> None:
    scene = compose(
        session(b"\r\n".join(b"line %d 0123456789" % n for n in range(6))).picture(),
        Shown([overlay("XX", x=4, y=5)], top=[panel("top", "top")]),
    )
    assert seen(scene.fit((2, 7))).plain_lines() == ["line 4", "lineXX"]
    large = seen(scene.fit((9, 30))).plain_lines()
    assert large[0] == "top"
    assert large[6:] == ["lineXX 0123456789", "", ""]


def test_modes_keyboards_and_the_title_are_carried() -> None:
    shown = show(b"\x1b[?1002;1006;2004;1h\x1b[>5u\x1b]2;vim\x07\x1b[6 q")
    modes = shown.modes()
    assert (modes.mouse_tracking, modes.bracketed_paste) == (True, True)
    assert (modes.application_cursor_keys, modes.kitty_keyboard) == (True, 5)
    assert shown.title == "vim"
    assert shown.cursor().shape == "bar"
    assert not modes.alternate_screen
