"""Feed a terminal what no program would send. Run as a process: a native crash must not be ours.

`python fuzz_terminal.py FIRST COUNT` runs seeds FIRST to FIRST+COUNT-1, and writes each seed before
it begins, so that the last one written is the one that failed.
"""

import random
import sys

from nacre.core.keys.names import KEY_NAMES, KeyPress
from nacre.core.terminal.terminal import Terminal

from vt_streams import STREAMS, styled_text

STEPS = 150

FINALS = b"@ABCDEFGHIJKLMPSTXZ`abcdefghilmnpqrstuvwxyz{|}~"
WIDE = "漢👩\u200d👩🇩🇪e\u0301\u0e33\ufe0f\u200b\u0300ﷺ\U0010eeee".encode()


def number(rng: random.Random) -> bytes:
    return str(
        rng.choice((0, 1, 2, 3, 5, 8, 24, 79, 80, 81, 255, 1049, 9999, 65535, 70000))
    ).encode()


def csi(rng: random.Random) -> bytes:
    numbers = rng.choice((b";", b":")).join(number(rng) for _ in range(rng.randrange(4)))
    final = bytes([rng.choice(FINALS)])
    return b"\x1b[" + rng.choice((b"", b"", b"?", b">", b"=", b"<")) + numbers + final


def osc(rng: random.Random) -> bytes:
    command = rng.choice((0, 2, 4, 7, 8, 9, 10, 11, 52, 99, 104, 110, 133, 777, 1337, 5522))
    rest = rng.choice(
        (b"", b";?", b";;http://x/", b";A", b";c;?", b";1;rgb:1/2/3", rng.randbytes(9))
    )
    return b"\x1b]%d;" % command + rest + rng.choice((b"\x07", b"\x1b\\", b"", b"\x18"))


def fragment(rng: random.Random) -> bytes:
    kind = rng.randrange(11)
    if kind < 3:
        return csi(rng)
    if kind == 3:
        return osc(rng)
    if kind == 4:
        return b"\x1b" + rng.choice(
            (b"7", b"8", b"c", b"D", b"E", b"H", b"M", b"#8", b"(0", b"=", b"P1$qm")
        )
    if kind == 5:
        modes = (3, 5, 6, 7, 40, 47, 69, 1047, 1048, 1049, 2004, 2026, 2027, 2048)
        return b"\x1b[?%d%c" % (rng.choice(modes), rng.choice(b"hl"))
    if kind == 6:
        return rng.randbytes(rng.randrange(20))
    if kind == 7:
        return WIDE[rng.randrange(len(WIDE)) :]
    if kind == 8:
        return rng.choice((b"\r\n", b"\t", b"\x08", b"\x0e", b"\x0f")) * rng.randrange(1, 40)
    if kind == 9:
        return rng.choice(list(STREAMS.values()))
    return bytes(rng.choice(b"abc \x1b") for _ in range(rng.randrange(60)))


def step(terminal: Terminal, rng: random.Random) -> None:
    kind = rng.randrange(12)
    if kind < 7:
        terminal.feed(b"".join(fragment(rng) for _ in range(rng.randrange(1, 30))))
    elif kind == 7:
        terminal.resize(rng.choice((0, 1, 2, 3, 8, 24, 100)), rng.choice((1, 2, 3, 8, 20, 80, 300)))
    elif kind == 8:
        terminal.scrollback_styled(rng.randrange(50), rng.randrange(300))
    elif kind == 9:
        while terminal.compress_some():
            pass
    elif kind == 10:
        key = rng.choice((*KEY_NAMES, "a", "é", "+"))
        terminal.encode_key(KeyPress(key, ctrl=rng.random() < 0.5, shift=rng.random() < 0.5))
        terminal.encode_paste(rng.randbytes(20).decode(errors="replace"))
    else:
        terminal.take_replies()


def check(terminal: Terminal) -> None:
    rows, cols = terminal.rows, terminal.cols
    plain = terminal.plain_lines()
    assert len(plain) == rows
    assert styled_text(terminal.styled_lines()) == plain
    cursor = terminal.cursor()
    assert 0 <= cursor.row < rows, cursor
    assert 0 <= cursor.col < cols, cursor
    total = terminal.scrollback_total
    assert len(terminal.scrollback_plain(0, total)) == total
    tail = max(0, total - 40)
    assert styled_text(terminal.scrollback_styled(tail, 40)) == terminal.scrollback_plain(tail, 40)
    assert terminal.evicted >= 0
    assert (terminal.title, terminal.cwd, terminal.modes()) is not None


def run(seed: int) -> None:
    rng = random.Random(seed)
    terminal = Terminal(
        rng.choice((2, 8, 24)), rng.choice((1, 2, 20, 80)), scrollback=rng.choice((0, 50, 5_000))
    )
    for _ in range(STEPS):
        step(terminal, rng)
        if rng.random() < 0.3:
            check(terminal)
    check(terminal)
    terminal.close()


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, first + count):
        print("seed", seed, flush=True)
        run(seed)
