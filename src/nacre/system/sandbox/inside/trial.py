"""Look, from inside, whether Landlock and the filter hold what a profile promises.

Rule: each promise is tried by breaking it. The files that are tried are those of the trial alone.
"""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any


def complaints(facts: dict[str, Any], writable: list[str]) -> list[str]:
    """Return what does not hold, one line each."""
    return [*_must_fail(facts), *_must_work(facts, writable)]


def _must_fail(facts: dict[str, Any]) -> Iterator[str]:
    secret, outside = facts["secret"], os.path.dirname(facts["secret"])
    process = f"/proc/{facts['process']}"
    tries: dict[str, Callable[[], object]] = {
        f"{secret} can be read": lambda: open(secret, "rb").close(),
        f"{outside} can be listed": lambda: os.listdir(outside),
        f"{outside} can be written to": lambda: open(f"{outside}/new", "wb").close(),
        "modes of files outside can be changed": lambda: os.chmod(secret, 0o600),
        "times of files outside can be changed": lambda: os.utime(secret),
        "Unix sockets can be reached": lambda: socket.socket(socket.AF_UNIX).close(),
        "the network can be reached": lambda: socket.socket(socket.AF_INET).close(),
        "datagrams can be sent anywhere": lambda: _datagrams(),
        "processes outside can be signalled": lambda: os.kill(facts["process"], 0),
        "processes outside can be looked into": lambda: open(f"{process}/environ", "rb").close(),
        "roots of processes outside can be used": lambda: os.listdir(f"{process}/root"),
    }
    if not facts["writable"]:
        tries["the workspace can be written to"] = lambda: _write(facts["workspace"])
    for complaint, attempt in tries.items():
        try:
            attempt()
        except OSError:
            continue
        yield complaint


def _datagrams() -> None:
    for one in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        one.close()


def _must_work(facts: dict[str, Any], writable: list[str]) -> Iterator[str]:
    folders = [*writable, facts["workspace"]] if facts["writable"] else writable
    for folder in folders:
        try:
            _write(folder)
        except OSError as error:
            yield f"{folder} cannot be written to ({errno.errorcode.get(error.errno or 0)})"
    try:
        os.listdir(facts["workspace"])
        os.listdir("/usr")
        os.kill(os.getpid(), 0)
        for one in socket.socketpair():
            one.close()
    except OSError as error:
        yield f"what a program needs cannot be done ({error})"


def _write(folder: str) -> None:
    path = os.path.join(folder, "nacre-trial")
    with open(path, "wb") as file:
        file.write(b"x")
    os.chmod(path, 0o700)
    os.utime(path, (1, 1))
    if (os.stat(path).st_mode & 0o777, int(os.stat(path).st_mtime)) != (0o700, 1):
        raise OSError(errno.EIO, "was not changed")
    os.unlink(path)
