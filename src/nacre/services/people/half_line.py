"""What erases a line of which only the beginning was typed.

Rule: nothing is typed where it could mean something else: only what certainly reads lines has a key
for it. In an editor or a game the beginning stays, and the person was told to look at it.
"""

from nacre.core.keys.sequences import PASTE_END
from nacre.services.observe.state import look
from nacre.services.session.session import Session

_LINE_EDITORS = b"\x05\x15"  # go to the end of the line and delete it (readline, zle, fish)


def erasing(session: Session) -> bytes:
    """Return the keys that erase it; none where none is known to."""
    facts = session.facts()
    if facts is not None and facts.canonical:
        return facts.erases_line
    state = look(session)
    if state.state != "prompt" and state.asks != "repl":
        return b""
    # What arrived may be the beginning of a paste, in which keys are text.
    pasting = session.terminal.modes().bracketed_paste
    return (PASTE_END if pasting else b"") + _LINE_EDITORS
