"""A line that a model wrote: how it is asked for one, and what of its answer is taken.

Rule: an answer that is not exactly what was asked for has no line. A line is one line of printable
text; nobody runs it because of this.
"""

import json
from typing import Any, NamedTuple

SYSTEM = (
    "You translate a request into one line for a POSIX shell on the user's machine. Answer with "
    'one JSON object and nothing else: {"command": "…", "explanation": "…"}. The command is a '
    "single line; it is shown to somebody who decides whether to run it. Use null for it when no "
    "single line does what is asked for, or when it is not clear what is meant."
)
_LONGEST = 2000  # characters of a line, and of what is said about it


class SampledLine(NamedTuple):
    command: str
    explanation: str


def read_sampled(text: str) -> SampledLine | None:
    """Return the line of a model's answer; None if it has none, or is not what was asked for."""
    begin, end = text.find("{"), text.rfind("}")  # some put it into a block of code
    try:
        found: Any = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    command, explanation = found.get("command"), found.get("explanation", "")
    if not isinstance(command, str) or not isinstance(explanation, str):
        return None
    command = command.strip()
    if not command or len(command) > _LONGEST or not command.isprintable():
        return None
    return SampledLine(command, " ".join(explanation.split())[:_LONGEST])
