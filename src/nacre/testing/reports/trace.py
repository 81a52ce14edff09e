"""A trace of a scenario as one HTML file: its steps beside what the screen showed, to play.

Rule 1: the file opens from a disk, without a server and without a network: screens are in it as
data, the player is a few lines of script, and its own policy forbids to load anything.
Rule 2: what a program printed is text, never markup.
"""

import base64
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

from nacre.core.screen.screen import COLOR_NAMES, Line, Rgb, Span
from nacre.core.text.widths import char_width
from nacre.testing.reports.frames import Frame, frames_of
from nacre.testing.scenarios.runner import Attempt, StepTaken
from nacre.testing.screens.shown import text_of

# xterm's first sixteen colours, by their names on the wire, and the rest of its palette.
_SIXTEEN = (
    *("#000000", "#cd0000", "#00cd00", "#cdcd00", "#3b78ff", "#cd00cd", "#00cdcd", "#e5e5e5"),
    *("#7f7f7f", "#ff5c57", "#5af78e", "#f3f99d", "#7aa2ff", "#ff6ac1", "#9aedfe", "#ffffff"),
)
_STEPS = (0, 95, 135, 175, 215, 255)  # of the colour cube


class TraceFacts(NamedTuple):
    """What a trace shows of one failure."""

    title: str
    facts: str
    failure: str
    steps: Sequence[StepTaken]
    recording: str
    picture: bytes  # SVG of the last screen

    @classmethod
    def of(cls, attempt: Attempt) -> "TraceFacts":
        start = attempt.scenario.start
        size = f"{start.rows}x{start.cols}"
        command = " ".join((start.command, *start.args))
        facts = f"{command} · {size} · try {attempt.number} · {attempt.seconds:.2f} s"
        failure, steps = attempt.failure or "", attempt.steps
        kept = attempt.recording or "", attempt.picture or b""
        return cls(attempt.scenario.title, facts, failure, steps, *kept)


def trace(about: TraceFacts) -> str:
    """Return the page."""
    data = {
        "frames": _as_data(frames_of(about.recording)),
        "steps": [
            {
                "label": step.label,
                "line": step.line,
                "at": round(step.begun, 3),
                "end": round(step.begun + step.seconds, 3),
                "failed": step.failed,
            }
            for step in about.steps
        ],
    }
    page = (files("nacre.testing.reports") / "trace.html").read_text(encoding="utf-8")
    filled = {
        "title": escape(about.title),
        "status": "failed" if about.failure else "passed",
        "facts": escape(about.facts),
        "failure": escape(about.failure),
        "picture": f"data:image/svg+xml;base64,{base64.b64encode(about.picture).decode()}",
        # A script's end inside the data would end it.
        "data": json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    }
    # In one pass: a program may have printed what looks like a name here.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], page)


def _as_data(frames: list[Frame]) -> list[Any]:
    """Return of each frame its time, cursor, and the rows that differ from the one before."""
    told: list[Any] = []
    before: list[Line] = []
    for frame in frames:
        changed = {
            row: _row(line)
            for row, line in enumerate(frame.rows)
            if row >= len(before) or before[row] != line
        }
        cursor = [frame.cursor.row, _character(frame)] if frame.cursor.visible else None
        told.append([round(frame.time, 3), cursor, len(frame.rows), frame.cols, changed])
        before = frame.rows
    return told


def _character(frame: Frame) -> int:
    """Return before which character of its row the cursor stands; some take two columns."""
    row, col = frame.cursor.row, frame.cursor.col
    text = text_of(frame.rows[row]) if row < len(frame.rows) else ""
    at = 0
    for number, char in enumerate(text):
        if at >= col:
            return number
        at += char_width(char)
    return len(text) + max(0, col - at)


def _row(line: Line) -> list[Any]:
    """Return a row's spans: text alone, or text and style."""
    return [span.text if not (style := _css(span)) else [span.text, style] for span in line]


def _css(span: Span) -> str:
    ink, paper = _color(span.fg), _color(span.bg)
    if span.inverse:
        ink, paper = paper or "var(--paper)", ink or "var(--ink)"
    lines = [
        word
        for word, on in (
            ("underline", span.underline),
            ("line-through", span.strikethrough),
            ("overline", span.overline),
        )
        if on
    ]
    parts = (
        ("color", "transparent" if span.invisible else ink),
        ("background", paper),
        ("font-weight", "bold" if span.bold else None),
        ("font-style", "italic" if span.italic else None),
        ("opacity", "0.6" if span.faint else None),
        ("text-decoration", " ".join(lines) or None),
    )
    return ";".join(f"{name}:{value}" for name, value in parts if value)


def _color(color: str | Rgb | None) -> str | None:
    if color is None:
        return None
    if isinstance(color, Rgb):
        return f"#{color.r:02x}{color.g:02x}{color.b:02x}"
    if color in COLOR_NAMES:
        return _SIXTEEN[COLOR_NAMES.index(color)]
    number = int(color.removeprefix("color"))
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"rgb({level},{level},{level})"
    red, green, blue = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return f"rgb({_STEPS[red]},{_STEPS[green]},{_STEPS[blue]})"
