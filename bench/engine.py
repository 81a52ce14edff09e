"""Time the terminal against the raw engine in the same run, at 80 columns and 24 rows.

Run it as `python bench/engine.py`. Absolute numbers move with the machine; the ratios should not.
"""

import time
from collections.abc import Callable

from pyghostty import Terminal as RawTerminal
from pyghostty._ffi import ffi, lib

from nacre.core.terminal.terminal import Terminal

ROWS, COLS = 24, 80
CHUNK = 4096  # what one read of a PTY returns
FEED_BYTES = 8_000_000


def colourful_row(row: int, *, styles: int) -> bytes:
    """Ten runs of so many styles, as in highlighted source; ten styles is the worst case."""
    return b"".join(
        b"\x1b[0;%d;38;5;%d;48;5;%dm%-8d" % (1 + n % 4, 16 + row * 10 + n, n, row * run)
        for run in range(10)
        for n in [run % styles]
    )


COLOURFUL = b"\x1b[H" + b"\r\n".join(colourful_row(row, styles=5) for row in range(ROWS))
MOTLEY = b"\x1b[H" + b"\r\n".join(colourful_row(row, styles=10) for row in range(ROWS))
TUI = b"\x1b[H" + b"\r\n".join(
    b"\x1b[44m\x1b[K\x1b[1;33m%3d\x1b[22;37m some text here \x1b[32mok\x1b[m" % row
    for row in range(ROWS)
)
CJK = b"\x1b[H" + b"\r\n".join(
    f"漢字 e\u0301 \x1b[3{row % 8}mとても\x1b[m".encode() * 4 for row in range(ROWS)
)
PLAIN = b"\x1b[H" + b"\r\n".join(b"x" * 60 for _row in range(ROWS))

STREAMS = {
    "plain": b"".join(
        b"%06d the quick brown fox jumps over the lazy dog\r\n" % n for n in range(2000)
    ),
    "colour": b"".join(
        b"\x1b[3%dm%06d\x1b[0m \x1b[1mquick\x1b[22m \x1b[38;5;%dmfox\x1b[m\r\n"
        % (n % 8, n, n % 256)
        for n in range(2000)
    ),
    "motion": b"".join(b"\x1b[%d;%dH\x1b[Kxy" % (n % 24 + 1, n % 80 + 1) for n in range(4000)),
    "unicode": "".join(f"{n} naïve café 漢字 ελληνικά\r\n" for n in range(2000)).encode(),
}


def micros(call: Callable[[], object], *, prepare: Callable[[], object] = lambda: None) -> float:
    """The best of the medians, so that what else the machine does shows least."""
    return min(_median(call, prepare) for _batch in range(7))


def _median(call: Callable[[], object], prepare: Callable[[], object]) -> float:
    times = []
    for _round in range(51):
        prepare()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def feed_rate(feed: Callable[[bytes], None], stream: bytes) -> float:
    chunks = [stream[at : at + CHUNK] for at in range(0, len(stream), CHUNK)]
    rounds = FEED_BYTES // len(stream)
    start = time.perf_counter()
    for _round in range(rounds):
        for chunk in chunks:
            feed(chunk)
    return rounds * len(stream) / (time.perf_counter() - start) / 1e6


def raw_terminal() -> RawTerminal:
    """The engine with its own defaults: about 950 rows at 80 columns."""
    return RawTerminal(COLS, ROWS, scrollback=10_000)


def raw_terminal_of_lines() -> RawTerminal:
    """The engine told to keep 10,000 rows, by its line limit alone."""
    terminal = raw_terminal()
    option = lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES
    lib.ghostty_terminal_set(terminal._t[0], option, ffi.NULL)
    return terminal


def reads() -> None:
    screens = {"plain": PLAIN, "tui": TUI, "cjk": CJK, "colourful": COLOURFUL, "motley": MOTLEY}
    print(f"{'read, µs':36}", *(f"{name:>10}" for name in screens))
    for name, measure in READS.items():
        print(f"{name:36}", *(f"{measure(screen):>10.1f}" for screen in screens.values()))


def _loaded(screen: bytes) -> Terminal:
    terminal = Terminal(ROWS, COLS)
    terminal.feed(screen)
    terminal.styled_lines()
    return terminal


def _plain(screen: bytes) -> float:
    return micros(_loaded(screen).plain_lines)


def _styled_full(screen: bytes) -> float:
    terminal = _loaded(screen)
    return micros(terminal.styled_lines, prepare=lambda: terminal.feed(screen))


def _styled_one(screen: bytes) -> float:
    terminal = _loaded(screen)
    return micros(terminal.styled_lines, prepare=lambda: terminal.feed(b"\x1b[12;7Hz"))


def _styled_none(screen: bytes) -> float:
    return micros(_loaded(screen).styled_lines)


def _cursor(screen: bytes) -> float:
    return micros(_loaded(screen).cursor)


def _cursor_after_output(screen: bytes) -> float:
    terminal = _loaded(screen)
    return micros(terminal.cursor, prepare=lambda: terminal.feed(screen))


def _modes(screen: bytes) -> float:
    return micros(_loaded(screen).modes)


def _evicted(screen: bytes) -> float:
    terminal = _loaded(screen)
    return micros(lambda: terminal.evicted)


def _history(screen: bytes) -> Terminal:
    terminal = Terminal(ROWS, COLS)
    for _page in range(50):
        terminal.feed(screen.removeprefix(b"\x1b[H") + b"\r\n")
    return terminal


def _scrollback_plain(screen: bytes) -> float:
    terminal = _history(screen)
    return micros(lambda: terminal.scrollback_plain(500, 100))


def _scrollback_styled(screen: bytes) -> float:
    terminal = _history(screen)
    return micros(lambda: terminal.scrollback_styled(500, 100))


READS = {
    "plain_lines": _plain,
    "styled_lines, every row changed": _styled_full,
    "styled_lines, one row changed": _styled_one,
    "styled_lines, nothing changed": _styled_none,
    "cursor": _cursor,
    "cursor, every row changed": _cursor_after_output,
    "modes": _modes,
    "evicted": _evicted,
    "100 rows of scrollback, plain": _scrollback_plain,
    "100 rows of scrollback, styled": _scrollback_styled,
}


def feeds() -> None:
    print(
        f"\n{'feed, MB/s in 4 KiB chunks':40} {'raw':>8} {'10k rows':>8} {'nacre':>8} {'ratio':>8}"
    )
    for name, stream in STREAMS.items():
        makers = (raw_terminal, raw_terminal_of_lines, lambda: Terminal(ROWS, COLS))
        feeders = [make().feed for make in makers]
        for feed in feeders:
            feed_rate(feed, stream)  # fills the scrollback
        # Interleaved and the best of each: all must see the same machine.
        rounds = [[feed_rate(feed, stream) for feed in feeders] for _round in range(7)]
        raw, lines, nacre = (max(rates) for rates in zip(*rounds, strict=True))
        print(f"{name:40} {raw:>8.1f} {lines:>8.1f} {nacre:>8.1f} {nacre / raw:>8.2f}")


if __name__ == "__main__":
    reads()
    feeds()
