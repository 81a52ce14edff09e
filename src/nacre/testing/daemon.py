"""A daemon for one run of tests: in a folder of its own, gone with the run.

Rule 1: neither the user's daemon nor their settings are touched: the home is a temporary folder.
Rule 2: it is started once for all terminals of a run, so that each of them costs milliseconds.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nacre.client.calls import Client
from nacre.client.start import connect
from nacre.errors import DaemonUnreachable
from nacre.library.address import LocalAddress
from nacre.settings.paths import Paths

_MOST_PROGRAMS = 1000  # at once; what runs in parallel is bounded by who runs it

_END_PATIENCE = 10.0  # seconds for the daemon to end by itself; it does so in a fraction of one

_SETTINGS = {
    "NACRE_PORT": "0",  # any
    "NACRE_GRACE": "5",  # seconds; it is stopped, but who runs the tests may be killed
    "NACRE_KILL_GRACE": "0.1",  # a program that ignores its hangup holds nobody up
    "NACRE_MCP_LOAD_AFTER": "0",  # nobody here speaks MCP
    "NACRE_MAX_SESSIONS": str(_MOST_PROGRAMS),
}


@contextmanager
def private_daemon() -> Iterator[LocalAddress]:
    """Yield the address of a daemon that the first client starts; remove its folder at the end."""
    home = tempfile.mkdtemp(prefix="nacre-test-")
    env = {name: value for name, value in os.environ.items() if not name.startswith("NACRE_")}
    address = LocalAddress(environ={**env, **_SETTINGS, "NACRE_HOME": home})
    try:
        yield address
    finally:
        with suppress(DaemonUnreachable), Client(connect(address.paths)) as client:
            client.call("stop")
            _wait_for_end(address.paths)  # it would make its folder again
        shutil.rmtree(home, ignore_errors=True)


def _wait_for_end(paths: Paths) -> None:
    """Return when daemon and keeper have ended, which hold a lock of the folder until then."""
    import fcntl

    folder = os.open(paths.state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    # In a thread: the kernel waits without a deadline, and an alarm may be the tests' own.
    waiting = threading.Thread(target=fcntl.flock, args=(folder, fcntl.LOCK_SH), daemon=True)
    waiting.start()
    waiting.join(_END_PATIENCE)
    if not waiting.is_alive():  # else the thread still uses it
        os.close(folder)
