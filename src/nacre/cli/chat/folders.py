"""In which folder a session is, for rules that depend on it."""

import asyncio
import os

from nacre.cli.chat.toolbox import Toolbox
from nacre.client.calls import Client
from nacre.errors import NacreError


class Folders:
    """Asks the daemon. A session that the model has not named is the one of its last answer."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    async def of(self, session: str | None) -> str | None:
        """Return the folder of a session; None when it is not known."""
        known = session or self._box.last_session
        if known is None:
            return os.getcwd()  # where its first one is made
        try:
            return await asyncio.to_thread(_folder, known)
        except NacreError:
            return None


def _folder(session: str) -> str | None:
    with Client.open(told=False) as client:
        for one in client.ask("list_sessions")["sessions"]:
            if session in (one["name"], one["session_id"], str(one["port"])):
                folder: str | None = one.get("cwd")
                return folder
    return None
