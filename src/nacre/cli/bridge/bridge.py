"""`nacre mcp`: a thin bridge between an AI host's stdio and the daemon.

Rule 1: it copies lines and parses only what is needed to know which requests are unanswered
(inflight.py). It loads no MCP library, so it is ready at once.
Rule 2: while it starts a daemon, it gives the answers that an earlier one wrote down (early.py).
Rule 3: it exits when its input closes, after the last answers, and with an error when the daemon
was stopped. When a daemon dies, the bridge connects the host to the next one.
"""

import os
import select
import socket
import sys
import time

from nacre.cli.bridge.inflight import InFlight
from nacre.client.greeting import greeting, read_greeting, read_line, was_stopped
from nacre.client.start import connect_or_start
from nacre.errors import WIRE, DaemonRestarted, DaemonUnreachable, NacreError
from nacre.settings.paths import Paths, find_paths

TYPE_CHECKING = False  # typing takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.cli.bridge.early import Early
    from nacre.client.upstream_values import WatchedValues

_CHUNK = 65536

# Give up after this many daemons within these seconds that died without an answer.
_MOST_REOPENINGS = 3
_REOPENINGS_WITHIN = 10.0
# Seconds for the next daemon to greet us; the keeper may pause half a minute before it starts one.
_GREETING_PATIENCE = 60.0


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
        print(f"nacre: {error}", file=sys.stderr)
        return WIRE[error.code].exit
    except KeyboardInterrupt:
        return 130


def run_bridge(paths: Paths, toolsets: str | None, prefix: str | None) -> int:
    """Pipe until the input closes; return the exit code.

    Raises DaemonUnreachable when no daemon comes up, or it refuses us.
    """
    # Not `secrets`: it would be loaded for this alone.
    identity = os.urandom(8).hex()
    values = None
    if "upstream" in (toolsets or ""):
        from nacre.client.upstream_values import WatchedValues

        values = WatchedValues(paths)

    def hello() -> bytes:
        more = {} if values is None else {"values": values.now}
        return greeting("mcp", toolsets=toolsets, prefix=prefix, client_id=identity, **more)

    def early() -> "Early | None":
        from nacre.cli.bridge.early import Early
        from nacre.client.written_answers import read_answers

        answers = read_answers(paths, toolsets, prefix)
        return None if answers is None else Early(answers)

    return Bridge(paths, hello, InFlight(prefix or "", toolsets or ""), values, early).run()


class _Broken(Exception):
    """The daemon is gone, and everything that it sent has been read."""


class Bridge:
    """A host's stdio and the daemon, also across restarts of the daemon.

    If one side is blocked, only that direction stops reading, as with a pipe. One chunk is held
    for the daemon. For the host the lines that a chunk completed are held, and the daemon is read
    again after they are written.
    """

    def __init__(
        self,
        paths: Paths,
        hello: "Callable[[], bytes]",
        inflight: InFlight,
        values: "WatchedValues | None" = None,
        early: "Callable[[], Early | None]" = lambda: None,
    ) -> None:
        """`early` gives what answers the host while a daemon starts, if something can."""
        self._paths = paths
        self._hello = hello
        self._inflight = inflight
        self._values = values
        self._find_early = early
        self._early: Early | None = None  # while the first daemon starts
        self._begun = b""  # of a line that is not wholly read yet, meanwhile
        self._whole = True  # whether the last that the host sent was the end of a line
        self._to_daemon = self._to_host = memoryview(b"")
        self._input_open = True
        self._known = False  # whether a daemon has greeted us
        self._heard = False  # whether this daemon has sent anything after its greeting
        self._reopenings: list[float] = []

    def run(self) -> int:
        while True:
            try:
                with connect_or_start(self._paths, None, self._starting) as connection:
                    self._greet(connection)
                    return self._pump(connection)
            except _Broken:
                # A daemon that never greeted us may just have been stopping when we connected.
                if (self._known and was_stopped(self._paths)) or self._gives_up():
                    return _daemon_gone()

    def _greet(self, connection: socket.socket) -> None:
        """Send our greeting, and what the last daemon knew about the host. Raises _Broken."""
        connection.settimeout(_GREETING_PATIENCE)
        try:
            connection.sendall(self._hello())
            self._answer_early(connection.fileno())
            line, rest = read_line(connection)
            read_greeting(line)
            connection.sendall(self._inflight.again())
        except (ConnectionError, DaemonRestarted):
            raise _Broken from None
        except TimeoutError:
            raise DaemonUnreachable("the daemon does not answer; see 'nacre doctor'") from None
        connection.settimeout(None)
        self._known, self._early = True, None
        self._to_daemon = memoryview(self._inflight.unsent() + self._to_daemon + self._begun)
        self._begun = b""
        self._to_host = memoryview(
            bytes(self._to_host) + self._inflight.apologies() + self._inflight.received(rest)
        )

    def _starting(self, listening: int) -> None:
        """Answer the host until the daemon that was started listens."""
        if not self._known and self._values is None:
            self._early = self._find_early()
        self._answer_early(listening)

    def _answer_early(self, daemon: int) -> None:
        """Give answers that stand until there is something to read from the daemon."""
        early = self._early
        deadline = time.monotonic() + _GREETING_PATIENCE
        while early is not None:
            poll = select.poll()
            poll.register(daemon, select.POLLIN)
            if self._early is not None and not self._to_daemon:
                poll.register(0, select.POLLIN)
            if self._to_host:
                poll.register(1, select.POLLOUT)
            ready = dict(poll.poll(max(0, deadline - time.monotonic()) * 1000))
            if 0 in ready:
                self._take_early(early, os.read(0, _CHUNK))
            if 1 in ready and not self._write_to_host():
                return  # the host is gone: the pump will find its input closed
            if not ready or daemon in ready:
                return

    def _take_early(self, early: "Early", data: bytes) -> None:
        """Answer what can be answered. From the first line that cannot, all waits."""
        *lines, self._begun = (self._begun + data).split(b"\n")
        for count, line in enumerate(lines):
            answer = early.answer(line) if line else b""
            if answer is None:
                self._to_daemon = memoryview(b"\n".join((*lines[count:], self._begun)))
                self._begun = b""
                break
            self._inflight.sent(line + b"\n")
            self._to_host = memoryview(bytes(self._to_host) + self._inflight.received(answer))
        if not data or len(self._begun) >= _CHUNK:
            self._early = None  # the rest is the pump's: it reads the end again

    def _write_to_host(self) -> bool:
        """Write what it takes without blocking; return whether it is there."""
        try:
            # A pipe that is ready accepts this much without blocking (pipe(7), PIPE_BUF).
            written = os.write(1, self._to_host[: select.PIPE_BUF])
        except BrokenPipeError:
            return False
        self._to_host = self._to_host[written:]
        return True

    def _gives_up(self) -> bool:
        now = time.monotonic()
        recent = [] if self._heard else self._reopenings
        self._reopenings = [then for then in recent if now - then < _REOPENINGS_WITHIN]
        self._reopenings.append(now)
        self._heard = False
        return len(self._reopenings) > _MOST_REOPENINGS

    def _pump(self, connection: socket.socket) -> int:
        """Copy both ways until the input has closed and everything is answered. Raises _Broken."""
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
                self._to_daemon = memoryview(self._with_values(os.read(0, _CHUNK)))
                if not self._to_daemon:
                    self._input_open = False
                    self._inflight.leave()
                    connection.shutdown(socket.SHUT_WR)
                elif writable:
                    writable = self._send(connection)  # mostly it takes it at once
            if 1 in ready and not self._write_to_host():
                return 0  # the host is gone
            events = ready.get(daemon, 0)
            if sending and events & (select.POLLOUT | select.POLLERR | select.POLLHUP):
                # It died, but what it sent before must still be read.
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

    def _with_values(self, data: bytes) -> bytes:
        """Return what the host sent, behind the values of variables that the config names anew."""
        if self._values is None or not data:
            return data
        news = self._values.news() if self._whole else b""
        self._whole = data.endswith(b"\n")
        return news + data

    def _send(self, connection: socket.socket) -> bool:
        """Write what the daemon accepts. Return False if it accepts nothing any more."""
        try:
            count = connection.send(self._to_daemon, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._inflight.sent(bytes(self._to_daemon[:count]))
        self._to_daemon = self._to_daemon[count:]
        return True


def _daemon_gone() -> int:
    print("nacre: the daemon is gone; start this again to get a new one", file=sys.stderr)
    return 1
