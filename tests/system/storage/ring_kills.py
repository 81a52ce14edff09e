"""Read a flooded terminal through a ring, in processes that are killed over and over.

Run as a program: `python ring_kills.py KILLS FOLDER`. Each process opens the same memory, as
the next daemon does, and moves what it finds there into a file: that file plays the journal. The
parent hears that a process has opened the ring, and kills it at some moment after that.

It prints how many lines were written, and how often a process found a read that no word told of.
"""

import os
import random
import select
import signal
import sys
import tty

from nacre.system.storage import ring as layout
from nacre.system.storage.ring import Ring


def numbered(line: int) -> bytes:
    # Two-byte characters, so that a torn read tears some of them.
    return b"%08d \xc3\xa4\xc3\xb6\n" % line


def write_lines(slave: int, enough: int) -> int:
    """Write until it is said that it is enough; return how many lines that were."""
    lines = 0
    while not select.select([enough], [], [], 0)[0]:
        data = b"".join(map(numbered, range(lines, lines + 500)))
        while data:
            data = data[os.write(slave, data) :]
        lines += 500
    return lines


def read_on(ring: Ring, master: int, journal: int, dice: random.Random) -> None:
    """Do what a daemon does; return when the terminal is closed."""
    while True:
        _, closed = ring.read(master, dice.choice((1, 5000, 65536)))
        if closed or ring.full or dice.random() < 0.3:
            have = os.fstat(journal).st_size
            assert have >= ring.begin, "what the journal does not have is gone"
            missing = ring.since(have)
            while missing:
                missing = missing[os.write(journal, missing) :]
            ring.release(os.fstat(journal).st_size)
        if closed:
            return


def noted_end(memory: int) -> int:
    """Where the words say that the stream ends."""

    def word(at: int) -> int:
        return int.from_bytes(os.pread(memory, 8, 8 * at), sys.byteorder)

    place = word(layout._AT_PLACE)
    return word(layout._AT_BASE + (place >> 32)) + (place & 0xFFFFFFFF)


def live(memory: int, master: int, journal: int, found: int, seed: int) -> None:
    """One daemon's life."""
    before = noted_end(memory)
    ring = Ring(os.dup(memory))
    os.write(found, b"u" if ring.end > before else b".")
    read_on(ring, master, journal, random.Random(seed))


def main(kills: int, folder: str) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    journal = os.open(f"{folder}/journal", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    memory = Ring().descriptor
    enough, say_enough = os.pipe()
    counted, count = os.pipe()
    if not os.fork():
        os.close(master)
        os.write(count, str(write_lines(slave, enough)).encode())
        os._exit(0)
    os.close(slave)
    dice = random.Random(7)
    unnoted = 0
    for life in range(kills + 1):
        said, says = os.pipe()
        pid = os.fork()
        if not pid:
            live(memory, master, journal, says, life)
            os._exit(0)
        os.close(says)
        unnoted += os.read(said, 1) == b"u"
        if life < kills:
            for _ in range(dice.randrange(20_000)):  # some moment of its work
                pass
            os.kill(pid, signal.SIGKILL)
        else:
            os.write(say_enough, b"x")
        os.waitpid(pid, 0)
        os.close(said)
    print(os.read(counted, 100).decode(), unnoted)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
