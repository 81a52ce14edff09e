"""What must stand in a line for an expression to match it: the needles, one for each branch.

Who looks through a long output can pass over parts in which no needle is, without rendering them.

Rule: None in doubt. An expression that is not understood here is searched for everywhere.
"""

from nacre.late_pattern import late_pattern

Needles = tuple[str, ...]

_ENDS = frozenset("^$.")  # they stand for no character of their own
_OPTIONAL = frozenset("*?")
_CLASS = late_pattern(r"\[\^?[^\[\]\\^]+\]")
_SHORTEST = 2  # characters: a needle that stands everywhere helps nobody


def needles_of(expression: str) -> Needles | None:
    """Return texts of which each line that matches has one."""
    found = [_longest(runs) for runs in _branches(expression)]
    if not found or any(len(one) < _SHORTEST or "\ufffd" in one for one in found):
        return None
    return tuple(dict.fromkeys(found))


def _longest(runs: list[str]) -> str:
    return max(runs, key=len, default="")


def _branches(expression: str) -> list[list[str]]:
    """Return the runs of characters that must stand in each branch; [] for what is not known."""
    branches: list[list[str]] = [[""]]
    at = 0
    while at < len(expression):
        letter, at = expression[at], at + 1
        runs = branches[-1]
        if letter == "|":
            branches.append([""])
        elif letter == "[" and (found := _CLASS.match(expression, at - 1)):
            runs.append("")
            at = found.end()
        elif letter == "\\" and expression[at : at + 1] in ("b", "d", "s", "w"):
            runs.append("")
            at += 1
        elif letter in _ENDS:
            runs.append("")
        elif letter in _OPTIONAL:
            runs[-1] = runs[-1][:-1]
            runs.append("")
        elif letter == "+":
            runs.append("")
        elif letter == "\\" and _is_sign(expression[at : at + 1]):
            runs[-1] += expression[at]
            at += 1
        elif letter in "\\()[]{}" or not letter.isprintable():
            return []
        else:
            runs[-1] += letter
    return branches


def _is_sign(letter: str) -> bool:
    """Whether it stands for itself behind a backslash."""
    return letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != ""
