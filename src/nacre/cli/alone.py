"""`nacre` with no words in a terminal: a shell as always, in a session that agents can see.

Rule: it is like the shell it starts: the same folder, the same exit code, and gone when that ends.
"""

import os
from contextlib import suppress

from nacre.cli.attach import Keys, attach
from nacre.cli.client import Client
from nacre.errors import InvalidInput, NacreError

_DETACH, _CONTROL = "ctrl+]", "ctrl+^"


def run_alone() -> int:
    """Raises InvalidInput inside of a session."""
    if inside := os.environ.get("NACRE_SESSION"):
        raise InvalidInput(
            f"this is session {_name(inside)!r} already; 'nacre new NAME' starts another one "
            "beside it, and a terminal outside of nacre attaches to it: nacre attach NAME"
        )
    size = os.get_terminal_size(1)
    with Client.open(start=True) as client:
        # Kept: one that is left is not ended because nothing happens in it.
        rows, cols = max(2, size.lines - 1), size.columns
        made = client.call("create_session", rows=rows, cols=cols, keep=True)
    session, name = made["session_id"], made["session"]
    code = attach(session, name, Keys.parse(_DETACH, _CONTROL), read_only=False, status=True)
    _tidy_up(session)
    return code


def _name(session: str) -> str:
    with suppress(NacreError), Client.open() as client:
        name: str = client.ask("list_sessions", session=session)["name"]
        return name
    return session  # of another daemon, or of one that is gone


def _tidy_up(session: str) -> None:
    """Take it off the list once it has ended; one that was left goes on."""
    with suppress(NacreError), Client.open() as client:
        if not client.ask("list_sessions", session=session)["running"]:
            client.call("dismiss_session", session=session)
