"""A session's screen as it is now: the engine, and the generation of what it shows.

Rule 1: the engine never loses a byte: the child is read only as fast as the engine can work.
Rule 2: the generation is written here and nowhere else. Every chunk of output and every other
change of the screen increases it. It is in the ring too, so that the next daemon continues from it
and no number is ever used for two screens.
"""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from nacre.core.display.compose import Shown
from nacre.core.shell.marks import Prompting
from nacre.services.host.pace import Pace
from nacre.services.session.seen_screens import SeenScreens
from nacre.services.viewers.viewers import Viewers
from nacre.settings.table import Settings
from nacre.system.storage.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class Lost(NamedTuple):
    """A part of the terminal's stream that an earlier daemon saw, and nobody has any more."""

    begin: int
    end: int


class Beginning(Struct):
    """What a session begins with: an empty screen, or the one from its journal."""

    terminal: "Terminal"
    prompting: Prompting = field(default_factory=Prompting)
    prompt_end: tuple[int, int] | None = None
    generation: int = 0
    offset: int | None = None  # the journal has the bytes up to here; None: all of the ring


class LiveScreen:
    """`shown` returns the overlays and panels that viewers see with it."""

    def __init__(
        self,
        begin: Beginning,
        ring: Ring,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        shown: Callable[[], Shown],
    ) -> None:
        self.terminal = begin.terminal
        self.generation = max(begin.generation, ring.generation)
        self.last_output = ring.shown_at or loop.time()
        self.seen = SeenScreens()
        self.viewers = Viewers(lambda: self.terminal, settings, shown)
        self._ring = ring
        self._loop = loop
        self._compressed_at: int | None = None
        self._pace = Pace()

    def feed(self, data: bytes, until: float | None = None) -> tuple[int, float]:
        """Show output and pass it to viewers, until a time of the turn's clock; None: all of it.

        Return how many bytes were shown, at least some, and the engine's time for them in seconds.
        """
        if self.seen.wanted:
            self.seen.keep(self.generation, self.terminal)
        begun = now = time.perf_counter()
        size, cells = 0, self.terminal.cells
        while size < len(data):
            end = self._pace.end_of_slice(data, size, cells)
            self.terminal.feed(data if end - size == len(data) else data[size:end])
            before, now, size = now, time.perf_counter(), end
            self._pace.took(now - before)
            if until is not None and now >= until:
                break
        if self.viewers:
            self.viewers.publish(data[:size])
        self._advance()
        return size, now - begun

    def end_of_slice(self, data: bytes, begin: int) -> int:
        """Return up to where it can be shown without a look at the clock."""
        return self._pace.end_of_slice(data, begin, self.terminal.cells)

    def resize(self, rows: int, cols: int) -> None:
        """Resize it; the engine has a minimum size."""
        before = self.terminal.cols
        if self.seen.wanted:
            self.seen.keep(self.generation, self.terminal)
        self.terminal.resize(rows, cols)
        if self.terminal.cols != before:
            self.seen.reflow(self.generation, self.terminal)
        self.viewers.refresh()
        self._advance()

    def begin_anew(self, terminal: "Terminal") -> None:
        """Start with an empty terminal, for another child."""
        self.terminal.close()
        self.terminal = terminal
        self._advance()

    def _advance(self) -> None:
        self.generation += 1
        self._ring.generation = self.generation
        self.last_output = self._ring.shown_at = self._loop.time()

    def shown_again(self, when: float) -> None:
        """Take back the time: a former daemon had shown all of it by then."""
        self.last_output = self._ring.shown_at = when

    def hand_out(self) -> int:
        """Return the generation for a caller, which may later ask for what came after it."""
        self.seen.wanted = True
        return self.generation

    @property
    def cursor_line(self) -> int | None:
        """The number of the cursor's line; None in a full-screen program."""
        terminal = self.terminal
        if terminal.alternate:
            return None
        return terminal.evicted + terminal.scrollback_total + terminal.cursor().row

    @property
    def last_line(self) -> str:
        """The last line of the screen that is not empty."""
        lines = self.terminal.plain_lines()
        return next((line for line in reversed(lines) if line.strip()), "")

    @property
    def is_compressed(self) -> bool:
        return self._compressed_at == self.generation

    async def compress(self) -> None:
        """Compress the scrollback to a quarter or less; reading unpacks what is read.

        A part in each turn of the loop, until something is shown.
        """
        generation = self.generation
        while self.terminal.compress_some():
            await asyncio.sleep(0)
            if self.generation != generation:
                return
        self._compressed_at = generation
