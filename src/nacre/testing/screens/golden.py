"""Golden screens: a screen that a person has looked at, in a file, and the difference from it.

Rule 1: the file is the text of the screen, so that a person can read it and its diff in a review.
With styles, lines below it say which cells are not plain.
Rule 2: a file is written only if somebody asks for that (--update).
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from nacre.testing.screens.masks import Mask, masked
from nacre.testing.screens.shown import ShownScreen
from nacre.testing.screens.style import style_words

_STYLES = "--- styles ---"
FOLDER = "__screens__"


@dataclass(frozen=True)
class GoldenCheck:
    """The screen is that of a file, but for what is masked."""

    path: str
    masks: tuple[Mask, ...] = ()
    styled: bool = False
    quiet: float = 0.0
    after_end: bool = False

    def problem(self, screen: ShownScreen) -> str | None:
        golden = self.stored()
        if golden is None:
            return (
                f"there is no golden screen {self.path}; look at the screen, and write it by update"
            )
        now = self.lines(screen)
        return None if now == golden else difference(golden, now)

    def stored(self) -> list[str] | None:
        try:
            with open(self.path, encoding="utf-8") as file:
                return file.read().removesuffix("\n").split("\n")
        except FileNotFoundError:
            return None

    def lines(self, screen: ShownScreen) -> list[str]:
        rows = masked(screen.rows, self.masks)
        while len(rows) > 1 and not rows[-1]:
            rows.pop()
        return [*rows, _STYLES, *_styles(screen)] if self.styled else rows

    def write(self, screen: ShownScreen) -> bool:
        """Store the screen; return whether the file is another one now."""
        now = self.lines(screen)
        if now == self.stored():
            return False
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
        return True


def golden_path(folder: str, *names: str) -> str:
    """Return the file of a golden screen, named after its test and itself."""
    return os.path.join(folder, FOLDER, f"{file_name(*names)}.txt")


def file_name(*names: str) -> str:
    """Return names as the name of a file; one that repeats the one before it is left out."""
    plain = [re.sub(r"[^\w.-]+", "-", one).strip("-.") or "screen" for one in names]
    return "-".join(one for one, before in zip(plain, ["", *plain], strict=False) if one != before)


def _styles(screen: ShownScreen) -> Iterator[str]:
    chars = [char for char in screen.chars(0, len(screen.text)) if style_words(char.span)]
    for (row, words), same in groupby(chars, lambda one: (one.place.row, style_words(one.span))):
        run = list(same)
        text = "".join(char.text for char in run).rstrip()
        yield f"{row}:{run[0].place.col} {text!r} {words}"


# --- the difference ------------------------------------------------------------------------------


def difference(golden: Sequence[str], now: Sequence[str]) -> str:
    """Return both screens as a diff that a person can read: rows by number, changed columns."""
    told = ["the screen is not the golden one (- golden, + now):"]
    for what, i, j, k, m in SequenceMatcher(None, golden, now, autojunk=False).get_opcodes():
        if what == "equal":
            told += _some([f"  {row:>3} │ {golden[row]}" for row in range(i, j)])
            continue
        for offset in range(max(j - i, m - k)):
            old = golden[i + offset] if i + offset < j else None
            new = now[k + offset] if k + offset < m else None
            told += _changed(i + offset, old, k + offset, new)
    return "\n".join(told)


def _changed(row: int, old: str | None, at: int, new: str | None) -> list[str]:
    lines = [] if old is None else [f"- {row:>3} │ {old}"]
    lines += [] if new is None else [f"+ {at:>3} │ {new}"]
    if old is not None and new is not None:
        width = max(len(old), len(new))
        pairs = zip(old.ljust(width), new.ljust(width), strict=True)
        lines.append("      │ " + "".join(" " if a == b else "^" for a, b in pairs).rstrip())
    return lines


def _some(rows: list[str]) -> list[str]:
    """Leave out the middle of many rows that are the same."""
    return rows if len(rows) <= 5 else [*rows[:2], f"      ⋮ {len(rows) - 4} rows", *rows[-2:]]
