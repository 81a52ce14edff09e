"""The cgroups of a daemon's sessions: had or not, and what they limit.

Rule 1: whether they can be had is found out by making one, once, before the first session starts.
Rule 2: a session never waits for them otherwise, and never fails for want of one: what holds is
said (nacre doctor, the session's details).
"""

import asyncio
import logging
import os
from collections.abc import Callable, Collection

from nacre.settings.table import Settings
from nacre.system.cgroups.branch import CgroupBranch, CgroupLimits, claim, group_name
from nacre.system.cgroups.place import CgroupPlace, CgroupRefused, find_place, group_of
from nacre.system.cgroups.scope import enter_scope

_log = logging.getLogger("nacre.cgroups")

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OFF = CgroupRefused("they are switched off (session_cgroups)", "set session_cgroups to auto")


class SessionGroups:
    def __init__(
        self,
        settings: Settings,
        ours: Callable[[], Collection[int]] = lambda: (os.getpid(),),
        place: CgroupPlace | None = None,
        *,
        on: bool = True,
    ) -> None:
        """`ours` tells the daemon's processes, `place` where to look instead of in the kernel."""
        self._limits = CgroupLimits(
            memory_bytes(settings.session_max_memory),
            settings.session_max_processes,
            settings.session_cpu_weight,
        )
        self._ours, self._place = ours, place
        self._branch: CgroupBranch | None = None
        on = on and settings.session_cgroups == "auto"
        self._refused: CgroupRefused | None = None if on else _OFF
        self._lock = asyncio.Lock()

    async def prepare(self) -> None:
        """Find out, once, whether there are cgroups."""
        if self._branch is not None or self._refused is not None:
            return
        async with self._lock:
            if self._branch is None and self._refused is None:
                await asyncio.to_thread(self._claim)

    def _claim(self) -> None:
        try:
            place = self._place or find_place()
            try:
                self._branch = claim(place, self._limits, self._ours())
            except CgroupRefused as first:
                if self._place is not None:
                    raise
                self._branch = self._claim_scope(place, first)
        except CgroupRefused as refused:
            self._refused = refused
            _log.debug("sessions have no cgroups", extra={"reason": refused.reason})

    def _claim_scope(self, place: CgroupPlace, first: CgroupRefused) -> CgroupBranch:
        ours = self._ours()
        try:
            enter_scope(ours, group_of(os.getpid()))
        except CgroupRefused as second:
            raise CgroupRefused(f"{first.reason}; {second.reason}", second.fix) from second
        return claim(place, self._limits, ours)

    def make(self, identifier: str) -> str:
        """Return the folder of the group that a session's program has to join; empty: none."""
        if self._branch is None:
            return ""
        try:
            return self._branch.make(identifier)
        except OSError as error:
            _log.warning("no cgroup for a session", extra={"reason": str(error)})
            return ""

    def release(self, identifier: str) -> None:
        if self._branch is not None:
            self._branch.remove(identifier)

    def limits_of(self, identifier: str, pid: int) -> str:
        """Return what limits a running session; empty: no cgroup does."""
        if self._branch is None or not group_of(pid).endswith(group_name(identifier)):
            return ""
        return self._held(self._branch)

    def describe(self) -> tuple[str, str]:
        """Return what holds for sessions, and what to do where nothing does."""
        if self._branch is not None:
            return self._held(self._branch), ""
        if self._refused is None:
            return "not tried before the first session", ""
        return f"none: {self._refused.reason}", self._refused.fix

    def _held(self, branch: CgroupBranch) -> str:
        words = {
            "memory.max": f"memory {self._limits.memory_bytes / _UNITS['G']:.1f} GiB",
            "pids.max": f"{self._limits.processes} processes",
            "cpu.weight": f"processor weight {self._limits.cpu_weight}",
        }
        return ", ".join(words[name] for name in branch.limited)


def memory_bytes(text: str) -> int:
    """Return the bytes of the setting session_max_memory; 0: any."""
    if text.endswith("%"):
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return machine * int(text[:-1]) // 100
    unit = _UNITS.get(text[-1:], 1)
    return int(text.rstrip("KMGT")) * unit
