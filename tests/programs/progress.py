"""Draw a bar over itself, a step for each byte of input: animation in a known number of steps."""

import os
import tty

STEPS = 10

tty.setcbreak(0)
for step in range(STEPS + 1):
    bar = "\x1b[32m" + "#" * step + "\x1b[0m" + "." * (STEPS - step)
    os.write(1, f"\r\x1b[K[{bar}] {step * 100 // STEPS:3d}%".encode())
    if step < STEPS:
        os.read(0, 1)
os.write(1, b"\r\ndone\r\n")
