"""`nacre attach`: a person in the same session.

Here are the command, the way into the session and the person's terminal; view.py has what goes on
between the two, connection.py what becomes of it when the daemon dies.

Rule: the terminal is given back as it was, however this ends.
"""

import os
import selectors
import signal
import socket
import sys
import termios
import tty
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from types import FrameType
from typing import NamedTuple

from nacre.cli.answers import harmless
from nacre.cli.bridge import greeting, read_greeting, read_line
from nacre.cli.client import Client
from nacre.cli.connection import Connection
from nacre.cli.detach import OwnKey
from nacre.cli.sessions import add_session
from nacre.cli.start import connect
from nacre.cli.view import ENDING_SIGNALS, View
from nacre.core.repaint import restore
from nacre.errors import InvalidInput
from nacre.paths import find_paths

# Besides Ctrl+] and Ctrl+^ the last control character that no letter makes: shells, editors and job
# control have all the letters, Ctrl+\ frees captured keys. Undo in readline and Emacs is also
# Ctrl+X Ctrl+U and Ctrl+X u.
_LOOK_BACK = "ctrl+_"

_LEAST_WITH_STATUS = 4  # rows of a terminal that can spare one
_RESTORE_PATIENCE = 2.0  # seconds for a terminal that does not take what gives it back

# xterm ctlseqs: the alternate screen; XTWINOPS 22 and 23 keep the window's title meanwhile, XTSAVE
# and XTRESTORE the modes for clusters and for the wheel (alternate scroll), which some terminals
# have on by themselves. Those that know no XTRESTORE have the wheel's on.
_ENTER = b"\x1b[22;2t\x1b[?1007s\x1b[?2027s\x1b[?1049h\x1b[H\x1b[2J"
_LEAVE = restore() + b"\x1b[?1049l\x1b[?1007h\x1b[?1007r\x1b[?2027r\x1b[23;2t\x1b[?25h"


def add_attach(parser: ArgumentParser) -> None:
    add_session(parser, nargs="?")
    parser.add_argument(
        "--read-only", action="store_true", help="Only look: no keys, and no change of size."
    )
    parser.add_argument(
        "--detach-key",
        metavar="KEY",
        default="ctrl+]",
        help="The key that leaves, as in ctrl+q. [default: ctrl+]]",
    )
    parser.add_argument(
        "--control-key",
        metavar="KEY",
        default="ctrl+^",
        help="The key that takes the session over from agents and gives it back. [default: ctrl+^]",
    )
    parser.add_argument(
        "--look-back-key",
        metavar="KEY",
        help="The key that shows the lines above the screen, as Shift+PageUp does where the "
        f"terminal does not keep that for itself. [default: {_LOOK_BACK}]",
    )
    parser.add_argument(
        "--mouse",
        action="store_true",
        help="The wheel looks back too, where no program asks for the mouse. Your terminal then "
        "selects text only with Shift held.",
    )
    parser.add_argument(
        "--no-status", action="store_true", help="No status line: the session has the last row too."
    )
    parser.epilog = (
        "The session takes the size of your terminal, less the status line, and keeps it when you "
        "leave. The exit code is 0 after a detach, and the session's own when it ends.\n"
        "SESSION may be left out when only one is running."
    )
    parser.set_defaults(run=run_attach)


def run_attach(arguments: Namespace) -> int:
    keys = Keys.parse(arguments.detach_key, arguments.control_key, arguments.look_back_key)
    if not (os.isatty(0) and os.isatty(1)):
        raise InvalidInput(
            "nacre attach needs a terminal; in a script use 'nacre send' and 'nacre screen'"
        )
    with Client.open() as client:
        session = arguments.session or _only_one(client)
        details = client.ask("list_sessions", session=session)
    if details["session_id"] == os.environ.get("NACRE_SESSION"):
        raise InvalidInput(f"this is session {details['name']!r} itself: it cannot watch itself")

    return attach(
        details["session_id"],
        details["name"],
        keys,
        read_only=arguments.read_only,
        status=not arguments.no_status,
        mouse=arguments.mouse,
    )


def _only_one(client: Client) -> str:
    """Return the one session there is to be in. Raises InvalidInput when it is not clear which."""
    own = os.environ.get("NACRE_SESSION")
    listed = client.ask("list_sessions")["sessions"]
    others = [one for one in listed if one["running"] and one["session_id"] != own]
    if not others:
        raise InvalidInput("there is no session to be in; start one with 'nacre new'")
    if len(others) > 1:
        names = ", ".join(one["name"] for one in others)
        raise InvalidInput(f"which session? nacre attach SESSION; there are: {names}")
    identifier: str = others[0]["session_id"]
    return identifier


class Keys(NamedTuple):
    """Those that do not reach the session."""

    detach: OwnKey
    control: OwnKey
    look_back: OwnKey | None  # None: its usual key is one of the others

    @classmethod
    def parse(cls, detach: str, control: str, look_back: str | None = None) -> "Keys":
        """Raises InvalidInput."""
        uses = {
            "detach": OwnKey.parse(detach),
            "control": OwnKey.parse(control, "control key"),
            "look-back": OwnKey.parse(look_back or _LOOK_BACK, "look-back key"),
        }
        taken = {uses[use].name for use in ("detach", "control")}
        if look_back is None and uses["look-back"].name in taken:
            del uses["look-back"]
        for (one, key), (other, again) in combinations(uses.items(), 2):
            if key.name == again.name:
                raise InvalidInput(f"{key.name} cannot be both the {one} and the {other} key")
        return cls(uses["detach"], uses["control"], uses.get("look-back"))


def attach(
    session: str, name: str, keys: Keys, *, read_only: bool, status: bool, mouse: bool = False
) -> int:
    """Be in a session until it or the person ends that; return the exit code."""

    def knock() -> socket.socket:
        return _knock(session, keys, read_only=read_only, status=status and _has_room())

    size = os.get_terminal_size(1)
    connection = Connection(*_enter(knock), knock)
    control = None if read_only else keys.control
    own = (keys.detach, control, keys.look_back)
    view = View(connection, *own, name, status=status, mouse=mouse)
    # Signals first: one that came between would leave the terminal raw.
    with _signals() as wakeup, _own_screen() as screen:
        if os.get_terminal_size(1) != size:  # that was before signals told of it
            view.tell_size()
        said, code = view.run(screen, wakeup)
    print(harmless(said), file=sys.stderr)
    return code


def _has_room() -> bool:
    return os.get_terminal_size(1).lines >= _LEAST_WITH_STATUS


def _knock(session: str, keys: Keys, *, read_only: bool, status: bool) -> socket.socket:
    """Connect and say what we want; the daemon's greeting is still to come.

    Raises DaemonUnreachable when nobody listens.
    """
    size = os.get_terminal_size(1)
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
        inside=os.environ.get("NACRE_SESSION"),
    )
    daemon = connect(find_paths())
    with suppress(OSError):  # it died: who reads from it finds that out
        daemon.sendall(hello)
    return daemon


def _enter(knock: Callable[[], socket.socket]) -> tuple[socket.socket, bytes]:
    """Return a daemon that has let us in, and what it said beyond that.

    Raises DaemonUnreachable when it refuses us, or dies and so does the next one.
    """
    daemon = knock()
    line, rest = read_line(daemon)
    if not line:
        daemon.close()
        daemon = knock()
        line, rest = read_line(daemon)
    read_greeting(line)
    return daemon, rest


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


@contextmanager
def _signals() -> Iterator[int]:
    """Yield a descriptor from which the numbers of signals are read."""

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
