"""End the processes of one or many sessions: hang up first, kill what stays.

Rule: many sessions are ended together, by one look at all processes, so that a daemon with hundreds
of them is gone as fast as one with a single session.
"""

import logging
from collections.abc import Callable, Collection
from signal import SIGCONT, SIGHUP, SIGKILL

from nacre.system.exits import wait_gone
from nacre.system.processes import Tree, find_members, send_signal

_log = logging.getLogger("nacre.session")

# Who may not be signalled, or forks faster than it is killed, is given up after these.
_KILL_ROUNDS = 5


async def end_trees(trees: Callable[[], Collection[Tree]], grace: float) -> None:
    """Return when all is gone; `trees` is asked anew for each look, for leaders get reaped."""
    members = find_members(trees())
    # A stopped process gets the hangup only once it goes on.
    send_signal(members, SIGHUP)
    send_signal(members, SIGCONT)
    await wait_gone(members, grace)
    for _ in range(_KILL_ROUNDS):
        # Whoever forked while it was being killed is found in the next round.
        members = find_members(trees())
        if not members:
            return
        send_signal(members, SIGKILL)
        await wait_gone(members, 1.0)
    _log.warning("processes survived the end of their session", extra={"pids": list(members)})
