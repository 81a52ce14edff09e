"""Font files (OpenType, "sfnt"): which characters one has, and the outlines of TrueType glyphs.

Rule 1: nothing is read from disk here; the caller passes bytes.
Rule 2: a truncated or invalid file raises BadFont, never anything else.
Section names in brackets are those of the OpenType specification.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

ReadAt = Callable[[int, int], bytes]  # offset, size


class BadFont(ValueError):
    """The file is not a font, or not one that can be read here."""


class Charmap(NamedTuple):
    """Which glyph a character has ["cmap"]: ranges with their ends sorted."""

    ends: tuple[int, ...]
    starts: tuple[int, ...]
    deltas: tuple[int, ...]
    offsets: tuple[int, ...]  # into glyphs; -1: the glyph is the character plus the delta
    glyphs: tuple[int, ...]

    def glyph(self, code: int) -> int:
        """Return the glyph's number; 0 if there is none."""
        at = bisect_left(self.ends, code)
        if at == len(self.ends) or code < self.starts[at]:
            return 0
        offset = self.offsets[at]
        if offset < 0:
            return (code + self.deltas[at]) & 0xFFFF
        index = offset + code - self.starts[at]
        found = self.glyphs[index] if index < len(self.glyphs) else 0
        return (found + self.deltas[at]) & 0xFFFF if found else 0


def read_tables(read: ReadAt) -> Iterator[dict[str, tuple[int, int]]]:
    """Yield offset and size of each table, for each font of a file (a collection has several)."""
    try:
        head = read(0, 12)
        starts = [0]
        if head[:4] == b"ttcf":
            (count,) = struct.unpack(">L", head[8:12])
            count = min(count, 64)  # the largest collections have a dozen
            starts = list(struct.unpack(f">{count}L", read(12, 4 * count)))
        for start in starts:
            kind, count = struct.unpack(">4sH", read(start, 6))
            if kind not in (b"\0\1\0\0", b"OTTO", b"true"):
                raise BadFont("not a font")
            records = read(start + 12, 16 * count)
            yield {
                tag.decode("latin-1"): (offset, size)
                for tag, _sum, offset, size in struct.iter_unpack(">4sLLL", records)
            }
    except (struct.error, IndexError) as error:
        raise BadFont("the font is cut short") from error


def read_charmap(table: bytes) -> Charmap:
    """Read the fullest Unicode map of a "cmap" table."""
    try:
        (count,) = struct.unpack_from(">H", table, 2)
        found: dict[int, int] = {}
        for index in range(count):
            platform, encoding, offset = struct.unpack_from(">HHL", table, 4 + 8 * index)
            (kind,) = struct.unpack_from(">H", table, offset)
            if (platform == 0 and encoding != 5) or (platform == 3 and encoding in (1, 10)):
                found[kind] = offset
        if 12 in found:
            return _groups(table, found[12])
        if 4 in found:
            return _segments(table, found[4])
    except struct.error as error:
        raise BadFont("the font's character map is cut short") from error
    raise BadFont("the font has no Unicode map")


def _groups(table: bytes, at: int) -> Charmap:
    """[cmap format 12]"""
    (count,) = struct.unpack_from(">L", table, at + 12)
    if at + 16 + 12 * count > len(table):
        raise BadFont("the font's character map is cut short")
    groups = list(struct.iter_unpack(">LLL", table[at + 16 : at + 16 + 12 * count]))
    if not groups:
        raise BadFont("the font has no characters")
    starts, ends, glyphs = zip(*groups, strict=True)
    deltas = tuple(glyph - start for start, glyph in zip(starts, glyphs, strict=True))
    return Charmap(ends, starts, deltas, (-1,) * count, ())


def _segments(table: bytes, at: int) -> Charmap:
    """[cmap format 4]"""
    _kind, size, _language, doubled = struct.unpack_from(">4H", table, at)
    count = doubled // 2
    ends = struct.unpack_from(f">{count}H", table, at + 14)
    starts = struct.unpack_from(f">{count}H", table, at + 16 + doubled)
    deltas = struct.unpack_from(f">{count}h", table, at + 16 + 2 * doubled)
    ranges_at = at + 16 + 3 * doubled
    ranges = struct.unpack_from(f">{count}H", table, ranges_at)
    glyph_bytes = max(0, min(at + size, len(table)) - ranges_at - doubled)
    glyphs = struct.unpack_from(f">{glyph_bytes // 2}H", table, ranges_at + doubled)
    # A range's offset counts bytes from its own place in the array before the glyphs.
    offsets = tuple(
        -1 if not offset else offset // 2 - (count - index) for index, offset in enumerate(ranges)
    )
    return Charmap(ends, starts, deltas, offsets, glyphs)


class Point(NamedTuple):
    x: int
    y: int
    on: bool  # on the curve; else a control point


Contour = list[Point]

_COMPOSITE_DEPTH = 6  # parts of parts; real fonts have one or two


class Outlines:
    """The glyphs of a TrueType font as paths, in font units with y upwards."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            tables = next(read_tables(lambda at, size: data[at : at + size]))
            at, size = tables["cmap"]
            self._charmap = read_charmap(data[at : at + size])
            head = tables["head"][0]
            (self.units_per_em,) = struct.unpack_from(">H", data, head + 18)
            (long,) = struct.unpack_from(">H", data, head + 50)
            self._glyf = tables["glyf"][0]
            kind, width = ("L", 4) if long else ("H", 2)
            at, size = tables["loca"]
            places = struct.unpack_from(f">{size // width}{kind}", data, at)
            self._places = places if long else tuple(2 * place for place in places)
            (self.advance,) = struct.unpack_from(">H", data, tables["hmtx"][0])
        except (KeyError, struct.error) as error:
            raise BadFont("not a TrueType font") from error

    def has(self, char: str) -> bool:
        return self._charmap.glyph(ord(char)) != 0

    def path(self, char: str) -> str:
        """Return a character's outline as SVG path data; empty for a blank."""
        return "".join(map(_path, self._contours(self._charmap.glyph(ord(char)), 0)))

    def _contours(self, glyph: int, depth: int) -> list[Contour]:
        try:
            start, end = self._places[glyph : glyph + 2]
            if start == end:
                return []
            at = self._glyf + start
            (count,) = struct.unpack_from(">h", self._data, at)
            if count >= 0:
                return self._simple(at + 10, count)
            if depth == _COMPOSITE_DEPTH:
                raise BadFont("a glyph is made of itself")
            return self._composite(at + 10, depth)
        except (struct.error, IndexError, ValueError) as error:
            raise BadFont("a glyph is cut short") from error

    def _simple(self, at: int, count: int) -> list[Contour]:
        """[glyf, "Simple Glyph Description"]"""
        data = self._data
        ends = struct.unpack_from(f">{count}H", data, at)
        at += 2 * count
        (instructions,) = struct.unpack_from(">H", data, at)
        at += 2 + instructions
        total = ends[-1] + 1 if ends else 0
        flags: list[int] = []
        while len(flags) < total:
            flag = data[at]
            at += 1
            repeat = 1
            if flag & 8:
                repeat += data[at]
                at += 1
            flags += [flag] * repeat
        xs, at = self._coordinates(flags[:total], at, short=2, same=16)
        ys, at = self._coordinates(flags[:total], at, short=4, same=32)
        points = [Point(x, y, bool(flag & 1)) for x, y, flag in zip(xs, ys, flags, strict=False)]
        return [points[a + 1 : b + 1] for a, b in pairwise((-1, *ends))]

    def _coordinates(
        self, flags: list[int], at: int, *, short: int, same: int
    ) -> tuple[list[int], int]:
        found, value = [], 0
        for flag in flags:
            if flag & short:
                value += self._data[at] if flag & same else -self._data[at]
                at += 1
            elif not flag & same:
                value += struct.unpack_from(">h", self._data, at)[0]
                at += 2
            found.append(value)
        return found, at

    def _composite(self, at: int, depth: int) -> list[Contour]:
        """[glyf, "Composite Glyph Description"]"""
        data = self._data
        found: list[Contour] = []
        more = True
        while more:
            flags, glyph = struct.unpack_from(">HH", data, at)
            at += 4
            kind, size = (">hh", 4) if flags & 1 else (">bb", 2)
            dx, dy = struct.unpack_from(kind, data, at) if flags & 2 else (0, 0)
            at += size
            a, b, c, d = 1.0, 0.0, 0.0, 1.0
            if flags & 8:
                a = d = struct.unpack_from(">h", data, at)[0] / 16384
                at += 2
            elif flags & 0x40:
                a, d = (value / 16384 for value in struct.unpack_from(">hh", data, at))
                at += 4
            elif flags & 0x80:
                a, b, c, d = (value / 16384 for value in struct.unpack_from(">hhhh", data, at))
                at += 8
            for contour in self._contours(glyph, depth + 1):
                found.append(
                    [
                        Point(round(a * x + c * y) + dx, round(b * x + d * y) + dy, on)
                        for x, y, on in contour
                    ]
                )
            more = bool(flags & 0x20)
        return found


def _path(contour: Contour) -> str:
    """Write a contour; between two control points lies an implied point of the curve."""
    if len(contour) < 2:
        return ""
    first = next((i for i, point in enumerate(contour) if point.on), None)
    if first is None:
        start = _between(contour[-1], contour[0])
        rest = contour
    else:
        start, rest = contour[first], contour[first + 1 :] + contour[:first]
    parts = [f"M{start.x} {start.y}"]
    at, control = start, None
    for point in [*rest, start]:
        if control is None:
            if point.on:
                parts.append(f"l{_steps(at, point)}")
                at = point
            else:
                control = point
            continue
        to = point if point.on else _between(control, point)
        parts.append(f"q{_steps(at, control, to)}")
        at, control = to, None if point.on else point
    return "".join(parts) + "z"


def _steps(at: Point, *to: Point) -> str:
    """Write places relative to `at`, which is shorter."""
    return "".join(f"{x - at.x:+d}{y - at.y:+d}" for x, y, _on in to)


def _between(one: Point, other: Point) -> Point:
    return Point((one.x + other.x) // 2, (one.y + other.y) // 2, True)
