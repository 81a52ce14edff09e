"""What a host knows of the others in its cluster: who is there, and who takes a new session.

Rule 1: a host is `up` while it is heard. It is `suspect` as soon as a call finds nobody there or a
word is overdue, and `lost` after `lost` seconds of silence. What is heard makes it `up` again.
Rule 2: no clock is read here: times are given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import msgspec

Standing = Literal["up", "suspect", "lost", "left"]


class Heartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """What a host says of itself, every so often."""

    host: str
    incarnation: str  # of its daemon: another one may not know what this one was asked
    version: str
    sessions: int  # that run
    capacity: int  # that may run
    draining: bool = False
    leaving: bool = False  # its daemon was stopped: it will not be heard again
    labels: tuple[str, ...] = ()
    settled: bool = True  # the servers' store has all of its sessions
    clock: float | None = None  # its own, in seconds: what it signs holds until a time of it

    @property
    def has_room(self) -> bool:
        return not self.draining and self.sessions < self.capacity

    @property
    def load(self) -> float:
        return self.sessions / self.capacity if self.capacity else 1.0


@dataclass(slots=True)
class KnownHost:
    said: Heartbeat
    heard: float  # when
    doubted: bool = False  # a call found nobody there since
    excused: bool = False  # some of its silence did not count
    ahead: float | None = None  # how much its clock is ahead of ours


@dataclass(slots=True)
class HostTable:
    overdue: float  # seconds of silence after which a host is suspect
    lost: float  # and lost
    _known: dict[str, KnownHost] = field(default_factory=dict)

    def hear(self, said: Heartbeat, now: float) -> bool:
        """Take what a host said of itself. Return whether something but its load has changed."""
        before, stood = self._known.get(said.host), self.standing(said.host, now)
        ahead = None if said.clock is None else said.clock - now
        self._known[said.host] = KnownHost(said, now, ahead=ahead)
        return before is None or stood != "up" or _lasting(before.said) != _lasting(said)

    def excuse(self, seconds: float) -> None:
        """Let this time not count as silence: we were not listening ourselves.

        Once until a host is heard again, and no more than it takes to be lost: a busy machine is
        late again and again, and would never find anybody lost.
        """
        for known in self._known.values():
            if not known.excused:
                known.heard += min(seconds, self.lost)
                known.excused = True

    def doubt(self, host: str) -> bool:
        """A call found nobody there. Return whether that is news."""
        known = self._known.get(host)
        if known is None or known.doubted:
            return False
        known.doubted = True
        return True

    def forget(self, host: str) -> None:
        self._known.pop(host, None)

    def of(self, host: str) -> Heartbeat | None:
        known = self._known.get(host)
        return None if known is None else known.said

    def clock_of(self, host: str, now: float) -> float | None:
        """Return what time a host has by its own clock; None if it has not said so."""
        known = self._known.get(host)
        return None if known is None or known.ahead is None else known.ahead + now

    def standing(self, host: str, now: float) -> Standing | None:
        """Return how a host stands; None for one that was never heard."""
        known = self._known.get(host)
        if known is None:
            return None
        if known.said.leaving:
            return "left"
        silence = now - known.heard
        if silence >= self.lost:
            return "lost"
        return "suspect" if self._is_suspect(known, now) else "up"

    def all(self, now: float) -> Mapping[Heartbeat, Standing]:
        """Return all hosts, by name, and how they stand."""
        found = {}
        for name in sorted(self._known):
            standing = self.standing(name, now)
            assert standing is not None
            found[self._known[name].said] = standing
        return found

    def up(self, now: float) -> list[Heartbeat]:
        return [said for said, standing in self.all(now).items() if standing in ("up", "suspect")]

    def unsettled(self, now: float) -> list[str]:
        """Return the hosts that may have sessions of which the servers do not know yet."""
        return [said.host for said in self.up(now) if not said.settled]

    def with_room(self, labels: Iterable[str], now: float) -> list[Heartbeat]:
        """Return the hosts that take a new session, the least loaded first."""
        wanted = set(labels)
        fit = [
            said
            for said, standing in self.all(now).items()
            if standing == "up" and said.has_room and wanted <= set(said.labels)
        ]
        return sorted(fit, key=lambda said: (said.load, said.host))

    def next_change(self, now: float) -> float | None:
        """Return in how many seconds the next host becomes lost if nobody is heard."""
        left = [
            known.heard + self.lost - now
            for known in self._known.values()
            if not known.said.leaving and now - known.heard < self.lost
        ]
        return max(0.0, min(left)) if left else None

    def next_standing(self, now: float) -> float | None:
        """Return in how many seconds a host stands otherwise if nobody is heard."""
        left = [
            known.heard + (self.lost if self._is_suspect(known, now) else self.overdue) - now
            for known in self._known.values()
            if not known.said.leaving and now - known.heard < self.lost
        ]
        return max(0.0, min(left)) if left else None

    def _is_suspect(self, known: KnownHost, now: float) -> bool:
        return known.doubted or now - known.heard >= min(self.overdue, self.lost)


def _lasting(said: Heartbeat) -> Heartbeat:
    return msgspec.structs.replace(said, sessions=0, clock=None)


@lru_cache(64)  # asked at every call
def work_together(one: str, other: str) -> bool:
    """Tell whether two versions work together: if they differ by one minor at most."""
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None:
        return one == other
    return first[0] == second[0] and abs(first[1] - second[1]) <= 1


def _numbers(version: str) -> tuple[int, int] | None:
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (ValueError, IndexError):
        return None
