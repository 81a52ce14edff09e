"""Find bars: menus across the top, tabs, and the keys that a program names at the bottom.

Rule: a menu bar is a row on a ground of its own, or the first row of the screen, with three words
or more that stand apart. Tabs have a line below them, a part of which looks different. Keys are
short, look different from the label behind them, and there are several.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from nacre.core.seeing.boxes import Box, arms
from nacre.core.seeing.cells import ScreenCells, paper_of
from nacre.core.seeing.elements import Element
from nacre.core.seeing.regions import WordsApart, words_of
from nacre.late_pattern import late_pattern

_KEY = late_pattern(r"^(F\d{1,2}|\d{1,2}|\^\S|M-\S|Esc|Tab|Enter)$")
_LEAST_MENUS, _LEAST_KEYS = 3, 2
_LONGEST = 24  # characters of a menu's or tab's name
_LAST_ROWS = 3  # at the bottom, where keys are named


def find_bars(cells: ScreenCells, boxes: Sequence[Box]) -> list[Element]:
    return [*_menus(cells), *_tabs(cells), *_keys(cells)]


def _menus(cells: ScreenCells) -> list[Element]:
    """Return the names in the first row, if it is on a ground of its own."""
    strips = cells.strips(0)
    usual = max(strips, key=lambda strip: strip.width)
    if usual.paper is None or usual.paper == cells.paper(1, 0):
        return []
    words = words_of(cells, 0)
    named = all(re.fullmatch(r"[\w &./-]+", one.text) and len(one.text) <= 12 for one in words)
    if len(words) < _LEAST_MENUS or not named:
        return []
    papers = [cells.paper(0, one.start) for one in words]
    own = [at for at, paper in enumerate(papers) if paper != usual.paper]
    return [
        _named(
            one,
            "menu",
            own == [at],
            "a row of names across the top"
            + ("; it alone has a ground of its own" * (own == [at])),
        )
        for at, one in enumerate(words)
    ]


def _named(words: WordsApart, role: str, selected: bool, evidence: str) -> Element:
    return Element(
        role=role,  # type: ignore[arg-type]  # one of the two
        text=words.text,
        row=words.row,
        col=words.start,
        width=words.end - words.start,
        selected=selected,
        evidence=evidence,
    )


def _tabs(cells: ScreenCells) -> list[Element]:
    found: list[Element] = []
    for row in range(cells.rows - 1):
        words = words_of(cells, row)
        below = cells.texts[row + 1]
        line = [col for col in range(cells.cols) if arms(below[col]) and below[col] in "━─╸╺═╶╴"]
        if len(words) < 2 or any(len(one.text) > _LONGEST for one in words):
            continue
        if not line or {" ", *(below[col] for col in line)} != {" ", *below}:
            continue
        inks = Counter(cells.looks[row + 1][col].fg for col in line)
        if len(inks) < 2:
            continue
        usual = inks.most_common(1)[0][0]
        lit = [col for col in line if cells.looks[row + 1][col].fg != usual]
        over = [one for one in words if any(one.start <= col < one.end for col in lit)]
        if len(over) == 1:
            said = "names over a line"
            lit_said = f"{said} that looks different below it"
            found += [
                _named(one, "tab", one is over[0], lit_said if one is over[0] else said)
                for one in words
            ]
    return found


def _keys(cells: ScreenCells) -> list[Element]:
    """Return the keys that are named with what they do, in the last rows."""
    found: list[Element] = []
    for row in range(cells.rows - _LAST_ROWS, cells.rows):
        if row <= 0:
            continue
        runs = list(cells.runs(row))
        here: list[Element] = []
        for (col, key), (at, label) in pairwise(runs):
            name = key.text.strip()
            if not _KEY.match(name) or not any(char.isalpha() for char in label.text):
                continue
            if paper_of(key) == paper_of(label):
                continue
            text = label.text.strip().split("  ")[0]
            width = at + len(label.text.rstrip()) - col
            here.append(
                Element(
                    role="button",
                    text=text,
                    row=row,
                    col=col + len(key.text) - len(key.text.lstrip()),
                    width=width - (len(key.text) - len(key.text.lstrip())),
                    key=_key_name(name),
                    evidence="a key and what it does",
                )
            )
        if len(here) >= _LEAST_KEYS:
            found += here
    return found


def _key_name(name: str) -> str:
    if name.isdigit():
        return f"F{name}"
    if name.startswith("^"):
        return f"Ctrl+{name[1:]}"
    return f"Alt+{name[2:]}" if name.startswith("M-") else name
