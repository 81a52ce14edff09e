"""Hear of changes in folders in the loop; where the system sends no such events, nothing is heard.

Rule: an event says only that something has changed. Who listens looks at what is there now.
"""

import asyncio
from collections.abc import Callable

from nacre.client.folder_events import FolderEvents


class FolderWatch(FolderEvents):
    """Calls when something is deleted in a folder, made in one, or changed in any way."""

    def __init__(self, loop: asyncio.AbstractEventLoop, changed: Callable[[], None]) -> None:
        super().__init__()
        self._loop = loop
        self._changed = changed
        if self.hears:
            loop.add_reader(self.descriptor, self._read)

    def _read(self) -> None:
        if self.take():
            self._changed()

    def close(self) -> None:
        if self.hears:
            self._loop.remove_reader(self.descriptor)
        super().close()
