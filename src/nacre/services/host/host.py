"""What a session needs from the daemon around it."""

import asyncio
import os
from typing import Any

from msgspec import Struct, field

from nacre.core.catalog.metering import CallCounts
from nacre.services.audit.audit import Audit
from nacre.services.host.bus import Events
from nacre.services.host.claims import NameClaims
from nacre.services.host.engine import Engine
from nacre.services.host.read_share import ReadShare
from nacre.services.host.secrets import KnownSecrets
from nacre.services.host.warnings import Warnings
from nacre.settings.table import Settings
from nacre.system.cgroups.groups import SessionGroups
from nacre.system.keeper.client import Keeping
from nacre.system.sandbox.sandboxes import Sandboxes

_RENDERERS = 2


class Host(Struct, frozen=True):
    """What a session needs from the daemon around it."""

    loop: asyncio.AbstractEventLoop
    settings: Settings
    engine: Engine
    read_share: ReadShare
    descriptor_limit: int
    runtime: str | None = None  # a private folder, for a daemon; without it no shell is integrated
    journals: str | None = None  # the folder of all journals; without it nothing is recorded
    keeping: Keeping = field(default_factory=lambda: Keeping(None))
    events: Events[Any] = field(default_factory=Events)  # of sessions, a layer above this one
    # How many outputs are rendered in threads at the same time; the other threads stay free.
    renderers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_RENDERERS))
    warnings: Warnings = field(default_factory=lambda: Warnings(Keeping(None), keeper=False))
    audit: Audit | None = None  # None: nothing is recorded
    # What sessions are confined by.
    sandboxes: Sandboxes = field(default_factory=lambda: Sandboxes(Settings(), (), None))
    # What limits sessions as a whole.
    groups: SessionGroups = field(default_factory=lambda: SessionGroups(Settings(), on=False))
    # What agents are not shown, and logs do not get.
    secrets: KnownSecrets = field(default_factory=lambda: KnownSecrets(Settings()))
    askpass: tuple[str, str] | None = None  # the program that asks people, and its socket
    calls: CallCounts = field(default_factory=CallCounts)  # for the metrics
    names: NameClaims = field(default_factory=NameClaims)  # who else must agree to one
    umask: int = -1  # of sessions and of files for the user; -1: as this process

    def journal_of(self, identifier: str) -> str | None:
        """Return the folder of a session's journal."""
        if self.journals is None or not self.settings.journal:
            return None
        return os.path.join(self.journals, identifier)

    def budget(self, max_chars: int | None) -> int:
        """Return how many characters an answer may have, as JSON; some are left for news."""
        if max_chars is not None:
            return max_chars
        return self.settings.max_result_chars - self.settings.max_handover_chars
