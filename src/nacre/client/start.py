"""Connect to the daemon's socket, and start a daemon if none is running.

Rule 1: the stdio bridge loads this file at every start, so it imports almost nothing.
Rule 2: no polling: the new daemon reports through a pipe that it listens.
"""

import os
import socket
import sys

from nacre.errors import DaemonUnreachable
from nacre.settings.paths import Paths, SocketAddress, make_private

# Not imported: it is a separate program (its first lines say how it is started).
_KEEPER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "system", "keeper", "keeper.py")


def connect(paths: Paths) -> socket.socket:
    """Return a connection to the running daemon. Raises DaemonUnreachable when there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with SocketAddress(paths.socket) as address:
            connection.connect(address)
    except OSError:
        connection.close()
        raise DaemonUnreachable(
            "no daemon is running; 'nacre new' starts one with a session, "
            "'nacre server' starts one that stays"
        ) from None
    return connection


def connect_or_start(paths: Paths) -> socket.socket:
    """Return a connection; start a daemon on demand if none is running.

    Raises DaemonUnreachable, which names the log, when it does not start.
    """
    try:
        return connect(paths)
    except DaemonUnreachable:
        pass
    import fcntl  # only here, because mostly a daemon is running

    make_private(paths.runtime)
    gate = os.open(os.path.join(paths.runtime, "start.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # A second starter waits here until the daemon of the first one listens.
        fcntl.flock(gate, fcntl.LOCK_EX)
        try:
            return connect(paths)
        except DaemonUnreachable:
            _start(paths)
        return connect(paths)
    finally:
        os.close(gate)


def _start(paths: Paths) -> None:
    import subprocess

    listening, ready = os.pipe()
    try:
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", _KEEPER),
                *(sys.executable, "-m", "nacre", "server"),
                *("--ephemeral", "--ready-fd", str(ready)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            pass_fds=[ready],
            start_new_session=True,
        )
        os.close(ready)
        ready = -1
        if os.read(listening, 1):
            # It keeps running without us; Popen must not warn that nobody waits for it.
            process.returncode = 0
            return
        _, complaint = process.communicate()
        message = complaint.decode(errors="replace").strip().removeprefix("nacre: ")
        message = message or f"see {paths.log_file}"
        raise DaemonUnreachable(f"the daemon did not start: {message}")
    finally:
        os.close(listening)
        if ready >= 0:
            os.close(ready)
