"""sed's small language: does a script only change the text that flows through it?

sed(1), GNU 4.9. `e` runs a program, `w`, `W`, `r` and `R` write and read files, and so do the flags
e and w of s. Rule: one pass over the script; what is not known here is not harmless.
"""

import re
from typing import NamedTuple

_SIMPLE = frozenset("=dDgGhHnNpPxFz")
_COUNTED = frozenset("lqQ")
_JUMPS = frozenset("btT:")
_TEXTS = frozenset("aic")
_NUMBER = re.compile(r"[0-9]*")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_LABEL = re.compile(r"[ \t]*\w*[ \t]*")
_STEP = re.compile(r"[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_BRACKETS = re.compile(r"\[\^?\]?+(?:\[[:.=][a-z]+[:.=]\]|[^\]\[])*+\]")
_ALL = re.compile(r"(\W)\^?\.[*+]\$?\1\1")
_BLANKS = re.compile(r"[ \t]*")


class _Command(NamedTuple):
    letter: str
    everywhere: bool  # it has no address, or one that takes every line


class _Unknown(Exception):
    """It has something that is not read here."""


def sed_commands(script: str) -> list[_Command] | None:
    """Return the commands of a script that only changes text; None: it may do more."""
    try:
        return list(_Reader(script).commands())
    except (_Unknown, IndexError):
        return None


def empties(commands: list[_Command], *, quiet: bool) -> bool:
    """Return whether an edit in place leaves nothing of a file, or only some lines of it."""
    letters = {command.letter for command in commands}
    if quiet:  # only what it prints is left
        return True
    return bool(letters & {"q", "Q"}) or any(
        command.letter in "dD" and command.everywhere for command in commands
    )


class _Reader:
    def __init__(self, script: str) -> None:
        self._text = script
        self._at = 0

    def commands(self) -> "list[_Command]":
        found = []
        while self._skip_to_command():
            everywhere = self._addresses()
            letter = self._next()
            begin = self._at
            self._rest_of(letter)
            if letter == "s" and _ALL.match(self._text, begin):
                letter = "d"  # nothing of the line is left
            found.append(_Command(letter, everywhere))
        return found

    def _skip_to_command(self) -> bool:
        while self._at < len(self._text):
            here = self._text[self._at]
            if here == "#":
                self._at = (self._text + "\n").index("\n", self._at)
            elif not (here.isspace() or here in ";}"):
                return True
            else:
                self._at += 1
        return False

    def _addresses(self) -> bool:
        begin = self._at
        if self._address():
            self._take(_BLANKS)
            if self._peek() == ",":
                self._at += 1
                self._take(_BLANKS)
                if not self._address():
                    raise _Unknown
        spelled = self._text[begin : self._at].replace(" ", "")
        while self._peek() in ("!", " ", "\t"):
            if self._peek() == "!":
                spelled = ""  # all others
            self._at += 1
        return spelled in ("", "1,$", "0,$", "/./", "/^/", "/$/", "/.*/")

    def _address(self) -> bool:
        here = self._peek()
        if here == "/":
            self._at += 1
            self._part("/", pattern=True)
        elif here == "\\":
            self._at += 1
            self._part(self._delimiter(), pattern=True)
        elif not self._take(_STEP):
            return False
        while self._peek() in ("I", "M"):
            self._at += 1
        return True

    def _rest_of(self, letter: str) -> None:
        if letter == "{":
            return
        if letter == "s":
            end = self._delimiter()
            self._part(end, pattern=True)
            self._part(end)
            self._take(_FLAGS)
        elif letter == "y":
            end = self._delimiter()
            self._part(end)
            self._part(end)
        elif letter in _TEXTS:
            self._text_of()
            return
        elif letter in _JUMPS:
            self._take(_LABEL)
        elif letter in _COUNTED:
            self._take(_BLANKS)
            self._take(_NUMBER)
        elif letter not in _SIMPLE:
            raise _Unknown
        self._take(_BLANKS)
        if self._at < len(self._text) and self._text[self._at] not in ";\n}#":
            raise _Unknown

    def _text_of(self) -> None:
        """Go to the end of a text: the end of a line that no backslash continues."""
        self._take(_BLANKS)
        while self._at < len(self._text) and self._text[self._at] != "\n":
            self._at += 2 if self._text[self._at] == "\\" else 1

    def _part(self, end: str, *, pattern: bool = False) -> None:
        begin = self._at
        while self._text[self._at] != end:
            if self._text[self._at] == "\n" and pattern:
                raise _Unknown
            self._at += 2 if self._text[self._at] == "\\" else 1
        part = _BRACKETS.sub("", _ESCAPED.sub("", self._text[begin : self._at]))
        if pattern and "[" in part:
            raise _Unknown  # the delimiter stands in a [ ], where it is none
        self._at += 1

    def _delimiter(self) -> str:
        end = self._next()
        if end.isalnum() or end in "\\\n;{}[] \t":
            raise _Unknown
        return end

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: "re.Pattern[str]") -> str:
        found = pattern.match(self._text, self._at)
        text = found.group(0) if found else ""
        self._at += len(text)
        return text
