"""How long the first page of a long output takes, one in its middle, and a search through all.

The floor is counting the lines of the file; an engine that is given all of it is what a terminal
would have to do.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nacre.core.terminal.terminal import Terminal
from nacre.core.text.pattern import LineFinder
from nacre.services.runs.outputs.finding import Search
from nacre.services.runs.outputs.long_output import LongOutput

from scratch import table

LINES = 1_500_000

OUTPUTS: dict[str, Callable[[int], bytes]] = {
    "numbers": lambda number: b"%d\r\n" % number,
    "colours": lambda number: b"\x1b[31m%d\x1b[0m text\r\n" % number,
    "as grep prints": lambda number: b"\x1b[01;31m\x1b[Kfoo\x1b[m\x1b[K%d\r\n" % number,
    "one bar a line": lambda number: b"10%%\r50%%\r%d\r\n" % number,
    "drawn over now and then": lambda number: (
        b"\x1b[2A\x1b[Kstep\x1b[2B\r\n" if number % 50_000 == 0 else b"line %d\r\n" % number
    ),
}


def timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def fed(data: bytes) -> float:
    terminal = Terminal(24, 80, scrollback=1000)
    try:
        return timed(lambda: terminal.feed(data))
    finally:
        terminal.close()


def measured(path: Path, data: bytes) -> list[float]:
    output = LongOutput(str(path), 80, 1 << 30)
    total = 0

    def first() -> None:
        nonlocal total
        total = output.advance(len(data), finished=True)
        assert len(output.page(0, 1000)) == 1000

    nothing = Search(LineFinder("no such [t]ext", regex=True), 2, 100, 30_000, 60.0)
    return [
        timed(first),
        timed(lambda: output.page(total // 2, 1000)),
        timed(lambda: nothing.run(output.texts(0), output.page, total)),
    ]


def main() -> int:
    rows: list[tuple[object, ...]] = [
        ("1.5 million lines", "MB", "count ms", "engine ms", "first page", "middle", "find")
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, line in OUTPUTS.items():
            data = b"".join(map(line, range(1, LINES + 1)))
            path = Path(folder) / "output"
            path.write_bytes(data)
            size = os.path.getsize(path) / 1e6
            counted = timed(lambda data=data: data.count(b"\n"))  # type: ignore[misc]
            rows.append((name, size, counted, fed(data), *measured(path, data)))
    table(*rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
