"""Take secrets out of what agents read and what is logged.

Rule 1: known values (of stored secrets, of secret variables) and known shapes (secret_shapes.py)
are redacted, and counted. All else is as it was.
Rule 2: a screen keeps its grid: a secret in it is replaced by as many characters. Rows that the
width breaks are read as one line. In a text the label alone stands for it.
Rule 3: a text is redacted before it is cut: half a secret has no shape. Who cuts asks for the
call's own redaction (`redaction_of_call`), which a step of dispatch sets.
Rule 4: what is redacted stays as it is when it is redacted again.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from nacre.context_block import ContextBlock
from nacre.core.screen.screen import Line, Span
from nacre.core.text.pattern import BytesPattern, compile_bytes, escaped
from nacre.core.text.secret_shapes import NEEDLES, SecretFound, find_shapes
from nacre.core.text.widths import char_width, text_width
from nacre.wording import Hint

LEAST = 8  # characters of a value that is looked for: shorter ones are words

_LONG = 1500  # characters of a text from which on all needles together are found sooner than each
_NO_WIDTH = 1 << 30

Row = Any  # a str or a Line: what comes in comes out


class SecretValues(dict[str, str]):
    """Secrets, and what stands in their place; and how to tell quickly which ones a text has."""

    def needles_in(self, text: str) -> Collection[str]:
        """Return which values and which needles of shapes a text has."""
        if len(text) < _LONG or "re2" not in sys.modules:
            return [one for one in (*NEEDLES, *self) if one in text]
        data = text.encode(errors="surrogatepass")
        found = _finder(tuple(self)).finditer(data)
        return {data[match.start() : match.end()].decode() for match in found}

    def load(self) -> None:
        """Load what finds them in long texts; it takes a tenth of a second, once."""
        _finder(tuple(self))


@lru_cache(2)
def _finder(values: tuple[str, ...]) -> BytesPattern:
    # Of values that begin alike the longest is found.
    wanted = (*sorted(values, key=len, reverse=True), *NEEDLES)
    return compile_bytes("|".join(map(escaped, wanted)).encode())


class Redaction:
    """What is redacted for one reader, and how often it was. `values` may grow meanwhile."""

    def __init__(self, values: SecretValues) -> None:
        self._values = values
        self.count = 0

    @property
    def values(self) -> SecretValues:
        """What is known to be secret, for a process that redacts in the daemon's place."""
        return self._values

    def may_find(self, text: str) -> bool:
        """Return whether there may be a secret in a text; mostly there is none."""
        return bool(self._values.needles_in(text))

    def may_find_in(self, rows: Sequence[Row]) -> bool:
        """Return whether there may be a secret in rows, whatever the width breaks."""
        return self.may_find(
            "".join(one if isinstance(one, str) else _text_of(one) for one in rows)
        )

    def text(self, text: str) -> str:
        """Return a text of as many lines without secrets."""
        found = self._find(text)
        if not found:
            return text
        self.count += len(found)
        parts, at = [], 0
        for one in found:
            parts += [text[at : one.start], one.label, "\n" * text.count("\n", one.start, one.end)]
            at = one.end
        return "".join([*parts, text[at:]])

    def lines(self, lines: list[str]) -> list[str]:
        """Return lines without secrets; they are lines as they were printed, not rows."""
        text = "\n".join(lines)
        redacted = self.text(text)
        return lines if redacted is text else redacted.split("\n")

    def masked(self, text: str, *, counted: bool = True) -> str:
        """Return a text of the same length without secrets; it is `counted` if it is shown."""
        found = self._find(text)
        if not found:
            return text
        self.count += len(found) if counted else 0
        chars = list(text)
        for one in found:
            chars[one.start : one.end] = _mask(one, text)
        return "".join(chars)

    def count_within(self, text: str, start: int, end: int) -> int:
        """Return how many secrets a part of a text shows a part of; at least one."""
        found = self._find(text)
        return max(1, sum(one.start < end and one.end > start for one in found))

    def rows(self, rows: Sequence[Row], cols: int) -> Sequence[Row]:
        """Return the rows of a screen without secrets, each as long as it was.

        `cols` is how wide the screen is: a row of that width goes on in the next.
        """
        plain = [row if isinstance(row, str) else _text_of(row) for row in rows]
        joined, starts = _join(plain, cols)
        masked = self.masked(joined)
        if masked is joined:
            return rows
        parts = [masked[start : start + len(row)] for start, row in zip(starts, plain, strict=True)]
        return [
            row if part == before else _put(row, part)
            for row, before, part in zip(rows, plain, parts, strict=True)
        ]

    def _find(self, text: str) -> list[SecretFound]:
        """Return what is to be hidden, in order; what overlaps is one."""
        needles = self._values.needles_in(text)
        if not needles:
            return []
        found = [*find_shapes(text, needles), *self._known(text, needles)]
        found.sort(key=lambda one: (one.start, -one.end))
        merged: list[SecretFound] = []
        for one in found:
            if merged and one.start < merged[-1].end:
                # The name of a stored secret says more than its shape.
                label = one.label if _is_named(one.label) else merged[-1].label
                end = max(one.end, merged[-1].end)
                merged[-1] = SecretFound(merged[-1].start, end, label)
            else:
                merged.append(one)
        return [_labelled(one) for one in merged]

    def _known(self, text: str, needles: Collection[str]) -> Iterator[SecretFound]:
        for value in needles:
            if (label := self._values.get(value)) is None:
                continue
            at = text.find(value)
            while at >= 0:
                yield SecretFound(at, at + len(value), label)
                at = text.find(value, at + len(value))


def _is_named(label: str) -> bool:
    return label.startswith("{{")


def _labelled(found: SecretFound) -> SecretFound:
    return found if _is_named(found.label) else found._replace(label=f"[redacted: {found.label}]")


def _mask(found: SecretFound, text: str) -> list[str]:
    """Return characters in place of a secret; line ends within it stay."""
    length = found.end - found.start
    hidden = list(found.label.ljust(length, "*") if len(found.label) <= length else "*" * length)
    for index, char in enumerate(text[found.start : found.end]):
        if char == "\n":
            hidden[index] = char
        elif char_width(char) == 2:
            hidden[index] = "\uff0a"  # a wide asterisk
    return hidden


def _join(rows: Sequence[str], cols: int) -> tuple[str, list[int]]:
    """Return the rows as one text, and where each begins; a full row goes on in the next."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for row in rows:
        starts.append(at)
        parts.append(row)
        at += len(row)
        if (len(row) if row.isascii() else text_width(row)) < cols:
            parts.append("\n")
            at += 1
    return "".join(parts), starts


def _text_of(line: Line) -> str:
    return "".join(span.text for span in line)


def _put(row: Row, text: str) -> Row:
    """Return a row with other text in its spans."""
    if isinstance(row, str):
        return text
    spans: list[Span] = []
    at = 0
    for span in row:
        end = at + len(span.text)
        spans.append(replace(span, text=text[at:end]))
        at = end
    return tuple(spans)


# --- values of any kind ------------------------------------------------------------------------


def redacted(value: Any, redaction: Redaction) -> Any:
    """Return a value without secrets in its texts; the same where it has none.

    All its texts together are looked through once: a record of the audit has a dozen short ones.
    """
    texts: list[str] = []
    _gather(value, texts)
    return _redacted(value, redaction) if redaction.may_find("\n".join(texts)) else value


def _gather(value: Any, texts: list[str]) -> None:
    """Add all texts that `_redacted` looks at, rows one after the other and lines as they are."""
    if isinstance(value, str):
        texts.append(value)
    elif value is None or isinstance(value, int | float):
        return
    elif isinstance(value, msgspec.Struct):
        _gather_all([getattr(value, name) for name in value.__struct_fields__], texts)
    elif isinstance(value, Mapping):
        texts += [key for key in value if isinstance(key, str)]
        _gather_all(value.values(), texts)
    elif isinstance(value, list | tuple):
        if value and isinstance(value[0], Span):
            texts.append("".join(one.text for one in value if isinstance(one, Span)))
        else:
            _gather_all(value, texts)


def _gather_all(values: Iterable[Any], texts: list[str]) -> None:
    for one in values:
        if type(one) is str:  # by far the most
            texts.append(one)
        elif one is not None:
            _gather(one, texts)


def _redacted(value: Any, redaction: Redaction) -> Any:
    if isinstance(value, str):
        text = redaction.text(value)
        return Hint(text, *value.next) if isinstance(value, Hint) and text is not value else text
    if isinstance(value, msgspec.Struct):
        return _redacted_struct(value, redaction)
    if isinstance(value, Mapping):
        found = {_redacted(key, redaction): _redacted(one, redaction) for key, one in value.items()}
        same = all(found.get(key) is one for key, one in value.items())
        return value if same else found
    if isinstance(value, list | tuple) and value:
        return _redacted_list(value, redaction)
    return value


def _redacted_struct(value: msgspec.Struct, redaction: Redaction) -> Any:
    changed = {}
    for name in value.__struct_fields__:
        before = getattr(value, name)
        if before is None or isinstance(before, bool | int | float):
            continue
        after = _redacted(before, redaction)
        if after is not before:
            changed[name] = after
    return replace(value, **changed) if changed else value


def _redacted_list(value: Any, redaction: Redaction) -> Any:
    # Rows that the width breaks were redacted where the width was known.
    if all(isinstance(one, str) for one in value) or _are_lines(value):
        rows = redaction.rows(value, _NO_WIDTH)
        return rows if rows is value else type(value)(rows)
    found = [_redacted(one, redaction) for one in value]
    same = all(one is before for one, before in zip(found, value, strict=True))
    return value if same else type(value)(found)


def _are_lines(value: Sequence[Any]) -> bool:
    return all(
        isinstance(line, tuple) and all(isinstance(span, Span) for span in line) for line in value
    )


# --- the call's own ----------------------------------------------------------------------------

_of_this_call: ContextVar[Redaction | None] = ContextVar("redaction", default=None)


def redacting(redaction: Redaction | None) -> ContextBlock[Redaction | None]:
    """Let what is cut meanwhile be redacted first."""
    return ContextBlock(_of_this_call, redaction)


def redaction_of_call() -> Redaction | None:
    return _of_this_call.get()


def redact_lines(lines: list[str]) -> list[str]:
    """Return lines as the call's reader may see them."""
    redaction = _of_this_call.get()
    return lines if redaction is None else redaction.lines(lines)


def redact_text(text: str) -> str:
    redaction = _of_this_call.get()
    return text if redaction is None else redaction.text(text)


def redact_rows(rows: Sequence[Row], cols: int) -> Sequence[Row]:
    """Return rows of a screen of so many columns as the call's reader may see them."""
    redaction = _of_this_call.get()
    return rows if redaction is None else redaction.rows(rows, cols)


def searchable(text: str) -> str:
    """Return what the call may search: of the same length, and nothing that it is not shown.

    Else whoever searches could learn a secret piece by piece. So could who reads it by parts.
    """
    redaction = _of_this_call.get()
    return text if redaction is None else redaction.masked(text, counted=False)


def note_part(text: str, start: int, shown: str) -> None:
    """Count the secrets of which a part was hidden in `shown`, which is `searchable`."""
    end = start + len(shown)
    redaction = _of_this_call.get()
    if redaction is not None and shown != text[start:end]:
        redaction.count += redaction.count_within(text, start, end)
