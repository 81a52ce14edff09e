"""`nacre attach`: a person in the same session.

This file connects to the session and prepares the person's terminal. The command is in
commands/attach.py, what happens between the two in view.py, what happens when the daemon dies in
connection.py.

Rule: however this ends, the terminal is as it was before.
"""

import os
import secrets
import selectors
import signal
import socket
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from nacre.cli.attach.connection import RESTART_PATIENCE, Connection
from nacre.cli.attach.own_keys import OwnKeys
from nacre.cli.attach.view import ENDING_SIGNALS, View
from nacre.cli.attach.window import window_size
from nacre.cli.output.answers import harmless
from nacre.client.greeting import greeting, read_greeting, read_line
from nacre.client.start import connect
from nacre.core.display.repaint import restore
from nacre.core.keys.sequences import WHEEL_IS_ARROWS
from nacre.core.screen.controls import (
    ALTERNATE,
    CLEAR,
    KEEP_CLUSTERS,
    KEEP_TITLE,
    PRIMARY,
    RESTORE_CLUSTERS,
    RESTORE_TITLE,
    SHOW_CURSOR,
)
from nacre.settings.paths import find_paths

_LEAST_WITH_STATUS = 4  # rows; a smaller terminal gets no status line
_RESTORE_PATIENCE = 2.0  # seconds; a terminal that hangs is not restored

# xterm ctlseqs: the alternate screen. XTWINOPS 22 and 23 save and restore the window's title,
# XTSAVE and XTRESTORE the modes for clusters and for the wheel (alternate scroll), which some
# terminals turn on by default. In terminals without XTRESTORE the wheel's mode stays on.
_ENTER = KEEP_TITLE + b"\x1b[?1007s" + KEEP_CLUSTERS + ALTERNATE + CLEAR
_WHEEL_AS_BEFORE = WHEEL_IS_ARROWS + b"\x1b[?1007r"
_LEAVE = restore() + PRIMARY + _WHEEL_AS_BEFORE + RESTORE_CLUSTERS + RESTORE_TITLE + SHOW_CURSOR


def attach(
    session: str,
    name: str,
    keys: OwnKeys,
    *,
    read_only: bool,
    status: bool,
    mouse: bool = False,
    typed: Callable[[bytes], None] | None = None,
) -> int:
    """Show a session until it ends or the person detaches. Return the exit code.

    `typed` hears what the person types into the program.
    """

    identity = secrets.token_hex(8)  # by it the next daemon knows us as who drove

    def knock() -> socket.socket:
        shown = status and _has_room()
        return _knock(session, identity, keys, read_only=read_only, status=shown)

    size = window_size()
    daemon, hello, rest = _enter(knock)
    connection = Connection(daemon, rest, knock, hello)
    control = None if read_only else keys.control
    own = (keys.detach, control, keys.look_back)
    approve = None if read_only else keys.approve
    view = View(connection, *own, name, status=status, mouse=mouse, approve=approve, typed=typed)
    # Signals first: one that came in between would leave the terminal raw.
    with _signals() as wakeup, _own_screen() as screen:
        if window_size() != size:  # it changed before we got signals
            view.tell_size()
        said, code = view.run(screen, wakeup)
    print(harmless(said), file=sys.stderr)
    return code


def _has_room() -> bool:
    return window_size().lines >= _LEAST_WITH_STATUS


def _knock(
    session: str, identity: str, keys: OwnKeys, *, read_only: bool, status: bool
) -> socket.socket:
    """Connect and say what we want; the daemon's greeting is still to come.

    Raises DaemonUnreachable when nobody listens.
    """
    size = window_size()
    hello = greeting(
        "attach",
        person=True,
        session=session,
        size=[size.lines, size.columns],
        read_only=read_only,
        status=status,
        detach_key=keys.detach.name,
        control_key=keys.control.name,
        look_back_key=keys.look_back.name if keys.look_back else "",
        approve_key=keys.approve.name if keys.approve else "",
        inside=os.environ.get("NACRE_SESSION"),
        own_words=True,
        client_id=identity,
        typing=identity,
    )
    daemon = connect(find_paths(), patience=RESTART_PATIENCE)
    with suppress(OSError):  # it died: the next read will notice
        daemon.sendall(hello)
    return daemon


def _enter(knock: Callable[[], socket.socket]) -> tuple[socket.socket, bytes, bytes]:
    """Return a connection whose greeting was accepted, that greeting, and what came after it.

    Raises DaemonUnreachable when the daemon refuses us, or when it dies and the next one too.
    """
    daemon = knock()
    line, rest = read_line(daemon)
    if not line:
        daemon.close()
        daemon = knock()
        line, rest = read_line(daemon)
    read_greeting(line)
    return daemon, line, rest


@contextmanager
def _own_screen() -> Iterator[int]:
    """Make the terminal raw, on its alternate screen. Yield a non-blocking descriptor of it."""
    # Opened separately: if we made the shared one non-blocking, the shell's would be too.
    screen = os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0, termios.TCSADRAIN)
        _write_within(screen, _ENTER, _RESTORE_PATIENCE)
        yield screen
    finally:
        _write_within(screen, _LEAVE, _RESTORE_PATIENCE)
        # Not FLUSH: what was typed after the detach key belongs to the shell.
        termios.tcsetattr(0, termios.TCSANOW, before)
        os.close(screen)


def _write_within(descriptor: int, data: bytes, seconds: float) -> None:
    """Write what the terminal accepts within a time: a hanging terminal must not hang us."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_WRITE)
        while data and selector.select(seconds):
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:
                continue
            except OSError:  # the terminal is gone
                return


@contextmanager
def _signals() -> Iterator[int]:
    """Yield a descriptor from which the numbers of signals can be read."""

    def noted(number: int, frame: FrameType | None) -> None:
        pass  # the wakeup descriptor has it

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = {number: signal.signal(number, noted) for number in (*ENDING_SIGNALS, signal.SIGWINCH)}
    # A stop from outside would leave the terminal raw; Ctrl+Z is a key here.
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    old = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
