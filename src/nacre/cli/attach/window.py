"""The size of our own terminal."""

import os

_UNKNOWN = os.terminal_size((80, 24))  # columns, lines: what a VT100 has


def window_size() -> os.terminal_size:
    """Return the size; serial lines, and terminals that a program made, may not know theirs."""
    columns, lines = os.get_terminal_size(1)
    return os.terminal_size((columns or _UNKNOWN.columns, lines or _UNKNOWN.lines))
