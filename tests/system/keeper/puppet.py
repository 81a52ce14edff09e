"""A daemon on strings: the keeper starts it, and a test tells it what to say and do.

Run as a program: `python -I -S puppet.py CONTROL`. Orders are expressions that come over a socket;
what they give goes back as its repr.
"""

import os
import select
import signal
import socket
import subprocess
import sys

__all__ = ["select"]  # for orders

CHANNEL = "NACRE_KEEPER_FD"  # not imported: the keeper's side of the protocol stands here once more
_PACKET = 65536


def descriptors() -> list[int]:
    """What is open in this process, but for the folder that is read to find out."""
    found = sorted(map(int, os.listdir("/proc/self/fd")))
    return [one for one in found if os.path.exists(f"/proc/self/fd/{one}")]


opened = descriptors()
channel = socket.socket(fileno=int(os.environ[CHANNEL]))
signals: list[int] = []


def say(message: str | bytes, *carried: int) -> None:
    data = message if isinstance(message, bytes) else message.encode()
    socket.send_fds(channel, [data], carried)


def hear() -> str:
    return channel.recv(_PACKET).decode()


def keep(key: str, text: str) -> None:
    """Leave a pipe with something in it."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    say(f"KEEP {key}", reader)
    os.close(reader)
    os.close(writer)


def take() -> tuple[dict[str, str], dict[int, int]]:
    """Return what is kept, read to its end, and the exits."""
    kept: dict[str, str] = {}
    exits: dict[int, int] = {}
    say("TAKE")
    while True:
        data, carried, _, _ = socket.recv_fds(channel, _PACKET, 253)
        word, _, rest = data.decode().partition(" ")
        if word == "HAVE":
            for key, descriptor in zip(rest.split("\n"), carried, strict=True):
                kept[key] = os.read(descriptor, 100).decode()
                os.close(descriptor)
            say("MORE")
        elif word == "EXIT":
            pid, _, status = rest.partition(" ")
            exits[int(pid)] = int(status)
        else:
            assert word == "END", data
            for pair in rest.split():
                pid, _, status = pair.partition(":")
                exits[int(pid)] = int(status)
            return kept, exits


def child(line: str, stdin: int = 0) -> int:
    """Start a process; return its id."""
    return subprocess.Popen(["/bin/sh", "-c", line], stdin=stdin).pid


def ended_child(line: str) -> int:
    """Start a process, and return what it prints: of one that it leaves behind, for example."""
    return int(subprocess.run(["/bin/sh", "-c", line], stdout=subprocess.PIPE, check=True).stdout)


def take_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: signals.append(number))


def main(path: str) -> None:
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.connect(path)
    control.send(str(os.getpid()).encode())
    while order := control.recv(_PACKET):
        try:
            answer = repr(eval(order, globals()))  # orders are the test's own
        except Exception as error:  # noqa: BLE001  # told to the test
            answer = repr(f"{type(error).__name__}: {error}")
        control.send(answer.encode())


if __name__ == "__main__":
    main(sys.argv[1])
