"""What a caller has piped into a run: the file that is the command's standard input.

The session's shell opens it itself, through /proc: bytes pass as they are, their end is seen, and
what the command does not read stays where it is.

Rule 1: it is the standard input of the calling process, which the kernel names; or a pipe with that
of a caller on another host of the cluster (services/cluster/piped). No caller names another file:
the policy judges the command, and the command alone.
Rule 2: where no shell of this machine would open it (after ssh, in a REPL, in a sandbox), nothing
is run.
"""

import os

from nacre.core.shell.dialects import SHELLS
from nacre.errors import InvalidInput
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.runs.request import Context
from nacre.services.session.session import Session

_LEAVE_OUT = "leave it out with --no-stdin"


def piped_input(session: Session, context: Context) -> str | None:
    """Return the file; None if the call pipes nothing in. Raises InvalidInput."""
    relay = relay_of_call()
    if relay is None or not relay.feeds:
        return None
    name, path = session.identity.name, relay.input_path or f"/proc/{relay.input_of}/fd/0"
    if session.launch.sandbox != "off":
        raise InvalidInput("standard input cannot be passed into a sandbox", _LEAVE_OUT)
    if not os.path.exists(path):
        raise InvalidInput("standard input cannot be passed on without /proc", _LEAVE_OUT)
    if context == "native":
        return path
    facts = session.facts() if context == "wrapped" else None
    if facts is None or facts.program not in SHELLS:
        raise InvalidInput(
            f"standard input can be passed only to a command of a shell on this machine; "
            f"{name!r} is not at such a prompt",
            _LEAVE_OUT,
        )
    return path
