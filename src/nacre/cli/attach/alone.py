"""`nacre` without arguments in a terminal: your shell, in a session that agents can see.

Rule: it behaves like the shell it starts: the same folder, the same exit code, and the session
disappears when the shell exits.
"""

import os
from contextlib import suppress

from nacre.cli.attach.attach import attach
from nacre.cli.attach.own_keys import OwnKeys
from nacre.cli.attach.window import window_size
from nacre.client.calls import Client
from nacre.errors import InvalidInput, NacreError

_DETACH, _CONTROL = "ctrl+]", "ctrl+^"


def run_alone() -> int:
    """Start a session and attach to it. Raises InvalidInput inside a session."""
    if inside := os.environ.get("NACRE_SESSION"):
        raise InvalidInput(
            f"you are already in session {_name(inside)!r}; start another one: nacre new NAME; "
            "attach to it from a terminal outside of nacre: nacre attach NAME"
        )
    size = window_size()
    with Client.open(start=True, told=False) as client:
        # Kept: one that is left is not ended because nothing happens in it.
        rows, cols = max(2, size.lines - 1), size.columns
        made = client.call("create_session", rows=rows, cols=cols, keep=True)
    session, name = made["session_id"], made["session"]
    code = attach(session, name, OwnKeys.parse(_DETACH, _CONTROL), read_only=False, status=True)
    _tidy_up(session)
    return code


def _name(session: str) -> str:
    with suppress(NacreError), Client.open(told=False) as client:
        name: str = client.ask("list_sessions", session=session)["name"]
        return name
    return session  # it belongs to another daemon, or its daemon is gone


def _tidy_up(session: str) -> None:
    """Take it off the list once it has ended; one that was left goes on."""
    with suppress(NacreError), Client.open(told=False) as client:
        if not client.ask("list_sessions", session=session)["running"]:
            client.call("dismiss_session", session=session)
