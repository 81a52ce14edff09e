"""The commands about the daemon: status and stop.

Rule: when `nacre stop` returns, the daemon is gone, and so is everything that ran in its sessions.
"""

import fcntl
import json
import os
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from nacre.cli.output.answers import add_json, show
from nacre.client.calls import Client
from nacre.client.lock import lock_within
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import Paths, find_paths

# A daemon that holds its lock but takes no connections is starting or stopping. We wait this long
# for the lock, which is free when it has stopped, and then try to connect again.
_BETWEEN = 1.0  # seconds


def add_status(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_status)


def run_status(arguments: Namespace) -> int:
    client = Client.reach()
    if client is None:
        show(arguments, {"running": False}, "no daemon is running; 'nacre new' starts one")
        return 1
    with client:
        status = client.ask("status")
    lines = [
        f"nacre {status['version']} is running, pid {status['pid']}",
        f"address   {status['url']}",
        f"sessions  {status['sessions']}",
        f"uptime    {round(status['uptime'])} s",
        f"socket    {status['socket']}",
        f"token     {status['token_file']}",
        f"ends      {_end(ephemeral=status['ephemeral'])}",
    ]
    return show(arguments, {"running": True, **status}, "\n".join(lines))


def _end(*, ephemeral: bool) -> str:
    return "after its last client leaves (grace)" if ephemeral else "with nacre stop"


def add_stop(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_stop)


def run_stop(arguments: Namespace) -> int:
    stopped = _stop(find_paths())
    text = "the daemon has stopped" if stopped else "no daemon is running"
    return show(arguments, {"success": True, "stopped": stopped}, text)


def _stop(paths: Paths) -> bool:
    """Stop the daemon that is running, and wait for its end. Return whether there was one."""
    while True:
        client = Client.reach()
        if client is not None:
            with client:
                try:
                    pid = client.call("status")["pid"]
                except DaemonUnreachable:  # it is stopping by itself, at the end of its grace
                    if _is_gone(paths, patience=_BETWEEN):
                        return True
                    continue
                # It may exit before we read its answer; the lock says whether it did.
                with suppress(DaemonUnreachable):
                    client.call("stop")
            # Another client may start the next daemon before we see the lock free.
            while not _is_gone(paths, patience=_BETWEEN) and _pid(paths) in (None, pid):
                pass
            return True
        if _is_gone(paths, patience=0):
            return False
        if _is_gone(paths, patience=_BETWEEN):
            return True


def _pid(paths: Paths) -> int | None:
    try:
        with open(paths.state_file, encoding="utf-8") as file:
            pid: int = json.load(file)["pid"]
    except FileNotFoundError:
        return None
    return pid


def _is_gone(paths: Paths, *, patience: float) -> bool:
    """Return whether the daemon's lock is free, now or within `patience` seconds."""
    try:
        lock = os.open(paths.lock_file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        lock_within(lock, fcntl.LOCK_SH, patience)
    except (TimeoutError, BlockingIOError):
        return False
    finally:
        os.close(lock)
    return True
