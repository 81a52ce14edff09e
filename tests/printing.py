"""A program that prints without end, the same bytes each time, for as long as it is let.

Run as `python printing.py NUMBER`: it prints blocks until SIGUSR1 comes, then how many there were
so far, and goes on at the next SIGUSR1.
"""

import os
import signal
import sys
import tty

_LINES = 40


def block(number: int, index: int) -> bytes:
    """Return one block: numbered lines in colour, wide characters, cursor motion, a scroll."""
    parts = []
    for line in range(index * _LINES, (index + 1) * _LINES):
        colour = 31 + (line + number) % 7
        parts.append(f"\x1b[{colour};1m{number}:{line:08d}\x1b[0m \x1b[48;5;{line % 256}m界é\x1b[m")
        if line % 5 == 0:
            parts.append("\x1b[3D<\x1b[20C>\x1b[K")
        if line % 17 == 0:
            parts.append("\x1b7\x1b[H\x1b[7mtop\x1b[m\x1b8")
        parts.append("\r\n")
    parts.append(f"\x1b[2A\x1b[10G{index}\x1b[2B\r\x1b]0;title {index}\x07")
    return "".join(parts).encode()


def ending(blocks: int) -> bytes:
    return f"\x1b[Kprinted {blocks} blocks\r\n".encode()


def part(number: int, first: int, last: int) -> bytes:
    """Return what the program printed from one block to another, and that it stopped there."""
    return b"".join(block(number, index) for index in range(first, last)) + ending(last)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    number, index = int(sys.argv[1]), 0
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    tty.setraw(0)
    while True:
        while signal.SIGUSR1 not in signal.sigpending():
            _write(block(number, index))
            index += 1
        signal.sigwait([signal.SIGUSR1])
        _write(ending(index))
        signal.sigwait([signal.SIGUSR1])


if __name__ == "__main__":
    main()
