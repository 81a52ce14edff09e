"""What people type at a viewer, by numbers, so that a connection or a daemon may die meanwhile.

A viewer that numbers its input counts the bytes that it has typed; a number says how many came
before. It is told up to which number the terminal took them, keeps what comes after that, and sends
it again after a reconnect.

Rule 1: no byte is typed twice. What a viewer sends again and was received before is left out.
Rule 2: what the terminal took is in the ring before anybody is told of it, so the next daemon knows
it too, after a kill in the middle of a write as well. Only what was changed on its way leaves bytes
of which nobody knows then; those are not typed again.
Rule 3: half a line is worse than none. When something is dropped, so is all that follows, until the
viewer says that its person knows (`go_on`). What had arrived of the line is to be erased then.
Rule 4: only the newest connection of a viewer types: what is still under way on an older one has
been sent again by then.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from nacre.core.operations.watch import Dropped, Numbered, Taken, Typing
from nacre.system.storage.ring import Ring, Typist

Tell = Callable[[Typing | Taken | Dropped], None]

_MOST_KNOWN = (
    64  # viewers without a connection of which is known what they typed; more are forgotten
)
_LINE_ENDS = (b"\r", b"\n", b"\x03", b"\x15")  # Enter, Ctrl+C, Ctrl+U


class InputReceipt:
    """What becomes of one input: it is written, wholly or in parts, settled, or dropped.

    Settled: nobody has to type it any more, because an agent captured it or its viewer was told
    why it was refused.
    """

    def __init__(self, stream: "NumberedInput", begin: int, end: int) -> None:
        self.begin_at = begin
        self.end = end
        self.settled = False
        self.lost = False  # it was dropped: that counts only together with what follows it
        self.exact = True  # each byte that is written is one that was typed
        self.written = 0
        self._stream = stream

    def begin(self) -> None:
        """It is about to be written, or captured."""
        self._stream.begin(self)

    def write(self, terminal: int, data: memoryview) -> int:
        """Write what the terminal takes of its rest. Raises what os.write raises."""
        return self._stream.write(self, terminal, data)

    def wrote(self, count: int) -> None:
        """So many more bytes of it were written, maybe none."""
        self.written += count
        self._stream.note()

    def settle(self) -> None:
        self.settled = True
        self._stream.note()

    def drop(self, why: str) -> None:
        """It will not be written; `why` is for the person who typed it."""
        self.lost = self._stream.in_line = True
        self._stream.drop(self.end, why)
        self.settle()

    @property
    def reached(self) -> int:
        """The number up to which it is known to be written."""
        if self.settled:
            return self.end
        return self.begin_at + self.written if self.exact else self.begin_at


class NumberedInput:
    """What one viewer types into one session."""

    def __init__(self, place: Typist) -> None:
        self._place = place
        self._taken = place.taken
        self._received = max(place.taken, place.begun)
        self._unsure = place.begun > place.taken
        self._dropping = self._unsure
        self._open: deque[InputReceipt] = deque()
        self._tell: Tell | None = None
        self.in_line = place.taken > 0  # a line may have been begun, and has not ended

    @property
    def connected(self) -> bool:
        return self._tell is not None

    @contextmanager
    def connection(self, tell: Tell) -> Iterator["TypingConnection"]:
        self._tell = tell
        # Who comes back with something that is to be dropped, says so by `go_on`.
        known = Typing(
            taken=self._taken,
            received=self._received,
            unsure=self._unsure,
            dropped=self._dropping and not self._unsure,
        )
        tell(known)
        try:
            yield TypingConnection(self, tell)
        finally:
            if self._tell is tell:
                self._tell = None

    def follows_half_a_line(self, tell: Tell, at: Numbered) -> bool:
        """Whether it goes on after the rest of a line was dropped that may have been begun."""
        dropped = self._dropping or at.number > self._received
        return at.go_on and not at.late and dropped and self.in_line and self._tell is tell

    def accept(self, tell: Tell, data: bytes, at: Numbered) -> tuple[bytes, InputReceipt] | None:
        """Return what is to be typed of it; None: nothing."""
        if self._tell is not tell:
            return None
        end = at.number + len(data)
        if at.go_on:
            self._dropping = self._unsure = False
        if at.late:
            self._dropping = True
        if self._dropping:
            self.drop(end, "it came late, the screen may have changed" if at.late else "")
            return None
        if at.number > self._received:  # the viewer has dropped what lies between
            self._skip(at.number)
        data = data[self._received - at.number :]
        if not data:
            return None
        receipt = InputReceipt(self, end - len(data), end)
        self._received = end
        self._open.append(receipt)
        self.in_line = data[-1:] not in _LINE_ENDS
        return data, receipt

    def drop(self, end: int, why: str) -> None:
        self._dropping = True
        self._skip(end, lost=True)
        if self._tell is not None:
            self._tell(Dropped(number=self._received, why=why))

    def forget(self, receipt: InputReceipt) -> None:
        """Take back that it was received: its connection closed while it waited for its turn."""
        if self._open and self._open[-1] is receipt:
            self._open.pop()
            self._received = receipt.begin_at

    def begin(self, receipt: InputReceipt) -> None:
        self._place.begin(receipt.end)

    def write(self, receipt: InputReceipt, terminal: int, data: memoryview) -> int:
        if receipt.exact:
            return self._place.write(terminal, data, receipt.begin_at + receipt.written)
        self.begin(receipt)
        return os.write(terminal, data)

    def note(self) -> None:
        """Store up to where all is written, and tell it."""
        before = self._taken
        while self._open and self._open[0].reached == self._open[0].end:
            first = self._open.popleft()
            self._taken = self._taken if first.lost else first.end
        if self._open:
            first = self._open[0]
            self._taken = max(self._taken, first.reached)
            if not first.exact and first.written:
                return  # a part of it: which bytes that are, is not known
        self._place.took(self._taken)
        if self._taken != before and self._tell is not None:
            self._tell(Taken(number=self._taken))

    def _skip(self, end: int, *, lost: bool = False) -> None:
        if end > self._received:
            receipt = InputReceipt(self, self._received, end)
            receipt.lost = lost
            self._received = end
            self._open.append(receipt)
            receipt.settle()


class TypingConnection:
    """A viewer's connection to its stream."""

    def __init__(self, stream: NumberedInput, tell: Tell) -> None:
        self._stream = stream
        self._tell = tell

    def follows_half_a_line(self, at: Numbered) -> bool:
        return self._stream.follows_half_a_line(self._tell, at)

    def accept(self, data: bytes, at: Numbered) -> tuple[bytes, InputReceipt] | None:
        return self._stream.accept(self._tell, data, at)

    def forget(self, receipt: InputReceipt) -> None:
        self._stream.forget(receipt)


class Typists:
    """Who numbers what they type into one session."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._streams: dict[str, NumberedInput] = {}

    def connection(self, name: str, tell: Tell) -> AbstractContextManager[TypingConnection]:
        """Return a context in which a viewer types; `name` is 16 hex digits."""
        stream = self._streams.pop(name, None) or NumberedInput(self._ring.typist(int(name, 16)))
        self._streams[name] = stream  # the last one
        absent = [one for one, known in self._streams.items() if not known.connected]
        for one in absent[: -_MOST_KNOWN or None]:
            if one != name:
                del self._streams[one]
        return stream.connection(tell)
