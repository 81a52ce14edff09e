"""The remembered screens of a session: those whose generation a caller knows.

Rule 1: a screen is kept when it changes, and only if a caller knows its generation. Otherwise
output costs only the check of a flag.
Rule 2: the newest ones are kept. Lines of a full-screen program have no numbers, so its screens are
not kept.
Rule 3: of many more only the place of the cursor is kept: what was printed after that generation
begins there.
Rule 4: another width gives the lines other numbers. What was shown then is known by the new ones;
earlier screens are forgotten.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

# That callers can refer to by generation; the oldest are dropped first. A screen takes some
# kilobytes, a place a hundred bytes.
_SCREENS, _PLACES = 16, 1024


class Place(NamedTuple):
    """Where the cursor was at a generation: the number of its line, and what was in it."""

    line: int
    text: str


class SeenScreens:
    def __init__(self) -> None:
        self.wanted = False  # a caller knows the current generation
        self._screens: dict[int, dict[int, str]] = {}  # by generation
        self._places: dict[int, Place] = {}  # by generation
        self.reflowed: tuple[int, dict[int, str]] | None = None  # the last one, and its screen

    def keep(self, generation: int, terminal: "Terminal") -> None:
        """Keep the screen before it changes, if a caller knows its generation."""
        self.wanted = False
        if terminal.alternate:
            return
        screen = self._screens[generation] = numbered(terminal)
        line = next(iter(screen)) + terminal.cursor().row
        self._places[generation] = Place(line, screen[line])
        while len(self._screens) > _SCREENS:
            del self._screens[next(iter(self._screens))]
        while len(self._places) > _PLACES:
            del self._places[next(iter(self._places))]

    def reflow(self, generation: int, terminal: "Terminal") -> None:
        """The width has changed, and nothing else since this generation."""
        known = generation in self._places
        self._screens.clear()
        self._places.clear()
        self.reflowed = None
        if not terminal.alternate:
            self.reflowed = (generation, numbered(terminal))
            if known:
                self.keep(generation, terminal)

    def screen(self, generation: int) -> dict[int, str] | None:
        """Return its lines by their numbers; None if it is not remembered."""
        known = self._screens.get(generation)
        return None if known is None else dict(known)

    def place(self, generation: int) -> Place | None:
        """Return where its output ended; None when it is not remembered."""
        return self._places.get(generation)


def numbered(terminal: "Terminal") -> dict[int, str]:
    """Return the lines of the screen, with numbers that count from the session's first line."""
    top = terminal.evicted + terminal.scrollback_total
    return dict(enumerate(terminal.plain_lines(), top))
