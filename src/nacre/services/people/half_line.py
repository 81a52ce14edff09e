"""What erases a line of which only the beginning was typed.

Rule: nothing is typed where it could mean something else: only what certainly reads lines has a key
for it. In an editor or a game the beginning stays, and the person was told to look at it.
"""

from nacre.services.observe.state import look
from nacre.services.session.session import Session

_LINE_EDITORS = b"\x05\x15"  # go to the end of the line and delete it (readline, zle, fish)


def erasing(session: Session) -> bytes:
    """Return the keys that erase it; none where none is known to."""
    facts = session.facts()
    if facts is not None and facts.canonical:
        return facts.erases_line
    state = look(session)
    return _LINE_EDITORS if state.state == "prompt" or state.asks == "repl" else b""
