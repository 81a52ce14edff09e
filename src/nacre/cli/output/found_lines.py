"""Lines that were found in a run's output, as `grep -n` prints them.

Rule: a line is printed once, however many matches it stands around, and `--` stands between groups
that do not touch. Lines are counted from 1, as people and editors do; JSON has them from 0.
"""

from typing import Any

from nacre.cli.output.answers import harmless


class FoundLines:
    def __init__(self) -> None:
        self._next = 0  # the line after the last one that was printed
        self._any = False

    def show(self, matches: list[dict[str, Any]]) -> None:
        found = {match["line"] for match in matches}
        for match in matches:
            before, after = match.get("before", ()), match.get("after", ())
            first = match["line"] - len(before)
            if self._any and first > self._next and (before or after):
                print("--")
            for number, text in enumerate([*before, match["text"], *after], first):
                if number >= self._next:
                    self._print(number, text, is_match=number in found)

    def _print(self, number: int, text: str, *, is_match: bool) -> None:
        print(f"{number + 1}{':' if is_match else '-'}{harmless(text)}")
        self._next, self._any = number + 1, True
