"""Whether output rings the bell."""

from nacre.late_pattern import late_pattern

BELL = b"\x07"
# Strings, in which a BEL is the terminator or ignored (ECMA-48 8.3.89, xterm ctlseqs "OSC").
_STRINGS = late_pattern(rb"\x1b\][^\x07\x1b\x18\x1a]*\x07?|\x1b[PX^_][^\x1b\x18\x1a]*")
_STRING_END = late_pattern(rb"[\x07\x1b]")


def rings_bell(data: bytes, *, within: bool) -> bool:
    """Return whether output rings the bell; `within`: it begins inside a sequence."""
    if within:
        end = _STRING_END.search(data)
        data = data[end.end() if end[0] == BELL else end.start() :] if end else b""
    return BELL in _STRINGS.sub(b"", data)
