"""Type numbered lines at a terminal through a ring, in processes that are killed over and over.

Run as a program: `python typing_kills.py KILLS`. Each process opens the same memory, as the next
daemon does, and types on behind what it says that the terminal took. The parent plays the program
at the terminal, which reads in bursts, so that the terminal is often full.

It prints how many bytes arrived and were as typed, and how many processes found bytes staged by the
one before them of which no word told that the terminal had taken them.
"""

import fcntl
import os
import random
import signal
import sys
import termios
import tty
from array import array
from contextlib import suppress

from nacre.system.storage import ring as layout
from nacre.system.storage.ring import Ring

NAME = 7
LINE = 12


def typed(first: int, count: int) -> bytes:
    """Return these bytes of an endless row of numbered lines."""
    line, skip = divmod(first, LINE)
    lines = b"".join(b"%011d\n" % number for number in range(line, line + count // LINE + 2))
    return lines[skip : skip + count]


def noted(memory: int) -> int:
    """Up to where the word says that the terminal took it."""
    at = layout._TYPISTS_AT + 8 * layout._OF_TAKEN
    return int.from_bytes(os.pread(memory, 8, at), sys.byteorder)


def live(memory: int, master: int, found: int, seed: int) -> None:
    """One daemon's life."""
    before = noted(memory)
    typist = Ring(os.dup(memory)).typist(NAME)
    assert typist.begun == typist.taken, "there are bytes of which nobody knows"
    os.write(found, b"u" if typist.taken > before else b".")
    dice = random.Random(seed)
    at = typist.taken
    while True:
        with suppress(BlockingIOError):
            at += typist.write(master, typed(at, dice.choice((1, 12, 5000))), at)
        typist.took(at)


def unread(slave: int) -> int:
    count = array("i", [0])
    fcntl.ioctl(slave, termios.FIONREAD, count)
    return count[0]


def main(kills: int) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    memory = Ring().descriptor
    dice = random.Random(7)
    arrived = unnoted = 0

    def read() -> int:
        data = os.read(slave, 65536)
        assert data == typed(arrived, len(data)), f"not as typed from byte {arrived} on"
        return len(data)

    for life in range(kills):
        said, says = os.pipe()
        pid = os.fork()
        if not pid:
            live(memory, master, says, life)
        os.close(says)
        unnoted += os.read(said, 1) == b"u"
        os.close(said)
        for _ in range(dice.randrange(4)):
            arrived += read()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    taken = Ring(os.dup(memory)).typist(NAME).taken
    while arrived < taken:
        arrived += read()
    assert not unread(slave), "there is more than was noted"
    print(arrived, unnoted)


if __name__ == "__main__":
    main(int(sys.argv[1]))
