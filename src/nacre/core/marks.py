"""Find our marks in a session's output: where a prompt begins, a command starts, and how it ended.

A mark is an OSC 133 sequence (the FinalTerm proposal, "semantic prompts") that carries the
session's nonce: `ESC ] 133 ; letter ; n=NONCE [; value] BEL`. The letters:
  A  a prompt begins            B  the prompt ends, input begins     C  a command starts
  D  a command ended: value is its exit code and the folder, "0;/tmp"
  P  a continuation prompt (the shell wants more of the command)
  S  a wrapped command starts, value is its shell's process id
  E  a wrapped command ended, value is its exit code; with the shell's id where it was asked for
  K  which shell answers: value is its kind

Rule 1: a mark without the right nonce is not ours: it passes through like any other output.
Rule 2: our marks never reach the engine or a recording.
Rule 3: a sequence split anywhere between two chunks is found all the same; what could be the
beginning of one is held back until the next chunk, never longer than a mark can be.
"""

import re
from dataclasses import dataclass
from typing import Literal

_BEGIN = b"\x1b]133;"
_MAX = 4096 + 128  # a path (PATH_MAX) and the rest of a mark

# Within the value no control character can stand: the scripts leave such folders out.
_MARK = re.compile(rb"\x1b\]133;([A-EKPS]);n=([0-9a-f]+)((?:;[^\x00-\x1f]*)?)(?:\x07|\x1b\\)")


@dataclass(frozen=True, slots=True)
class Mark:
    kind: str
    value: str = ""
    nonce: str = ""

    @property
    def exit_code(self) -> int | None:
        """The exit code of a D or E mark."""
        code = self.value.partition(";")[0]
        return int(code) if code.isdigit() else None

    @property
    def folder(self) -> str | None:
        """The folder that a D mark reports, as text: what is none of it is shown as such."""
        folder = self.value.partition(";")[2]
        return folder.encode(errors="surrogateescape").decode(errors="replace") or None


class MarkScanner:
    """Splits output into bytes and marks; `scan` is on the hot path."""

    def __init__(self, nonce: str) -> None:
        self._nonces = {nonce.encode()}
        self._held = b""

    def accept(self, nonce: str) -> None:
        """Take marks with this nonce too: a wrapped command has one of its own."""
        self._nonces.add(nonce.encode())

    def refuse(self, nonce: str) -> None:
        self._nonces.discard(nonce.encode())

    def scan(self, data: bytes) -> list[bytes | Mark]:
        """Return the pieces of the stream in their order; empty pieces are left out."""
        if self._held:
            data, self._held = self._held + data, b""
        if _BEGIN not in data:
            keep = _unfinished(data)
            if not keep:
                return [data] if data else []
            self._held = data[-keep:]
            return [data[:-keep]] if keep < len(data) else []
        pieces: list[bytes | Mark] = []
        at = 0
        for found in _MARK.finditer(data):
            if found.group(2) not in self._nonces:
                continue
            if found.start() > at:
                pieces.append(data[at : found.start()])
            value = found.group(3)[1:].decode(errors="surrogateescape")
            nonce = found.group(2).decode()
            pieces.append(Mark(found.group(1).decode(), value, nonce))
            at = found.end()
        rest = data[at:] if at else data
        keep = _unfinished(rest)
        if keep:
            self._held = rest[-keep:]
            rest = rest[:-keep]
        if rest:
            pieces.append(rest)
        return pieces

    @property
    def held(self) -> int:
        """How many bytes are held back."""
        return len(self._held)

    def flush(self) -> bytes:
        """Return what was held back: nothing follows it any more."""
        held, self._held = self._held, b""
        return held


class Prompting:
    """Where a shell with integration stands, by its marks."""

    def __init__(self) -> None:
        self.phase: Literal["drawing", "prompt", "continuation", "running"] | None = None
        self.ended = 0  # commands that have ended so far
        self.exit_code: int | None = None
        self.folder: str | None = None

    def note(self, mark: Mark) -> None:
        match mark.kind:
            case "A":
                self.phase = "drawing"
            case "B":
                self.phase = "prompt"
            case "P":
                self.phase = "continuation"
            case "C":
                self.phase = "running"
            case "D":
                self.phase = "drawing"
                self.ended += 1
                self.exit_code = mark.exit_code
                self.folder = mark.folder or self.folder


def _unfinished(data: bytes) -> int:
    """Return how many bytes at the end could be the beginning of a mark."""
    at = data.rfind(b"\x1b", max(0, len(data) - _MAX))
    if at < 0:
        return 0
    tail = data[at:]
    if tail == b"\x1b":  # of a terminator ESC \ or of a new sequence
        before = data.rfind(b"\x1b", max(0, at - _MAX), at)
        opened = before >= 0 and _may_begin(data[before:at])
        return len(data) - before if opened else 1
    return len(tail) if _may_begin(tail) else 0


def _may_begin(tail: bytes) -> bool:
    if len(tail) <= len(_BEGIN):
        return _BEGIN.startswith(tail)
    return tail.startswith(_BEGIN) and b"\x07" not in tail and b"\x1b" not in tail[1:]
