"""Share the loop between sessions that print at the same time.

Rule: there is a limit for what all busy sessions together read in one turn of the loop. So a caller
of another session waits for one turn, however many sessions run `yes`.
"""

import asyncio

# One read returns at most this much (N_TTY_BUF_SIZE): a smaller share would waste system calls.
_SMALLEST_SHARE = 4096


class ReadShare:
    def __init__(self, loop: asyncio.AbstractEventLoop, budget: int) -> None:
        self._loop = loop
        self._budget = budget
        self._busy_now = 0
        self._busy_before = 1

    def share(self) -> int:
        """Return how many bytes a session may read in this turn."""
        return max(_SMALLEST_SHARE, self._budget // self._busy_before)

    def spent(self, size: int) -> None:
        """Note what a session read. Sessions that used up their share count as busy."""
        if size < _SMALLEST_SHARE:
            return
        if self._busy_now == 0:
            self._loop.call_soon(self._next_turn)
        self._busy_now += 1

    def _next_turn(self) -> None:
        self._busy_before = max(1, self._busy_now)
        self._busy_now = 0
