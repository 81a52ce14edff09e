"""`nacre mcp`: a thin pipe between an AI host's stdio and the daemon.

Rule 1: it copies lines and reads no more of them than who waits for an answer (inflight.py); no MCP
library is loaded, so that it is up at once.
Rule 2: it ends when its input closes, after the last answers; with an error when the daemon was
stopped. A daemon that died is replaced, and the host goes on with the next one.
"""

import os
import select
import socket
import sys
import time

from nacre import __version__
from nacre.cli.inflight import InFlight
from nacre.cli.start import connect_or_start
from nacre.errors import WIRE, DaemonRestarted, DaemonUnreachable, NacreError
from nacre.paths import Paths, find_paths

PROTOCOL = 1  # the socket's, see doors/local.py

_CHUNK = 65536

# A daemon that dies again at once is not worth another start: this many within these seconds,
# without a word from any of them.
_MOST_REOPENINGS = 3
_REOPENINGS_WITHIN = 10.0
# Seconds for the next daemon to greet us; whoever starts it may pause half a minute before.
_GREETING_PATIENCE = 60.0


def greeting(door: str, **more: object) -> bytes:
    """Return the first line to the daemon: who we are and where we stand."""
    import json

    names = ("PATH", "LANG", "LC_ALL", "SSH_AUTH_SOCK")
    try:
        cwd = _text(os.getcwd())
    except FileNotFoundError:  # the folder is gone
        cwd = None
    hello = {
        "nacre": PROTOCOL,
        "door": door,
        "version": __version__,
        "cwd": cwd,
        "env": {
            name: os.environ[name] for name in names if _text(os.environ.get(name)) is not None
        },
        **more,
    }
    return json.dumps(hello).encode() + b"\n"


def _text(value: "str | None") -> "str | None":
    """Return what can be said in JSON: bytes that are no UTF-8 are left out, not the whole line."""
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        return None
    return value


def check_greeting(line: bytes) -> str:
    """Return the daemon's version.

    Raises DaemonRestarted when it died instead of answering, DaemonUnreachable when it refuses us.
    """
    import json

    if not line.endswith(b"\n"):
        raise DaemonRestarted("the daemon closed the connection; try again")
    try:
        answer = json.loads(line)
    except ValueError:
        raise DaemonUnreachable("what answers there is no daemon of nacre's") from None
    if error := answer.get("error"):
        raise DaemonUnreachable(error["message"])
    version: str = answer["version"]
    return version


def read_greeting(line: bytes) -> None:
    """Check the daemon's answer; a different version is said on standard error.

    Raises as check_greeting does.
    """
    if (version := check_greeting(line)) != __version__:
        print(
            f"nacre: the daemon runs version {version}, this is {__version__}; "
            "'nacre stop' ends the old one, the next call starts the new one",
            file=sys.stderr,
        )


def was_stopped(paths: Paths) -> bool:
    """Tell whether a daemon that closed its connections meant it.

    One that stops takes its state file away before it lets go of its clients; one that was killed
    leaves it behind.
    """
    return not os.path.exists(paths.state_file)


def main_mcp(arguments: list[str]) -> int:
    """Parse `--toolsets a,b` and `--prefix p` by hand, and run; argparse alone takes 20 ms."""
    options: dict[str, str | None] = {"--toolsets": None, "--prefix": None}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in options:
            print(f"nacre mcp: unknown option {word!r}; see nacre mcp --help", file=sys.stderr)
            return 2
        given = value if equals else next(words, None)
        if given is None:
            print(f"nacre mcp: {name} needs a value", file=sys.stderr)
            return 2
        options[name] = given
    try:
        return run_bridge(find_paths(), options["--toolsets"], options["--prefix"])
    except NacreError as error:
        print(f"nacre: {error.message}", file=sys.stderr)
        return WIRE[error.code].exit
    except KeyboardInterrupt:
        return 130


def run_bridge(paths: Paths, toolsets: str | None, prefix: str | None) -> int:
    """Pipe until the input closes; return the exit code.

    Raises DaemonUnreachable when no daemon comes up, or it refuses us.
    """
    hello = greeting("mcp", toolsets=toolsets, prefix=prefix)
    return Bridge(paths, hello, InFlight(prefix or "")).run()


class _Broken(Exception):
    """The daemon is gone; what it still said has been read."""


class Bridge:
    """A host's stdio and the daemon, over all the connections that it takes.

    A blocked side only stops its own direction's reading, as a pipe does. To the daemon one chunk
    is held; to the host what a chunk made whole: its source is read again once that is written.
    """

    def __init__(self, paths: Paths, hello: bytes, inflight: InFlight) -> None:
        self._paths = paths
        self._hello = hello
        self._inflight = inflight
        self._to_daemon = self._to_host = memoryview(b"")
        self._input_open = True
        self._known = False  # whether a daemon has greeted us
        self._heard = False  # whether this daemon has said anything but its greeting
        self._reopenings: list[float] = []

    def run(self) -> int:
        while True:
            try:
                with connect_or_start(self._paths) as connection:
                    self._greet(connection)
                    return self._pump(connection)
            except _Broken:
                # One that never knew us may as well have been on its way out when we came.
                if (self._known and was_stopped(self._paths)) or self._gives_up():
                    return _daemon_gone()

    def _greet(self, connection: socket.socket) -> None:
        """Say who we are, and what the daemon before knew of the host. Raises _Broken."""
        connection.settimeout(_GREETING_PATIENCE)
        try:
            connection.sendall(self._hello)
            line, rest = read_line(connection)
            read_greeting(line)
            connection.sendall(self._inflight.again())
        except (ConnectionError, DaemonRestarted):
            raise _Broken from None
        except TimeoutError:
            raise DaemonUnreachable("the daemon does not answer; see 'nacre doctor'") from None
        connection.settimeout(None)
        self._known = True
        self._to_daemon = memoryview(self._inflight.unsent() + self._to_daemon)
        self._to_host = memoryview(
            bytes(self._to_host) + self._inflight.apologies() + self._inflight.received(rest)
        )

    def _gives_up(self) -> bool:
        now = time.monotonic()
        recent = [] if self._heard else self._reopenings
        self._reopenings = [then for then in recent if now - then < _REOPENINGS_WITHIN]
        self._reopenings.append(now)
        self._heard = False
        return len(self._reopenings) > _MOST_REOPENINGS

    def _pump(self, connection: socket.socket) -> int:
        """Copy both ways until the input has closed and all is answered. Raises _Broken."""
        daemon = connection.fileno()
        writable = True
        while True:
            poll = select.poll()
            sending = bool(self._to_daemon) and writable
            if sending or not self._to_host:
                poll.register(
                    daemon,
                    (select.POLLOUT if sending else 0) | (0 if self._to_host else select.POLLIN),
                )
            if self._input_open and not self._to_daemon:
                poll.register(0, select.POLLIN)
            if self._to_host:
                poll.register(1, select.POLLOUT)
            ready = dict(poll.poll())
            if 0 in ready:
                self._to_daemon = memoryview(os.read(0, _CHUNK))
                if not self._to_daemon:
                    self._input_open = False
                    connection.shutdown(socket.SHUT_WR)
            if 1 in ready:
                try:
                    # A pipe that is ready takes this much without blocking (pipe(7), PIPE_BUF).
                    written = os.write(1, self._to_host[: select.PIPE_BUF])
                except BrokenPipeError:  # the host is gone
                    return 0
                self._to_host = self._to_host[written:]
            events = ready.get(daemon, 0)
            if sending and events & (select.POLLOUT | select.POLLERR | select.POLLHUP):
                # It died; what it said before that is still to be read.
                writable = self._send(connection)
            if not self._to_host and events & (select.POLLIN | select.POLLERR | select.POLLHUP):
                try:
                    data = connection.recv(_CHUNK)
                except ConnectionError:
                    data = b""
                if data:
                    self._heard = True
                    self._to_host = memoryview(self._inflight.received(data))
                elif self._input_open:
                    raise _Broken
                else:
                    return 0

    def _send(self, connection: socket.socket) -> bool:
        """Write what the daemon takes; return False when it takes nothing any more."""
        try:
            count = connection.send(self._to_daemon, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._inflight.sent(bytes(self._to_daemon[:count]))
        self._to_daemon = self._to_daemon[count:]
        return True


def read_line(connection: socket.socket) -> tuple[bytes, bytes]:
    """Return the first line, without its end when the daemon died, and what came with it."""
    head = b""
    while b"\n" not in head:
        try:
            part = connection.recv(_CHUNK)
        except ConnectionError:
            break
        if not part:
            break
        head += part
    line, end, rest = head.partition(b"\n")
    return line + end, rest


def _daemon_gone() -> int:
    print("nacre: the daemon is gone; start this again to get a new one", file=sys.stderr)
    return 1
