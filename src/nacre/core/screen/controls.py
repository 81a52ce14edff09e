"""What is sent to a terminal to change its screen as a whole: codes and their sources.

What a terminal sends itself, for keys, pastes and the mouse, is in keys/sequences.py.

Rule: this file only states the protocols, not what is done with them.

Sources: ECMA-48 (5th edition); xterm ctlseqs, "DEC Private Mode Set", "Window manipulation"; the
proposals for synchronised output (mode 2026) and grapheme clusters (mode 2027).
"""

CLEAR = b"\x1b[H\x1b[2J"  # ECMA-48 8.3.21 CUP, 8.3.39 ED
ERASE_LINE = b"\r\x1b[K"  # ECMA-48 8.3.41 EL
PLAIN_PEN = b"\x1b[0m"  # ECMA-48 8.3.117 SGR

ALTERNATE, PRIMARY = b"\x1b[?1049h", b"\x1b[?1049l"
SHOW_CURSOR, HIDE_CURSOR = b"\x1b[?25h", b"\x1b[?25l"
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"  # drawn in one step, if the terminal supports it

# Kept and brought back: a window's title (XTWINOPS 22 and 23), and modes (XTSAVE and XTRESTORE).
KEEP_TITLE, RESTORE_TITLE = b"\x1b[22;2t", b"\x1b[23;2t"
CLUSTERS = b"\x1b[?2027h"
KEEP_CLUSTERS, RESTORE_CLUSTERS = b"\x1b[?2027s", b"\x1b[?2027r"
