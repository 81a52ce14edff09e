"""What a terminal sends for keys, pastes and the mouse: patterns, codes and their sources.

Rule: this file only states the protocols, not what is done with them.

Sources: xterm ctlseqs, "PC-Style Function Keys", "VT220-Style Function Keys", "Bracketed Paste
Mode", "Mouse Tracking"; kitty, "Comprehensive keyboard handling in terminals".
"""

import re

CSI = b"\x1b["  # ECMA-48 5.4

# --- pastes: bracketed paste, mode 2004 --------------------------------------------------------

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"
PASTES_ON = b"\x1b[?2004h"

# --- the mouse: xterm ctlseqs, "Mouse Tracking" ------------------------------------------------

# SGR, mode 1006; urxvt, mode 1015; the first protocol: three bytes, which may not be text.
SGR_REPORT = rb"\x1b\[<(?P<button>\d+);(?P<col>\d+);(?P<row>\d+)(?P<end>[Mm])"
URXVT_REPORT = rb"\x1b\[(?P<button2>\d+);(?P<col2>\d+);(?P<row2>\d+)M"
BYTE_REPORT = rb"\x1b\[M(?P<bytes>[\x20-\xff]{3})"
# Incomplete reports; urxvt's begin like any other key.
SGR_BEGUN = rb"\x1b\[<[\d;]*"
BYTE_BEGUN = rb"\x1b\[M[\x20-\xff]{0,2}"

TRACKING_MODES = frozenset((b"9", b"1000", b"1002", b"1003"))
SGR_MODE, ARROWS_MODE = b"1006", b"1007"  # the second: on the alternate screen the wheel is arrows
MOUSE_ON, MOUSE_OFF = b"\x1b[?1000;1006h", b"\x1b[?1000;1006l"
SGR_ON = b"\x1b[?1006h"
WHEEL_IS_ARROWS, WHEEL_IS_NOTHING = b"\x1b[?1007h", b"\x1b[?1007l"

MOUSE_RELEASED = 3  # a button's low two bits, in protocols without a separate code for the release
MOUSE_HELD = 4 | 8 | 16  # of a button: shift, meta, control
WHEEL_UP, WHEEL_DOWN = 64, 65

# --- keys --------------------------------------------------------------------------------------

# Modifiers by bit; the codes count them from one. Kitty's also has caps lock and num lock.
SHIFT, ALT, CTRL, SUPER, HYPER, META = 1, 2, 4, 8, 16, 32
LOCKS = 64 | 128

# kitty's CSI u, CSI ~ as in xterm, and xterm's modifyOtherKeys. Not releases of keys.
CODED_KEY = rb"\x1b\[(?P<code>\d+)(?::\d*)*;(?P<held>\d+)(?::[12])?(?:;[\d:]*)?(?P<end>[u~])"
MODIFIED_KEY = rb"\x1b\[27;(?P<held2>\d+);(?P<code2>\d+)~"
MODIFIED_OTHER = 27  # CSI 27 ; modifiers ; code ~
KEY_RELEASED = 3  # kitty's event types: 1 pressed, 2 repeated

# By the final character of CSI and SS3.
FINALS = {
    "A": "ArrowUp",
    "B": "ArrowDown",
    "C": "ArrowRight",
    "D": "ArrowLeft",
    "F": "End",
    "H": "Home",
    "P": "F1",
    "Q": "F2",
    "R": "F3",
    "S": "F4",
}
# The keypad's in application mode: SS3 and a character.
KEYPAD = {"I": "Tab", "M": "Enter", "X": "=", " ": " ", "E": None}
KEYPAD |= {chr(code): chr(code - 0x40) for code in range(ord("j"), ord("y") + 1)}
# By the number of CSI … ~.
TILDES = {1: "Home", 2: "Insert", 3: "Delete", 4: "End", 5: "PageUp", 6: "PageDown"}
TILDES |= {7: "Home", 8: "End"}
TILDES |= dict(zip((11, 12, 13, 14, 15), (f"F{n}" for n in range(1, 6)), strict=True))
TILDES |= dict(zip((17, 18, 19, 20, 21), (f"F{n}" for n in range(6, 11)), strict=True))
TILDES |= dict(zip((23, 24, 25, 26, 28, 29), (f"F{n}" for n in range(11, 17)), strict=True))
TILDES |= dict(zip((31, 32, 33, 34), (f"F{n}" for n in range(17, 21)), strict=True))

# kitty, "Functional key definitions": the private use area.
KITTY_KEYS = {57376 + n: f"F{13 + n}" for n in range(12)}
KITTY_KEYS |= {57399 + n: str(n) for n in range(10)}
KITTY_KEYS |= dict(
    enumerate(
        (
            *(".", "/", "*", "-", "+", "Enter", "=", ","),
            *("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"),
            *("Home", "End", "Insert", "Delete"),
        ),
        57409,
    )
)
KEYPAD_PAGE_UP = 57421


def without_groups(pattern: bytes) -> bytes:
    """Return the same pattern without named groups, for use inside another one."""
    return re.sub(rb"\(\?P<\w+>", b"(?:", pattern)


def is_extended_key(code: bytes) -> bool:
    """Return whether a code is one of kitty's (CSI u) or of modifyOtherKeys (CSI 27 ; … ~)."""
    return code.startswith(CSI) and (code.endswith(b"u") or code.startswith(b"\x1b[27;"))
