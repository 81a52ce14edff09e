"""Decide when a session has gone quiet.

Rule 1: this file never reads a clock; the caller passes now.
Rule 2: a wait never ends before its generation: output that the caller has already seen does not
count as new.
Rule 3: quiet counts from the last output or input, whichever came later: a program that has just
got input has not had its time to answer.
"""

from collections.abc import Callable

from msgspec import Struct

NEVER = float("inf")


class Until(Struct, frozen=True):
    """Check again at this time, or with `on_output` as soon as there is output before it.

    With `when`, only output counts after which that holds.
    """

    time: float = NEVER
    on_output: bool = True
    when: Callable[[], bool] | None = None


class Quiesce(Struct, frozen=True):
    """One wait: until it is quiet for `quiet` seconds, but not after `started` + `max_wait`.

    With `after_generation` the wait first needs a higher generation. `since` is the earliest moment
    from which quiet counts: for a command, the moment it was sent.
    """

    started: float
    quiet: float
    max_wait: float
    after_generation: int | None = None
    since: float = float("-inf")

    @property
    def deadline(self) -> float:
        return self.started + self.max_wait

    def needs_newer(self, generation: int) -> bool:
        return self.after_generation is not None and generation <= self.after_generation

    def check(self, now: float, generation: int, last_active: float) -> Until | None:
        """Return when to check again; None: it is quiet. `last_active`: see Rule 3."""
        if self.needs_newer(generation):
            return Until()
        quiet_at = max(last_active, self.since) + self.quiet
        # Output in between only moves quiet_at; that is checked at that time, not for each chunk.
        return Until(quiet_at, on_output=False) if now < quiet_at else None
