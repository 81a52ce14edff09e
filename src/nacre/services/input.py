"""The way into a child: bytes wait here until its terminal takes them.

Rule 1: writing never blocks and never sleeps; the loop says when the terminal takes more.
Rule 2: bounded: a child that does not read makes further input an error, not a growing buffer.
Rule 3: an interrupt does not stand in line behind what it is to stop.
"""

import asyncio
import base64
import binascii
import os
from collections import deque

from nacre.errors import InvalidInput, LimitReached
from nacre.system.pty import discard_unread


class InputQueue:
    def __init__(self, loop: asyncio.AbstractEventLoop, master: int, limit: int) -> None:
        self._loop = loop
        self._master = master
        self._limit = limit
        self._waiting: deque[memoryview] = deque()
        self._pending = 0
        self._watched = False
        self._closed = False

    @property
    def pending(self) -> int:
        return self._pending

    def write(self, data: bytes) -> None:
        """Queue bytes for the child, and write what it takes at once.

        Raises LimitReached when too much waits already; nothing of `data` is queued then.
        """
        if self._closed or not data:
            return
        if self._pending + len(data) > self._limit:
            raise LimitReached(
                f"{self._pending} bytes of input wait for a program that does not read; "
                "wait for it, interrupt it (ctrl+c) or kill the session"
            )
        self._waiting.append(memoryview(data))
        self._pending += len(data)
        if not self._watched:
            self._flush()

    def discard(self) -> None:
        """Forget what waits, here and in the kernel: an interrupt overtakes it."""
        self._waiting.clear()
        self._pending = 0
        self._watch(wanted=False)
        discard_unread(self._master)

    def close(self) -> None:
        """Drop what waits: nobody will read it."""
        self._closed = True
        self._waiting.clear()
        self._pending = 0
        self._watch(wanted=False)

    def _flush(self) -> None:
        while self._waiting:
            chunk = self._waiting[0]
            try:
                written = os.write(self._master, chunk)
            except BlockingIOError:
                break
            except OSError:  # EIO: nobody has the terminal open any more
                self._waiting.clear()
                self._pending = 0
                break
            self._pending -= written
            if written == len(chunk):
                self._waiting.popleft()
            else:
                self._waiting[0] = chunk[written:]
        self._watch(wanted=bool(self._waiting))

    def _watch(self, *, wanted: bool) -> None:
        if wanted and not self._watched:
            self._loop.add_writer(self._master, self._flush)
        elif self._watched and not wanted:
            self._loop.remove_writer(self._master)
        self._watched = wanted


def input_bytes(text: str, encoding: str, limit: int) -> bytes:
    """Return the bytes of an input. Raises InvalidInput when it is no such text, or too long."""
    if len(text) > limit * 4 // 3 + 4:
        raise _too_long(len(text), limit)
    try:
        data = base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
    except (binascii.Error, ValueError) as error:
        # ValueError: base64 that is not ASCII; text with a lone surrogate is a UnicodeError.
        raise InvalidInput(f"input is not valid {encoding}: {error}") from error
    if len(data) > limit:
        raise _too_long(len(data), limit)
    return data


def _too_long(size: int, limit: int) -> InvalidInput:
    return InvalidInput(
        f"input of {size} bytes is over the limit of {limit} (max_input_bytes); "
        "write it to a file, or send it in parts"
    )
