"""Characters that must join their neighbours (lines, blocks, braille), drawn as plain shapes.

Rule 1: shapes are on whole pixels at the cell's edge, so that neighbours join without a gap; no
font does that at every size.
Rule 2: which arms a line has is read from the character's own name (Unicode, Box Drawing).
"""

import math
import unicodedata
from functools import lru_cache
from typing import NamedTuple

Point = tuple[float, float]


class Shape(NamedTuple):
    """A filled polygon in pixels, y downwards; `opacity` is less than one for shades."""

    points: tuple[Point, ...]
    opacity: float = 1.0

    @property
    def is_rectangle(self) -> bool:
        """Whether rectangle() made it."""
        return len(self.points) == 4 and self.points == rectangle(*self.corners).points

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        (left, top), (right, bottom) = self.points[0], self.points[2]
        return left, top, right, bottom


def rectangle(left: float, top: float, right: float, bottom: float, opacity: float = 1.0) -> Shape:
    return Shape(((left, top), (right, top), (right, bottom), (left, bottom)), opacity)


@lru_cache(maxsize=2048)
def shapes(text: str, width: int, height: int, thin: int) -> tuple[Shape, ...] | None:
    """Return the shapes of a character in a cell of this size; None if a font is better.

    `thin` is how thick a light line is.
    """
    if len(text) != 1:
        return None
    code = ord(text)
    if 0x2500 <= code <= 0x257F:
        return _box(code, width, height, thin)
    if 0x2580 <= code <= 0x259F:
        return _block(code, width, height)
    if 0x2800 <= code <= 0x28FF:
        return _braille(code - 0x2800, width, height)
    if 0x1FB00 <= code <= 0x1FB3B:
        return _sextant(code - 0x1FB00, width, height)
    if 0x23BA <= code <= 0x23BD:
        return _scan_line((1, 3, 7, 9)[code - 0x23BA], width, height, thin)
    if 0xE0B0 <= code <= 0xE0B3:
        return _powerline(code - 0xE0B0, width, height, thin)
    return None


# --- lines ---------------------------------------------------------------------------------------

_LIGHT, _HEAVY, _DOUBLE = 1, 2, 3
_WEIGHTS = {"LIGHT": _LIGHT, "SINGLE": _LIGHT, "HEAVY": _HEAVY, "DOUBLE": _DOUBLE}
_DASHES = {"DOUBLE DASH": 2, "TRIPLE DASH": 3, "QUADRUPLE DASH": 4}
_SIDES = {
    "UP": ("up",),
    "DOWN": ("down",),
    "LEFT": ("left",),
    "RIGHT": ("right",),
    "VERTICAL": ("up", "down"),
    "HORIZONTAL": ("left", "right"),
}


class _Arms(NamedTuple):
    up: int = 0
    right: int = 0
    down: int = 0
    left: int = 0


def _box(code: int, width: int, height: int, thin: int) -> tuple[Shape, ...]:
    name = unicodedata.name(chr(code)).removeprefix("BOX DRAWINGS ")
    if "DIAGONAL" in name:
        return _diagonals(code, width, height, thin)
    if "ARC" in name:
        return (_arc(name, width, height, thin),)
    for dashes, count in _DASHES.items():
        if dashes in name:
            thick = 2 * thin if "HEAVY" in name else thin
            return _dashed(count, width, height, thick, vertical="VERTICAL" in name)
    return tuple(_lines(_arms(name), width, height, thin))


def _arms(name: str) -> _Arms:
    """Read DOWN LIGHT AND RIGHT HEAVY, or LIGHT DOWN AND RIGHT: a weight applies until the next."""
    arms: dict[str, int] = {}
    weight = 0
    for part in name.split(" AND "):
        words = part.split()
        weight = next((_WEIGHTS[word] for word in words if word in _WEIGHTS), weight)
        for word in words:
            arms.update(dict.fromkeys(_SIDES.get(word, ()), weight))
    return _Arms(**arms)


class _Axis(NamedTuple):
    """Where the lines along one direction lie across it."""

    double_low: int
    light_low: int
    light_high: int
    double_high: int
    heavy_low: int
    heavy_high: int

    @classmethod
    def across(cls, size: int, thin: int) -> "_Axis":
        low = (size - thin) // 2
        high = low + thin
        heavy = (size - 2 * thin) // 2
        return cls(low - thin, low, high, high + thin, heavy, heavy + 2 * thin)


def _reach(one: int, other: int, arm: int, opposite: int, axis: _Axis, *, high: bool) -> int:
    """Return how far an arm goes past the middle to meet the crossing arms `one` and `other`."""
    heavy = axis.heavy_high if high else axis.heavy_low
    double = axis.double_high if high else axis.double_low
    light = axis.light_high if high else axis.light_low
    near = axis.light_low if high else axis.light_high
    if _HEAVY in (one, other):
        return heavy
    if one != other or arm == opposite:
        return double if _DOUBLE in (one, other) else light
    return light if not one else near


def _lines(arms: _Arms, width: int, height: int, thin: int) -> list[Shape]:
    across, along = _Axis.across(width, thin), _Axis.across(height, thin)
    up, right, down, left = arms
    found: list[Shape] = []

    def vertical(weight: int, low_end: tuple[int, int], high_end: tuple[int, int]) -> None:
        if weight == _LIGHT:
            found.append(rectangle(across.light_low, low_end[0], across.light_high, low_end[1]))
        elif weight == _HEAVY:
            found.append(rectangle(across.heavy_low, low_end[0], across.heavy_high, low_end[1]))
        elif weight == _DOUBLE:
            found.append(rectangle(across.double_low, low_end[0], across.light_low, low_end[1]))
            found.append(rectangle(across.light_high, high_end[0], across.double_high, high_end[1]))

    def horizontal(weight: int, low_end: tuple[int, int], high_end: tuple[int, int]) -> None:
        if weight == _LIGHT:
            found.append(rectangle(low_end[0], along.light_low, low_end[1], along.light_high))
        elif weight == _HEAVY:
            found.append(rectangle(low_end[0], along.heavy_low, low_end[1], along.heavy_high))
        elif weight == _DOUBLE:
            found.append(rectangle(low_end[0], along.double_low, low_end[1], along.light_low))
            found.append(rectangle(high_end[0], along.light_high, high_end[1], along.double_high))

    # The two strokes of a double line end separately, at the nearer stroke of a crossing double
    # line.
    end = _reach(left, right, up, down, along, high=True)
    vertical(
        up,
        (0, along.light_low if left == up == _DOUBLE else end),
        (0, along.light_low if right == up == _DOUBLE else end),
    )
    end = _reach(left, right, down, up, along, high=False)
    vertical(
        down,
        (along.light_high if left == down == _DOUBLE else end, height),
        (along.light_high if right == down == _DOUBLE else end, height),
    )
    end = _reach(up, down, left, right, across, high=True)
    horizontal(
        left,
        (0, across.light_low if up == left == _DOUBLE else end),
        (0, across.light_low if down == left == _DOUBLE else end),
    )
    end = _reach(up, down, right, left, across, high=False)
    horizontal(
        right,
        (across.light_high if up == right == _DOUBLE else end, width),
        (across.light_high if down == right == _DOUBLE else end, width),
    )
    return found


def _dashed(
    count: int, width: int, height: int, thick: int, *, vertical: bool
) -> tuple[Shape, ...]:
    length, side = (height, width) if vertical else (width, height)
    low = (side - thick) // 2
    gap = max(1, round(length / count / 3))
    found = []
    for index in range(count):
        start = round(index * length / count) + gap // 2
        end = round((index + 1) * length / count) - (gap - gap // 2)
        box = (low, start, low + thick, end) if vertical else (start, low, end, low + thick)
        found.append(rectangle(*box))
    return tuple(found)


def _scan_line(number: int, width: int, height: int, thin: int) -> tuple[Shape, ...]:
    """A scan line of DEC's special graphics (a cell has nine); most fonts lack them."""
    top = round((height - thin) * (number - 1) / 8)
    return (rectangle(0, top, width, top + thin),)


_ARC_STEPS = 12  # straight pieces of a quarter circle, invisible even at 64 pixels per cell


def _arc(name: str, width: int, height: int, thin: int) -> Shape:
    across, along = _Axis.across(width, thin), _Axis.across(height, thin)
    middle_x, middle_y = across.light_low + thin / 2, along.light_low + thin / 2
    right, down = "RIGHT" in name, "DOWN" in name
    edge_x, edge_y = width if right else 0, height if down else 0
    radius = min(abs(edge_x - middle_x), abs(edge_y - middle_y))
    sign_x, sign_y = 1 if right else -1, 1 if down else -1
    center = middle_x + sign_x * radius, middle_y + sign_y * radius

    def quarter(size: float) -> list[Point]:
        angles = (index * math.pi / 2 / _ARC_STEPS for index in range(_ARC_STEPS + 1))
        return [
            (center[0] - sign_x * size * math.cos(a), center[1] - sign_y * size * math.sin(a))
            for a in angles
        ]

    outer, inner = radius + thin / 2, radius - thin / 2
    outside, inside = quarter(outer), quarter(inner)
    return Shape(
        (
            (outside[0][0], edge_y),
            *outside,
            (edge_x, outside[-1][1]),
            (edge_x, inside[-1][1]),
            *inside[::-1],
            (inside[0][0], edge_y),
        )
    )


def _diagonals(code: int, width: int, height: int, thin: int) -> tuple[Shape, ...]:
    # Half the stroke's width along either side, so that it ends exactly in the cell's corner.
    x = thin * math.hypot(width, height) / height / 2
    y = x * height / width
    rising = Shape(
        ((0, height), (0, height - y), (width - x, 0), (width, 0), (width, y), (x, height))
    )
    falling = Shape(
        ((0, 0), (x, 0), (width, height - y), (width, height), (width - x, height), (0, y))
    )
    return {0x2571: (rising,), 0x2572: (falling,)}.get(code, (rising, falling))


# --- blocks --------------------------------------------------------------------------------------

_SHADES = {0x2591: 0.25, 0x2592: 0.5, 0x2593: 0.75}
# Quadrants 2596-259F: upper left 1, upper right 2, lower left 4, lower right 8.
_QUADRANTS = (4, 8, 1, 13, 9, 7, 11, 2, 6, 14)


def _block(code: int, width: int, height: int) -> tuple[Shape, ...]:
    if code in _SHADES:
        return (rectangle(0, 0, width, height, _SHADES[code]),)
    if code >= 0x2596:
        return _mosaic(_QUADRANTS[code - 0x2596], 2, width, height)
    if code == 0x2580:
        return (rectangle(0, 0, width, round(height / 2)),)
    if code <= 0x2588:
        return (rectangle(0, height - round(height * (code - 0x2580) / 8), width, height),)
    if code <= 0x258F:
        return (rectangle(0, 0, round(width * (0x2590 - code) / 8), height),)
    if code == 0x2590:
        return (rectangle(round(width / 2), 0, width, height),)
    if code == 0x2594:
        return (rectangle(0, 0, width, round(height / 8)),)
    return (rectangle(width - round(width / 8), 0, width, height),)


def _mosaic(bits: int, rows: int, width: int, height: int) -> tuple[Shape, ...]:
    """Fill the parts of a cell of two columns whose bits are set, row by row."""
    found = []
    for index in range(2 * rows):
        if bits >> index & 1:
            row, col = divmod(index, 2)
            left, right = (round(width / 2), width) if col else (0, round(width / 2))
            top, bottom = round(height * row / rows), round(height * (row + 1) / rows)
            found.append(rectangle(left, top, right, bottom))
    return tuple(found)


def _sextant(index: int, width: int, height: int) -> tuple[Shape, ...]:
    # The left and the right half have their own characters and are not in this range.
    bits = index + 1 + (index >= 20) + (index >= 40)
    return _mosaic(bits, 3, width, height)


# Dot by bit: the lowest row came later (Unicode, Braille Patterns).
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


def _braille(bits: int, width: int, height: int) -> tuple[Shape, ...]:
    size = max(1, round(width / 4))
    found = []
    for bit, (col, row) in enumerate(_DOTS):
        if bits >> bit & 1:
            left = round(width * (2 * col + 1) / 4 - size / 2)
            top = round(height * (2 * row + 1) / 8 - size / 2)
            found.append(rectangle(left, top, left + size, top + size))
    return tuple(found)


def _powerline(index: int, width: int, height: int, thin: int) -> tuple[Shape, ...]:
    """The separators of prompts and status lines, in the private use area by convention."""
    base, tip = (0, width) if index < 2 else (width, 0)
    if index in (0, 2):
        return (Shape(((base, 0), (tip, height / 2), (base, height))),)
    step = thin * 1.2 if index < 2 else -thin * 1.2
    return (
        Shape(
            (
                (base, 0),
                (base + step, 0),
                (tip, height / 2),
                (base + step, height),
                (base, height),
                (tip - step, height / 2),
            )
        ),
    )
