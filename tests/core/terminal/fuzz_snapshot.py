"""Damage snapshots in all ways. Run as a process: a native crash must not be ours.

`python fuzz_snapshot.py FIRST COUNT` runs seeds FIRST to FIRST+COUNT-1.
"""

import random
import sys

from nacre.core.terminal.terminal import Terminal

from vt_streams import STREAMS


def damaged(good: bytes, rng: random.Random) -> bytes:
    data = bytearray(good)
    at = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            del data[at:]
        case 1:
            data[at] ^= 1 << rng.randrange(8)
        case 2:
            data[at : at + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(9))
        case _:
            data[at] = rng.choice((0, 127, 128, 255))
    return bytes(data)


def run(first: int, count: int) -> None:
    terminal = Terminal(8, 20)
    terminal.feed(b"\x18".join(STREAMS.values()))
    good = terminal.snapshot()
    for seed in range(first, first + count):
        data = damaged(good, random.Random(seed))
        try:
            Terminal.from_snapshot(data)
        except ValueError:
            continue
        assert data == good, seed


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]))
