"""End the processes of one or many sessions: hang up first, then kill what is left.

Rule: many sessions are ended together, with one scan of all processes, so that a daemon with
hundreds of sessions stops as fast as one with a single session.
"""

import logging
from collections.abc import Callable, Collection
from signal import SIGCONT, SIGHUP, SIGKILL

from nacre.system.processes.exits import wait_gone
from nacre.system.processes.tree import Tree, find_members, send_signal, without_holders

_log = logging.getLogger("nacre.session")

# Rounds after which we give up on processes that we may not signal, or that fork too fast.
_KILL_ROUNDS = 5


async def end_trees(
    trees: Callable[[], Collection[Tree]], grace: float, first: int = SIGHUP
) -> None:
    """Return when all are gone; `trees` is called for each scan, because leaders get reaped.

    They get the signal `first`, and what is left after `grace` seconds is killed.
    """
    wanted = trees()
    members = await find_members(wanted)
    if not members:
        return
    # A stopped process gets the hangup only when it continues.
    told = without_holders(members, wanted)
    send_signal(told, first)
    send_signal(told, SIGCONT)
    await wait_gone(members, grace)
    await kill_trees(trees)


async def kill_trees(trees: Callable[[], Collection[Tree]]) -> None:
    """Kill what there is of them; return when all are gone."""
    for attempt in range(_KILL_ROUNDS):
        # What was forked during the kill is found in the next round.
        wanted = trees()
        members = await find_members(wanted)
        if not members:
            return
        # What holds a sandbox ends all in it when its own parent, the leader, ends: let it first.
        leaders = {tree.leader for tree in wanted if tree.leader is not None}
        leading = without_holders(members, wanted) | (members & leaders)
        send_signal(members if attempt else leading, SIGKILL)
        await wait_gone(members, 1.0)
    _log.warning("processes survived the end of their session", extra={"pids": list(members)})
