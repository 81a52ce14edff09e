"""Read an asciicast, version 3 or 2, as events with their delays.

Rule 1: a file may come from anywhere: anything that is not a recording raises ValueError, with the
line.
Rule 2: this file never reads a clock: an event has its delay, and the player waits.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_VERSIONS = (2, 3)


class CastEvent(NamedTuple):
    delay: float  # seconds since the event before
    code: str
    text: str


def events_of(text: str) -> Iterator[CastEvent]:
    """Yield the events of a recording; comments and blank lines are skipped.

    Raises ValueError at the first line that is not an event.
    """
    # Not splitlines: a line may contain other line ends.
    head, *lines = text.split("\n")
    version = _version(head)
    before = 0.0
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.startswith("#"):
            continue
        event = _event(line, number)
        if version == 2:  # its times count from the beginning
            before, event = event.delay, event._replace(delay=max(0.0, event.delay - before))
        yield event


def _version(head: str) -> int:
    try:
        header = json.loads(head)
    except ValueError:
        raise ValueError("line 1 is no header: this is no asciicast recording") from None
    version = header.get("version") if isinstance(header, dict) else None
    if version not in _VERSIONS:
        raise ValueError(f"line 1 is no header of version 2 or 3: its version is {version!r}")
    return int(version)


def _event(line: str, number: int) -> CastEvent:
    try:
        found: Any = json.loads(line)
    except ValueError:
        found = None
    match found:
        case [int() | float() as delay, str(code), str(text)] if delay >= 0:
            return CastEvent(float(delay), code, text)
    raise ValueError(f"line {number} is no event: an event is [seconds, code, text]")
