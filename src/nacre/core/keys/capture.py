"""Captured input: while it is captured, what people type becomes events instead of input.

Rule 1: Ctrl+\\ is the person's way out: it ends the capture, and what follows it reaches the
program again.
Rule 2: a capture outlives the daemon, with the keys that nobody has fetched yet.
Rule 3: the last keys, `kept` of them, stay for who asks later; older ones are forgotten.
"""

from collections import deque
from typing import NamedTuple

import msgspec

from nacre.core.keys.typed import TypedKey, TypedStream
from nacre.core.operations.display import CapturedKey, InputMode, ParsedKey
from nacre.core.text.budget import fitting, json_size

_WAY_OUT = ("\\", ("ctrl",))  # Ctrl+\, in any protocol


class Typed(NamedTuple):
    keys: list[CapturedKey]
    rest: bytes  # for the program
    ended: bool  # the person ended the capture


class KeptCapture(msgspec.Struct, frozen=True, kw_only=True):
    """A capture for the next daemon."""

    active: bool
    focus: str | None
    keys: list[CapturedKey]  # that nobody took yet
    last: int


class Capture:
    def __init__(self, kept: int) -> None:
        self.active = False
        self.focus: str | None = None
        self._stream = TypedStream()
        self._keys: deque[CapturedKey] = deque(maxlen=kept)
        self.last = 0
        self._taken = 0  # the last key that was returned

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
        """Handle what a person typed during a capture."""
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

    def take(self, after: int | None, room: int) -> list[CapturedKey]:
        """Return the kept keys after this one; None: those that were not returned yet.

        As many as have room, as JSON, and at least one; the others are still there.
        """
        found = self.since(self._taken if after is None else after)
        kept = found[: max(1, fitting((json_size(key) + 1 for key in found), room))]
        self._taken = kept[-1].number if kept else self.last
        return kept

    def since(self, number: int) -> list[CapturedKey]:
        """Return the kept keys after this one."""
        return [key for key in self._keys if key.number > number]

    def kept(self) -> KeptCapture:
        return KeptCapture(
            active=self.active, focus=self.focus, keys=self.since(self._taken), last=self.last
        )

    def restore(self, kept: KeptCapture) -> None:
        self.active, self.focus, self.last = kept.active, kept.focus, kept.last
        self._keys.extend(kept.keys)
        self._taken = kept.keys[0].number - 1 if kept.keys else kept.last

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
