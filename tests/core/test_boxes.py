"""Characters that join their neighbours."""

import unicodedata

import pytest

from nacre.core.boxes import Shape, shapes

WIDTH, HEIGHT = 16, 32


def covered(text: str, x: float, y: float) -> bool:
    found = shapes(text, WIDTH, HEIGHT, 2)
    assert found is not None
    return any(_within(shape, x, y) for shape in found)


def _within(shape: Shape, x: float, y: float) -> bool:
    inside = False
    for (ax, ay), (bx, by) in zip(shape.points, shape.points[1:] + shape.points[:1], strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


DRAWN = [
    chr(code)
    for code in (*range(0x23BA, 0x23BE), *range(0x2500, 0x25A0), *range(0x1FB00, 0x1FB3C), 0x28FF)
]


@pytest.mark.parametrize("text", DRAWN, ids=[f"{ord(text):x}" for text in DRAWN])
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_shapes_stay_in_their_cell(text: str, scale: int) -> None:
    width, height = 8 * scale, 16 * scale
    for shape in shapes(text, width, height, scale) or ():
        assert all(0 <= x <= width and 0 <= y <= height for x, y in shape.points)


@pytest.mark.parametrize("code", range(0x2500, 0x2580))
def test_line_reaches_exactly_the_edges_its_name_tells(code: int) -> None:
    text, name = chr(code), unicodedata.name(chr(code))
    if "DASH" in name or "DIAGONAL" in name:
        return
    across, along = range(WIDTH), range(HEIGHT)
    ends = {
        "UP": any(covered(text, x + 0.5, 0.5) for x in across),
        "DOWN": any(covered(text, x + 0.5, HEIGHT - 0.5) for x in across),
        "LEFT": any(covered(text, 0.5, y + 0.5) for y in along),
        "RIGHT": any(covered(text, WIDTH - 0.5, y + 0.5) for y in along),
    }
    told = {"VERTICAL": ("UP", "DOWN"), "HORIZONTAL": ("LEFT", "RIGHT")}
    words = name.split()
    named = {side for word in words for side in told.get(word, (word,))} & set(ends)
    assert {side for side, reached in ends.items() if reached} == named


def test_double_corner_leaves_its_inside_open() -> None:
    assert [covered("╔", x + 0.5, 20.5) for x in range(16)].count(True) == 4
    assert not covered("╔", 8, 16)
    assert not covered("╬", 8, 16)


def corners(text: str) -> list[float]:
    found = shapes(text, WIDTH, HEIGHT, 2)
    assert found is not None
    return list(found[0].corners)


def test_full_and_half_blocks_fill_exactly() -> None:
    assert corners("█") == [0, 0, WIDTH, HEIGHT]
    assert corners("▀") == [0, 0, WIDTH, HEIGHT / 2]
    assert corners("▄") == [0, HEIGHT / 2, WIDTH, HEIGHT]


def test_letters_are_left_to_the_font() -> None:
    assert shapes("a", WIDTH, HEIGHT, 2) is None
    assert shapes("─\u0301", WIDTH, HEIGHT, 2) is None
