"""Connect to the daemon's socket, and start a daemon if none is running.

Rule 1: the stdio bridge loads this file at every start, so it imports almost nothing.
Rule 2: no polling: the new daemon reports through a pipe that it listens.
"""

import os
import socket
import time

from nacre.errors import DaemonUnreachable
from nacre.settings.paths import Paths, SocketAddress, make_private

TYPE_CHECKING = False  # typing takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable

# A daemon listens within a second of its start, on a busy machine within a few. While it starts,
# nacre mcp has already answered its host, who may ask for the daemon's port or stop it. A socket
# that was deleted is made again within a moment.
START_PATIENCE = 20.0  # seconds

_AGAIN = 1.0  # seconds; a daemon looks for its socket at each event of its folder

_GATE = "start.lock"  # what starters lock until their daemon listens


def connect(paths: Paths, *, patience: float = 0) -> socket.socket:
    """Return a connection to the running daemon. Raises DaemonUnreachable when there is none.

    If one runs and its socket is missing, it makes that again: it is awaited, at most so many
    seconds.
    """
    connection = _find(paths, patience)
    if connection is None:
        raise DaemonUnreachable(
            "no daemon is running; 'nacre new' starts one with a session, "
            "'nacre server' starts one that stays"
        )
    return connection


def _find(paths: Paths, patience: float) -> "socket.socket | None":
    """Return a connection, or None if no daemon is running.

    Raises DaemonUnreachable when one runs whose socket is missing for longer than `patience`.
    """
    connection = _look(paths)
    if connection is None:
        # Only here, because mostly the socket is there.
        from nacre.client.missing_socket import made_again, runs_unseen

        connection = made_again(paths, lambda: _look(paths), patience)
        if connection is None and runs_unseen(paths):
            raise DaemonUnreachable(
                "a daemon is running or just starting, but its socket is missing and was not made "
                f"again within {patience:.0f} s",
                "try again, or end it with 'nacre stop'",
            )
    return connection


def _soon(paths: Paths) -> "socket.socket | None":
    """Return a connection to a daemon that makes its socket again.

    One that is ending, or only starting, is not awaited here: the next one waits for it, and a host
    gets its first answers meanwhile.
    """
    from nacre.client.missing_socket import made_again

    return made_again(paths, lambda: _look(paths), _AGAIN)


def _look(paths: Paths) -> "socket.socket | None":
    """Return a connection if there is something to connect to now."""
    connection = _connected(paths.socket)
    if connection is None and (elsewhere := _written_address(paths)) is not None:
        connection = _connected(elsewhere)
    return connection


def connect_started(paths: Paths, patience: float) -> "socket.socket | None":
    """Return a connection, also to a daemon that another client is starting just now.

    It waits for that at most so many seconds. None: no daemon is running. Raises DaemonUnreachable
    when one is, and cannot be reached.
    """
    connection = _look(paths)
    if connection is None:
        until = time.monotonic() + patience
        _await_starter(paths, patience)
        connection = _find(paths, max(0, until - time.monotonic()))
    return connection


def _await_starter(paths: Paths, patience: float) -> None:
    """Return when nobody is starting a daemon, or it takes too long."""
    from nacre.client.lock import flock  # only here, because mostly a daemon is running

    for folder in (paths.state, paths.runtime):
        try:
            gate = os.open(os.path.join(folder, _GATE), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            flock(gate, patience, shared=True)
        finally:
            os.close(gate)


def _connected(path: str) -> "socket.socket | None":
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with SocketAddress(path) as address:
            connection.connect(address)
    except OSError:
        connection.close()
        return None
    return connection


def _written_address(paths: Paths) -> "str | None":
    """Return the socket of a daemon that has another runtime folder than we (cron, sudo, ssh)."""
    import json  # only here, because mostly the socket is where we look first

    try:
        with open(paths.state_file, encoding="utf-8") as file:
            path = json.load(file)["socket"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return path if isinstance(path, str) and path != paths.socket else None


def connect_or_start(
    paths: Paths,
    env: "dict[str, str] | None" = None,
    meanwhile: "Callable[[int], None] | None" = None,
) -> socket.socket:
    """Return a connection; start a daemon on demand if none is running.

    `env` is the environment of a daemon that is started; None: ours. `meanwhile` is called if one
    is started, and returns when the descriptor that it gets is readable.
    Raises DaemonUnreachable, which names the log, when it does not start.
    """
    if (connection := _look(paths)) is not None:
        return connection
    import fcntl  # only here, because mostly a daemon is running

    gate = _open_gate(paths)
    try:
        # A second starter waits here until the daemon of the first one listens.
        fcntl.flock(gate, fcntl.LOCK_EX)
        if (connection := _soon(paths)) is not None:
            return connection
        try:
            _start(paths, env, meanwhile)
        except DaemonUnreachable as error:
            try:
                # It found one whose socket was missing for a moment.
                return connect(paths, patience=START_PATIENCE)
            except DaemonUnreachable:
                raise error from None
        return connect(paths)
    finally:
        os.close(gate)


def _open_gate(paths: Paths) -> int:
    """Return what starters lock. Raises DaemonUnreachable when there is no place for it."""
    for folder in (paths.state, paths.runtime):
        try:
            make_private(folder)
            path = os.path.join(folder, _GATE)
            gate = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.fchmod(gate, 0o600)  # whatever the umask has taken away
            return gate
        except OSError as error:
            problem = f"{folder}: {error.strerror or error}"
    raise DaemonUnreachable(
        f"the daemon cannot be started: {problem}; make space there, or set NACRE_HOME to a "
        "folder of yours"
    )


def _start(
    paths: Paths, env: "dict[str, str] | None", meanwhile: "Callable[[int], None] | None"
) -> None:
    import subprocess

    from nacre.client.keeping import server_command

    listening, ready = os.pipe()
    try:
        process = subprocess.Popen(
            server_command(["server", "--ephemeral", "--ready-fd", str(ready)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env=env,
            pass_fds=[ready],
            start_new_session=True,
        )
        os.close(ready)
        ready = -1
        if meanwhile is not None:
            meanwhile(listening)
        if os.read(listening, 1):
            # It keeps running without us; Popen must not warn that nobody waits for it.
            process.returncode = 0
            assert process.stderr is not None
            process.stderr.close()  # of a program that stays: nobody reads it
            return
        _, complaint = process.communicate()
        message = complaint.decode(errors="replace").strip().removeprefix("nacre: ")
        message = message or f"see {paths.log_file}"
        raise DaemonUnreachable(f"the daemon did not start: {message}")
    finally:
        os.close(listening)
        if ready >= 0:
            os.close(ready)
