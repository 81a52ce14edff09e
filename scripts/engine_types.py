"""Write src/nacre/core/terminal/ghostty_types.py: the engine's C declarations, parsed.

pyghostty parses 80 kB of them whenever it is imported, an eighth of a second for each daemon. cffi
can keep the result as a module (its "out-of-line ABI mode"). Run it again when pyghostty's version
changes: `.venv/bin/python scripts/engine_types.py`. A test compares.
"""

import tempfile
from pathlib import Path

from cffi import FFI
from pyghostty._cdef import CDEF

_NAME = "nacre.core.terminal.ghostty_types"
_FILE = Path(__file__).parents[1] / "src" / f"{_NAME.replace('.', '/')}.py"

# cffi cannot pass a union by value. Structs over 16 bytes are passed in memory by every ABI that we
# support, so a twin without the union is passed in the same way.
_TWINS = """
typedef struct { uint16_t x; uint32_t y; uint64_t unused; } NacrePointValue;
typedef struct { GhosttyPointTag tag; NacrePointValue value; } NacrePoint;
typedef struct {
    GhosttyTerminalScrollViewportTag tag; size_t row; uint64_t unused;
} NacreScrollViewport;
"""


def render() -> str:
    ffi = FFI()
    ffi.cdef(CDEF)
    ffi.cdef(_TWINS)
    for twin, real in (
        ("NacrePoint", "GhosttyPoint"),
        ("NacreScrollViewport", "GhosttyTerminalScrollViewport"),
    ):
        assert ffi.sizeof(twin) == ffi.sizeof(real) > 16, twin
        assert ffi.alignof(twin) == ffi.alignof(real), twin
    ffi.set_source(_NAME, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "types.py")
        ffi.emit_python_code(str(path))
        written = path.read_text(encoding="ascii")
    return f'"""Made by scripts/engine_types.py; do not edit."""\n\n{written}'


if __name__ == "__main__":
    _FILE.write_text(render(), encoding="ascii")
