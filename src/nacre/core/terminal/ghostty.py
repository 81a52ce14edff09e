"""The native engine, libghostty-vt, as the rest of core sees it.

Rule 1: this is the only module that loads it; the others take `ffi` and `lib` from here. pyghostty
brings the library, but is not imported: it parses all C declarations (scripts/engine_types.py).
Rule 2: bit positions are read from the library (`ghostty_type_json`), because they are not an ABI.
Rule 3: every native handle belongs to one Terminal, is used by one thread, and is freed once.
"""

import json
import sys
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from nacre.core.terminal.ghostty_types import ffi as ffi


def _library() -> str:
    found = find_spec("pyghostty")
    if found is None or not found.submodule_search_locations:
        raise ImportError("pyghostty is not installed")
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return f"{found.submodule_search_locations[0]}/_lib/libghostty-vt.{suffix}"


lib = ffi.dlopen(_library())

NULL = ffi.NULL
OUT_OF_SPACE = lib.GHOSTTY_OUT_OF_SPACE

# They take a union by value, for which there are twins without one (scripts/engine_types.py).
_UNION_FUNCTIONS = {
    "ghostty_terminal_grid_ref": "GhosttyResult(*)(GhosttyTerminal, NacrePoint, GhosttyGridRef *)",
    "ghostty_terminal_grid_ref_track": "GhosttyResult(*)"
    "(GhosttyTerminal, NacrePoint, GhosttyTrackedGridRef *)",
    "ghostty_tracked_grid_ref_set": "GhosttyResult(*)"
    "(GhosttyTrackedGridRef, GhosttyTerminal, NacrePoint)",
    "ghostty_terminal_scroll_viewport": "void(*)(GhosttyTerminal, NacreScrollViewport)",
}


def new(ctype: str, *init: Any) -> Any:
    """Make a C value."""
    return ffi.new(ctype, *init)


def callback(ctype: str, function: Any) -> Any:
    """Make a C function that returns zero if `function` raises. The caller keeps it alive."""
    return ffi.callback(ctype, function)


def union_function(name: str) -> Any:
    return ffi.cast(_UNION_FUNCTIONS[name], ffi.addressof(lib, name))


class EngineError(RuntimeError):
    """The engine refused a call that should not fail: out of memory, or a bug here."""


def check(result: int, what: str) -> None:
    if result:
        raise EngineError(f"the terminal engine failed to {what} (code {result})")


def sized(ctype: str) -> Any:
    """Make a struct whose `size` fields, also nested ones, identify its version."""
    pointer = new(f"{ctype} *")
    _fill_sizes(pointer)
    return pointer


def _fill_sizes(pointer: Any) -> None:
    struct = ffi.typeof(pointer).item
    for name, field in struct.fields:
        if name == "size":
            pointer.size = ffi.sizeof(struct)
        elif field.type.kind == "struct":
            _fill_sizes(ffi.addressof(pointer[0], name))


def create(ctype: str, constructor: Any, *arguments: Any) -> Any:
    """Call a `ghostty_*_new` function and return the handle."""
    slot = new(f"{ctype} *")
    check(constructor(NULL, slot, *arguments), f"make a {ctype}")
    return slot[0]


def set_option(handle: Any, option: int, value: Any, what: str) -> None:
    check(lib.ghostty_terminal_set(handle, option, value), f"set {what}")


def text_of(string: Any) -> str:
    """Copy a GhosttyString or GhosttyBuffer; the first lives only until the next feed."""
    if not string.len:
        return ""
    raw: bytes = ffi.buffer(string.ptr, string.len)[:]
    return raw.decode(errors="replace")


class Fields:
    """Several values of one terminal, fetched with one native call into reused memory."""

    __slots__ = ("_cells", "_count", "_keys", "_pointers")

    def __init__(self, **keys: tuple[int, str]) -> None:
        self._cells = tuple(new(f"{ctype} *") for _key, ctype in keys.values())
        self._keys = new("GhosttyTerminalData[]", [key for key, _ctype in keys.values()])
        self._pointers = new("void *[]", list(self._cells))
        self._count = len(keys)

    @property
    def cells(self) -> tuple[Any, ...]:
        """The pointers that `fetch` fills, in the order of the keys."""
        return self._cells

    def fetch(self, handle: Any) -> None:
        result = lib.ghostty_terminal_get_multi(
            handle, self._count, self._keys, self._pointers, NULL
        )
        if result:
            check(result, "answer")


class Bits(NamedTuple):
    """A field inside a packed cell."""

    shift: int
    mask: int  # before the shift is applied, that is `cell >> shift & mask`

    @property
    def in_place(self) -> int:
        return self.mask << self.shift


class CellLayout(NamedTuple):
    """Where the fields of a packed cell are."""

    tag: Bits
    content: Bits
    codepoint: Bits
    palette: Bits  # of a cell that is only a background
    rgb: tuple[Bits, Bits, Bits]  # the same
    style: Bits
    wide: Bits
    hyperlink: Bits


@cache
def cell_layout() -> CellLayout:
    types = json.loads(ffi.string(lib.ghostty_type_json()))["types"]
    fields = types["GhosttyCell"]["bits"]
    content = fields["content"]

    def bits(field: dict[str, Any], base: int = 0) -> Bits:
        return Bits(base + field["lsb"], (1 << field["width"]) - 1)

    def arm(name: str, field: str) -> Bits:
        return bits(content["arms"][name]["bits"][field], content["lsb"])

    return CellLayout(
        tag=bits(fields["content_tag"]),
        content=bits(content),
        codepoint=arm("CODEPOINT", "codepoint"),
        palette=arm("BG_COLOR_PALETTE", "index"),
        rgb=(arm("BG_COLOR_RGB", "r"), arm("BG_COLOR_RGB", "g"), arm("BG_COLOR_RGB", "b")),
        style=bits(fields["style_id"]),
        wide=bits(fields["wide"]),
        hyperlink=bits(fields["hyperlink"]),
    )
