"""What input makes a shell run: its text, its Enters, and the keys that change the line otherwise.

Rule 1: whatever may run a line is found, also where nobody knows which line: Enter as CR and LF,
Ctrl+O, and every key that is not listed here as one that only edits.
Rule 2: text is text only where every line editor inserts it as it is. Tab completes, arrows recall
older lines: after them only the shell itself knows its line.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nacre.core.shell.marks import ASK_KEY, Prompt
from nacre.late_pattern import late_pattern

# text: inserted as it is. enter: runs the line. edit: changes the line in a way that nobody knows.
# strange: may run it, or open an editor that does. end: tells a program that its input is over, or
# interrupts it. paste: a bracket around pasted text.
Kind = Literal["text", "enter", "edit", "strange", "end", "paste"]

_STROKES = late_pattern(
    rb"(?P<paste>\x1b\[20[01]~)"
    rb"|(?P<enter>[\r\n])"
    rb"|(?P<end>[\x03\x04\x1a\x1c])"  # Ctrl+C, Ctrl+D, Ctrl+Z, Ctrl+\
    # Cursor keys, Home, End, Delete and their like (xterm ctlseqs, "PC-Style Function Keys").
    rb"|(?P<edit>\x1b\[[0-9;]*[A-DFHZ~]|\x1bO[A-DFH]"
    # Meta with a key that only edits in readline, zle and fish: by words, case, the kill ring.
    rb"|\x1b[bBdDfFlLuUcCtTyY.<>_0-9\x7f\x08]"
    # All control characters but Ctrl+O, which runs the line and shows the next one, and Ctrl+X,
    # which begins sequences such as that for an editor.
    rb"|[\x00-\x02\x05-\x09\x0b\x0c\x10-\x17\x19\x1d-\x1f\x7f])"
    rb"|(?P<text>[ -~\x80-\xff]+)"
    rb"|(?P<strange>\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1bO.|\x1b.|.)",
    re.DOTALL,
)
# Ctrl+D hands a shell without a line editor what was typed so far, without Enter.
_MAY_RUN = late_pattern(rb"[\r\n\x04\x0f\x18]|\x1b(?!\[[0-9;]*[A-DFHZ~]|O[A-DFH])")


class Stroke(NamedTuple):
    kind: Kind
    data: bytes
    text: str = ""


def may_run(data: bytes) -> bool:
    """Return whether input may make a shell run something; cheap, and rather yes than no."""
    return data != ASK_KEY and _MAY_RUN.search(data) is not None


def strokes_of(data: bytes) -> list[Stroke]:
    """Take input apart. A tab within a paste is text; outside of one it completes."""
    strokes: list[Stroke] = []
    pasting = False
    for found in _STROKES.finditer(data):
        kind, given = found.lastgroup or "strange", found.group()
        if kind == "paste":
            pasting = given == b"\x1b[200~"
        elif pasting and given == b"\t":
            kind = "text"
        strokes.append(_stroke(kind, given))
    return strokes


def _stroke(kind: str, data: bytes) -> Stroke:
    if kind == "text":
        try:
            return Stroke("text", data, data.decode())
        except UnicodeDecodeError:
            return Stroke("edit", data)
    if kind == "enter":
        return Stroke("enter", data, "\n")
    return Stroke(kind, data)  # type: ignore[arg-type]  # a group of the pattern above


def text_of(strokes: Sequence[Stroke]) -> str:
    return "".join(stroke.text for stroke in strokes)


def first_that_runs(strokes: Sequence[Stroke]) -> int | None:
    """Return the place of the first stroke that may run a line."""
    for index, stroke in enumerate(strokes):
        if stroke.kind in ("enter", "strange"):
            return index
    return None


def up_to_last_enter(strokes: Sequence[Stroke]) -> Sequence[Stroke]:
    """Leave out what stands behind the last Enter: it waits in the line and runs nothing yet."""
    last = max((at for at, stroke in enumerate(strokes) if stroke.kind == "enter"), default=-1)
    return strokes[: last + 1]


def ends_input(strokes: Sequence[Stroke]) -> bool:
    """Return whether Ctrl+D hands over what stands before it, as Enter would."""
    return any(stroke.data == b"\x04" for stroke in strokes)


def is_plain(strokes: Sequence[Stroke]) -> bool:
    """Return whether a line editor takes all of it as text and Enters."""
    return all(stroke.kind in ("text", "enter", "paste") for stroke in strokes)


def expands_history(text: str) -> bool:
    """Return whether bash or zsh may put an older line in the place of something here.

    History expansion comes before the line is parsed, in every line that is typed: `!!`, `!git`,
    `^old^new`. Between single quotes there is none.
    """
    if "!" not in text and "^" not in text:
        return False
    for line in text.split("\n"):
        if line.lstrip().startswith("^"):
            return True
        quoted = False
        for at, char in enumerate(line):
            if char == "'":
                quoted = not quoted
            elif char == "!" and not quoted and line[at + 1 : at + 2] not in ("", " ", "\t", "="):
                return True
        if quoted and "!" in line:  # the quote may be a letter between others
            return True
    return False


_MOST_UNREAD = 64  # inputs, and bytes of one, that may wait


class TypedLine:
    """The line of a session's own shell, as far as what was typed tells.

    It is told all input, by whomever, and where the shell is. It knows the line while nothing but
    text was typed since the prompt was drawn, and all of that at the prompt.
    """

    def __init__(self, *, fresh: bool = False) -> None:
        """`fresh`: its shell is about to be started, and nobody has typed anything."""
        self._partial = not fresh
        self._entered: str | None = ""
        self._text: str | None = None
        self._line = -1  # which line it is: how many commands had ended when its prompt came
        self._ahead = not fresh  # something was typed that may reach the next line
        self._awaits: int | None = None  # Enter was pressed when so many prompts were drawn
        self._learnt: tuple[int, str | None] | None = None  # after so many inputs the shell said
        # Not looked at yet: what is typed is told often, and asked for rarely.
        self._told: list[tuple[bytes, Prompt, int, bool]] = []

    @property
    def partial(self) -> bool:
        """Whether something was typed since the last Enter, wherever it went."""
        self._catch_up()
        return self._partial

    @property
    def entered(self) -> str | None:
        """The lines before this one that belong to the same command; None: not known."""
        self._catch_up()
        return self._entered

    def known(self, at: Prompt, inputs: int) -> str | None:
        """Return what the line holds; None: only the shell knows."""
        self._catch_up()
        self._turn_to(at)
        return self.told(inputs) if self.is_asked(inputs) else self._text

    def told(self, inputs: int) -> str | None:
        """Return what the shell said of its line, if it was asked since the last input."""
        self._catch_up()
        return self._learnt[1] if self._learnt is not None and self._learnt[0] == inputs else None

    def learn(self, line: str | None, inputs: int) -> None:
        """Take the shell's own word on its line, after so many inputs."""
        self._catch_up()
        self._learnt = (inputs, line)
        self._text = "" if line == "" else None

    def is_asked(self, inputs: int) -> bool:
        """Return whether the shell was asked since the last input, whether it could tell or not."""
        self._catch_up()
        return self._learnt is not None and self._learnt[0] == inputs

    def give_up_waiting(self) -> None:
        """The shell has taken Enter and marks nothing for it, as fish for an empty line."""
        self._catch_up()
        self._awaits, self._text = None, None

    def awaits_shell(self, at: Prompt) -> bool:
        """Return whether Enter was pressed, and the shell has not answered yet."""
        self._catch_up()
        self._turn_to(at)
        return self._awaits is not None

    def note(self, data: bytes, at: Prompt, inputs: int, *, reads: bool) -> None:
        """Note what is typed; `reads`: the shell is at a prompt, by its marks."""
        if data == ASK_KEY:
            return
        self._told.append((data, at, inputs, reads))
        if len(self._told) > _MOST_UNREAD or len(data) > _MOST_UNREAD:
            self._catch_up()

    def _catch_up(self) -> None:
        told, self._told = self._told, []
        for data, at, inputs, reads in told:
            self._note(data, at, inputs, reads=reads)

    def _note(self, data: bytes, at: Prompt, inputs: int, *, reads: bool) -> None:
        self._turn_to(at)
        if self._learnt is not None and self._learnt[0] == inputs:
            self._text = self._learnt[1]
        self._learnt = None
        for stroke in strokes_of(data):
            if stroke.kind != "paste":
                self._partial = stroke.kind not in ("enter", "end")
            if not reads or self._awaits is not None:
                self._ahead, self._text = True, None
            elif stroke.kind == "enter":
                self._enter(at.shown)
            elif stroke.kind == "end":
                self._text, self._entered, self._awaits, self._ahead = None, None, at.shown, True
            elif self._text is not None and stroke.kind in ("text", "paste"):
                self._text += stroke.text
            else:
                self._text = None

    def _enter(self, shown: int) -> None:
        if self._text is None or self._entered is None:
            self._entered = None
        else:
            self._entered += self._text + "\n"
        self._text, self._awaits = None, shown

    def _turn_to(self, at: Prompt) -> None:
        if at.ended != self._line:
            # A line that ended otherwise than by Enter (Ctrl+C) may have left keys to the next one.
            clean = not self._ahead and (self._awaits is not None or self._line < 0)
            self._text = "" if clean else None
            self._line, self._entered, self._ahead, self._awaits = at.ended, "", False, None
            self._learnt = None
        elif self._awaits is not None and at.continued and at.shown > self._awaits:
            self._awaits, self._text = None, None if self._ahead else ""
