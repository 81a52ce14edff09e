"""Turn the spans of a styled line back into SGR sequences, for a terminal.

Rule 1: only SGR is written. Links are left out, because the program chose their address.
Rule 2: with NO_COLOR the attributes stay, without the colours (no-color.org).
"""

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from nacre.core.screen.screen import Span
from nacre.core.text.sgr import styled_text


def paint_line(spans: Sequence[dict[str, Any]]) -> str:
    colored = not os.environ.get("NO_COLOR")
    return "".join(styled_text(msgspec.convert(span, Span), colored=colored) for span in spans)
