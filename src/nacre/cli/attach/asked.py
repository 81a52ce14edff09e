"""What the policy or a program asks the person at `nacre attach`, and how their keys answer it.

Rule 1: a password is taken key by key and never shown; it goes to the daemon alone.
Rule 2: nobody allows what they cannot see: a command that does not fit into the row can be refused
there, and nothing else.
"""

from collections.abc import Callable
from typing import Any

from nacre.core.text.unseen import spelled_out
from nacre.core.text.widths import text_width

_ANSWERS = {b"y": "once", b"s": "session", b"a": "save", b"n": "deny"}
_CONFIRMS = {b"y": "yes", b"n": "no"}  # to a program that asks
_LETTERS = {
    "once": "[y]es",
    "session": "[s]ession",
    "save": "[a]lways",
    "deny": "[n]o",
    "yes": "[y]es",
    "no": "[n]o",
}
_ENTER, _GIVES_UP, _ERASES = b"\r\n", b"\x03\x04\x1b", b"\x7f\x08"


class AskedPerson:
    def __init__(self, tell: Callable[[dict[str, Any]], None], columns: Callable[[], int]) -> None:
        """`tell` sends a message to the daemon; `columns` returns how many the row has."""
        self._columns = columns
        self.open: dict[str, Any] | None = None  # what is asked, if anything is
        self._answered: dict[str, Any] | None = None  # the question that the next key answers
        self._hidden = bytearray()  # what was typed of a password
        self._tell = tell

    @property
    def takes_keys(self) -> bool:
        """Whether the next key is an answer."""
        return self._answered is not None

    def begin(self) -> None:
        """Answer the open question with the next keys."""
        self._answered = self.open

    def answer(self, typed: bytes) -> bytes:
        """Answer by a letter; any other key leaves it open. Return what was typed after it."""
        assert self._answered is not None
        if self._answered["kind"] == "password":
            return self._answer_hidden(self._answered, typed)
        question, self._answered = self._answered, None
        letters = _ANSWERS if question["kind"] == "command" else _CONFIRMS
        answer = letters.get(typed[:1].lower())
        if answer in question["answers"] and (answer == "deny" or self._is_seen(question)):
            self._tell({"answer": [question["id"], answer]})
        return typed[1:] if typed[:1] != b"\x1b" else b""  # a key of several bytes

    def _answer_hidden(self, question: dict[str, Any], typed: bytes) -> bytes:
        """Take a password, key by key, to Enter; Escape, Ctrl+C and Ctrl+D leave it."""
        for index in range(len(typed)):
            key = typed[index : index + 1]
            if key in _GIVES_UP or key in _ENTER:
                self._answered = None
                text, self._hidden = self._hidden.decode(errors="replace"), bytearray()
                if key in _GIVES_UP:
                    return b"" if key == b"\x1b" else typed[index + 1 :]
                self._tell({"answer": [question["id"], "text"], "answer_text": text})
                return typed[index + 1 :]
            if key in _ERASES:
                self._hidden = bytearray(self._hidden.decode(errors="ignore")[:-1].encode())
            else:
                self._hidden += key
        return b""

    @property
    def text(self) -> str:
        """What can be answered, and then what is asked: a narrow terminal cuts the end."""
        assert self._answered is not None
        question = self._answered
        command = question["command"].replace("\n", "⏎")
        if question["kind"] == "password":
            told = f" type it, then Enter (it is not shown): {command} ({question['session']}) "
            return spelled_out(told)
        if not self._is_seen(question):
            why = "the rest is cut off here; read it on the page or by 'nacre approvals'"
            return spelled_out(f" {_LETTERS['deny']}, {why}: {command} ")
        where = f"{question['session'] or 'a new session'}, {question['cwd'] or 'unknown folder'}"
        why = "; ".join(question["reasons"])
        return f"{_answers_to(question)}{spelled_out(f'({where}: {why}) ')}"

    def _is_seen(self, question: dict[str, Any]) -> bool:
        """Whether all of a command is in the row."""
        return question["kind"] != "command" or (
            text_width(_answers_to(question)) < self._columns()
        )


def _answers_to(question: dict[str, Any]) -> str:
    """Return how a question can be answered, and what it asks."""
    words = " ".join(_LETTERS[answer] for answer in question["answers"])
    command = question["command"].replace("\n", "⏎")
    return spelled_out(f" {words}: {command} ")
