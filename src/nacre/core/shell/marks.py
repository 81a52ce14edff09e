"""Find our marks in a session's output: where a prompt begins, a command starts, and how it ended.

A mark is an OSC 133 sequence (the FinalTerm proposal, "semantic prompts") that carries the
session's nonce: `ESC ] 133 ; letter ; n=NONCE [; value] BEL`. The letters:
  A  a prompt begins            B  the prompt ends, input begins     C  a command starts
     B's value is how the line editor takes keys, "emacs" or "vi", where the shell tells it, and
     "emacs;unhooked" where our hooks cannot be; C's is the number of its line, as bash counts them
  D  a command ended: value is its exit code and the folder, "0;/tmp"
  O  a command has printed all: what comes before the prompt is the prompt's own. With a value the
     shell itself says so, not our hook, which may be gone
  Q  the prompt's own word on the command before it: value is the number of the prompt, then as D's,
     "7;0;/tmp". A prompt that is drawn again has the same number; it is empty where nobody counts.
     C counts as "late" if it comes behind D, with no prompt between: `exec 2> >(tee log)` delays
     what the shell itself prints, but not our hooks
  P  a continuation prompt (the shell wants more of the command)
  R  the answer to ASK_KEY: value is the exit code, whether it is at its prompt, and the folder,
     "0;prompt;/tmp"; by then the shell has its hooks again. "unknown" where it cannot tell,
     "line 57" where it knows only its line, and something else where a command reads a line
  V  how the line editor takes keys now: "emacs", "vi", "command" in vi's command mode, or
     what zsh's bindkey says of its main keymap, "bindkey -A viins main", and the end of that line
  L  the line that stands in the line editor, before R: `\\` is a backslash, `\n` a new line, and
     `\\?` a line that is too long or has control characters
  S  a wrapped command starts, value is its shell's process id
  E  a wrapped command ended: value is its exit code; where a shell was asked for that, its id and
     options if it began the command ("4711:himBHs", else ":"); and for a shell that is not the
     session's own its place: its id and the host, and the folder, "0;;4711 web1;/srv"

Rule 1: a mark without the right nonce is not ours: it passes through like any other output.
Rule 2: our marks never reach the engine or a recording.
Rule 3: a mark is found even if it is split between two chunks: what could be the beginning of one
is held back until the next chunk, but never more than the length of a mark.
"""

import re
from typing import Literal, NamedTuple

from msgspec import Struct

from nacre.late_pattern import late_pattern

# A shell with integration answers this key with mark R, and repairs its hooks. Its line editor
# shows nothing of it, and what is typed stays. No keyboard has it (xterm ctlseqs: CSI Ps ~).
ASK_KEY = b"\x1b[7337~"

_BEGIN = b"\x1b]133;"
_MAX = 4096 + 400  # a path (PATH_MAX), a host's name (255) and the rest of a mark

# Within the value no control character can stand: the scripts leave such folders out.
_MARK = late_pattern(
    rb"\x1b\]133;([A-ELO-SV]);n=([0-9a-f]+)((?:;[^\x00-\x1f]*)?)(?:\r?\n)?(?:\x07|\x1b\\)"
)


_HOST = late_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253}[A-Za-z0-9])?")


class ShellPlace(NamedTuple):
    """Where a shell is that is not the session's own, as it says."""

    host: str
    folder: str


class Mark(Struct, frozen=True):
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
        """The folder that a D mark reports; None for a name that no mark can tell.

        That is one with control characters, or of bytes that are no text: the kernel knows it.
        """
        folder = self.value.partition(";")[2]
        return folder if folder and _text(folder) == folder else None

    def place(self, shell_id: str) -> ShellPlace | None:
        """The place that an E mark of this shell reports; None for what is not known for sure."""
        _, _, host, folder = [*self.value.split(";", 3), "", "", ""][:4]
        whose, _, host = host.partition(" ")  # a shell may have got it from the one around it
        if not shell_id or whose != shell_id or not _HOST.fullmatch(host):
            return None
        return ShellPlace(host, _text(folder)) if folder.startswith("/") else None


class MarkScanner:
    """Splits output into bytes and marks; `scan` is on the hot path."""

    def __init__(self, nonce: str) -> None:
        self._nonces = {nonce.encode()}
        self._held = b""

    def accept(self, nonce: str) -> None:
        """Accept marks with this nonce too: a wrapped command has its own."""
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
        """Return what was held back, because nothing follows."""
        held, self._held = self._held, b""
        return held


class Prompt(NamedTuple):
    """Where a shell is, by its marks."""

    ended: int  # commands that have ended so far
    shown: int  # prompts that were drawn so far
    continued: bool  # it asks for the rest of a command


class Prompting:
    """Where a shell with integration stands, by its marks.

    Rule: the end of a command is told once, by D. Where no D came before the prompt (a user's
    command took our hook away), the prompt's own word (Q) counts as D.
    """

    def __init__(self) -> None:
        self.phase: Literal["drawing", "prompt", "continuation", "running"] | None = None
        self.ended = 0  # commands that have ended so far
        self.shown = 0  # prompts that were drawn so far, continued ones too; themes redraw them
        self.continued = 0  # those of them that asked for the rest of a command
        self.exit_code: int | None = None
        self.folder: str | None = None
        self.hurt = False  # our hooks are gone, though the prompt still has its marks
        self.understands_wrapper = True  # as far as one was sent since a command told its end
        self.edits_like_vi = False  # the line editor, whose keys may be commands then
        self.reads_line = False  # it said so itself: a command runs, and edits a line
        self.answers = 0  # to ASK_KEY
        self.line: str | None = None  # what the line editor held at its last answer
        self.unanswered = 0  # times in a row that it did not answer
        self._number: str | None = None  # of the last prompt
        self._line: int | None = None  # of the command that runs
        self._told = False  # the end before this prompt
        self._drawn = True  # a prompt, since the last end
        self._printed_all = False

    @property
    def place(self) -> Prompt:
        return Prompt(self.ended, self.shown, self.phase == "continuation")

    def note(self, mark: Mark) -> Mark | None:
        """Return the mark as others should take it; None for what says nothing new."""
        self.reads_line = False
        match mark.kind:
            case "A":
                self.phase, self._drawn = "drawing", True
            case "B":
                self.phase = "prompt"
                self.shown += 1
                mode, _, unhooked = mark.value.partition(";")
                self.edits_like_vi = mode == "vi" if mode else self.edits_like_vi
                self.hurt = self.hurt or bool(unhooked)
                return Mark("B", nonce=mark.nonce)
            case "P":
                self.phase = "continuation"
                self.shown += 1
                self.continued += 1
            case "C":
                self.phase = "running"
                self._printed_all = False
                self._line = int(mark.value) if mark.value.isdigit() else None
                if not self._drawn:
                    return Mark("C", "late", mark.nonce)
            case "S":
                # Where our hooks are gone, it is the only word that a command runs.
                if self.phase is not None and mark.value != "read":
                    self.phase = "running"
            case "D":
                self._end(mark)
                self._told, self.hurt, self.understands_wrapper = True, False, True
            case "O":
                self._printed_all = not mark.value
            case "Q":
                return self._note_prompt(mark)
            case "L":
                self.line = _line(mark.value)
                return None
            case "R":
                return self._note_answer(mark)
            case "V":
                self.edits_like_vi = mark.value in ("vi", "command") or "viins" in mark.value
        return mark

    def _note_prompt(self, mark: Mark) -> Mark | None:
        number, _, value = mark.value.partition(";")
        number = number if number.isdigit() else ""
        before = self._number
        if number and before and int(number) < int(before):
            return None  # an old one: a file is shown that had the prompt written to it
        self._number = number
        if number and number == before:
            if self.phase != "running":
                return None  # it is only drawn again
            value = ""  # nothing in it is expanded, and our hook is gone: its word is an old one
        told, self._told = self._told, False
        counts = bool(number) and before is not None  # else only a command that began can end
        if told or self.phase is None or not (counts or self.phase == "running"):
            return None
        end = Mark("D", value, mark.nonce)
        self._end(end)
        self.hurt = not self._printed_all
        return end

    def _note_answer(self, mark: Mark) -> Mark | None:
        self.answers += 1
        self.unanswered = 0
        code, where, folder = [*mark.value.split(";", 2), "", ""][:3]
        if where.startswith("line "):
            where = self._judge_line(where.removeprefix("line "))
        if where != "prompt":
            self.reads_line = where != "unknown"
            return None
        ended = self.phase == "running"
        self.hurt = self.hurt or ended  # until the next end: bash mends PS0 at its next prompt
        end = Mark("D", f"{code};{folder}", mark.nonce)
        if ended:
            self._end(end)
        if self.phase != "continuation":
            self.phase = "prompt"
        return end if ended else None

    def reads_again(self, code: int) -> None:
        """A command that is known to have ended left no hook: the shell reads the next line."""
        self._end(Mark("D", str(code)))
        self.phase, self.hurt = "prompt", True

    def _judge_line(self, number: str) -> str:
        """At its prompt a shell is at a later line than the command that it ran."""
        if self.phase != "running" or self._line is None or not number.isdigit():
            return "unknown"
        return "prompt" if int(number) > self._line else "read"

    def _end(self, mark: Mark) -> None:
        self.phase, self._drawn = "drawing", False
        self.ended += 1
        self.exit_code = mark.exit_code
        self.folder = mark.folder  # one that is not told is another one than before


def _text(folder: str) -> str:
    return folder.encode(errors="surrogateescape").decode(errors="replace")


def _line(value: str) -> str | None:
    """Return the line that an L mark tells; None for one that it cannot tell."""
    found = re.sub(r"\\(.?)", lambda sign: _SIGNS.get(sign[1], "\0"), value)
    return None if "\0" in found else found


_SIGNS = {"\\": "\\", "n": "\n"}


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
