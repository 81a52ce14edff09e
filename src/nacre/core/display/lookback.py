"""Looking back at earlier lines of a session: the position, the requests, the drawing.

Rule 1: lines have numbers that never change (scrollback.py); the screen's rows are the last ones.
So the page does not move when a program prints.
Rule 2: only the current page is kept. Each move asks for its page, and answers to older requests
are ignored. So if the daemon is replaced, the next one is just asked again.
Rule 3: keys are commands here and are never typed; unknown keys do nothing.
Limits: a search does not find text that is broken at the screen's edge. While a full-screen program
is active, the page stays as it was.
"""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from nacre.core.display.compose import Piece, Row, Scene, slice_line, status_row
from nacre.core.keys.sequences import (
    MOUSE_HELD,
    MOUSE_ON,
    PASTE_BEGIN,
    PASTE_END,
    PASTES_ON,
    SGR_REPORT,
    WHEEL_DOWN,
    WHEEL_IS_ARROWS,
    WHEEL_UP,
)
from nacre.core.keys.typed import MOUSE, PASTE, TypedKey
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.watch import MOST_SOUGHT, Find, Found, Lines, Look
from nacre.core.screen.screen import Cursor, Line, Span
from nacre.core.text.widths import text_width
from nacre.late_pattern import late_pattern

_WHEEL_LINES = 3  # as in tmux, xterm and browsers

# The wheel sends arrow keys (xterm ctlseqs, alternate scroll), and a paste differs from typing.
_STATE = WHEEL_IS_ARROWS + PASTES_ON

_CUT = Span(">", inverse=True)  # in the last column of a cut line, as in less -S
_FOUND = {"fg": "black", "bg": "yellow"}
_REPORT = late_pattern(SGR_REPORT)
_CONTROLS = late_pattern(r"[\x00-\x1f\x7f-\x9f]")

Way = Literal["/", "?"]  # forward, backward


def wheel_lines(report: bytes) -> int:
    """Return how far a mouse report scrolls, negative for up; 0 if it is not the wheel."""
    found = _REPORT.fullmatch(report)
    if found is None or found["end"] != b"M":
        return 0
    button = int(found["button"]) & ~MOUSE_HELD
    return {WHEEL_UP: -_WHEEL_LINES, WHEEL_DOWN: _WHEEL_LINES}.get(button, 0)


class Query(NamedTuple):
    text: str
    way: Way

    @property
    def exact(self) -> bool:
        """Whether case matters: only if there is a capital letter, as in less and tmux."""
        return self.text != self.text.lower()

    def pattern(self) -> "re.Pattern[str]":
        return sought(self.text, exact=self.exact)


def sought(text: str, *, exact: bool) -> "re.Pattern[str]":
    return re.compile(re.escape(text), 0 if exact else re.IGNORECASE)


class LookBack:
    """Looking back once, from the key that starts it to the one that ends it."""

    def __init__(
        self, rows: int, cols: int, lines: int | None = None, *, mouse: bool = False
    ) -> None:
        """`lines` is how far it goes back at first; default: a page."""
        self._rows, self._cols = rows, cols
        self._first_step = lines
        self._state = _STATE + (MOUSE_ON if mouse else b"")
        self._page: Lines | None = None  # the page that is shown
        self._top: int | None = None  # the first line to show; None: the last page
        self._oldest = self._end = 0
        self._serial = 0
        self._asks_page = True
        self._asked_page = 0  # the id of the last request
        self._asks_find = False
        self._asked_find = 0
        self._find: Find | None = None  # a search that is not answered yet
        self._prompt: tuple[Way, str] | None = None  # a search text that is being typed
        self._query: Query | None = None
        self._match: int | None = None
        self._note = ""
        self._waits = False
        self.begun = False  # the first answer has arrived
        self.refused = False  # there is nothing to show: a full-screen program is active
        self.over = False

    @property
    def _height(self) -> int:
        return max(1, self._rows - 1)

    @property
    def _bottom(self) -> int:
        return max(self._oldest, self._end - self._height)

    # --- questions and answers -------------------------------------------------------------

    def questions(self) -> Iterator[Look | Find]:
        """Yield the requests to send now."""
        if self._asks_find and self._find is not None:
            self._asks_find = False
            self._serial = self._asked_find = self._serial + 1
            yield msgspec.structs.replace(self._find, id=self._serial)
        if self._asks_page:
            self._asks_page = False
            self._serial = self._asked_page = self._serial + 1
            yield Look(id=self._serial, first=self._top, limit=self._height)

    def wait(self) -> None:
        """Note that there is no daemon to answer now."""
        self._waits = True

    def ask_again(self) -> None:
        """Send the requests again, to the next daemon."""
        self._asks_page = self._asks_find = True

    def take(self, answer: Lines | Found) -> None:
        if isinstance(answer, Found):
            current = answer.id == self._asked_find
        else:
            current = answer.id == self._asked_page and not self._asks_page
        if not current:
            return
        self._waits = False
        if answer.alternate:
            self._stay()
            return
        self._oldest, self._end = answer.oldest, answer.end
        if isinstance(answer, Found):
            self._take_found(answer)
        elif self.begun:
            self._show(answer)
        else:
            self._begin(answer)

    def _stay(self) -> None:
        if not self.begun:
            self.refused = True
        elif self._page is None:
            self.over = True
        else:
            self._top = self._page.first
            self._note = "a full-screen program hides the rest"

    def _begin(self, last: Lines) -> None:
        self.begun = True
        self._show(last)
        if self._first_step is None:
            self.turn(-1)
        else:
            self.move(-self._first_step)
        if self._asks_page:
            self._page = None  # not shown: it is the current screen

    def _show(self, page: Lines) -> None:
        self._page, self._top = page, page.first

    def _take_found(self, found: Found) -> None:
        query, self._find = self._query, None
        if query is None:
            return
        self._match = found.line
        if found.line is None:
            self._note = f"not found: {query.text}"
            return
        self._note = "found, around the end" if found.around else ""
        if not self._first <= found.line < self._first + self._height:
            self._go(found.line - self._height // 2)

    # --- keys ------------------------------------------------------------------------------

    def press(self, typed: TypedKey) -> None:
        if self._prompt is not None:
            self._type(*self._prompt, typed)
            return
        self._note = ""
        if typed.key == MOUSE:
            if lines := wheel_lines(typed.raw):
                self.move(lines)
        elif typed.modifiers == ("ctrl",):
            self.over = typed.key == "c"
        elif not set(typed.modifiers) - {"shift"} and typed.key in _COMMANDS:
            _COMMANDS[typed.key](self)

    @property
    def _first(self) -> int:
        return self._bottom if self._top is None else self._top

    def turn(self, pages: int) -> None:
        """Move by a page, minus one line for orientation."""
        self.move(pages * max(1, self._height - 1))

    def move(self, lines: int) -> None:
        if lines > 0 and self._first >= self._bottom:
            self.over = True
        else:
            self._go(self._first + lines)

    def _go(self, top: int) -> None:
        top = max(self._oldest, min(top, self._bottom))
        if top != self._top:
            self._top = top
            self._asks_page = True

    def go_up(self) -> None:
        self._go(self._oldest)

    def go_down(self) -> None:
        self._top = None
        self._asks_page = True

    def leave(self) -> None:
        self.over = True

    def begin_prompt(self, way: Way) -> None:
        self._prompt = (way, "")

    def _type(self, way: Way, text: str, typed: TypedKey) -> None:
        key, held = typed.key, typed.modifiers
        if key == "Enter":
            self._prompt = None
            self._seek(text or (self._query.text if self._query else ""), way)
        elif key == "Escape" or (held == ("ctrl",) and key == "c") or (key, text) == _NO_MORE:
            self._prompt = None
        elif key == "Backspace":
            self._prompt = (way, text[:-1])
        elif held == ("ctrl",) and key == "u":
            self._prompt = (way, "")
        elif key == PASTE:
            pasted = typed.raw.removeprefix(PASTE_BEGIN).removesuffix(PASTE_END)
            self._prompt = (way, _typed(text + pasted.decode(errors="replace")))
        elif key is not None and len(key) == 1 and not held:
            self._prompt = (way, _typed(text + key))

    def _seek(self, text: str, way: Way) -> None:
        if text:
            self._query = Query(text, way)
            self._match = None
            self.find_on(same=True)

    def find_on(self, *, same: bool) -> None:
        """Search on from the last match if it is visible, else from the edge of the page."""
        query = self._query
        if query is None:
            return
        down = (query.way == "/") == same
        last = min(self._first + self._height, self._end) - 1
        start = self._first if down else last
        if self._match is not None and self._first <= self._match <= last:
            start = self._match + (1 if down else -1)
        self._asks_find = True
        self._find = Find(id=0, text=query.text, start=start, backward=not down, exact=query.exact)

    # --- what is seen ----------------------------------------------------------------------

    def resize(self, rows: int, cols: int) -> None:
        self._rows, self._cols = rows, cols
        self._asks_page = True
        if self._top is not None and self.begun:
            self._top = max(self._oldest, min(self._top, self._bottom))

    def draw(self) -> tuple[Scene, Row | None] | None:
        """Return the page and the last row; None before the first page has arrived."""
        page = self._page
        if page is None:
            return None
        lines = enumerate(page.lines[: self._height], page.first)
        rows = [self._row(number, line) for number, line in lines]
        rows += [(Piece(0, self._cols, ()),)] * (self._height - len(rows))
        status = None
        col = 0
        if self._rows > 1:
            text = self._status(page)
            col = min(text_width(text), self._cols - 1)
            status = status_row([VisualSpan(text=text, inverse=True)], self._cols)
        scene = Scene(
            rows=rows,
            cols=self._cols,
            cursor=Cursor(self._rows - 1, col, visible=self._prompt is not None),
            title="",
            state=self._state,
            above=0,
            child_rows=len(rows),
        )
        return scene, status

    def _status(self, page: Lines) -> str:
        if self._prompt is not None:
            return "".join(self._prompt)
        if self._waits:
            return " the daemon was restarted; waiting …"
        shown = min(len(page.lines), self._height)
        lines = f"lines {page.first + 1}–{page.first + shown} of {self._end}"
        told = self._note or ("n next · N before" if self._match is not None else "/ find")
        wordings = [
            f" looking back: {lines} · {told} · q back",
            f" {lines} · {told} · q back",
            f" {told} · q back" if self._note else f" {lines} · q back",
            f" {self._note or lines}",
        ]
        return next((text for text in wordings if text_width(text) <= self._cols), wordings[-1])

    def _row(self, number: int, line: Line) -> Row:
        if self._query is not None:
            line = tuple(_marked(line, self._query.pattern(), found=number == self._match))
        cols = self._cols
        if sum(text_width(span.text) for span in line) <= cols:
            return (Piece(0, cols, line),)
        kept = Piece(0, cols - 1, slice_line(line, 0, cols - 1))
        return (kept, Piece(cols - 1, cols, (_CUT,)))


_COMMANDS: dict[str | None, Callable[[LookBack], None]] = {
    "PageUp": lambda back: back.turn(-1),
    "PageDown": lambda back: back.turn(1),
    "ArrowUp": lambda back: back.move(-1),
    "k": lambda back: back.move(-1),
    "ArrowDown": lambda back: back.move(1),
    "j": lambda back: back.move(1),
    "Home": LookBack.go_up,
    "g": LookBack.go_up,
    "End": LookBack.go_down,
    "G": LookBack.go_down,
    "/": lambda back: back.begin_prompt("/"),
    "?": lambda back: back.begin_prompt("?"),
    "n": lambda back: back.find_on(same=True),
    "N": lambda back: back.find_on(same=False),
    "q": LookBack.leave,
    "Escape": LookBack.leave,
    "Enter": LookBack.leave,
}
_NO_MORE = ("Backspace", "")


def _typed(text: str) -> str:
    return _CONTROLS.sub("", text)[:MOST_SOUGHT]


def _marked(line: Line, pattern: "re.Pattern[str]", *, found: bool) -> Iterator[Span]:
    """Highlight matches; more strongly in the line that was found."""
    text = "".join(span.text for span in line)
    marks = [match.span() for match in pattern.finditer(text)]
    if not marks:
        yield from line
        return
    cuts = {edge for mark in marks for edge in mark}
    at = 0
    for span in line:
        end = at + len(span.text)
        edges = [at, *sorted(cut for cut in cuts if at < cut < end), end]
        for start, stop in pairwise(edges):
            part = msgspec.structs.replace(span, text=text[start:stop])
            if any(begin <= start < after for begin, after in marks):
                style = _FOUND if found else {"inverse": not span.inverse}
                part = msgspec.structs.replace(part, **style)
            yield part
        at = end
