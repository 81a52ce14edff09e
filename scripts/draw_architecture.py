"""Draw docs/images/architecture.svg: the layers and rooms of the code.

Which room stands above which comes from the contracts that lint-imports enforces (pyproject.toml).
What a room is for is the first line of its __init__.py. So the picture says what the code says.
    draw_architecture.py            write the file
    draw_architecture.py --check    exit with 1 if it is not what would be written
"""

import ast
import sys
import tomllib
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs/images/architecture.svg"
PACKAGE = ROOT / "src/nacre"

WIDTH, MARGIN, LABEL = 960, 16, 96  # pixels; LABEL is the column of the layers' names
ROW, GAP, PAD = 30, 6, 10
CHAR = 6.1  # pixels that a small character takes, about

# A colour for each large layer, readable on white and on black; the text on it is dark.
COLORS = {
    "cli": "#cfe3f7",
    "daemon": "#e3d9f3",
    "doors": "#d5ecd6",
    "services": "#fbe6c9",
    "system": "#f6d8d3",
    "core": "#d3ecec",
}


class Room(NamedTuple):
    name: str
    text: str


class Layer(NamedTuple):
    name: str
    text: str
    rows: list[list[Room]]

    @property
    def height(self) -> int:
        return max(1, len(self.rows)) * (ROW + GAP) - GAP + 2 * PAD


def contracts() -> list[dict[str, Any]]:
    loaded = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = loaded["tool"]["importlinter"]["contracts"]
    return [one for one in found if one["type"] == "layers"]


def rows_of(container: str) -> list[list[str]]:
    """Return the rooms of a package, the upper ones first; one row's do not know each other."""
    for contract in contracts():
        if contract["containers"] == [container]:
            return [
                [name.strip() for name in layer.replace(":", "|").split("|")]
                for layer in contract["layers"]
            ]
    return []


def doc_of(*names: str) -> str:
    path = PACKAGE.joinpath(*names)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".") if text else ""


def packages_of(name: str) -> list[list[str]]:
    """Return the rooms of a layer that has no contract of its own, in one row."""
    folder = PACKAGE / name
    if not folder.is_dir():
        return []
    rooms = sorted(one.parent.name for one in folder.glob("*/__init__.py"))
    return [rooms] if rooms else []


def layers() -> list[Layer]:
    found = []
    for name in (one for row in rows_of("nacre") for one in row):
        if name in ("__main__", "page"):
            continue
        rows = rows_of(f"nacre.{name}") or packages_of(name)
        rooms = [[Room(room, doc_of(name, room)) for room in row] for row in rows]
        found.append(Layer(name, doc_of(name), rooms))
    return found


def clipped(text: str, width: float) -> str:
    """Return as many clauses of a sentence as there is room for."""
    room = int(width / CHAR)
    while text and len(text) > room:
        ends = max(text.rfind(mark) for mark in ",:;")
        text = text[: max(0, ends)]
    return text


def chip(room: Room, x: float, y: float, width: float) -> list[str]:
    said = clipped(room.text, width - 30 - 8 * len(room.name))
    parts = [
        f'<g><title>{escape(room.text)}</title><rect x="{x:.0f}" y="{y:.0f}" '
        f'width="{width:.0f}" height="{ROW}" rx="6" class="room"/>',
        f'<text x="{x + 10:.0f}" y="{y + 20:.0f}" class="name">{escape(room.name)}',
    ]
    if said:
        parts.append(f'<tspan class="said" dx="8">{escape(said)}</tspan>')
    return [*parts, "</text></g>"]


def band(layer: Layer, y: float) -> list[str]:
    color, inner = COLORS.get(layer.name, "#e9e9e9"), WIDTH - 2 * MARGIN - LABEL - 2 * PAD
    parts = [
        f'<rect x="{MARGIN}" y="{y:.0f}" width="{WIDTH - 2 * MARGIN}" height="{layer.height}" '
        f'rx="10" fill="{color}"><title>{escape(layer.text)}</title></rect>',
        f'<text x="{MARGIN + 12}" y="{y + layer.height / 2 + 5:.0f}" class="layer">'
        f"{escape(layer.name)}</text>",
    ]
    left, top = MARGIN + LABEL + PAD, y + PAD
    if not layer.rows:
        parts.append(
            f'<text x="{left}" y="{top + 20:.0f}" class="said">{escape(layer.text)}</text>'
        )
    for row in layer.rows:
        width = (inner - GAP * (len(row) - 1)) / len(row)
        for number, room in enumerate(row):
            parts += chip(room, left + number * (width + GAP), top, width)
        top += ROW + GAP
    return parts


def draw() -> str:
    parts: list[str] = []
    y = float(MARGIN)
    for layer in layers():
        parts += band(layer, y)
        y += layer.height + GAP
    height = int(y + MARGIN - GAP)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif">'
    )
    style = (
        "<style>.room{fill:#ffffff;fill-opacity:.72}.name{font-size:13px;font-weight:600;"
        "fill:#1c2430}.said{font-size:12px;font-weight:400;fill:#4a5566}"
        ".layer{font-size:15px;font-weight:700;fill:#1c2430}</style>"
    )
    title = "<title>The layers and rooms of nacre: each imports only what stands below it</title>"
    return "\n".join([head, title, style, *parts, "</svg>", ""])


def main() -> int:
    drawn = draw()
    if sys.argv[1:] == ["--check"]:
        return int(not TARGET.exists() or TARGET.read_text(encoding="utf-8") != drawn)
    TARGET.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
