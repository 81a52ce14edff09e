"""Looking back in `nacre attach`: typed bytes and the daemon's lines in, requests and bytes out.

Rule: what is typed before the daemon has answered is held. If there is something to look back at,
it is commands; otherwise it goes to the session.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from nacre.core.display.canvas import Canvas
from nacre.core.display.lookback import LookBack
from nacre.core.keys.typed import TypedStream
from nacre.core.operations.watch import Found, Lines, Look

_MOST_HELD = 4096  # bytes, as much as a terminal's own line holds (termios(3)); more is dropped


class Looking:
    def __init__(
        self,
        rows: int,
        cols: int,
        began: bytes = b"",
        lines: int | None = None,
        *,
        mouse: bool = False,
    ) -> None:
        """`began` is the key that started it; if there is nothing to show, the program gets it."""
        self.began = began
        self.held = b""
        self.shown = False  # the terminal shows it, not the session
        self._back = LookBack(rows, cols, lines, mouse=mouse)
        self._typed = TypedStream()
        self._canvas = Canvas()

    @property
    def begun(self) -> bool:
        return self._back.begun

    @property
    def refused(self) -> bool:
        return self._back.refused

    @property
    def over(self) -> bool:
        return self._back.over

    def feed(self, typed: bytes) -> bytes:
        """Handle commands. Return what was typed after the one that ends it."""
        if not self.begun:
            self.held = (self.held + typed)[:_MOST_HELD]
            return b""
        keys = iter(self._typed.feed(typed))
        for key in keys:
            self._back.press(key)
            if self.over:
                return b"".join(later.raw for later in keys) + self._typed.held
        return b""

    def take(self, message: dict[str, Any]) -> bytes:
        """Handle an answer. Return what was typed meanwhile and is not for us."""
        if "look" in message:
            self._back.take(msgspec.convert(message["look"], Lines))
        else:
            self._back.take(msgspec.convert(message["found"], Found))
        if not (self.begun and self.held) or self.over:
            return b""
        held, self.held = self.held, b""
        return self.feed(held)

    def questions(self) -> Iterator[dict[str, Any]]:
        for question in self._back.questions():
            kind = "look" if isinstance(question, Look) else "find"
            yield {kind: msgspec.to_builtins(question)}

    def daemon_died(self) -> None:
        self._back.wait()

    def daemon_came(self) -> None:
        self._back.ask_again()

    def resize(self, rows: int, cols: int) -> None:
        self._canvas.forget()
        self._back.resize(rows, cols)

    def draw(self) -> bytes:
        """Return the bytes that draw the current page; nothing before the first page is here."""
        seen = self._back.draw()
        if seen is None:
            return b""
        self.shown = True
        return self._canvas.draw(*seen)
