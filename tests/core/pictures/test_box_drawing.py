"""Characters that join their neighbours."""

import unicodedata

import pytest

from nacre.core.pictures.box_drawing import Shape, shapes

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
    drawn = shapes(text, width, height, scale)
    assert drawn, "it is left to the font, or blank"
    for shape in drawn:
        assert all(0 <= x <= width and 0 <= y <= height for x, y in shape.points)


LINES = {unicodedata.name(chr(code)): chr(code) for code in range(0x2500, 0x2580)}
DASHED = {name: text for name, text in LINES.items() if "DASH" in name}
DIAGONAL = {name: text for name, text in LINES.items() if "DIAGONAL" in name}
SOLID = {name: LINES[name] for name in LINES.keys() - DASHED.keys() - DIAGONAL.keys()}


@pytest.mark.parametrize("name", sorted(SOLID))
def test_line_reaches_exactly_the_edges_its_name_tells(name: str) -> None:
    text = SOLID[name]
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


def strokes(text: str, *, down: bool) -> list[int]:
    """Return how long each piece of a line is that is met on the way down, or across."""
    along, beside = (HEIGHT, WIDTH) if down else (WIDTH, HEIGHT)
    met = "".join(
        "#" if any(covered(text, *((b, a) if down else (a, b))) for b in middles(beside)) else " "
        for a in middles(along)
    )
    return [len(piece) for piece in met.split()]


def middles(length: int) -> list[float]:
    return [pixel + 0.5 for pixel in range(length)]


@pytest.mark.parametrize("name", sorted(DASHED))
def test_dashed_line_has_the_dashes_its_name_tells(name: str) -> None:
    text, down = DASHED[name], name.endswith("VERTICAL")
    dashes = strokes(text, down=down)
    count = next(n for word, n in [("DOUBLE", 2), ("TRIPLE", 3), ("QUADRUPLE", 4)] if word in name)
    assert len(dashes) == count
    assert max(dashes) - min(dashes) <= 1, "they look alike"
    assert strokes(text, down=not down) == [4 if "HEAVY" in name else 2], "one line, as thick"


@pytest.mark.parametrize("name", sorted(DIAGONAL))
def test_diagonal_reaches_exactly_the_corners_its_name_tells(name: str) -> None:
    left, right, top, bottom = 0.5, WIDTH - 0.5, 0.5, HEIGHT - 0.5
    corners = {
        "UPPER RIGHT": (right, top),
        "LOWER LEFT": (left, bottom),
        "UPPER LEFT": (left, top),
        "LOWER RIGHT": (right, bottom),
    }
    named = {corner for corner in corners if corner in name} or set(corners)  # a cross has all
    assert {corner for corner, at in corners.items() if covered(DIAGONAL[name], *at)} == named


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
