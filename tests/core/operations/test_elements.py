"""What overlays and panels are: colours, spans, layout, and that text draws nothing but text."""

from typing import Any

import msgspec
import pytest

from nacre.core.display.compose import Shown, compose
from nacre.core.operations.all import parse_operation
from nacre.core.operations.elements import (
    HIGHEST,
    LARGEST,
    LEAST_ROWS,
    Background,
    Overlay,
    Panel,
    RegionWrite,
    SpanPatch,
    VisualSpan,
    fill_color,
    lay_out,
    paint_color,
    patched,
    text_size,
    written,
)
from nacre.core.screen.screen import COLOR_NAMES, Rgb
from nacre.core.terminal.terminal import Terminal
from nacre.errors import InvalidInput


def overlay(**fields: Any) -> Overlay:
    given: dict[str, Any] = {
        "id": "o",
        "x": 0,
        "y": 0,
        "z": 0,
        "width": 10,
        "height": 2,
        "spans": [],
    }
    given |= {"focusable": True, "screen_mode": "normal", **fields}
    return Overlay(**given)


def panel(name: str, height: int, z: int, position: str = "bottom") -> Panel:
    return Panel(
        id=name,
        position=position,  # type: ignore[arg-type]
        height=height,
        z=z,
        spans=[],
        focusable=True,
        screen_mode="normal",
        visible=True,
    )


# --- colours -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "painted"),
    [
        (None, None),
        ("default", None),
        ("red", "red"),
        ("Red", "red"),
        ("bright_blue", "bright_blue"),
        ("bright-blue", "bright_blue"),
        ("#ff8000", Rgb(255, 128, 0)),
        ("#FF8000", Rgb(255, 128, 0)),
        ("color0", "black"),
        ("color15", "bright_white"),
        ("color16", "color16"),
        ("color255", "color255"),
        (Rgb(0, 128, 255), Rgb(0, 128, 255)),
    ],
)
def test_colours_in_all_their_forms(given: Any, painted: Any) -> None:
    assert paint_color(given) == painted


def test_all_sixteen_names_are_colours() -> None:
    assert [paint_color(name) for name in COLOR_NAMES] == list(COLOR_NAMES)


@pytest.mark.parametrize(
    "wrong",
    ["", "reddish", "#fff", "#12345g", "color256", "color", "color-1", "\x1b[31m", "red;1", "#"],
)
def test_what_is_no_colour_is_refused_with_what_is_allowed(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"black, red.*color0 to color255, #rrggbb or \{r, g, b\}"):
        paint_color(wrong)


@pytest.mark.parametrize("wrong", [Rgb(256, 0, 0), Rgb(0, -1, 0), Rgb(0, 0, 10**9)])
def test_a_colour_of_parts_that_are_too_large_or_small_is_refused(wrong: Rgb) -> None:
    with pytest.raises(ValueError, match="0 to 255"):
        paint_color(wrong)


def test_a_background_is_a_colour_in_either_form() -> None:
    assert fill_color("blue") == fill_color(Background(bg="blue")) == "blue"
    assert fill_color(Background(bg=Rgb(1, 2, 3))) == Rgb(1, 2, 3)
    assert fill_color(None) is None
    with pytest.raises(ValueError, match="is not a colour"):
        fill_color(Background(bg="no"))


@pytest.mark.parametrize(
    "given",
    [
        {"spans": [{"text": "x", "fg": "reddish"}]},
        {"spans": [{"text": "x", "bg": {"r": 0, "g": 0, "b": 256}}]},
        {"spans": [{"text": "x", "fg": {"r": 0, "g": 0}}]},
        {"spans": [{"text": "x", "fg": 5}]},
        {"spans": [{"text": "x", "blink": True}]},
        {"spans": [{"fg": "red"}]},
        {"spans": ["x"]},
        {"spans": "x"},
        {"background": "reddish"},
        {"background": {"bg": "reddish"}},
        {"background": {"fg": "red"}},
        {"background": {}},
        {"background": 7},
        {"update": [{"text": "x"}]},
        {"update": [{"id": "a", "fg": "reddish"}]},
        {"writes": [{"row": 0, "text": "x"}]},
        {"writes": [{"row": -1, "col": 0, "text": "x"}]},
        {"writes": [{"row": 0, "col": 10**30, "text": "x"}]},
        {"z": 2**31},
        {"z": 1.5},
        {"list": "yes"},
        {"focusable": 1},
        {"colour": "red"},
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["overlay", "panel"])
def test_wrong_parameters_are_refused(operation: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        parse_operation(operation, {"session": "x", **given})


@pytest.mark.parametrize("name", ["x", "y", "width", "height"])
@pytest.mark.parametrize("value", [-1, 10**6, 10**30, "one", 1.5, True])
def test_wrong_places_and_sizes_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_operation("overlay", {"session": "x", name: value})


# --- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "size"),
    [
        ([], (1, 1)),
        ([""], (1, 1)),
        (["abc"], (1, 3)),
        (["ab", "cd\ne"], (2, 4)),
        (["日本"], (1, 4)),
        (["a\n"], (2, 1)),
        (["\n" * 5000], (LARGEST, 1)),
        (["x" * 5000], (1, LARGEST)),
    ],
)
def test_an_element_is_as_large_as_its_text(texts: list[str], size: tuple[int, int]) -> None:
    assert text_size([VisualSpan(text=text) for text in texts]) == size


def test_a_patch_changes_what_it_names_and_nothing_else() -> None:
    spans = [
        VisualSpan(text="one", id="a", fg="red", bold=True),
        VisualSpan(text="two"),
        VisualSpan(text="three", id="a"),
    ]
    changed = patched(spans, [SpanPatch(id="a", text="uno", bold=False, fg="default")])
    assert changed == [
        VisualSpan(text="uno", id="a", fg="default"),
        VisualSpan(text="two"),
        VisualSpan(text="uno", id="a", fg="default"),
    ]
    assert spans[0].text == "one"
    with pytest.raises(ValueError, match="no span has the id 'b'; there are: 'a', 'a'"):
        patched(spans, [SpanPatch(id="b", text="x")])
    with pytest.raises(ValueError, match="there are: none"):
        patched([], [SpanPatch(id="b")])


def test_a_write_replaces_the_one_at_its_cell() -> None:
    first, second = RegionWrite(row=0, col=1, text="a"), RegionWrite(row=0, col=2, text="b")
    third = RegionWrite(row=0, col=1, text="c", bold=True)
    assert written([first, second], [third]) == [third, second]


def test_defaults_are_not_sent() -> None:
    span = VisualSpan(text="x", fg="red")
    assert msgspec.to_builtins(span) == {"text": "x", "fg": "red"}
    sent = msgspec.to_builtins(overlay(spans=[span]))
    assert "background" not in sent
    assert "region_writes" not in sent
    assert sent["focusable"] is True
    assert msgspec.to_builtins(overlay(background="Blue"))["background"] == "Blue"
    assert msgspec.to_builtins(overlay(background=Background(bg="#101010")))["background"] == {
        "bg": "#101010"
    }


# --- layout ------------------------------------------------------------------------------------


def test_the_highest_z_is_nearest_to_its_edge() -> None:
    panels = [panel("a", 1, 1), panel("b", 1, 2), panel("c", 1, 1, "top"), panel("d", 1, 2, "top")]
    layout = lay_out(panels, 24)
    assert [one.id for one in layout.top] == ["d", "c"]
    assert [one.id for one in layout.bottom] == ["a", "b"]
    assert layout.rows == 20


def test_who_does_not_fit_waits_and_the_child_keeps_its_least() -> None:
    panels = [panel("low", 5, 1), panel("high", 5, 3), panel("small", 1, 0), panel("huge", 99, 2)]
    layout = lay_out(panels, 5 + 1 + LEAST_ROWS)
    assert [one.id for one in layout.bottom] == ["small", "high"]
    assert layout.rows == LEAST_ROWS
    for rows in range(LEAST_ROWS + 1):
        assert lay_out(panels, rows) == ([], [], rows)


def test_of_one_z_the_older_has_the_room() -> None:
    layout = lay_out([panel("older", 3, 7), panel("newer", 3, 7)], 3 + LEAST_ROWS)
    assert [one.id for one in layout.bottom] == ["older"]


# --- what reaches a person's terminal ----------------------------------------------------------

HOSTILE = (
    "a\x1b[31mb\x1b]0;title\x07\rc\x08\x9b2Jd\x00\x7f\x0e\x85\u202e\u2066e\x1bc\t\x1bP+q\x1b\\\x0c"
)
CONTROLS = {*range(0x20), 0x7F, *range(0x80, 0xA0)}


def drawn(shown: Shown) -> tuple[bytes, Terminal]:
    """Return what draws each row of an empty screen, without what places it; and the result."""
    scene = compose(Terminal().picture(), shown)
    terminal = Terminal()
    parts = []
    for y in range(len(scene.rows)):
        painted = scene.paint(y)
        terminal.feed(painted)
        parts.append(painted)
    return b"".join(parts), terminal


@pytest.mark.parametrize(
    "element",
    [
        {"spans": [VisualSpan(text=HOSTILE, fg="red", id=HOSTILE)], "width": 60},
        {"region_writes": [RegionWrite(row=0, col=0, text=HOSTILE)], "width": 60},
        {"spans": [VisualSpan(text=HOSTILE)], "width": 3},
        {"spans": [VisualSpan(text="日\x1b[2J" * 9)], "width": 5},
    ],
)
def test_control_characters_in_a_text_are_never_sent_as_such(element: dict[str, Any]) -> None:
    bare, _ = drawn(Shown(overlays=[overlay(spans=[VisualSpan(text="")], width=60)]))
    sent, terminal = drawn(Shown(overlays=[overlay(**element)]))
    text = sent.decode()
    # Ours are CSI with a place, an erase or a style, and no others: text cannot make one.
    for piece in text.split("\x1b[")[1:]:
        number = piece.lstrip("0123456789;:")
        assert number[0] in "HKGm"
    rest = text.replace("\x1b[", "")
    assert not [char for char in rest if ord(char) in CONTROLS]
    assert "\u202e" not in text
    assert "\u2066" not in text
    assert terminal.title == ""
    assert not terminal.alternate
    assert bare.startswith(b"\x1b[1H")


def test_what_lies_outside_is_cut_off() -> None:
    far = HIGHEST
    shown = Shown(
        overlays=[
            overlay(x=10_000, spans=[VisualSpan(text="far")]),
            overlay(y=10_000, spans=[VisualSpan(text="deep")]),
            overlay(x=78, y=23, z=far, spans=[VisualSpan(text="edge\nbelow")]),
            overlay(
                x=0,
                y=0,
                width=4,
                height=1,
                spans=[VisualSpan(text="longer than its box\nand a row below")],
                region_writes=[
                    RegionWrite(row=5, col=0, text="below"),
                    RegionWrite(row=0, col=10_000, text="right"),
                    RegionWrite(row=0, col=2, text="XYZ"),
                ],
            ),
        ]
    )
    _, terminal = drawn(shown)
    lines = terminal.plain_lines()
    assert lines[0] == "loXY"
    assert lines[23] == " " * 78 + "ed"
    assert not any(lines[1:23])


def test_a_box_far_larger_than_the_screen_is_drawn_as_far_as_it_is_seen() -> None:
    huge = overlay(width=LARGEST, height=LARGEST, spans=[VisualSpan(text="x" * 20_000)])
    scene = compose(Terminal().picture(), Shown(overlays=[huge]))
    [line] = [piece.line for piece in scene.rows[0]]
    assert "".join(span.text for span in line) == "x" * 80
    assert len(scene.rows) == 24
