"""Looking back in `nacre attach`: bytes typed and lines of the daemon in, questions and bytes out.

Rule: what is typed before the daemon has said whether there is anything to look back at is held:
then it is commands, or it goes where it would have gone.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from nacre.core.canvas import Canvas
from nacre.core.lookback import LookBack
from nacre.core.typed import TypedStream
from nacre.core.watch import Found, Lines, Look

_MOST_HELD = 4096  # bytes, as a terminal's own line holds (termios(3)); what is more is dropped


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
        """`began` is the key that is the program's where there is nothing to look back at."""
        self.began = began
        self.held = b""
        self.shown = False  # the terminal shows it, and not the session
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
        """Take commands; return what was typed after the one that ends it."""
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
        """Take an answer; return what was typed meanwhile and is not for us."""
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
        """Return what shows it as it stands now; nothing before the first page has come."""
        seen = self._back.draw()
        if seen is None:
            return b""
        self.shown = True
        return self._canvas.draw(*seen)
