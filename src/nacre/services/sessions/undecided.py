"""What becomes of reviews when the daemon ends: changes that nobody has decided on are kept.

Rule 1: it takes no longer than `review_stop_time`, however large the folders are. What is not known
to be without changes by then is kept, and what is not removed by then the next daemon removes.
Rule 2: nothing is removed before it is known to be without changes.
"""

import asyncio
import logging
from collections.abc import Iterable

from nacre.errors import NacreError
from nacre.services.host.host import Host
from nacre.services.session.session import Session
from nacre.system.sandbox.review import NotCompared, has_changes

_log = logging.getLogger("nacre.reviews")


async def keep_undecided(sessions: Iterable[Session], host: Host) -> set[str]:
    """Return the ids of sessions whose changes are kept; remove the layers of the others."""
    loop, work = host.loop, host.sandboxes.layer_work
    until = loop.time() + host.settings.review_stop_time
    kept: set[str] = set()
    removals: list[asyncio.Future[None]] = []
    for session in sessions:
        layer = session.launch.layer
        if not layer or not session.listed:
            continue
        if await _has_changes(layer, max(0.0, until - loop.time())):
            kept.add(session.identity.id)
        else:
            removals.append(loop.run_in_executor(None, work.remove, layer))
    if removals:
        await asyncio.wait(removals, timeout=max(0.0, until - loop.time()))
    work.end()
    return kept


async def _has_changes(layer: str, patience: float) -> bool:
    try:
        return await asyncio.to_thread(has_changes, layer, patience)
    except NotCompared as late:
        _log.warning("a review is kept", extra={"layer": layer, "reason": str(late)})
    except (NacreError, OSError):
        pass
    return True
