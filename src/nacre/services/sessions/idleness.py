"""Tell whether a session only waits for somebody to type.

Rule 1: the kernel decides. What it does not tell is no idleness: a silent build is never ended.
Rule 2: who waits for the terminal may do so for others: ssh, or a pager behind a build. So nobody
else may be at work in the session, and nothing may run at another end.
"""

from nacre.core.shell.programs import MULTIPLEXERS, OPAQUE
from nacre.services.session.session import Session
from nacre.system.processes.tree import ancestors_of, find_members


async def waits_for_input(session: Session) -> bool:
    facts = session.facts()
    if facts is None or facts.pid is None:
        return False
    if facts.waits is None:  # no /proc: a shell that has the terminal is at its prompt
        return session.launch.is_shell and session.in_foreground
    if not facts.waits or facts.program in OPAQUE | MULTIPLEXERS:
        return False
    members = await find_members([session.supervisor.tree])
    return members <= ancestors_of(facts.pid)
