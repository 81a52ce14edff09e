"""The commands that look after the daemon: status and stop.

Rule: when `nacre stop` returns, the daemon is gone, and so is everything that ran in it.
"""

import fcntl
import json
import os
import signal
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from types import FrameType

from nacre.cli.answers import add_json, show
from nacre.cli.client import Client
from nacre.errors import DaemonUnreachable
from nacre.paths import Paths, find_paths

# A daemon that holds its lock but cannot be connected to is just coming or going: the lock wakes us
# when it has gone, and after this we look whether it has come.
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
    return "when it is no longer needed" if ephemeral else "when it is told to: nacre stop"


def add_stop(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_stop)


def run_stop(arguments: Namespace) -> int:
    stopped = _stop(find_paths())
    text = "the daemon has stopped" if stopped else "no daemon is running"
    return show(arguments, {"success": True, "stopped": stopped}, text)


def _stop(paths: Paths) -> bool:
    """Return when no daemon is left that ran at the call; tell whether there was one."""
    while True:
        client = Client.reach()
        if client is not None:
            with client:
                try:
                    pid = client.call("status")["pid"]
                except DaemonUnreachable:  # it is going by itself: its grace was over
                    if _is_gone(paths, patience=_BETWEEN):
                        return True
                    continue
                # It may be gone before its answer is read; the lock tells.
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
    """Tell whether nobody holds the daemon's lock, or lets go of it within `patience` seconds."""
    try:
        lock = os.open(paths.lock_file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        if patience:
            _share(lock, patience)
        else:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (TimeoutError, BlockingIOError):
        return False
    finally:
        os.close(lock)
    return True


def _share(lock: int, patience: float) -> None:
    """Wait for the lock; the kernel wakes us, and an alarm bounds the wait."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
