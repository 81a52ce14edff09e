"""What a session remembers of its screens: those that a caller was told the generation of.

Rule 1: a screen is kept at the moment it changes, and only when somebody knows its generation;
output that nobody has seen costs one look at a flag.
Rule 2: the newest ones are kept. A full-screen program's lines have no numbers, so none of its
screens is.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_SCREENS = 16  # that callers may refer to by their generation; the oldest goes first


class Memory:
    def __init__(self) -> None:
        self.wanted = False  # somebody knows the generation that is shown now
        self._screens: dict[int, dict[int, str]] = {}  # by generation

    def keep(self, generation: int, terminal: "Terminal") -> None:
        """Keep the screen of a generation that somebody knows, before it changes."""
        self.wanted = False
        if terminal.alternate:
            return
        self._screens[generation] = numbered(terminal)
        while len(self._screens) > _SCREENS:
            del self._screens[next(iter(self._screens))]

    def screen(self, generation: int) -> dict[int, str] | None:
        """Return the text of its lines by their numbers; None when it is not remembered."""
        known = self._screens.get(generation)
        return None if known is None else dict(known)


def numbered(terminal: "Terminal") -> dict[int, str]:
    """Return the lines of the screen, numbered from the session's first line on."""
    top = terminal.evicted + terminal.scrollback_total
    return dict(enumerate(terminal.plain_lines(), top))
