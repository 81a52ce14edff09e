"""What surrounds a session: the daemon's side of it, and what it is called."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from nacre.config import Settings
from nacre.services.engine import Engine
from nacre.services.events import Events
from nacre.services.turns import Turns
from nacre.system.keeping import Keeping


@dataclass(frozen=True, slots=True)
class Host:
    """What a session needs from the daemon around it."""

    loop: asyncio.AbstractEventLoop
    settings: Settings
    engine: Engine
    turns: Turns
    descriptor_limit: int
    runtime: str | None = None  # a private folder; without one no shell is integrated
    journals: str | None = None  # the folder of all journals; without one nothing is recorded
    keeping: Keeping = field(default_factory=lambda: Keeping(None))
    events: Events = field(default_factory=Events)
    when_ended: list[Callable[[], None]] = field(default_factory=list)
    when_warned: list[Callable[[str, str], None]] = field(default_factory=list)  # id, text
    when_forgotten: list[Callable[[str], None]] = field(default_factory=list)  # with the id

    def journal_of(self, identifier: str) -> str | None:
        """Return the folder of a session's journal."""
        if self.journals is None or not self.settings.journal:
            return None
        return os.path.join(self.journals, identifier)

    def budget(self, max_chars: int | None) -> int:
        """Return how many characters of text an answer may have."""
        return max_chars if max_chars is not None else self.settings.max_result_chars


@dataclass(slots=True)
class Identity:
    name: str
    id: str
    port: int
    named: bool  # somebody chose the name
    keep: bool
    tags: tuple[str, ...] = ()
