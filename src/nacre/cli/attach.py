"""`nacre attach`: a person in the same session.

Rule 1: the person's terminal is given back as it was, however this ends.
Rule 2: it copies bytes: the daemon decides what reaches the terminal (core/passage.py), and
repaints it when it fell behind. A terminal that takes no more stops the reading; nothing queues up.
Rule 3: event driven: keys, the daemon, signals; nothing is looked at by the clock, but for the one
line that tells the detach key, which goes by itself.
"""

import base64
import json
import os
import selectors
import signal
import socket
import sys
import termios
import time
import tty
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Literal

from nacre.cli.answers import harmless
from nacre.cli.bridge import greeting, read_greeting
from nacre.cli.client import AnsweredError, Client
from nacre.cli.detach import DetachKey
from nacre.cli.sessions import add_session
from nacre.cli.start import connect
from nacre.core.repaint import restore
from nacre.errors import WIRE, InvalidInput
from nacre.paths import find_paths

_CHUNK = 65536
_HINT_SECONDS = 3.0
_RESTORE_PATIENCE = 2.0  # seconds for a terminal that does not take what gives it back
_GOODBYE_PATIENCE = 2.0  # seconds for the last keys to reach the daemon

# xterm ctlseqs: the alternate screen; XTWINOPS 22 and 23 keep the window's title meanwhile, XTSAVE
# and XTRESTORE the mode for clusters, which some terminals have on by themselves.
_ENTER = b"\x1b[22;2t\x1b[?2027s\x1b[?1049h\x1b[H\x1b[2J"
_LEAVE = restore() + b"\x1b[?1049l\x1b[?2027r\x1b[23;2t\x1b[?25h"

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def add_attach(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--read-only", action="store_true", help="Only look: no keys, and no change of size."
    )
    parser.add_argument(
        "--detach-key",
        metavar="KEY",
        default="ctrl+]",
        help="The key that leaves, as in ctrl+q. [default: ctrl+]]",
    )
    parser.epilog = (
        "The session takes the size of your terminal, and keeps it when you leave. The exit code "
        "is 0 after a detach, and the session's own when it ends."
    )
    parser.set_defaults(run=run_attach)


def run_attach(arguments: Namespace) -> int:
    key = DetachKey.parse(arguments.detach_key)
    if not (os.isatty(0) and os.isatty(1)):
        raise InvalidInput(
            "nacre attach needs a terminal; in a script use 'nacre send' and 'nacre screen'"
        )
    with Client.open() as client:
        details = client.call("list_sessions", session=arguments.session)
    if details["session_id"] == os.environ.get("NACRE_SESSION"):
        raise InvalidInput(f"this is session {details['name']!r} itself: it cannot watch itself")
    with _connected(details["session_id"], read_only=arguments.read_only) as (daemon, rest):
        view = View(daemon, rest, key, details["name"], read_only=arguments.read_only)
        with _own_screen() as screen:
            said, code = view.run(screen)
    print(harmless(said), file=sys.stderr)
    return code


@contextmanager
def _connected(session: str, *, read_only: bool) -> Iterator[tuple[socket.socket, bytes]]:
    size = os.get_terminal_size(1)
    with connect(find_paths()) as daemon:
        hello = greeting(
            "attach",
            person=True,
            session=session,
            size=[size.lines, size.columns],
            read_only=read_only,
        )
        daemon.sendall(hello)
        head = b""
        while b"\n" not in head and (part := daemon.recv(_CHUNK)):
            head += part
        line, _, rest = head.partition(b"\n")
        read_greeting(line)
        yield daemon, rest


@contextmanager
def _own_screen() -> Iterator[int]:
    """Make the terminal raw, on its alternate screen; yield a descriptor that does not block."""
    # An open of our own: making the shared one non-blocking would do so to the shell as well.
    screen = os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0, termios.TCSADRAIN)
        _write_within(screen, _ENTER, _RESTORE_PATIENCE)
        yield screen
    finally:
        _write_within(screen, _LEAVE, _RESTORE_PATIENCE)
        # Not FLUSH: what was typed after the detach key is for the shell.
        termios.tcsetattr(0, termios.TCSANOW, before)
        os.close(screen)


def _write_within(descriptor: int, data: bytes, seconds: float) -> None:
    """Write what a terminal takes within a time; one that hangs shall not hang us."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_WRITE)
        while data and selector.select(seconds):
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:
                continue
            except OSError:  # the terminal is gone
                return


class _Over(Exception):
    """It is over: what to say, and the exit code."""

    def __init__(self, said: str, code: int) -> None:
        super().__init__(said)
        self.said = said
        self.code = code


class View:
    """What goes on between a terminal and the daemon until one of them ends it."""

    def __init__(
        self, daemon: socket.socket, rest: bytes, key: DetachKey, name: str, *, read_only: bool
    ) -> None:
        daemon.setblocking(False)
        self._daemon = daemon
        self._unread = rest  # of the daemon's, less than a line
        self._to_daemon = b""
        self._to_screen = b""
        self._key = key
        self._name = name
        self._read_only = read_only
        self._hint: Literal["none yet", "shown", "gone"] = "none yet"
        self._hint_until = 0.0
        self._selector = selectors.DefaultSelector()

    def run(self, screen: int) -> tuple[str, int]:
        with self._selector, _signals() as wakeup:
            self._selector.register(wakeup, selectors.EVENT_READ)
            try:
                self._take_lines()
                while True:
                    self._turn(screen, wakeup)
            except _Over as over:
                return over.said, over.code

    def _turn(self, screen: int, wakeup: int) -> None:
        self._watch(self._daemon.fileno(), read=not self._to_screen, write=bool(self._to_daemon))
        self._watch(0, read=not self._to_daemon)
        self._watch(screen, write=bool(self._to_screen))
        hinting = self._hint == "shown"
        ready = self._selector.select(self._hint_until - time.monotonic() if hinting else None)
        if hinting and time.monotonic() >= self._hint_until:
            self._drop_hint()
        for selected, events in ready:
            if selected.fd == wakeup:
                self._take_signals(os.read(wakeup, 64))
            elif selected.fd == 0:
                self._take_keys()
            elif selected.fd == screen:
                self._write_screen(screen)
            else:
                self._exchange(events)

    def _watch(self, descriptor: int, *, read: bool = False, write: bool = False) -> None:
        events = read * selectors.EVENT_READ | write * selectors.EVENT_WRITE
        known = self._selector.get_map().get(descriptor)
        if known is not None and known.events != events:
            self._selector.unregister(descriptor)
            known = None
        if known is None and events:
            self._selector.register(descriptor, events)

    # --- the person ------------------------------------------------------------------------

    def _take_keys(self) -> None:
        try:
            typed = os.read(0, _CHUNK)
        except OSError:  # EIO: the terminal was hung up
            typed = b""
        if not typed:
            raise _Over(f"nacre: the terminal is gone; {self._name} goes on", 129)
        before, detached = self._key.find(typed)
        if before and not self._read_only:
            self._tell({"input": base64.b64encode(before).decode()})
        self._drop_hint()
        if detached:
            self._say_goodbye()
            raise _Over(f"nacre: detached from {self._name}; it goes on", 0)

    def _say_goodbye(self) -> None:
        self._daemon.settimeout(_GOODBYE_PATIENCE)
        with suppress(OSError):
            self._daemon.sendall(self._to_daemon)

    def _take_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                size = os.get_terminal_size(1)
                self._tell({"resize": [size.lines, size.columns]})
            elif number in _ENDING_SIGNALS:
                name = signal.Signals(number).name
                raise _Over(f"nacre: {name}: detached from {self._name}; it goes on", 128 + number)

    def _write_screen(self, screen: int) -> None:
        try:
            self._to_screen = self._to_screen[os.write(screen, self._to_screen) :]
        except BlockingIOError:
            return
        except OSError:
            raise _Over(f"nacre: the terminal is gone; {self._name} goes on", 129) from None

    # --- the daemon ------------------------------------------------------------------------

    def _tell(self, message: dict[str, Any]) -> None:
        self._to_daemon += json.dumps(message).encode() + b"\n"

    def _exchange(self, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._to_daemon = self._to_daemon[self._daemon.send(self._to_daemon) :]
            if events & selectors.EVENT_READ:
                data = self._daemon.recv(_CHUNK)
                if not data:
                    raise _gone()
                self._unread += data
                self._take_lines()
        except BlockingIOError:
            return
        except OSError:
            raise _gone() from None

    def _take_lines(self) -> None:
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "output" in message:
            self._to_screen += base64.b64decode(message["output"])
        elif "snapshot" in message:
            self._to_screen += base64.b64decode(message["snapshot"])
            if self._hint == "none yet":
                self._show_hint()
        elif "ended" in message:
            raise self._ended(**message["ended"])
        elif "detached" in message:
            raise _Over(f"nacre: {message['detached']}; {self._name} goes on", 0)
        elif "error" in message:
            if self._hint == "none yet":
                error = AnsweredError(message["error"])
                raise _Over(f"nacre: {error.message}", WIRE.get(error.code, WIRE["FAILED"]).exit)
            self._to_screen += b"\x07"  # a key that was not taken

    def _ended(self, exit_code: int | None, signal: str | None) -> _Over:
        if signal is not None:
            return _Over(f"nacre: {self._name} was killed by {signal}", _killed(signal))
        return _Over(f"nacre: {self._name} has ended with exit code {exit_code}", exit_code or 0)

    # --- the hint --------------------------------------------------------------------------

    def _show_hint(self) -> None:
        """Say in the last row how to leave, until the first key or for a few seconds."""
        size = os.get_terminal_size(1)
        mode = " (read-only)" if self._read_only else ""
        text = harmless(f" {self._key.name} detaches from {self._name}{mode} ")[: size.columns - 1]
        # DECSC and DECRC around it keep cursor, pen and origin mode.
        hint = f"\x1b7\x1b[?6l\x1b[{size.lines};1H\x1b[0;7m{text}\x1b[0m\x1b8"
        self._to_screen += hint.encode()
        self._hint, self._hint_until = "shown", time.monotonic() + _HINT_SECONDS

    def _drop_hint(self) -> None:
        if self._hint == "shown":
            self._hint = "gone"
            self._tell({"refresh": True})


def _gone() -> _Over:
    said = "nacre: the daemon is gone, and its sessions with it; 'nacre new' starts a new one"
    return _Over(said, WIRE["DAEMON_UNREACHABLE"].exit)


def _killed(name: str) -> int:
    """As shells say it: 128 and the signal's number."""
    name = name if name.startswith("SIG") else f"SIG{name}"
    number = getattr(signal, name, None)
    return 128 + int(number) if number is not None else 1


@contextmanager
def _signals() -> Iterator[int]:
    """Yield a descriptor from which the numbers of signals are read."""

    def noted(number: int, frame: FrameType | None) -> None:
        pass  # the wakeup descriptor has it

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = {
        number: signal.signal(number, noted) for number in (*_ENDING_SIGNALS, signal.SIGWINCH)
    }
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
