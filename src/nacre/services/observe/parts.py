"""How many lines of a scrollback are handled in one turn of the loop.

Rule: a line can take a microsecond or a millisecond, by what a program printed. So the first part
is small, and each next one as long as what the last one took of the processor allows.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = 0.004  # seconds of a turn; others wait for two or three of them
_FIRST = 8  # lines


class Parts:
    def __init__(self, most: int, least: int = 4) -> None:
        self._most = most
        self._least = least
        self.size = max(least, min(most, _FIRST))

    @contextmanager
    def timed(self, lines: int) -> Iterator[None]:
        """Handle so many lines meanwhile, without an await."""
        began = time.thread_time()
        yield
        took = max(time.thread_time() - began, 1e-6)
        fitting = int(lines * _TURN / took)
        self.size = max(self._least, min(self._most, fitting, 4 * self.size))
