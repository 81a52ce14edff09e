"""Reach the daemon's socket, starting a daemon when none runs.

Rule 1: this file is loaded by the stdio bridge at every start: it imports almost nothing.
Rule 2: no polling: the new daemon says through a pipe that it listens.
"""

import os
import socket
import sys

from nacre.errors import DaemonUnreachable
from nacre.paths import Paths, SocketAddress, make_private

# Not imported: it is a program of its own (its first lines say how it is run).
_KEEPER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "system", "keeper.py")


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
            "'nacre server' one that stays"
        ) from None
    return connection


def connect_or_start(paths: Paths) -> socket.socket:
    """Return a connection, to a daemon on demand when none runs.

    Raises DaemonUnreachable, with the place of the log, when it does not come up.
    """
    try:
        return connect(paths)
    except DaemonUnreachable:
        pass
    import fcntl  # only here: most starts find a daemon

    make_private(paths.runtime)
    gate = os.open(os.path.join(paths.runtime, "start.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Whoever comes second waits here until the first one's daemon listens.
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
            # It goes on by itself; Popen must not warn that nobody waits for it.
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
