"""What agents are told of hand-overs: each agent once, whoever else was told before.

Rule 1: a hand-over has a number, and of each agent it is known up to which one it was told. Who
asks about the session for the first time is told of what nobody was told yet, or of the last one.
Rule 2: bounded: old hand-overs become one, and agents that have not asked for longest are
forgotten. They would be told of the last one again; nobody is ever left out.
"""

from collections.abc import Callable

from nacre.core.operations.control import Handover
from nacre.services.session.record import KeptNews

_APART = 8  # hand-overs; agents that missed more of them are told of the oldest as of one


class HandoverNews:
    def __init__(self, keep: Callable[[], None], *, agents: int, commands: int) -> None:
        """`keep` is called at each change; so many agents are known, and commands told at once."""
        self._keep = keep
        self._agents = agents
        self._commands = commands
        self._handovers: list[Handover] = []
        self._first = 1  # the number of the first of them
        self._told: dict[str, int] = {}  # who has not asked for longest stands first

    @property
    def last(self) -> Handover | None:
        return self._handovers[-1] if self._handovers else None

    def add(self, handover: Handover) -> None:
        self._handovers.append(handover)
        if len(self._handovers) > _APART:
            first, second, *rest = self._handovers
            self._handovers = [_both(first, second, self._commands), *rest]
            self._first += 1
        self._keep()

    def tell(self, agent: str) -> Handover | None:
        """Return what this agent has not been told yet, and take it as told."""
        latest = self._first + len(self._handovers) - 1
        before = self._told.pop(agent, None)
        if before is None and self._handovers:
            before = min(latest - 1, max(self._told.values(), default=0))
        self._told[agent] = latest
        if before == latest:
            return None
        while len(self._told) > self._agents:
            del self._told[next(iter(self._told))]
        self._keep()
        if not self._handovers:
            return None
        new = self._handovers[max(0, (before or 0) + 1 - self._first) :]
        told = new[0]
        for handover in new[1:]:
            told = _both(told, handover, self._commands)
        return told

    def kept(self) -> KeptNews:
        return KeptNews(handovers=list(self._handovers), first=self._first, told=dict(self._told))

    def restore(self, kept: KeptNews) -> None:
        self._handovers, self._first = list(kept.handovers), kept.first
        self._told = dict(kept.told)


def _both(first: Handover, then: Handover, most: int) -> Handover:
    """Tell of two times as of one: the agent has heard of neither."""
    commands = [*first.commands, *then.commands]
    same = first.driver == then.driver or first.driver.endswith(f", {then.driver}")
    return Handover(
        driver=first.driver if same else f"{first.driver}, {then.driver}",
        seconds=round(first.seconds + then.seconds, 3),
        keys=first.keys + then.keys,
        commands=commands[-most:],
        omitted_commands=first.omitted_commands
        + then.omitted_commands
        + max(0, len(commands) - most),
        generation_before=first.generation_before,
        generation_after=then.generation_after,
        last_line=then.last_line,
        dropped=first.dropped + then.dropped,
    )
