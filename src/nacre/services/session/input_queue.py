"""The input of a child: bytes wait here until its terminal accepts them.

Rule 1: writing never blocks and never sleeps; the loop says when the terminal takes more.
Rule 2: bounded: a child that does not read makes further input an error, not a growing buffer.
Rule 3: an interrupt does not stand in line behind what it is to stop.
Rule 4: a person who takes over has the keyboard to themselves: what others sent, and the terminal
has not taken yet, is dropped as a whole. Later it would be typed at something else.
Rule 5: who has a receipt for their input hears when the terminal has taken it.
Rule 6: the terminal's own answers that nobody reads stay within a limit, as in the queue of a real
one. Beyond it they are dropped whole: half an answer would be keys.
"""

import asyncio
import base64
import binascii
import logging
import os
from collections import deque
from collections.abc import Callable

from msgspec import Struct

from nacre.core.keys.sequences import PASTE_BEGIN, PASTE_END
from nacre.core.operations.watch import Receipt
from nacre.errors import BadParameter, InvalidInput, LimitReached
from nacre.late_pattern import late_pattern
from nacre.system.processes.pty import discard_unread

_log = logging.getLogger("nacre.session")

TERMINAL = None  # who sent what the terminal itself answers to its program

# Each begins with an Escape; those of strings end with one too, and a backslash (ECMA-48, ST).
_BEGIN = late_pattern(rb"\x1b[^\\]")
# Seconds until the kernel has brought what was written to where the terminal counts it: a worker of
# it does that (flush_to_ldisc), on a busy machine a few milliseconds later.
_ON_ITS_WAY = 0.01


class _Piece(Struct):
    data: bytes
    owner: str | None
    receipt: Receipt | None = None
    written: int = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.written


class InputQueue:
    def __init__(self, loop: asyncio.AbstractEventLoop, master: int, limit: int) -> None:
        self._loop = loop
        self._master = master
        self._limit = limit
        self._waiting: deque[_Piece] = deque()
        self._pending = 0
        self._watched = False
        self._closed = False

    @property
    def pending(self) -> int:
        return self._pending

    def write(
        self, data: bytes, owner: str | None = TERMINAL, receipt: Receipt | None = None
    ) -> None:
        """Queue bytes for the child, and write what it takes at once; `owner` is who sent them.

        `receipt` hears what becomes of them.

        Raises LimitReached when too much is waiting already; then nothing of `data` is queued.
        """
        if self._closed or not data:
            if receipt is not None:
                receipt.settle()
            return
        if self._pending + len(data) > self._limit:
            raise LimitReached(
                f"{self._pending} bytes of input are waiting for a program that does not read",
                "wait for it",
                "interrupt it (ctrl+c)",
                "kill the session",
            )
        self._waiting.append(_Piece(data, owner, receipt))
        self._pending += len(data)
        if not self._watched:
            self._flush()
        elif receipt is not None:
            receipt.wrote(0)

    def drop_others(self, owner: str) -> int:
        """Forget what waits and is not this one's, nor the terminal's; return how many bytes.

        A paste that was begun is ended: what comes after it are keys again.
        """
        kept: deque[_Piece] = deque()
        dropped = 0
        for piece in self._waiting:
            if piece.owner in (owner, TERMINAL):
                kept.append(piece)
                continue
            dropped += piece.left
            if piece.receipt is not None:
                piece.receipt.drop("somebody took over before the program read it")
            if ending := _ending(piece.data[: piece.written]):
                kept.append(_Piece(ending, TERMINAL))
        self._waiting = kept
        self._pending = sum(piece.left for piece in kept)
        self._watch(wanted=bool(kept))
        return dropped

    def discard(self) -> None:
        """Drop waiting input, here and in the kernel, so that an interrupt overtakes it."""
        self._clear()
        self._watch(wanted=False)
        discard_unread(self._master)

    def close(self) -> None:
        """Drop waiting input: nobody will read it."""
        self._closed = True
        self._clear()
        self._watch(wanted=False)

    def _clear(self) -> None:
        for piece in self._waiting:
            if piece.receipt is not None:
                piece.receipt.settle()
        self._waiting.clear()
        self._pending = 0

    def _flush(self) -> None:
        while self._waiting:
            piece = self._waiting[0]
            try:
                written = self._write(piece)
            except BlockingIOError:
                if piece.receipt is not None:
                    piece.receipt.wrote(0)
                break
            except OSError:  # EIO: no process has the terminal open any more
                self._clear()
                break
            self._pending -= written
            piece.written += written
            if not piece.left:
                self._waiting.popleft()
            if piece.receipt is not None:
                if piece.left:
                    piece.receipt.wrote(written)
                else:
                    piece.receipt.settle()
        self._watch(wanted=bool(self._waiting))

    def _write(self, piece: _Piece) -> int:
        rest = memoryview(piece.data)[piece.written :]
        if piece.receipt is not None:
            return piece.receipt.write(self._master, rest)
        return os.write(self._master, rest)

    def _watch(self, *, wanted: bool) -> None:
        if wanted and not self._watched:
            self._loop.add_writer(self._master, self._flush)
        elif self._watched and not wanted:
            self._loop.remove_writer(self._master)
        self._watched = wanted


class TerminalAnswers:
    """What the terminal itself answers to its program: bounded, as not every program reads it.

    A program that prints thousands of queries and ends leaves their answers to the shell, which
    takes them for keys: readline was busy for seconds with 20 kB of them, and took no command.
    Whoever reads loses nothing: once the terminal's input is empty, all of the limit is free again.
    """

    def __init__(
        self,
        queue: InputQueue,
        limit: int,
        clock: Callable[[], float],
        unread: Callable[[], int | None],
    ) -> None:
        """`unread` counts what waits for the program in its terminal; None: nobody may look."""
        self._queue = queue
        self._limit = limit
        self._clock = clock
        self._unread = unread
        self._given = 0  # bytes since all was read
        self._given_at = 0.0
        self._drops = False
        self.may_be_typed = False  # into the line of a shell that did not ask

    def give(self, answers: bytes) -> int:
        """Write these answers, as many as there is room for; return how many bytes were dropped."""
        if self._given + len(answers) > self._limit and self._all_is_read():
            self._given, self._drops = 0, False
        kept = _whole(answers, self._limit - self._given)
        if kept:
            self._queue.write(kept)
            self._given += len(kept)
            self._given_at = self._clock()
            self.may_be_typed = True
        dropped = len(answers) - len(kept)
        if dropped and not self._drops:
            self._drops = True
            _log.info("answers to a program that does not read them are dropped")
        return dropped

    def _all_is_read(self) -> bool:
        """Whether nothing waits. A line that is being typed does not count: it cannot grow."""
        if self._queue.pending or self._clock() - self._given_at < _ON_ITS_WAY:
            return False
        return not self._unread()


def _whole(answers: bytes, room: int) -> bytes:
    """Return the first answers, no more than there is room for, and none of them cut."""
    if len(answers) <= room:
        return answers
    ends = [found.start() for found in _BEGIN.finditer(answers, 0, max(0, room) + 2)]
    return answers[: max((end for end in ends if end <= room), default=0)]


def _ending(written: bytes) -> bytes:
    """Return what ends a paste of which only this was written; it may end within a bracket."""
    last = written[max(0, written.rfind(b"\x1b")) :]
    if written.rfind(PASTE_BEGIN) > written.rfind(PASTE_END):
        return PASTE_END.removeprefix(last) if PASTE_END.startswith(last) else PASTE_END
    within = len(b"\x1b[2") < len(last) < len(PASTE_BEGIN) and PASTE_BEGIN.startswith(last)
    return PASTE_BEGIN.removeprefix(last) + PASTE_END if within else b""


def input_bytes(text: str, encoding: str, limit: int) -> bytes:
    """Return the bytes of an input. Raises InvalidInput if it cannot be decoded or is too long."""
    if len(text) > limit * 4 // 3 + 4:
        raise _too_long(len(text), limit)
    try:
        data = base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
    except (binascii.Error, ValueError) as error:
        # ValueError: base64 that is not ASCII. UnicodeError: text with a lone surrogate.
        raise BadParameter("input", f"is not valid {encoding}: {error}") from error
    if len(data) > limit:
        raise _too_long(len(data), limit)
    return data


def _too_long(size: int, limit: int) -> InvalidInput:
    return InvalidInput(
        f"input of {size} bytes is over the limit of {limit} (max_input_bytes)",
        "write it to a file",
        "send it in parts",
    )
