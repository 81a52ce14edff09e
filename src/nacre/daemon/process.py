"""The daemon as a process: what it does before its loop runs.

Rule: sockets listen before the heavy libraries are loaded, so that the client can already send its
first request.
"""

import asyncio
import logging
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from nacre import __version__
from nacre.daemon.listeners import listen, lock_home
from nacre.daemon.serving import Keys, Serving
from nacre.daemon.signals import block_signals
from nacre.errors import Internal, InvalidInput
from nacre.settings.paths import Paths, make_private
from nacre.settings.table import Settings
from nacre.system.endpoints import load_token, put_aside, remove_state, write_state
from nacre.system.keeper.client import Keeping
from nacre.system.logs import configure_logs
from nacre.system.tokens import TokenStore, load_page_key

T = TypeVar("T")
_log = logging.getLogger("nacre.daemon")

# A daemon on demand may start while the one before it is still ending its sessions.
_LOCK_PATIENCE = 15.0  # seconds

# Seconds after which a thread lets another one run (Python's own: 5 ms). The loop waits that long,
# each time it wakes, while a thread loads a library or looks at a screen.
_SWITCH = 0.0005


def run_daemon(
    settings: Settings,
    paths: Paths,
    keeping: Keeping,
    *,
    ephemeral: bool,
    ready: int | None = None,
) -> None:
    """Serve until told to stop. `ready` is a descriptor to write to when the sockets listen.

    What the keeper holds from an earlier daemon is taken over: lock, sockets, sessions.
    Raises DaemonRunning when another daemon holds the lock, InvalidInput for an unsafe token file.
    """
    _leave_no_core()
    umask = os.umask(0o077)  # whatever we write is for nobody else; sessions get the user's
    make_private(paths.state)
    keeping.give_up_after(seconds=settings.keeper_patience, messages=settings.keeper_messages)
    kept = keeping.take()
    again = "local" in kept  # with the sessions of the daemon before it
    _make_folders(paths, again=again)
    configure_logs(
        settings.log_level,
        file=paths.log_file if ephemeral else None,
        max_bytes=settings.max_log_bytes,
        form=settings.log_format,
    )
    lock = lock_home(keeping, kept, paths, patience=_LOCK_PATIENCE if ephemeral else 0)
    keys = _load_keys(settings, paths, again=again)
    listeners = listen(settings, paths, keeping, kept, keys.tokens)
    state = {
        "pid": os.getpid(),
        "port": listeners.port,
        "version": __version__,
        "socket": paths.socket,
    }
    if listeners.ndjson_port is not None:
        state["ndjson_port"] = listeners.ndjson_port
    write_state(paths, state)
    block_signals()
    if ready is not None:
        os.write(ready, b"1")
        os.close(ready)
    if ephemeral:
        _to_log(paths.log_file)
    try:
        # A daemon on demand runs in /, where nobody wants to work.
        home = os.path.expanduser("~") if ephemeral else os.getcwd()
        serving = Serving(
            settings, paths, keeping, kept, lock, listeners, keys, state, home, umask, ephemeral
        )
        with _new_loop() as runner:
            ended = runner.run(serving.serve())
            keeping.leave(0)
            if not ended:  # the end of the loop would wait for what is left
                remove_state(paths)
                logging.shutdown()
                os._exit(0)
    finally:
        remove_state(paths)


def _leave_no_core() -> None:
    """Write no memory to the disk in a crash: secrets and screens are in it.

    What the daemon starts may again (`session_core_bytes`): the hard limit stays.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _new_loop() -> asyncio.Runner:
    import uvloop  # after the sockets listen: it takes 40 ms

    from nacre.system.memory import share_arenas

    share_arenas()
    sys.setswitchinterval(_SWITCH)
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _load_keys(settings: Settings, paths: Paths, *, again: bool) -> Keys:
    """Raises InvalidInput for a file that is unsafe or broken.

    A daemon that is started `again` puts it aside and makes a new one: its sessions are running,
    and nobody would reach them.
    """

    def loaded(load: Callable[[], T], path: str) -> T:
        try:
            return load()
        except InvalidInput as error:
            if not again:
                raise
            put_aside(path)
            _log.error("put aside, and made again", extra={"path": path, "error": str(error)})
            return load()

    token = loaded(lambda: load_token(paths.token_file, settings.token), paths.token_file)
    tokens = loaded(
        lambda: TokenStore(paths.tokens_file, time.time, settings.max_tokens), paths.tokens_file
    )
    return Keys(
        token, tokens, loaded(lambda: load_page_key(paths.page_key_file), paths.page_key_file)
    )


def _make_folders(paths: Paths, *, again: bool) -> None:
    """Make what is private. A daemon that is started `again` has its socket: the rest can wait."""
    for folder in (paths.runtime, paths.config):
        try:
            make_private(folder)
        except OSError as error:
            if folder == paths.runtime and not again:
                raise Internal(
                    f"{folder} cannot be made: {error.strerror or error}; make space there, or "
                    "set NACRE_HOME to a folder of yours"
                ) from error
            if error.strerror is None:  # it is another user's
                raise


def _to_log(path: str) -> None:
    """Send what libraries print to the log: our starter has stopped reading."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        log = os.open(path, flags, 0o600)
    except OSError:  # a full or read-only disk
        log = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(log, 2)
    os.close(log)
