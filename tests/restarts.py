"""Daemons that die: a real one, killed with -9, and one that a test plays itself, line by line."""

import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import Daemon, environment
from nacre import __version__
from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.settings.paths import SocketAddress, find_paths, make_private

from doors.wire import Doomed, Line

PATIENCE = 60.0  # seconds; only bounds how long a test that fails takes


def crash(daemon: Daemon) -> None:
    """Kill the daemon with -9, and return when its keeper's next one answers."""
    pid = pid_of(daemon)  # it answers: from here on its keeper replaces it
    doomed = Doomed([pid])
    os.kill(pid, signal.SIGKILL)
    assert doomed.survivors(PATIENCE) == []
    assert pid_of(daemon) != pid


def pid_of(daemon: Daemon) -> int:
    paths = find_paths(daemon.env)
    with Client(connect(paths), paths=paths, timeout=PATIENCE) as client:
        return int(client.call("status")["pid"])


class PlayedDaemon:
    """The daemon's side of the Unix socket, played by a test.

    Its listening socket is held open between connections, as the keeper does it.
    """

    def __init__(self, home: Path) -> None:
        self.env = environment(home)
        self.paths = find_paths(self.env)
        make_private(self.paths.runtime)
        make_private(self.paths.state)
        Path(self.paths.state_file).write_text(json.dumps({"pid": 0}))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.settimeout(PATIENCE)
        self._listener.bind(SocketAddress(self.paths.socket).__enter__())
        self._listener.listen()
        self._open: list[Line] = []

    def accept(
        self,
        *,
        door: str,
        version: str = __version__,
        numbers: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Line:
        """Take the next client and greet it; `meanwhile` happens before that."""
        connection, _ = self._listener.accept()
        connection.settimeout(PATIENCE)
        line = Line(connection, connection.makefile("rb"))
        self._open.append(line)
        self.hello: dict[str, Any] = line.read()
        assert self.hello["door"] == door
        meanwhile()
        line.send({"nacre": 1, "version": version, "numbers": numbers})
        return line

    def hang_up(self) -> None:
        """Take the next client and die before it is greeted."""
        connection, _ = self._listener.accept()
        connection.close()

    def end_with_keeper(self) -> None:
        """Take the next client and end; nobody listens any more."""
        connection, _ = self._listener.accept()
        self._listener.close()
        connection.close()

    def die(self, line: Line) -> None:
        """Close a connection as a killed daemon's is."""
        line.reader.close()
        line.connection.close()

    def take_leave(self) -> None:
        """Do what a daemon does first that is told to stop."""
        os.unlink(self.paths.state_file)
        os.unlink(self.paths.socket)

    def close(self) -> None:
        for line in self._open:
            self.die(line)
        self._listener.close()
