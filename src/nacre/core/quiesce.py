"""Decide when a session has gone quiet.

Rule 1: this file never reads a clock; the caller passes now.
Rule 2: a wait is never answered before its generation: output that was already there when the
caller looked last does not count as new.
"""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    QUIET = "quiet"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class Until:
    """Look again at this time, or, when `on_output`, as soon as there is output before it."""

    time: float
    on_output: bool


@dataclass(frozen=True, slots=True)
class Quiesce:
    """One wait: quiet for `quiet` seconds, at the latest at `started` + `max_wait`.

    With `after_generation` the wait first needs a generation above it. `since` is the earliest
    moment from which silence counts: for a command, the moment it was sent.
    """

    started: float
    quiet: float
    max_wait: float
    after_generation: int | None = None
    since: float = float("-inf")

    def check(self, now: float, generation: int, last_output: float) -> Verdict | Until:
        deadline = self.started + self.max_wait
        if self.after_generation is not None and generation <= self.after_generation:
            return Verdict.TIMED_OUT if now >= deadline else Until(deadline, on_output=True)
        quiet_at = max(last_output, self.since) + self.quiet
        if now >= quiet_at:
            return Verdict.QUIET
        if now >= deadline:
            return Verdict.TIMED_OUT
        # Output in between only moves quiet_at: found out at that time, not chunk by chunk.
        return Until(min(quiet_at, deadline), on_output=False)
