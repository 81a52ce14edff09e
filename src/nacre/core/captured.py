"""Whose keys they are: in capture mode what people type becomes events instead of input.

Rule 1: Ctrl+\\ is the person's way out: it ends the capture, and what follows it reaches the
program again.
Rule 2: the last keys, `kept` of them, stay for who asks later; older ones are forgotten.
"""

from collections import deque
from typing import NamedTuple

from nacre.core.typed import TypedKey, TypedStream
from nacre.core.visual_operations import CapturedKey, InputMode, ParsedKey

_WAY_OUT = ("\\", ("ctrl",))  # Ctrl+\, by whatever protocol it comes


class Typed(NamedTuple):
    keys: list[CapturedKey]
    rest: bytes  # for the program
    ended: bool  # the person ended the capture


class Capture:
    def __init__(self, kept: int) -> None:
        self.active = False
        self.focus: str | None = None
        self._stream = TypedStream()
        self._keys: deque[CapturedKey] = deque(maxlen=kept)
        self.last = 0
        self._taken = 0  # up to which key they were asked for

    @property
    def mode(self) -> InputMode:
        return "capture" if self.active else "passthrough"

    def begin(self) -> None:
        if not self.active:
            self.active = True
            self._stream = TypedStream()
            self._taken = self.last

    def release(self) -> None:
        self.active = False
        self.focus = None

    def typed(self, data: bytes) -> Typed:
        """Take what a person typed while this is active."""
        keys: list[CapturedKey] = []
        typed = self._stream.feed(data)
        for at, one in enumerate(typed):
            if (one.key, one.modifiers) == _WAY_OUT:
                self.release()
                rest = b"".join(later.raw for later in typed[at + 1 :])
                return Typed(keys, rest + self._stream.held, ended=True)
            keys.append(self._note(one))
        return Typed(keys, b"", ended=False)

    def has_more_than(self, number: int | None) -> bool:
        return self.last > (self._taken if number is None else number)

    def take(self, after: int | None) -> list[CapturedKey]:
        """Return the keys after this one that are still kept; None: those that nobody took yet."""
        first = self._taken if after is None else after
        self._taken = self.last
        return self.since(first)

    def since(self, number: int) -> list[CapturedKey]:
        """Return the keys after this one that are still kept."""
        return [key for key in self._keys if key.number > number]

    def _note(self, typed: TypedKey) -> CapturedKey:
        self.last += 1
        parsed = None
        if typed.key is not None:
            parsed = ParsedKey(key=typed.key, modifiers=list(typed.modifiers))
        key = CapturedKey(
            number=self.last, raw=list(typed.raw), parsed=parsed, focused_element=self.focus
        )
        self._keys.append(key)
        return key
