"""Find the places where text is typed.

Rule: a field is told by the cursor in it, by a ground of its own behind a label, by a row of
underscores, or by a box of one row. It is focused if the visible cursor is in it. Programs that
hide it draw one: then it is focused if it alone has a part of one cell on a ground of its own, or a
frame and a ground that no other framed one has.
"""

from collections import Counter
from collections.abc import Sequence

from nacre.core.seeing.boxes import Box
from nacre.core.seeing.buttons import CHECK_MARK
from nacre.core.seeing.cells import Paper, ScreenCells, Strip
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import Region, plain_text, region_of, usual_paper, words_of
from nacre.late_pattern import late_pattern

_LEAST = 3  # columns
_FRAMED = 3  # rows of a box around one row
_NEAR = 6  # columns between a field and its label, at most
_UNDERSCORES = late_pattern(r"_{3,}")
_PROMPT = late_pattern(r"^(.{0,60}?[:>❯$#?%»›]) ?(.*)$")


def find_fields(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found = [*_boxed(cells, boxes), *_grounded(cells, boxes), *_underscored(cells, boxes)]
    cursor = cells.cursor
    if cursor.visible and not any(one.has(cursor.row, cursor.col) for one in found):
        found += _at_a_prompt(cells, boxes)
    return found


def _field(
    cells: ScreenCells,
    row: int,
    start: int,
    end: int,
    label: str | None,
    evidence: str,
    drawn: str = "",
) -> Element:
    """`drawn` is by what a program that hides the cursor shows the focus there."""
    cursor = cells.cursor
    focused = cursor.visible and cursor.row == row and start <= cursor.col <= end
    if focused:
        evidence += "; the cursor is in it"
    elif drawn:
        evidence += f"; {drawn}"
    return Element(
        role="field",
        text=plain_text(cells, row, start, end).strip("_ "),
        row=row,
        col=start,
        width=end - start,
        focused=focused or bool(drawn),
        label=label or None,
        evidence=evidence,
    )


def _boxed(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    """Return boxes of one row that have the cursor, or a frame of blocks."""
    found: list[Element] = []
    low = [box for box in boxes if box.sides and box.rows == _FRAMED and box.cols - 2 >= _LEAST]
    lit = None if cells.cursor.visible else _lit(cells, low)
    for box in low:
        first, _last, start, end = box.inner
        cursor = cells.cursor
        typed = cursor.visible and cursor.row == first and start <= cursor.col <= end
        blocks = cells.texts[box.row][start] in "▔▁▄▀"
        if typed or blocks:
            label = box.title or _above(cells, boxes, box.row, start, end)
            said = "" if lit is None or lit[0] != box else lit[1]
            found.append(_field(cells, first, start, end, label, "a box of one row", said))
    return found


def _lit(cells: ScreenCells, low: Sequence[Box]) -> tuple[Box, str] | None:
    """Return the one of several boxes of one row that has the focus, and what shows it."""
    drawn = [box for box in low if _has_drawn_cursor(cells, box)]
    if len(drawn) == 1:
        return drawn[0], "a cursor is drawn in it"
    # A frame alone may say that what was typed is wrong.
    looks = [
        (cells.looks[box.row][box.col + 1].fg, cells.paper(box.row, box.col + 1)) for box in low
    ]
    usual, often = Counter(looks).most_common(1)[0] if looks else ((None, None), 0)
    other = [at for at, look in enumerate(looks) if look != usual]
    if often > 1 and len(other) == 1:
        ink, ground = looks[other[0]]
        if ink != usual[0] and ground != usual[1]:
            return low[other[0]], "its frame and ground alone look different"
    return None


def _has_drawn_cursor(cells: ScreenCells, box: Box) -> bool:
    row, _last, start, end = box.inner
    ground = cells.paper(box.row, box.col + 1)
    narrow = [
        strip
        for strip in cells.strips(row)
        if start <= strip.start
        and strip.end <= end
        and strip.width == 1
        and strip.paper != ground
        and cells.texts[row][strip.start - 1] != CHECK_MARK  # a checkbox is no field
    ]
    return len(narrow) == 1


def _above(cells: ScreenCells, boxes: Sequence[Box], row: int, start: int, end: int) -> str:
    if row == 0:
        return ""
    region = region_of(cells, boxes, row - 1, start)
    text = plain_text(cells, row - 1, max(start - 2, region.start), min(end, region.end))
    return text.rstrip(":") if text.endswith((":", "?")) else ""


def _grounded(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    """Return strips on a ground of their own that have a label before them, or the cursor."""
    found: list[Element] = []
    usual: dict[Region, Paper] = {}
    for row in range(cells.rows):
        for strip in cells.strips(row):
            region = region_of(cells, boxes, row, strip.start)
            if region not in usual:
                usual[region] = usual_paper(cells, region)
            if strip.start < region.start or strip.end > region.end or strip.width < _LEAST:
                continue
            if region.box is not None and region.first == region.last:
                continue  # the whole box is the field
            if strip.paper == usual[region] or not _differs(cells, strip, region):
                continue
            label = _before(cells, row, region.start, strip.start)
            cursor = cells.cursor
            typed = cursor.visible and cursor.row == row and strip.start <= cursor.col < strip.end
            named = label.endswith(":") and cells.paper(row, strip.start - 1) != strip.paper
            text = plain_text(cells, row, strip.start, strip.end)
            # Fields that the eye meets are mostly blank at their end; a word in colour is not.
            roomy = not text or cells.text(row, strip.start, strip.end).endswith("   ")
            if (typed and roomy) or (named and roomy):
                above = _above(cells, boxes, row, strip.start, strip.end)
                said = label.rstrip(":") if named else above
                found.append(
                    _field(cells, row, strip.start, strip.end, said, "a ground of its own")
                )
    return found


def _before(cells: ScreenCells, row: int, start: int, end: int) -> str:
    """Return the text right before a column, if there is one."""
    words = words_of(cells, row, start, end)
    return words[-1].text if words and end - words[-1].end <= _NEAR else ""


def _differs(cells: ScreenCells, strip: Strip, region: Region) -> bool:
    """Tell whether its ground is not that of what is beside it."""
    beside = [col for col in (strip.start - 1, strip.end) if region.start <= col < region.end]
    return bool(beside) and all(cells.paper(strip.row, col) != strip.paper for col in beside)


def _underscored(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found: list[Element] = []
    for row in range(cells.rows):
        for match in _UNDERSCORES.finditer("".join(text[:1] or "\0" for text in cells.texts[row])):
            region = region_of(cells, boxes, row, match.start())
            label = _before(cells, row, region.start, match.start())
            start = match.start()
            if not label.endswith(":"):  # what was typed stands before them, and a label above
                start -= len(label) if cells.texts[row][start - 1 : start] != (" ",) else 0
                label = _above(cells, boxes, row - 1, start, match.end()) if row > 1 else ""
                label = label or _above(cells, boxes, row, start, match.end())
            field = _field(cells, row, start, match.end(), label.rstrip(":"), "underscores")
            if label or field.focused:
                found.append(field)
    return found


def _at_a_prompt(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    """Return the place of the cursor, if what stands before it in its row is a prompt."""
    row, col = cells.cursor.row, cells.cursor.col
    region = region_of(cells, boxes, row, col)
    before = cells.text(row, region.start, col)
    match = _PROMPT.match(before)
    if match is None or len(before) < 2 or before[-1:] not in (" ", *match[2][-1:]):
        return []
    start = region.start + len(match[1]) + (1 if before[len(match[1]) :].startswith(" ") else 0)
    end = max(col, start + len(cells.text(row, start, region.end).rstrip()))
    label = match[1].strip()
    return [_field(cells, row, start, max(end, start + 1), label, "the cursor behind a prompt")]
