"""A program that prints, in hex and without a gap, every byte that it is sent; for tests of keys.

Its arguments are modes to switch on first, as xterm numbers them: 2004 for bracketed paste.
"""

import os
import sys
import tty

if __name__ == "__main__":
    tty.setraw(0)
    for mode in sys.argv[1:]:
        os.write(1, f"\x1b[?{mode}h".encode())
    os.write(1, b"codes:\r\n")
    while data := os.read(0, 1024):
        os.write(1, data.hex().encode())
