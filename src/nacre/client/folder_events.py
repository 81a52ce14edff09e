"""Events of folders (inotify(7)); where the system sends none, nothing is heard.

Rule 1: an event says only that something has changed. Who waits looks at what is there now.
Rule 2: clients load this file, so it imports almost nothing.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

# linux/inotify.h
_IN_MODIFY, _IN_CLOSE_WRITE = 0x2, 0x8
_IN_MOVED_FROM, _IN_MOVED_TO, _IN_CREATE, _IN_DELETE = 0x40, 0x80, 0x100, 0x200
_IN_DELETE_SELF, _IN_MOVE_SELF, _IN_IGNORED = 0x400, 0x800, 0x8000
_IN_ONLYDIR = 0x01000000
_RENAMED = _IN_DELETE_SELF | _IN_MOVE_SELF | _IN_ONLYDIR
_GONE = _IN_MOVED_FROM | _IN_DELETE | _IN_DELETE_SELF | _IN_MOVE_SELF | _IN_ONLYDIR
_COME = _IN_MOVED_TO | _IN_CREATE | _IN_DELETE_SELF | _IN_MOVE_SELF | _IN_ONLYDIR
_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows


class FolderEvents:
    """A descriptor that is readable when something has changed in one of the folders."""

    def __init__(self) -> None:
        self.descriptor = -1
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            # Its flags are those of open (inotify_init(2)); -1: the user has too many.
            self.descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def hears(self) -> bool:
        """Whether the system sends events."""
        return self.descriptor >= 0

    def folders(
        self,
        *,
        renamed: Iterable[str] = (),
        gone: Iterable[str] = (),
        come: Iterable[str] = (),
        any_change: Iterable[str] = (),
        written: Iterable[str] = (),
    ) -> None:
        """Watch these folders as well; a folder that is watched already stays so.

        What is heard of one folder is what it was last given for.
        """
        if self.descriptor < 0:
            return
        every = _GONE | _COME | _IN_CLOSE_WRITE
        masks = (
            (_RENAMED, renamed),
            (_GONE, gone),
            (_COME, come),
            (every, any_change),
            (every | _IN_MODIFY, written),
        )
        for mask, folders in masks:
            for folder in folders:
                # If there is no such folder, the next look will watch it.
                self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)

    def take(self) -> int:
        """Take what has been heard; return how many changes it was."""
        changes = 0
        with suppress(BlockingIOError):
            while data := os.read(self.descriptor, 65536):
                changes += any(mask != _IN_IGNORED for mask in _masks(data))
        return changes

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _masks(data: bytes) -> list[int]:
    masks, at = [], 0
    while at < len(data):
        _watch, mask, _cookie, length = _HEAD.unpack_from(data, at)
        masks.append(mask)
        at += _HEAD.size + length
    return masks


def above(folder: str) -> list[str]:
    """Return the folders above one, without the root."""
    found = []
    while (folder := os.path.dirname(folder)) != os.path.dirname(folder):
        found.append(folder)
    return found


def nearest(folder: str) -> str:
    """Return the folder, or the nearest one above it that exists."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder
