"""Write how many columns the daemon's terminal gives each character, for Python and for the page.

Whoever draws beside the engine must count as it does, character by character, else everything
after one that they count otherwise stands in another cell. So the engine itself is asked, and both
src/nacre/core/text/width_table.py and web/src/terminal/widths.ts come from its answer.
    width_table.py            write the files
    width_table.py --check    exit with 1 if one is not what would be written
"""

import sys
from itertools import groupby
from pathlib import Path

from nacre.core.terminal.terminal import Terminal

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "web/src/terminal/widths.ts"
PYTHON = ROOT / "src/nacre/core/text/width_table.py"

# Beyond these planes there are no characters but for private use, which is narrow.
ASKED = (range(0xA0, 0xD800), range(0xE000, 0x40000), range(0xE0000, 0xE1000))

PYTHON_HEAD = '''"""Columns of characters as the engine counts them: who has none, who has two.

Written by scripts/width_table.py. Ranges of characters in base 36: how far from the end of the last
one, and how many.
"""
'''

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


def parts(table: str, longest: int) -> list[str]:
    """A table, in lines that fit a page."""
    found, rest = [], table
    while len(rest) > longest:
        cut = rest.rindex(" ", 0, longest) + 1
        found.append(rest[:cut])
        rest = rest[cut:]
    return [*found, rest]


def for_page(tables: dict[str, str]) -> str:
    text = HEAD
    for name, table in tables.items():
        joined = " +\n    ".join(f'"{part}"' for part in parts(table, 90))
        text += f"const {name} = read(\n  {joined},\n);\n"
    return text + TAIL


def for_python(tables: dict[str, str]) -> str:
    text = PYTHON_HEAD
    for name, table in tables.items():
        joined = "\n".join(f'    "{part}"' for part in parts(table, 90))
        text += f"\n{name} = (\n{joined}\n)\n"
    return text


def main() -> int:
    known = widths()
    tables = {"NONE": ranges(known, 0), "WIDE": ranges(known, 2)}
    wrong = 0
    for target, wanted in ((PAGE, for_page(tables)), (PYTHON, for_python(tables))):
        if "--check" not in sys.argv:
            target.write_text(wanted)
        elif not target.exists() or target.read_text() != wanted:
            print(f"{target.name} is not as the engine counts: run {sys.argv[0]}")  # noqa: T201  # a script
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
