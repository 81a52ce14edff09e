"""`nacre mcp`: a thin pipe between an AI host's stdio and the daemon.

Rule 1: it copies bytes and understands none of them; no MCP library is loaded, so that it is up at
once.
Rule 2: it ends when its input closes, after the last answers; with an error when the daemon goes.
"""

import os
import select
import socket
import sys

from nacre import __version__
from nacre.cli.start import connect_or_start
from nacre.errors import WIRE, DaemonUnreachable, NacreError
from nacre.paths import Paths, find_paths

PROTOCOL = 1  # the socket's, see doors/local.py

_CHUNK = 65536


def greeting(door: str, **more: object) -> bytes:
    """Return the first line to the daemon: who we are and where we stand."""
    import json

    names = ("PATH", "LANG", "LC_ALL", "SSH_AUTH_SOCK")
    try:
        cwd = os.getcwd()
    except FileNotFoundError:  # the folder is gone
        cwd = None
    hello = {
        "nacre": PROTOCOL,
        "door": door,
        "version": __version__,
        "cwd": cwd,
        "env": {name: os.environ[name] for name in names if name in os.environ},
        **more,
    }
    return json.dumps(hello).encode() + b"\n"


def read_greeting(line: bytes) -> None:
    """Check the daemon's answer; a different version is said on standard error.

    Raises DaemonUnreachable when the daemon refuses us.
    """
    import json

    try:
        answer = json.loads(line)
    except ValueError:
        raise DaemonUnreachable("the daemon closed the connection; try again") from None
    if error := answer.get("error"):
        raise DaemonUnreachable(error["message"])
    if answer["version"] != __version__:
        print(
            f"nacre: the daemon runs version {answer['version']}, this is {__version__}; "
            "'nacre stop' ends the old one, the next call starts the new one",
            file=sys.stderr,
        )


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
    """Pipe until the input closes; return the exit code."""
    connection = connect_or_start(paths)
    connection.sendall(greeting("mcp", toolsets=toolsets, prefix=prefix))
    head = _first_line(connection)
    line, _, rest = head.partition(b"\n")
    read_greeting(line)
    if rest:
        _write_all(1, rest)
    return _pump(connection)


def _first_line(connection: socket.socket) -> bytes:
    head = b""
    while b"\n" not in head:
        try:
            part = connection.recv(_CHUNK)
        except ConnectionError:  # it died while it was loading
            part = b""
        if not part:
            break
        head += part
    return head


def _pump(connection: socket.socket) -> int:
    """Copy both ways. A blocked side only stops its own direction's reading, as a pipe does.

    Each direction holds one chunk; its source is read again once that is written.
    """
    to_daemon = to_host = memoryview(b"")
    input_open = True
    daemon = connection.fileno()
    while True:
        poll = select.poll()
        if to_daemon or not to_host:
            poll.register(
                daemon,
                (select.POLLOUT if to_daemon else 0) | (0 if to_host else select.POLLIN),
            )
        if input_open and not to_daemon:
            poll.register(0, select.POLLIN)
        if to_host:
            poll.register(1, select.POLLOUT)
        ready = dict(poll.poll())
        if 0 in ready:
            to_daemon = memoryview(os.read(0, _CHUNK))
            if not to_daemon:
                input_open = False
                connection.shutdown(socket.SHUT_WR)
        if 1 in ready:
            try:
                # A pipe that is ready takes this much without blocking (pipe(7), PIPE_BUF).
                to_host = to_host[os.write(1, to_host[: select.PIPE_BUF]) :]
            except BrokenPipeError:  # the host is gone
                return 0
        events = ready.get(daemon, 0)
        if to_daemon and events & (select.POLLOUT | select.POLLERR | select.POLLHUP):
            try:
                to_daemon = to_daemon[connection.send(to_daemon, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass
            except OSError:
                return _daemon_gone()
        if not to_host and events & (select.POLLIN | select.POLLERR | select.POLLHUP):
            try:
                to_host = memoryview(connection.recv(_CHUNK))
            except ConnectionError:
                to_host = memoryview(b"")
            if not to_host:
                return _daemon_gone() if input_open else 0


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _daemon_gone() -> int:
    print("nacre: the daemon is gone; start this again to get a new one", file=sys.stderr)
    return 1
