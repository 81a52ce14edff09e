"""The keys that `nacre attach` keeps for itself, in all the codes that terminals have for them."""

import re

from nacre.core.keys import UnknownKey, parse_key
from nacre.errors import InvalidInput

_CTRL = 4  # of the modifiers in kitty's and xterm's codes, which count from one
_LOCKS = 64 | 128  # caps lock and num lock are modifiers in kitty's


class OwnKey:
    """Ctrl and a character."""

    def __init__(self, char: str) -> None:
        self.name = f"Ctrl+{char.upper()}"
        point = ord(char)
        # The control character (ECMA-48 C0); kitty's CSI u; xterm's modifyOtherKeys.
        self._codes = re.compile(
            rb"\x1b\[%d(?::\d*)*;(\d+)(?::[12])?(?:;[\d:]*)?u|\x1b\[27;(\d+);%d~|%b"
            % (point, point, re.escape(bytes([ord(char.upper()) & 0x1F])))
        )

    @classmethod
    def parse(cls, name: str, use: str = "detach key") -> "OwnKey":
        """Raises InvalidInput for a key that has no control character of its own."""
        try:
            press = parse_key(name)
        except UnknownKey as error:
            raise InvalidInput(str(error)) from None
        fits = press.ctrl and not (press.alt or press.shift or press.super) and len(press.key) == 1
        # Ctrl+I, J, M and [ are Tab, Enter and Escape.
        if not fits or not "@" < press.key.upper() <= "_" or press.key in "ijm[":
            raise InvalidInput(
                f"{name!r} cannot be the {use}; take ctrl and a letter or one of ] \\ ^ _, "
                "but not ctrl+i, j, m or [, which are Tab, Enter and Escape"
            )
        return cls(press.key)

    def split(self, typed: bytes) -> tuple[bytes, bytes | None]:
        """Return what was typed before the key and after it; None when it was not pressed."""
        for found in self._codes.finditer(typed):
            modifiers = found[1] or found[2]
            if modifiers is None or (int(modifiers) - 1) & ~_LOCKS == _CTRL:
                return typed[: found.start()], typed[found.end() :]
        return typed, None
