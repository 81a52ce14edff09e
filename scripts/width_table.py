"""Write web/src/terminal/widths.ts: how many columns the daemon's terminal gives each character.

The page's terminal must count as the daemon's does, character by character, else everything after
one that they count otherwise stands in another cell. So the engine itself is asked.
    width_table.py            write the file
    width_table.py --check    exit with 1 if it is not what would be written
"""

import sys
from itertools import groupby
from pathlib import Path

from nacre.core.terminal import Terminal

TARGET = Path(__file__).resolve().parent.parent / "web/src/terminal/widths.ts"

# Beyond these planes there are no characters but for private use, which is narrow.
ASKED = (range(0xA0, 0xD800), range(0xE000, 0x40000), range(0xE0000, 0xE1000))

HEAD = """// Columns of characters as the daemon's terminal counts them.
// Written by scripts/width_table.py.

// Ranges of characters in base 36: how far from the end of the last one, and how many.
"""
TAIL = """
export function widthOf(code: number): 0 | 1 | 2 {
  if (code < 0x7f) return 1;
  if (isIn(WIDE, code)) return 2;
  return isIn(NONE, code) ? 0 : 1;
}

function read(table: string): Uint32Array {
  let at = 0;
  return Uint32Array.from(table.split(" "), (step) => (at += parseInt(step, 36)));
}

/** Beginnings and ends alternate: within a range an odd number of them is not beyond it. */
function isIn(edges: Uint32Array, code: number): boolean {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}
"""


def widths() -> dict[int, int]:
    terminal = Terminal(24, 80)
    found = {}
    for code in (code for part in ASKED for code in part):
        terminal.feed(b"\x1b[H\x1b[Ka" + chr(code).encode())
        found[code] = terminal.cursor().col - 1
    terminal.close()
    return found


def ranges(known: dict[int, int], width: int) -> str:
    codes = [code for code, found in known.items() if found == width]
    steps, at = [], 0
    for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        steps += [members[0] - at, len(members)]
        at = members[-1] + 1
    return " ".join(base36(step) for step in steps)


def base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    head = base36(number // 36) if number >= 36 else ""
    return head + digits[number % 36]


def lines(name: str, table: str) -> str:
    """A constant, in lines that fit a page."""
    parts, rest = [], table
    while len(rest) > 90:
        cut = rest.rindex(" ", 0, 90) + 1
        parts.append(rest[:cut])
        rest = rest[cut:]
    joined = " +\n    ".join(f'"{part}"' for part in [*parts, rest])
    return f"const {name} = read(\n  {joined},\n);\n"


def text() -> str:
    known = widths()
    tables = lines("NONE", ranges(known, 0)) + lines("WIDE", ranges(known, 2))
    return HEAD + tables + TAIL


def main() -> int:
    wanted = text()
    if "--check" not in sys.argv:
        TARGET.write_text(wanted)
    elif not TARGET.exists() or TARGET.read_text() != wanted:
        print(f"{TARGET.name} is not as the engine counts: run {sys.argv[0]}")  # noqa: T201  # a script
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
