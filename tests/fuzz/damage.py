"""Values and bytes that somebody who means harm, or a broken client, would send.

Rule 1: everything comes from the dice that are handed in, so a number tells what was sent.
Rule 2: what is sent must not harm the machine it is sent on: commands, folders and files come from
short lists, and shells start in a folder that is given, for what is typed may write files there.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from nacre.core.catalog.schema import input_schema
from nacre.core.operations.all import CATALOG

# These end the daemon, as they should.
ENDING = frozenset({"stop", "upgrade"})
OPERATIONS = tuple(name for name in CATALOG if name not in ENDING)
_SCHEMAS = {name: input_schema(CATALOG[name].type)["properties"] for name in OPERATIONS}

TEXTS = (
    "", " ", "x", "echo hi", "\r", "\n", "\x03", "\x04", "\x1b", "\x1b[", "\0", "a\0b", "%s%n",
    "../..", "(a+)+$", "(", "[", "(?P<n>x)(?P=n)", "\\", "$(", "'", '"', "é", "語", "👩‍👩‍👧‍👦",
    "\u202e", "\ufeff", "\ufffe", "\x85", "null", "-1", "1e9", "True", "{}", "x" * 300, "語" * 3000,
    "\x1b]52;c;QUJD\x07", "\x1b[65535b", "Ctrl+C", "F13", "Enter", "20000", "00000000", "{session}",
)  # fmt: skip
NUMBERS = (
    0, 1, 2, -1, 5, 24, 80, 255, 256, 999, 1000, 1001, 32767, 65535, 65536, 100_000, 2**31 - 1,
    2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**40, 0.5, -0.0, 1e-320, 1e308, 1.5,
)  # fmt: skip
ODD: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": ""}, {"a": {"b": [1]}})

# The only programs that are started.
COMMANDS = ("cat", "true", "sleep 0.05", "no-such-program", "", "a\0b", "exit 3", "echo é", "語")
TOOLS = ("echo", "pwd", "date", "whoami", "history", "get_shell_context", "no-such-tool", "")


class Damage:
    """What to send, by dice."""

    def __init__(self, dice: random.Random, sessions: tuple[str, ...], folder: str) -> None:
        self.dice = dice
        self._sessions = sessions
        folders = (folder, folder, "/no/such/folder", "a\0b", "relative")
        files = (f"{folder}/x", "/no/such/folder/x", "a\0b", "", folder)
        variables: tuple[Any, ...] = ({}, {"LANG": "C"}, {"X": "é"}, {"": "x"}, {"A=B": "x"})
        # What might do harm on the machine has fixed choices.
        self._safe: dict[str, Callable[[], Any]] = {
            "cwd": lambda: dice.choice(folders),
            "path": lambda: dice.choice(files),
            "env": lambda: dice.choice(variables),
            "command": lambda: dice.choice(COMMANDS),
            "shell": lambda: dice.choice(("bash", "sh", "no-such-shell", "")),
        }
        self._special: dict[str, Callable[[], Any]] = {
            "args": lambda: dice.choice(([], ["x"], [""], ["--norc"], {"text": "x"}, {"args": 1})),
            "tool": self.tool,
            "pipeline": lambda: [{"tool": self.tool(), "args": {}}] * dice.randint(0, 3),
            "session": self.session,
            "sessions": lambda: [self.session() for _ in range(dice.randint(0, 3))],
        }

    def operation(self) -> tuple[str, dict[str, Any]]:
        """Return a request that is right in most of its parts."""
        name = self.dice.choice(OPERATIONS)
        given = {
            key: self._parameter(key, schema)
            for key, schema in _SCHEMAS[name].items()
            if key == "session" or self.dice.random() < 0.45
        }
        if self.dice.random() < 0.03:
            given[self.text()] = self.value()
        return name, given

    def session(self) -> Any:
        odd = self.dice.random() < 0.15
        return self.value() if odd else self.dice.choice(self._sessions)

    def tool(self) -> str:
        return self.dice.choice(TOOLS)

    def _parameter(self, name: str, schema: dict[str, Any]) -> Any:
        if name in self._safe:
            return self._safe[name]()
        if self.dice.random() < 0.12:
            return self.value()
        if name in self._special:
            return self._special[name]()
        return self._fitting(schema)

    def _fitting(self, schema: dict[str, Any]) -> Any:
        """Return a value of the schema's type; its limits are not kept."""
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        if "anyOf" in schema:
            return self._fitting(self.dice.choice(schema["anyOf"]))
        kind = schema.get("type")
        if kind == "array":
            items = schema.get("items") or {}
            return [self._fitting(items) for _ in range(self.dice.randint(0, 3))]
        if kind == "object":
            known = schema.get("properties") or {self.text(): {}}
            return {key: self._fitting(one) for key, one in known.items() if self._likely()}
        simple: dict[Any, Callable[[], Any]] = {
            "string": self.text,
            "integer": self.whole,
            "number": self.number,
            "boolean": self._likely,
        }
        return simple.get(kind, self.value)()

    def _likely(self) -> bool:
        return self.dice.random() < 0.7

    def text(self) -> str:
        return self.dice.choice(TEXTS)

    def number(self) -> float:
        small = self.dice.random() < 0.5
        return self.dice.randint(0, 100) if small else self.dice.choice(NUMBERS)

    def whole(self) -> int:
        return int(self.number())

    def value(self) -> Any:
        return self.dice.choice((self.text, self.number, lambda: self.dice.choice(ODD)))()

    # --- as bytes --------------------------------------------------------------------------

    def line(self, message: Any) -> bytes:
        """Return a message as a line of JSON, now and then a damaged one."""
        return self.json(message) + b"\n"

    def json(self, message: Any) -> bytes:
        data = json.dumps(message, ensure_ascii=self.dice.random() < 0.5).encode()
        return self.damaged(data) if self.dice.random() < 0.25 else data

    def damaged(self, data: bytes) -> bytes:
        """Return data with one to four things wrong in it."""
        for _ in range(self.dice.randint(1, 4)):
            data = self.dice.choice(_DAMAGES)(self.dice, data)
        return data

    def noise(self, most: int = 300) -> bytes:
        return self.dice.randbytes(self.dice.randint(0, most))


def _place(dice: random.Random, data: bytes) -> int:
    return dice.randint(0, len(data))


def _flip(dice: random.Random, data: bytes) -> bytes:
    if not data:
        return b"\x80"
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _cut(dice: random.Random, data: bytes) -> bytes:
    return data[: _place(dice, data)]


def _drop(dice: random.Random, data: bytes) -> bytes:
    at = _place(dice, data)
    return data[:at] + data[at + dice.randint(1, 8) :]


def _double(dice: random.Random, data: bytes) -> bytes:
    at, size = _place(dice, data), dice.randint(1, 40)
    return data[: at + size] + data[at : at + size] * dice.randint(1, 20) + data[at + size :]


def _put(dice: random.Random, data: bytes) -> bytes:
    at = _place(dice, data)
    return data[:at] + dice.choice(_PIECES) + data[at:]


_DAMAGES = (_flip, _flip, _cut, _drop, _double, _put, _put)
_PIECES = (
    b"\0", b"\n", b"\r\n", b"\r\n\r\n", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b'"',
    b"[" * 2000, b'{"a":' * 2000, b"9" * 5000, b"NaN", b"-Infinity", b"1e999", b"-0", b"{",
    b"x" * 70_000, b",", b":", b"null", b"%00", b"%", b"..", b"//", b"\x1b[31m", b"\x85",
    b"\xef\xbb\xbf",
)  # fmt: skip
