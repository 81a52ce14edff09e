"""Find the places where text is typed.

Rule: a field is told by the cursor in it, by a ground of its own behind a label, by a row of
underscores, or by a box of one row. It is focused only if the cursor is visible and in it.
"""

import re
from collections.abc import Sequence

from nacre.core.seeing.boxes import Box
from nacre.core.seeing.cells import Paper, ScreenCells, Strip
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import Region, plain_text, region_of, usual_paper, words_of

_LEAST = 3  # columns
_NEAR = 6  # columns between a field and its label, at most
_UNDERSCORES = re.compile(r"_{3,}")
_PROMPT = re.compile(r"^(.{0,60}?[:>❯$#?%»›]) ?(.*)$")


def find_fields(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found = [*_boxed(cells, boxes), *_grounded(cells, boxes), *_underscored(cells, boxes)]
    cursor = cells.cursor
    if cursor.visible and not any(one.has(cursor.row, cursor.col) for one in found):
        found += _at_a_prompt(cells, boxes)
    return found


def _field(
    cells: ScreenCells, row: int, start: int, end: int, label: str | None, evidence: str
) -> Element:
    cursor = cells.cursor
    focused = cursor.visible and cursor.row == row and start <= cursor.col <= end
    return Element(
        role="field",
        text=plain_text(cells, row, start, end).strip("_ "),
        row=row,
        col=start,
        width=end - start,
        focused=focused,
        label=label or None,
        evidence=evidence + ("; the cursor is in it" if focused else ""),
    )


def _boxed(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    """Return boxes of one row that have the cursor, or a frame of blocks."""
    found: list[Element] = []
    for box in boxes:
        first, last, start, end = box.inner
        if first != last or not box.sides or end - start < _LEAST:
            continue
        cursor = cells.cursor
        typed = cursor.visible and cursor.row == first and start <= cursor.col <= end
        blocks = cells.texts[box.row][start] in "▔▁▄▀"
        if typed or blocks:
            label = box.title or _above(cells, boxes, box.row, start, end)
            found.append(_field(cells, first, start, end, label, "a box of one row"))
    return found


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
            if label.endswith(":"):
                said = label.rstrip(":")
                found.append(_field(cells, row, match.start(), match.end(), said, "underscores"))
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
