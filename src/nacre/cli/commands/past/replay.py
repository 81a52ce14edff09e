"""`nacre replay`: play a recording in a person's terminal.

Rule 1: however this ends, the terminal is as it was before. What was on its screen is in its
scrollback.
Rule 2: a recording changes the screen and nothing else: no clipboard, no queries to the terminal
(core/display/passage.py), no mouse and no keyboard modes, which would change the keys we read.
Rule 3: times count from the beginning, not from the event before, so a slow terminal catches up.
"""

import math
import os
import re
import select
import signal
import sys
import termios
import time
import tty
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from nacre.cli.session_argument import completed_by
from nacre.client.calls import Client, complete_sessions
from nacre.core.display.passage import Passage
from nacre.core.display.repaint import restore
from nacre.core.journal.asciicast_reader import CastEvent, events_of
from nacre.core.screen.controls import (
    CLEAR,
    KEEP_CLUSTERS,
    KEEP_TITLE,
    PLAIN_PEN,
    PRIMARY,
    RESTORE_CLUSTERS,
    RESTORE_TITLE,
    SHOW_CURSOR,
)
from nacre.errors import InvalidInput

_CHUNK = 65536
_PAUSE, _QUIT, _INTERRUPT = b" "[0], b"q"[0], b"\x03"[0]

# xterm ctlseqs: XTWINOPS 22 and 23 keep the window's title, XTSAVE and XTRESTORE the mode for
# clusters. Resetting the margins moves the cursor. DECSC and DECRC bring it back, together with the
# pen and the charset, so those two are reset afterwards.
_ENTER = KEEP_TITLE + KEEP_CLUSTERS
_AS_BEFORE = PLAIN_PEN + b"\x1b(B\x0f" + SHOW_CURSOR + RESTORE_CLUSTERS + RESTORE_TITLE
_LEAVE = b"\x1b7" + restore() + b"\x1b8" + _AS_BEFORE + b"\r\n"
_FRESH = PRIMARY + restore() + PLAIN_PEN + CLEAR
_RESET = b"\x1bc"  # RIS; replaced by _FRESH, because it would erase the person's scrollback

_SCREEN = re.compile(rb"\x1b\[\?(?:[0-9]*;)*(?:47|1047|1049)(?:;[0-9]*)*([hl])")
# What changes the bytes that keys make (cursor keys, mouse, focus, paste, reports of size and
# colour), and what changes the window's width.
_LEFT_OUT = {b"%d" % mode for mode in (1, 3, 9, 40, 66, *range(1000, 1017), 2004, 2031, 2048)}
_MODES = re.compile(rb"\x1b\[\?([0-9;]+)h")
_KEYBOARD = re.compile(
    rb"\x1b\[[<=>][0-9;]*u|\x1b\[>4[0-9;]*m|\x1b="
)  # kitty's, XTMODKEYS, DECKPAM


def add_replay(parser: ArgumentParser) -> None:
    source = parser.add_argument(
        "source", metavar="FILE|SESSION", help="Asciicast file (version 2 or 3), or session."
    )
    completed_by(source, complete_sessions)
    parser.add_argument(
        "--speed",
        metavar="N",
        type=_positive,
        default=1.0,
        help="Play N times as fast. [default: 1]",
    )
    parser.add_argument(
        "--idle-cap", metavar="SECONDS", type=_positive, help="Shorten longer pauses to this."
    )
    parser.epilog = (
        "Space pauses and continues; q or Ctrl+C quits. Without a terminal the output is written "
        "at once."
    )
    parser.set_defaults(run=run_replay)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def run_replay(arguments: Namespace) -> int:
    try:
        events = list(events_of(_recording(arguments.source)))
    except ValueError as error:
        raise InvalidInput(f"{arguments.source!r} cannot be played: {error}") from None
    if not os.isatty(1):
        sys.stdout.buffer.write("".join(e.text for e in events if e.code == "o").encode())
        return 0
    try:
        with _terminal() as (write, wait):
            player = Player(write, wait, time.monotonic)
            player.play(events, speed=arguments.speed, idle_cap=arguments.idle_cap)
    except Interrupted as interrupted:
        return interrupted.code
    return 0


def _recording(source: str) -> str:
    if os.path.isfile(source):
        with open(source, encoding="utf-8") as file:
            return file.read()
    if "/" in source or source.endswith(".cast"):
        raise InvalidInput(f"there is no file {source!r}; check its path")
    with Client.open(told=False) as client:
        text: str = client.call("export_recording", session=source)["recording"]
    return text


class Interrupted(Exception):
    """A signal, or the key for one, ended the replay."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


class Player:
    """Show events when they are due. Time and terminal are parameters."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        wait: Callable[[float | None], bytes],
        now: Callable[[], float],
    ) -> None:
        """`wait` returns what was typed; nothing if no key came within the given seconds."""
        self._write = write
        self._wait = wait
        self._now = now
        self._passage = Passage(switches=True)
        self._alternate = False
        self._due = 0.0
        self._paused = False

    def play(
        self, events: Sequence[CastEvent], *, speed: float = 1.0, idle_cap: float | None = None
    ) -> None:
        """Play until the end, or until a key quits. Raises Interrupted at Ctrl+C."""
        self._write(_ENTER)
        try:
            self._play(events, speed, math.inf if idle_cap is None else idle_cap)
        finally:
            self._write((PRIMARY if self._alternate else b"") + _LEAVE)

    def _play(self, events: Sequence[CastEvent], speed: float, cap: float) -> None:
        self._due = self._now()
        idle = 0.0
        for event in events:
            idle += event.delay
            if event.code != "o":
                continue
            self._due += min(idle, cap) / speed
            idle = 0.0
            if not self._wait_until_due():
                return
            self._show(event.text.encode(errors="replace"))

    def _wait_until_due(self) -> bool:
        """Wait for the next event and handle keys. Return False if a key quits."""
        while True:
            begun = self._now()
            typed = self._wait(None if self._paused else max(0.0, self._due - begun))
            if self._paused:
                self._due += self._now() - begun
            if _are_keys(typed) and not self._obey(typed):
                return False
            if not self._paused and self._now() >= self._due:
                return True

    def _obey(self, keys: bytes) -> bool:
        for key in keys:
            if key == _INTERRUPT:
                raise Interrupted(signal.SIGINT)
            if key == _QUIT:
                return False
            if key == _PAUSE:
                self._paused = not self._paused
        return True

    def _show(self, data: bytes) -> None:
        passed = self._passage.pass_on(data)
        assert passed is not None  # switches pass
        shown = _KEYBOARD.sub(b"", _MODES.sub(_without_modes, passed))
        for switch in _SCREEN.finditer(shown):
            self._alternate = switch[1] == b"h"
        if shown:
            self._write(shown.replace(_RESET, _FRESH))


def _are_keys(typed: bytes) -> bool:
    """Return whether these are keys of one byte each, not an arrow or a terminal's answer."""
    return bool(typed) and not typed.startswith(b"\x1b")


def _without_modes(found: re.Match[bytes]) -> bytes:
    kept = [mode for mode in found[1].split(b";") if mode not in _LEFT_OUT]
    return b"\x1b[?%bh" % b";".join(kept) if kept else b""


@contextmanager
def _terminal() -> Iterator[tuple[Callable[[bytes], None], Callable[[float | None], bytes]]]:
    """Make the terminal raw; yield a function that writes to it and one that waits for keys."""
    keys = os.isatty(0)
    before = termios.tcgetattr(0) if keys else None

    def end(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    ending = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        # Scroll the old screen away, so that the recording starts on an empty one.
        _write_all(b"\r\n" * os.get_terminal_size(1).lines + b"\x1b[H")
        if keys:
            tty.setraw(0, termios.TCSADRAIN)
        yield _write_all, _wait_for_key if keys else _sleep
    finally:
        if before is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
        for number, handler in ending.items():
            signal.signal(number, handler)


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _wait_for_key(seconds: float | None) -> bytes:
    ready, _, _ = select.select([0], [], [], seconds)
    if not ready:
        return b""
    typed = os.read(0, _CHUNK)
    if not typed:
        raise Interrupted(signal.SIGHUP)
    return typed


def _sleep(seconds: float | None) -> bytes:
    time.sleep(seconds or 0.0)
    return b""
