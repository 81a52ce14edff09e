"""The last row of `nacre attach`: the session, what it is doing, who has the keys, how to leave.

Rule: it always fits. Less important parts are left out first; the name and anything unusual stay.
"""

from typing import NamedTuple

from nacre.core.operations.elements import VisualSpan
from nacre.core.text.widths import char_width, text_width

_STATES = {
    "prompt": "at its prompt",
    "running": "running",
    "needs_input": "waits for input",
    "exited": "has ended",
    "lost": "lost",
}
_ASKS = {"password": "asks for a password", "confirm": "asks yes or no"}
_ASKS |= {"pager": "in a pager", "editor": "in an editor", "repl": "at its prompt"}


_MUST = 7  # the weight of anything unusual
_LEAST_NAME = 8  # columns that a long name keeps
_QUESTION = 40  # columns of a command that waits for approval
_WAITS = "an agent waits"
_CAPTURED = "keys captured: Ctrl+\\ frees"


class StatusLine(NamedTuple):
    """What the line can show; keys have the names that people know."""

    name: str
    state: str
    asks: str | None = None
    driver: str | None = None
    yours: bool = False
    waited: str = ""  # since when an agent waits for who drives: the time of day
    captured: bool = False
    viewers: int = 1
    read_only: bool = False
    detach_key: str = ""
    control_key: str = ""
    look_back_key: str = ""
    question: str = ""  # a command that waits for this person's approval
    approve_key: str = ""


class _Part(NamedTuple):
    text: str
    weight: int  # the lightest is left out first
    bold: bool = False


def status_line(status: StatusLine, cols: int) -> list[VisualSpan]:
    """Return the line for a screen of this width."""
    left, right = _left(status, cols), _right(status)
    heavy = [part for part in left[1:] if part.weight >= _MUST]
    least = min(_LEAST_NAME, cols // 5)
    left[0] = _Part(_cut(status.name, max(least, cols - _width(heavy) - 2)), _MUST)
    while _width(left) + _width(right) > cols and len(left) + len(right) > 1:
        lightest = min(left[1:] + right, key=lambda part: part.weight)
        (left if lightest in left[1:] else right).remove(lightest)
    shown = [VisualSpan(text=_cut(f" {left[0].text}", cols - 1), inverse=True, bold=True)]
    shown += [VisualSpan(text=f"  {one.text}", inverse=True, bold=one.bold) for one in left[1:]]
    if right:
        gap = " " * (cols - _width(left) - _width(right) + 1)
        hints = "  ".join(part.text for part in right)
        shown.append(VisualSpan(text=f" {gap}{hints}", inverse=True))
    return [*shown, VisualSpan(text=" ", inverse=True)]


def _left(status: StatusLine, cols: int) -> list[_Part]:
    parts = [_Part(status.name, _MUST)]
    state = _ASKS.get(status.asks or "") or _STATES.get(status.state, status.state)
    parts.append(_Part(state, 3))
    if status.captured:
        # The key that ends a capture is fixed (core/keys/capture.py).
        narrow = cols < _LEAST_NAME + text_width(_CAPTURED) + 4
        parts.append(_Part("Ctrl+\\ frees" if narrow else _CAPTURED, _MUST + 1, bold=True))
    if status.yours:
        parts.append(_Part("you drive", _MUST, bold=True))
        if status.waited:
            narrow = cols < _LEAST_NAME + text_width("you drive") + text_width(_WAITS) + 16
            since = "" if narrow else f" since {status.waited}"
            parts.append(_Part(f"{_WAITS}{since}", _MUST, bold=True))
    elif status.driver is not None:
        parts.append(_Part(f"{status.driver} drives", _MUST, bold=True))
    if status.question:
        asked = status.question.replace("\n", " ")
        short = _cut(asked, min(_QUESTION, cols // 2))
        asked = asked if short == asked else f"{short}…"
        parts.append(_Part(f"approve? {asked}", _MUST + 1, bold=True))
    if status.read_only:
        parts.append(_Part("(read-only)", 6))
    if status.viewers > 1:
        parts.append(_Part(f"{status.viewers - 1} more here", 1))
    return parts


def _right(status: StatusLine) -> list[_Part]:
    parts = []
    if status.question and status.approve_key:
        parts.append(_Part(f"{status.approve_key} answers", _MUST))
    if status.look_back_key:
        parts.append(_Part(f"{status.look_back_key} looks back", 0))
    if status.control_key and not status.read_only:
        word = "gives back" if status.yours else "takes over"
        parts.append(_Part(f"{status.control_key} {word}", 5 if status.yours else 2))
    if status.detach_key:
        parts.append(_Part(f"{status.detach_key} detaches", 4))
    return parts


def _width(parts: list[_Part]) -> int:
    return sum(text_width(part.text) + 2 for part in parts)


def _cut(text: str, cols: int) -> str:
    width = 0
    for index, char in enumerate(text):
        width += char_width(char)
        if width > cols:
            return text[:index]
    return text
