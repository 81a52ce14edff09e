"""Where the commands stand that were typed at the shell's own prompts: their echo is no output.

Rule 1: an echo lies between the mark of the prompt's end and the mark of the command's start. What
stands behind a prompt that has not started anything is one too, once somebody has typed: before
that it is what a background job has printed.
Rule 2: it is known by the number of its line and by its text: a screen that was cleared gives the
number to something else.
Rule 3: the newest lines are remembered, the oldest go first.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal

_LINES = 1024  # of echo that are remembered, a hundred bytes each


class Echo(NamedTuple):
    """What of a line is echo: from this column on."""

    col: int
    text: str | None  # the whole line, as it stood there; None: whatever stands there


class Echoes:
    def __init__(self) -> None:
        self._known: dict[int, Echo] = {}  # by the number of the line
        self._prompt: tuple[int, int] | None = None  # line and column behind the prompt
        self._typed = False  # since the last command started: ahead of the prompt, or at it

    def begin(self, line: int, col: int) -> None:
        """A prompt ends here: what follows is typed."""
        self._prompt = (line, col)

    def note_typing(self, terminal: "Terminal") -> None:
        """Somebody presses keys: their echo begins no higher than where the cursor stands now."""
        if self._typed:
            return
        self._typed = True
        if self._prompt is not None and not terminal.alternate:
            line = terminal.evicted + terminal.scrollback_total + terminal.cursor().row
            if line > self._prompt[0]:
                self._prompt = (line, 0)

    def end(self, terminal: "Terminal", *, started: bool) -> None:
        """A command starts here, or was refused; of that the line of the prompt is echo."""
        self._typed = self._typed and not started
        if self._prompt is None or terminal.alternate:
            self._prompt = None
            return
        (line, col), self._prompt = self._prompt, None
        top = terminal.evicted + terminal.scrollback_total
        cursor = terminal.cursor()
        end = top + cursor.row + (cursor.col > 0) if started else line + 1
        # Only these rows: each command passes here twice, and a whole screen takes long to read.
        first, after = max(line, top), min(end, top + terminal.rows)
        for number, row in enumerate(terminal.plain_rows(first - top, after - first), first):
            self._known.pop(number, None)  # the newest stand last
            self._known[number] = Echo(col if number == line else 0, row)
        while len(self._known) > _LINES:
            del self._known[next(iter(self._known))]

    def forget(self) -> None:
        """The lines have got other numbers."""
        self._known.clear()
        self._prompt = None

    def within(self, first: int, after: int) -> dict[int, Echo]:
        """Return what is echo in these lines, by their numbers."""
        found = {number: echo for number, echo in self._known.items() if first <= number < after}
        if self._prompt is not None and self._typed:
            line, col = self._prompt
            for number in range(max(line, first), after):
                found[number] = Echo(col if number == line else 0, None)
        return found
