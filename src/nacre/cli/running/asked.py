"""Why a run returned while its program waits for somebody, and what to type: in commands.

Rule: the daemon tells an agent which keys to send. Here a person reads it, who has a keyboard: the
fact is kept, and the next steps are commands.
"""

import re
from typing import Any

from nacre.wording import Hint, NextStep, Use

_ENDED_BY = re.compile(r"send (ctrl\+\w)")


def in_commands(session: str, state: dict[str, Any], told: str) -> str:
    """Return the daemon's hint with commands as its steps, if it says what a program waits for."""
    asked = state.get("hint") or told
    if not told.startswith(asked):
        return told
    hint = _hint(session, state, asked)
    more = told.next if isinstance(told, Hint) else ()
    return Hint(hint + told[len(asked) :], *hint.next, *more)


def _hint(session: str, state: dict[str, Any], told: str) -> Hint:
    fact, _, how = told.partition(": ")
    found = _ENDED_BY.search(how)
    interrupt = _press(session, found[1] if found else "ctrl+c", "interrupt it")
    match state.get("asks"):
        case "password":
            return Hint(fact, f"type it: nacre attach {session}", interrupt)
        case "confirm" if "without Enter" in how:
            return Hint(fact, _press(session, "y", "answer"), interrupt)
        case "confirm":
            return Hint(fact, _send(session, "y", "answer"), interrupt)
        case "line":
            return Hint(fact, _send(session, "TEXT", "type one"), interrupt)
        case "pager" if "a page at a time" not in fact:
            see = f"read on: nacre attach {session}"
            return Hint(fact, _press(session, "q", "quit it"), see)
    return Hint(told, f"work in it: nacre attach {session}")


def _press(session: str, key: str, to: str) -> NextStep:
    return Use("press_keys", to, {"session": session, "keys": [key]})


def _send(session: str, text: str, to: str) -> NextStep:
    return Use("send_input", to, {"session": session, "input": text})
