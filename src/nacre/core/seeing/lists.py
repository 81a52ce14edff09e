"""Find the selected one of several entries, and the entries.

Rule 1: an entry is selected if it alone stands on another ground than its neighbours above or
below, or if a pointer stands before it and before no other. Both are said as evidence.
Rule 2: bars are no entries: a title or a status line, on the first or last row or as wide as the
screen with the cursor elsewhere, a word within a line, and what is highlighted in several places.
"""

from collections import Counter
from collections.abc import Sequence

from nacre.core.screen.screen import Rgb
from nacre.core.seeing.boxes import Box, is_line
from nacre.core.seeing.cells import Paper, ScreenCells, Strip
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import Region, plain_text, region_of, usual_paper
from nacre.late_pattern import late_pattern

_POINTERS = "❯▶▸►➜➤→»›●◉>"
_MARKER = 3  # columns before an entry: a pointer, a tag's bracket
_MOSTLY = 0.8  # of an entry's columns; the rest may be a gutter
_RULE = late_pattern("[─━═]{4}")  # a line across is no entry


def find_lists(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    """Return the entries of each list that has a selected one."""
    found: list[Element] = []
    for strip, region, base in _selected(cells, boxes):
        said = f"on {told_paper(strip.paper)}, its neighbours on {told_paper(base)}"
        found += _entries(cells, strip, region, base, said)
    known = {one.row for one in found if one.selected}
    return [*found, *_pointed(cells, boxes, known)]


def told_paper(paper: Paper) -> str:
    if paper is None:
        return "the default background"
    if isinstance(paper, Rgb):
        return f"#{paper.r:02x}{paper.g:02x}{paper.b:02x}"
    return "reverse video" if paper == "foreground" else paper


# --- by their ground ---------------------------------------------------------------------------


def _selected(cells: ScreenCells, boxes: Sequence[Box]) -> list[tuple[Strip, Region, Paper]]:
    candidates: list[tuple[Strip, Region, Paper]] = []
    for row in range(cells.rows):
        for strip, region in _strips(cells, boxes, row):
            base = usual_paper(cells, region, strip.start, strip.end)
            if strip.paper != base and _may_be_entry(cells, strip, region, base):
                candidates.append((strip, region, base))
    several = Counter((strip.paper, region.box) for strip, region, _base in candidates)
    return [one for one in candidates if several[one[0].paper, one[1].box] == 1]


def _strips(cells: ScreenCells, boxes: Sequence[Box], row: int) -> list[tuple[Strip, Region]]:
    """Return the strips of a row inside of boxes; those with a few blanks between are one."""
    found: list[tuple[Strip, Region]] = []
    for strip in cells.strips(row):
        region = region_of(cells, boxes, row, (strip.start + strip.end) // 2)
        strip = strip._replace(start=max(strip.start, region.start), end=min(strip.end, region.end))
        if strip.width < 1:
            continue
        for at, (before, where) in enumerate(found):
            gap = cells.text(row, before.end, strip.start)
            near = strip.start - before.end <= _MARKER and not gap.strip()
            if where == region and before.paper == strip.paper and near:
                found[at] = (before._replace(end=strip.end), region)
                break
        else:
            found.append((strip, region))
    return found


def _may_be_entry(cells: ScreenCells, strip: Strip, region: Region, base: Paper) -> bool:
    text = plain_text(cells, strip.row, strip.start, strip.end)
    if not any(char.isalnum() for char in text):
        return False
    if region.box is None and strip.row in (0, cells.rows - 1):
        return False
    cursor = cells.cursor
    wide = region.box is None and strip.width >= cells.cols - 1
    if wide and cursor.visible and cursor.row != strip.row:
        return False
    beside = [row for row in (strip.row - 1, strip.row + 1) if region.first <= row <= region.last]
    if not any(_is_sibling(cells, row, strip, base) for row in beside):
        return False
    return not _is_heading(cells, strip, region, base) and _stands_apart(cells, strip, region)


def _is_heading(cells: ScreenCells, strip: Strip, region: Region, base: Paper) -> bool:
    """Tell whether nothing is above it, and an entry below has a ground of its own, too."""
    above = strip.row - 1
    if above >= region.first and _is_sibling(cells, above, strip, base):
        return False
    for row in range(strip.row + 1, region.last + 1):
        if not plain_text(cells, row, strip.start, strip.end):
            return False
        papers = {cells.paper(row, col) for col in range(strip.start, strip.end)}
        if base not in papers:
            return True
    return False


def _stands_apart(cells: ScreenCells, strip: Strip, region: Region) -> bool:
    """Tell whether it is no part of a line: nothing, a marker or two blanks are beside it."""
    before = cells.text(strip.row, region.start, strip.start)
    after = cells.text(strip.row, strip.end, region.end)
    own = cells.text(strip.row, strip.start, strip.end)
    left = len(before.strip()) <= _MARKER or before.endswith("  ") or own.startswith(" ")
    right = not after.strip() or after.startswith("  ") or own.endswith(" ") or is_line(after[:1])
    return left and right


def _entries(
    cells: ScreenCells, strip: Strip, region: Region, base: Paper, evidence: str
) -> list[Element]:
    rows = [strip.row]
    for step in (-1, 1):
        row = strip.row + step
        while region.first <= row <= region.last and _is_sibling(cells, row, strip, base):
            rows.append(row)
            row += step
    return [_entry(cells, row, strip, region, evidence) for row in sorted(rows)]


def _is_sibling(cells: ScreenCells, row: int, strip: Strip, base: Paper) -> bool:
    """Tell whether a row has an entry of the same list: text on the usual ground."""
    text = plain_text(cells, row, strip.start, strip.end)
    if not any(char.isalnum() for char in text) or _RULE.search(cells.text(row)):
        return False
    begin = strip.start
    before = cells.text(row, begin - 1, begin) if begin else ""
    if not is_line(before) and cells.text(row, begin, begin + 1) != " ":
        return False  # it begins within a word
    papers = cells.papers[row][strip.start : strip.end]
    return papers.count(base) >= _MOSTLY * len(papers)


def _entry(cells: ScreenCells, row: int, strip: Strip, region: Region, evidence: str) -> Element:
    end = strip.end
    while end < region.end and cells.text(row, end - 1, end + 1).strip() and row != strip.row:
        if is_line(cells.text(row, end, end + 1)):
            break
        end += 1
    selected = row == strip.row
    text = " ".join(plain_text(cells, row, strip.start, end).split())
    if selected and text[:1] in _POINTERS and text[1:2] == " ":
        evidence, text = f"{text[0]} before it, {evidence}", text[2:]
    return Element(
        role="item",
        text=text,
        row=row,
        col=strip.start,
        width=end - strip.start,
        selected=selected,
        evidence=evidence if selected else "beside the selected one",
    )


# --- by a pointer ------------------------------------------------------------------------------


def _pointed(cells: ScreenCells, boxes: Sequence[Box], known: set[int]) -> list[Element]:
    """Return entries of which one has a pointer before it, and the others blanks.

    Rows of which it is `known` that they are selected are left out.
    """
    found: list[Element] = []
    for row in range(cells.rows):
        columns = cells.texts[row]
        col = next((at for at, text in enumerate(columns) if text not in (" ", "│", "┃")), None)
        if col is None or columns[col] not in _POINTERS or columns[col + 1 : col + 2] != (" ",):
            continue
        region = region_of(cells, boxes, row, col)
        begin = col + 2
        cursor = cells.cursor
        prompt = cursor.visible and cursor.row == row  # what is typed goes there: no entry
        if (
            row in known
            or prompt
            or begin >= region.end
            or cells.text(row, begin, begin + 1) == " "
        ):
            continue
        rows = _beside(cells, row, col, begin, region)
        if len(rows) > 1:
            found += [_pointed_entry(cells, one, row, col, begin, region) for one in rows]
    return found


def _beside(cells: ScreenCells, row: int, col: int, begin: int, region: Region) -> list[int]:
    rows = [row]
    for step in (-1, 1):
        at = row + step
        while region.first <= at <= region.last:
            blank = not cells.text(at, region.start, begin).strip()
            text = cells.text(at, begin, region.end)
            if not blank or text[:1] in (" ", "") or _RULE.search(text):
                break
            rows.append(at)
            at += step
    return sorted(rows)


def _pointed_entry(
    cells: ScreenCells, row: int, selected: int, col: int, begin: int, region: Region
) -> Element:
    text = plain_text(cells, row, begin, region.end)
    pointer = cells.texts[selected][col]
    return Element(
        role="item",
        text=text,
        row=row,
        col=begin,
        width=len(text),
        selected=row == selected,
        evidence=f"{pointer} before it" if row == selected else "beside the selected one",
    )
