"""Copying and removing the layers of reviews: that may take long, and the daemon's end ends it.

Rule: a layer is set aside first, by its name. What is not removed then, at the daemon's end or
after a crash, the next daemon knows as rubbish, and removes.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock

_GONE = ".gone"


class LayerWork:
    """Runs in any thread, until the daemon ends."""

    def __init__(self) -> None:
        self._ended = Event()
        self._lock = Lock()  # so that nothing starts unseen while it ends
        self._copying: set[subprocess.Popen[bytes]] = set()

    def copy(self, argv: Sequence[str]) -> tuple[int, bytes]:
        """Run what copies; return its exit code and what it said is wrong."""
        with self._lock:
            if self._ended.is_set():
                return 1, b"the daemon is ending"
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            self._copying.add(process)
        with process:
            _, said = process.communicate()
        self._copying.discard(process)
        return process.returncode, said

    def remove(self, folder: str) -> None:
        """Set a layer aside and remove it."""
        gone = folder if folder.endswith(_GONE) else f"{folder}{_GONE}"
        try:
            os.rename(folder, gone)
        except OSError:
            gone = folder  # it is gone already, or the folder around it cannot be written
        _empty(gone, self._ended.is_set)

    def remove_rubbish(self, layers: str) -> None:
        """Remove what was set aside by an earlier daemon."""
        for name in os.listdir(layers) if os.path.isdir(layers) else ():
            if name.endswith(_GONE):
                _empty(os.path.join(layers, name), self._ended.is_set)

    def end(self) -> None:
        """Leave what is not done to the next daemon."""
        with self._lock:
            self._ended.set()
        for process in list(self._copying):
            process.kill()


def _empty(folder: str, ended: Callable[[], bool]) -> None:
    """Remove a folder, as far as it comes until it has `ended`."""
    if ended():
        return
    for _, folders, files, at in os.fwalk(folder, topdown=False, follow_symlinks=False):
        for name in files:
            if ended():
                return
            with suppress(OSError):
                os.unlink(name, dir_fd=at)
        for name in folders:
            with suppress(OSError):
                os.rmdir(name, dir_fd=at)
    if ended():
        return

    def again(function: object, path: str, _: object) -> None:
        """Remove a folder that nobody may enter; overlayfs leaves one."""
        with suppress(OSError):
            os.chmod(path, 0o700)
            os.rmdir(path)

    with suppress(FileNotFoundError):
        shutil.rmtree(folder, onerror=again)
