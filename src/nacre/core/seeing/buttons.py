"""Find buttons, checkboxes and radio buttons by how they are written.

Rule 1: < OK > and [ OK ] are buttons only in a row of nothing else, inside a box or on a ground of
their own: <file> in a help text is none. So are blocks with an edge above and below.
Rule 2: one of several is selected if it alone looks different, or the cursor is on it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from nacre.core.seeing.boxes import Box, arms
from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import Region, plain_text, region_of
from nacre.late_pattern import late_pattern

_BUTTON = late_pattern(r"\[< ?[^<>\[\]]{1,24}? ?>\]|<[^<>\[\]]{1,24}>|\[[^\[\]<>]{1,24}\]")
_CHECK = late_pattern(r"(\[[ xX*✓✔]\]|\([ xX*•●]\)|▐[X●]▌) (\S.*)")
CHECK_MARK = "▐"  # Textual shows the same sign in another colour when it is not checked
_GAP = late_pattern(r" {2,}")


def find_checks(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found: list[Element] = []
    for row in range(cells.rows):
        columns = _columns(cells, row, 0, cells.cols)
        for match in _CHECK.finditer(columns):
            region = region_of(cells, boxes, row, match.start())
            end = min(region.end, match.end())
            mark, label = match[1], cells.text(row, match.start(2), end)
            label = label.rstrip()
            found.append(
                Element(
                    role="checkbox" if mark[0] == "[" or mark[1] == "X" else "radio",
                    text=" ".join(label.split()),
                    row=row,
                    col=match.start(),
                    width=len(mark) + 1 + len(label),
                    checked=None if mark[0] == CHECK_MARK else mark[1] != " ",
                    **_on_a_ground(cells, row, match.start(2), f"{mark} before it"),
                )
            )
    return found


def _on_a_ground(cells: ScreenCells, row: int, label: int, evidence: str) -> dict[str, Any]:
    """Return whether a label has a ground that its mark has not: it is the highlighted one."""
    mark = label - len("▐X▌ ")
    framed = mark > 0 and cells.texts[row][mark] == CHECK_MARK
    lit = framed and cells.paper(row, label) != cells.paper(row, mark - 1)
    return {"selected": lit, "evidence": evidence + "; its label has a ground of its own" * lit}


def find_buttons(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found: list[Element] = []
    for row in range(cells.rows):
        for region in _regions(cells, boxes, row):
            found += _row_of_buttons(cells, row, region)
    return [*found, *_raised(cells, boxes)]


def _regions(cells: ScreenCells, boxes: Sequence[Box], row: int) -> list[Region]:
    """Return the innermost regions that a row goes through."""
    found: list[Region] = []
    for box in (None, *boxes):
        col = 0 if box is None else box.col + 1
        region = region_of(cells, boxes, row, min(col, cells.cols - 1))
        if region not in found:
            found.append(region)
    return found


def _columns(cells: ScreenCells, row: int, start: int, end: int) -> str:
    """Return a row with one character a column; lines are blanks."""
    parts = (cells.texts[row][col][:1] or "\0" for col in range(start, end))
    return "".join(" " if arms(char) and char not in "+-=|" else char for char in parts)


def _row_of_buttons(cells: ScreenCells, row: int, region: Region) -> list[Element]:
    columns = _columns(cells, row, region.start, region.end)
    matches = [match for match in _BUTTON.finditer(columns) if _names(match[0])]
    if not matches or _BUTTON.sub("", columns).strip():
        return []
    looks = [_looks(cells, row, region.start + match.start(), match[0]) for match in matches]
    grounds = [cells.paper(row, region.start + match.start() + 1) for match in matches]
    if region.box is None and (len(matches) == 1 or not any(grounds)):
        return []  # a message in brackets, or words
    usual, often = Counter(looks).most_common(1)[0]
    single = [at for at, look in enumerate(looks) if look != usual]
    # Of two that differ the one is as common as the other: the cursor tells.
    different = single[0] if len(single) == 1 and often > 1 else None
    tabs = len(matches) > 1 and all(match[0][1] != " " and match[0][0] == "[" for match in matches)
    tabs = tabs and region.box is None
    found = []
    for at, match in enumerate(matches):
        start = region.start + match.start()
        cursor = cells.cursor
        on_it = cursor.visible and cursor.row == row and start <= cursor.col < start + len(match[0])
        evidence = "brackets in a row of nothing else"
        if on_it:
            evidence += "; the cursor is on it"
        elif at == different:
            evidence += "; it looks different from the others"
        found.append(
            Element(
                role="tab" if tabs else "button",
                text=match[0].strip("[]<> "),
                row=row,
                col=start,
                width=len(match[0]),
                selected=on_it or at == different,
                focused=on_it,
                evidence=evidence,
            )
        )
    return _brighter(cells, found) if not any(one.selected for one in found) else found


def _brighter(cells: ScreenCells, pair: list[Element]) -> list[Element]:
    """Tell which of two buttons is selected: the one whose ground is not the row's own."""
    if len(pair) != 2:
        return pair
    grounds = [cells.paper(one.row, one.col + one.width // 2) for one in pair]
    before = cells.paper(pair[0].row, max(0, pair[0].col - 1))
    lit = [at for at, ground in enumerate(grounds) if ground != before]
    if len(lit) != 1:
        return pair
    at = lit[0]
    told = pair[at].evidence + "; it alone has a ground of its own"
    pair[at] = replace(pair[at], selected=True, evidence=told)
    return pair


def _names(text: str) -> bool:
    return any(char.isalpha() for char in text) and "|" not in text


def _looks(cells: ScreenCells, row: int, start: int, text: str) -> object:
    """Return the look of a button's label, by its second letter: the first may be a shortcut's."""
    letters = [at for at, char in enumerate(text) if char.isalpha()]
    return cells.paper(row, start + letters[-1])


def _raised(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    found: list[Element] = []
    for box in boxes:
        if box.sides or box.rows != 3:
            continue
        text = plain_text(cells, box.row + 1, box.col, box.col + box.cols)
        if text and not _GAP.search(text):
            found.append(
                Element(
                    role="button",
                    text=text,
                    row=box.row,
                    col=box.col,
                    width=box.cols,
                    height=box.rows,
                    evidence="a block with an edge above and below",
                )
            )
    lit = [at for at, one in enumerate(found) if _is_lit(cells, one)]
    if len(lit) == 1:
        one = found[lit[0]]
        said = f"{one.evidence}; its label has a ground of its own"
        found[lit[0]] = replace(one, selected=True, evidence=said)
    return found


def _is_lit(cells: ScreenCells, block: Element) -> bool:
    """Tell whether the label of a block stands on another ground than the block."""
    row, text = block.row + 1, cells.text(block.row + 1, block.col, block.col + block.width)
    label = block.col + len(text) - len(text.lstrip())
    return label > block.col and cells.paper(row, label) != cells.paper(row, block.col)
