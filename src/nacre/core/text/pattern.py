"""Regular expressions, by RE2: what they take grows with the text alone, whoever wrote them.

Rule 1: one module knows the library.
Rule 2: what RE2 has not (look-around, back-references) is refused, never guessed.
Rule 3: nothing is captured but the whole match: twenty thousand groups took gigabytes.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol

from nacre.core.text.needles import needles_of
from nacre.late_pattern import late_pattern

_MEMORY = 8 << 20  # bytes for one expression; RE2's own default

_SPECIAL = late_pattern(r"[\\^$.|?*+()\[\]{}]")  # what stands for itself behind a backslash only

# The next step for who used more than there is.
RE2 = "use the syntax of RE2, which has no look-around and no back-references"

# These mean the whole text, which is not the same as a line of it.
_WHOLE_TEXT = (r"\A", r"\z", "(?-")


class Match(Protocol):
    def start(self) -> int: ...
    def end(self) -> int: ...
    def group(self, number: int = 0) -> str: ...


class Pattern(Protocol):
    """An expression over a text of several lines; ^ and $ stand at each line's ends."""

    def search(self, text: str) -> Match | None: ...
    def finditer(self, text: str) -> Iterator[Match]: ...


class BytesMatch(Protocol):
    def start(self) -> int: ...
    def end(self) -> int: ...


class BytesPattern(Protocol):
    def search(self, text: bytes, pos: int = 0) -> BytesMatch | None: ...
    def finditer(self, text: bytes) -> Iterator[BytesMatch]: ...


_BY_LINES = "(?m)"  # ^ and $ match at each line


class PatternError(ValueError):
    """It is no regular expression of RE2's; the message says why."""


def escaped(text: str) -> str:
    """Return the expression that matches a text as it is."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def compile_pattern(expression: str) -> Pattern:
    """Raises PatternError."""
    pattern: Pattern = _compile(_BY_LINES + expression)
    return pattern


@lru_cache(64)
def compile_bytes(expression: bytes) -> BytesPattern:
    """Compile an expression of our own over bytes that need not be text."""
    pattern: BytesPattern = _compile(expression)
    return pattern


def _compile(expression: str | bytes) -> Any:
    import re2  # only who has an expression needs it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.never_capture = True
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        told = error.args[0] if error.args else error
        reason = told.decode(errors="replace") if isinstance(told, bytes) else str(told)
        raise PatternError(reason.replace(_BY_LINES, "")) from error


class LineFinder:
    """Finds a text, or an expression, in the lines of a text; UTF-8 in, offsets of bytes out."""

    def __init__(self, wanted: str, *, regex: bool) -> None:
        """Raises PatternError."""
        self._literal = None if regex else wanted.encode()
        self._pattern: BytesPattern | None = None
        if regex:
            self._pattern = _compile(_BY_LINES + wanted)
        self._line_by_line = regex and any(mark in wanted for mark in _WHOLE_TEXT)
        self.needles = needles_of(wanted if regex else escaped(wanted))

    def lines(self, text: bytes) -> Iterator[tuple[int, int, int]]:
        """Give the lines that match: where each begins, and from where to where in it.

        The whole text is searched at once. A match may lie over several lines there, so that the
        line in which it begins is searched once more by itself.
        """
        at = 0
        while at <= len(text):
            found = self._next(text, at)
            if found < 0:
                return
            start = text.rfind(b"\n", 0, found) + 1
            end = text.find(b"\n", found)
            end = len(text) if end < 0 else end
            if (span := self._span(text[start:end])) is not None:
                yield start, *span
            at = end + 1

    def _next(self, text: bytes, at: int) -> int:
        if self._literal is not None:
            return text.find(self._literal, at)
        if self._line_by_line:
            return at
        assert self._pattern is not None
        match = self._pattern.search(text, at)
        return -1 if match is None else match.start()

    def _span(self, line: bytes) -> tuple[int, int] | None:
        if self._literal is not None:
            start = line.find(self._literal)
            return None if start < 0 else (start, start + len(self._literal))
        assert self._pattern is not None
        match = self._pattern.search(line)
        return None if match is None else (match.start(), match.end())
