"""What is kept of text that is too long: which lines of an answer, which bytes of an output.

An answer has a budget of characters, an output in memory has one of bytes.

Rule 1: what is left out is counted, so that the reader knows and can ask for the rest.
Rule 2: a budget counts what is sent: the JSON of the answer, with its names, spans and escapes. The
small fields are counted first; `room` is what they leave to the long one.
Rule 3: lines stay whole if at least one fits.
Rule 4: what is cut is redacted first (redaction.py): half a secret cannot be told.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from nacre.core.screen.screen import Line
from nacre.core.text.redaction import redact_lines, redact_text
from nacre.wording import Words, with_json

_ITEM = 3  # characters around a line in an array: two quotes and a comma
_BREAK = 2  # a line's end within a string: \n
_MARKER = 50  # characters of the line that stands for what was left out
_LONGEST_PREFIX = 32  # characters before a tool's name, or around it in a route
_LEAST = 40  # characters of a line that are shown however little room there is


class _Widest(Words):
    """Names each operation as long as a door can, with the longest prefix of tools."""

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        return with_json(operation + " " * _LONGEST_PREFIX, params)


_widest = _Widest()


def json_size(value: Any) -> int:
    """Return how many characters a value is in JSON; with a hint, at most."""
    return len(msgspec.json.encode(value, enc_hook=_widest.encode).decode())


def json_chars(text: str) -> int:
    """Return how many characters a text is within a string of JSON."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return len(text)
    return len(msgspec.json.encode(text).decode()) - 2


# --- lines in an array -------------------------------------------------------------------------


def last_lines(lines: Sequence[str | Line], room: int) -> tuple[Sequence[str | Line], int]:
    """Keep the last lines that fit; return them and how many were left out."""
    first = len(lines) - fitting(map(item_size, reversed(lines)), room)
    return lines[first:], first


def first_lines(lines: Sequence[str | Line], room: int) -> Sequence[str | Line]:
    """Keep the first lines that fit; at least one, or who reads on would never get beyond it."""
    kept = fitting(map(item_size, lines), room)
    if kept or not lines:
        return lines[:kept]
    return [shortened(line, room) if isinstance(line, str) else line for line in lines[:1]]


def item_size(line: Any) -> int:
    """Return how many characters a line, or another value, takes in an array."""
    return json_chars(line) + _ITEM if isinstance(line, str) else json_size(line) + 1


# --- lines in a text ---------------------------------------------------------------------------


def first_text(lines: list[str], room: int) -> list[str]:
    """Keep the first lines that fit, at least one, for a text of them."""
    lines = redact_lines(lines)
    kept = fitting(map(_broken, lines), room)
    return lines[:kept] if kept else [shortened(line, room) for line in lines[:1]]


def last_text(lines: list[str], room: int) -> tuple[list[str], int]:
    """Keep the last lines that fit; return them and how many were left out, if only in part."""
    lines = redact_lines(lines)
    kept = fitting(map(_broken, reversed(lines)), room)
    if kept or not lines:
        return lines[len(lines) - kept :], len(lines) - kept
    last = _end(lines[-1], max(room, _LEAST))
    return [last], len(lines) - (last == lines[-1])


def first_characters(text: str, room: int) -> str:
    """Return the beginning that fits; at least a character, or who reads on would stay there."""
    return _beginning(text, max(room, 1)) or text[:1]


def last_characters(text: str, room: int) -> str:
    text = redact_text(text)
    return text if json_chars(text) <= room else _end(text, max(room, 1))


def head_and_tail(lines: list[str], room: int) -> tuple[str, int]:
    """Return the first and the last lines that fit, and how many were left out between them.

    A single line that is too long is shown in part, and counts as one that was left out.
    """
    lines = redact_lines(lines)
    if fitting(map(_broken, lines), room + _BREAK) == len(lines):
        return "\n".join(lines), 0
    if len(lines) == 1:
        return shortened(lines[0], room), 1
    half = _half(room)
    first = lines[: fitting(map(_broken, lines), half)]
    rest = lines[len(first) :]
    last = rest[len(rest) - fitting(map(_broken, reversed(rest)), half) :]
    cut = len(lines) - len(first) - len(last)
    first = first or [_beginning(lines[0], half)]
    last = last or [_end(lines[-1], half)]
    return _joined(first, f"{cut} {_lines(cut)}", last), cut


def parted_head_and_tail(
    head: list[str], tail: list[str], lines: int, between: int, room: int
) -> tuple[str, int]:
    """Do the same for a text of which only the head and tail are known.

    `lines` is its total number of lines, `between` how many of them are unknown.
    """
    head, tail = redact_lines(head), redact_lines(tail)
    half = _half(room)
    first = head[: fitting(map(_broken, head), half)]
    last = tail[len(tail) - fitting(map(_broken, reversed(tail)), half) :]
    cut = max(lines - len(first) - len(last), between, 1)
    told = f"{cut} {_lines(cut)}" if lines else "the middle of the line"
    first = first or [_beginning(line, half) for line in head[:1]]
    last = last or [_end(line, half) for line in tail[-1:]]
    return _joined(first, told, last), cut


def shortened(line: str, room: int) -> str:
    """Return a line with its middle left out, and counted."""
    line = redact_text(line)
    half = _half(room)
    first, last = _beginning(line, half), _end(line, half)
    if json_chars(line) <= room or len(line) <= len(first) + len(last):
        return line
    left_out = len(line) - len(first) - len(last)
    return f"{first}[… {left_out} characters left out …]{last}"


class HeadTail:
    """An output's head and tail, and how much is between them, in bounded memory."""

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        self._head_limit = head_bytes
        self._tail_limit = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0
        self.lines = 0  # line feeds seen

    def write(self, data: bytes) -> None:
        self.total += len(data)
        self.lines += data.count(b"\n")
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            # Cut rarely, because moving the tail for each chunk would cost more than the chunk.
            if len(self._tail) > 2 * self._tail_limit:
                del self._tail[: -self._tail_limit]

    def bytes_from(self, position: int, most: int) -> tuple[int, bytes]:
        """Return bytes from a position on, and where they begin: later if those are not kept."""
        if position < len(self._head):
            found = bytes(self._head[position : position + most])
            if len(self._head) + len(self._tail) >= self.total:
                found += bytes(self._tail[: most - len(found)])
            return position, found
        begin = self.total - len(self._tail)
        position = max(position, begin)
        return position, bytes(self._tail[position - begin : position - begin + most])

    def last(self, count: int) -> bytes:
        """Return the last bytes."""
        found = bytes(self._tail[-count:])
        if len(found) < count and len(self._head) + len(self._tail) >= self.total:
            found = bytes(self._head[-(count - len(found)) :]) + found
        return found

    @property
    def cut(self) -> int:
        """Return how many bytes between head and tail are not kept."""
        return max(0, self.total - len(self._head) - min(len(self._tail), self._tail_limit))

    def parts(self) -> tuple[bytes, bytes | None, int]:
        """Return head, tail and the line feeds between them; without a tail the head is everything.

        A cut begins and ends at a line's end, so that no line or escape sequence is split; if there
        is none, the line is.
        """
        tail = bytes(self._tail[-self._tail_limit :])
        if len(self._head) + len(tail) >= self.total:
            return bytes(self._head) + tail, None, 0
        head = bytes(self._head[: self._head.rfind(b"\n") + 1 or None])
        tail = tail[tail.find(b"\n") + 1 :]
        return head, tail, self.lines - head.count(b"\n") - tail.count(b"\n")


def fitting(sizes: Iterable[int], room: int) -> int:
    """Return how many of the first of these fit."""
    count = used = 0
    for size in sizes:
        used += size
        if used > room:
            break
        count += 1
    return count


def _broken(line: str) -> int:
    return json_chars(line) + _BREAK


def _half(room: int) -> int:
    return max(_LEAST, (room - _MARKER) // 2)


def _beginning(text: str, room: int) -> str:
    kept = text[:room]
    while (size := json_chars(kept)) > room:
        kept = kept[: len(kept) * room // size]
    return kept


def _end(text: str, room: int) -> str:
    kept = text[max(0, len(text) - room) :]
    while (size := json_chars(kept)) > room:
        kept = kept[len(kept) - len(kept) * room // size :]
    return kept


def _lines(count: int) -> str:
    return "line" if count == 1 else "lines"


def _joined(first: list[str], left_out: str, last: list[str]) -> str:
    return "\n".join([*first, f"[… {left_out} left out …]", *last])
