"""The text of a session that is new to a wait, and the search for a pattern in it.

Rule 1: with a generation only later output is new: text that was on the screen at that generation,
and is still there unchanged, is old.
Rule 2: the screen is searched, and the lines that have scrolled off since the generation, or since
the wait began. Lines that were dropped from the scrollback before they could be searched are
counted, so that no answer says that the text never came.
Rule 3: the echo of a command is no output. It is known by the shell's marks, else by what the
caller says that it typed.
Rule 4: where a line is broken at the terminal's width, it is one line.
Rule 5: no turn of the loop takes long: a long scrollback is searched in parts.
Rule 6: a search ends whatever is printed meanwhile: who waits has a deadline.
"""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from nacre.core.terminal.echoes import Echo
from nacre.core.text.pattern import Match, Pattern
from nacre.core.text.redaction import searchable
from nacre.core.text.widths import from_column
from nacre.services.observe.parts import Parts
from nacre.services.observe.views import NOWHERE, position
from nacre.services.session.seen_screens import numbered
from nacre.services.session.session import Session

_PART = 300  # most lines that are searched in one turn of the loop


class NewText:
    """What is new in one session after a generation, or from now on if that is None."""

    def __init__(self, session: Session, after: int | None, typed: str | None) -> None:
        """`typed` is what the caller has typed: its echo does not count."""
        self.forgotten = False  # nobody knows what is old
        self.missed = 0  # lines that were dropped before they were searched
        self.is_behind = False  # more was printed during the search than a turn can search
        self._session = session
        self._line = position(session)  # from here on not searched yet, or on the screen
        self._old: dict[int, str] = {}  # lines that do not count, by their numbers
        self._typed = [line.strip() for line in (typed or "").splitlines() if line.strip()]
        self._echoed: dict[int, tuple[int, int]] = {}  # where what was typed was found
        self._searched = -1  # the generation that was searched last
        self._cols = session.terminal.cols  # the width that the lines are numbered by
        if after is not None and not session.terminal.alternate:
            self._begin_after(after)

    def _begin_after(self, after: int) -> None:
        session, seen, terminal = self._session, self._session.seen_screens, self._session.terminal
        if after == 0:
            self._line = 0
        elif session.generation <= after:
            self._old, self._searched = numbered(terminal), session.generation
        elif (screen := seen.screen(after)) is not None:
            self._line, self._old = min(screen), screen
        elif (place := seen.place(after)) is not None:
            self._line, self._old = place.line, {place.line: place.text}
            # What stood above the cursor then is old, as far as it is still on the screen.
            shown = numbered(terminal)
            self._old |= {number: text for number, text in shown.items() if number < place.line}
        else:
            self.forgotten = True

    # --- the search ------------------------------------------------------------------------

    async def search_earlier(self, pattern: Pattern, *, last: bool) -> str | None:
        """Search what has scrolled off the screen, as far as it is long, part by part.

        A program may print faster than this searches, so it ends with what is there when it begins,
        and is behind then. If this is the `last` search, later output does not count.
        """
        self.is_behind = False
        cols, end = self._cols, _end(self._session)
        # As many lines as the screen has rows are searched twice: a part is no shorter than that.
        rows = self._session.terminal.rows
        parts = Parts(max(_PART, rows), least=rows)
        while not self._session.terminal.alternate and self._line != NOWHERE:
            terminal = self._session.terminal
            self._renumber()
            if cols != self._cols:  # all lines have other numbers
                cols, end = self._cols, _end(self._session)
            self._count_missed()
            offset = self._line - terminal.evicted
            part = parts.size + terminal.rows
            if terminal.scrollback_total - offset <= part:
                return None  # the rest is searched with the screen
            if self._line >= end:
                self.is_behind = not last
                if last:
                    self._line = _end(self._session)
                return None
            with parts.timed(parts.size):
                lines = terminal.scrollback_plain(offset, part)
                between = terminal.separators(offset, lines)
                match = self._first_new(pattern, lines, between)
            if match is not None:
                return match
            self._line += part - terminal.rows  # a match may lie on both sides of a cut
            await asyncio.sleep(0)  # others get their turn
        return None

    def search(self, pattern: Pattern) -> str | None:
        """Search the screen and what has scrolled off since the generation or the wait began."""
        session = self._session
        if self._searched == session.generation:
            return None
        terminal = session.terminal
        self._renumber()
        self._searched = session.generation
        if terminal.alternate:
            self._old = {}
            lines = terminal.plain_lines()
            found = pattern.search(searchable(_joined(lines, terminal.separators(0, lines))))
            return found.group(0) if found else None
        total, evicted = terminal.scrollback_total, terminal.evicted
        self._count_missed()
        offset = total if self._line == NOWHERE else min(total, self._line - evicted)
        lines = terminal.scrollback_plain(offset, total - offset) + terminal.plain_lines()
        self._line = evicted + offset
        match = self._first_new(pattern, lines, terminal.separators(offset, lines))
        self._line = evicted + total
        return match

    def _count_missed(self) -> None:
        """Go on with the oldest line that is kept; those before it cannot be searched."""
        if self._line != NOWHERE and (dropped := self._session.terminal.evicted - self._line) > 0:
            self.missed += dropped
            self._line += dropped

    def _renumber(self) -> None:
        """Go on with other numbers, after the terminal's width has changed."""
        terminal, reflowed = self._session.terminal, self._session.seen_screens.reflowed
        if self._cols == terminal.cols:
            return
        self._cols = terminal.cols
        self._echoed.clear()
        if reflowed is not None and self._searched >= reflowed[0]:
            self._old = dict(reflowed[1])  # searched, as all before it
            self._line = min(self._old)
        elif self._line != NOWHERE:
            self._line, self._old, self.forgotten = terminal.evicted, {}, bool(self._old)

    def _first_new(self, pattern: Pattern, lines: list[str], between: list[str]) -> str | None:
        """Return the first match with something in it that is new; the lines begin at `_line`.

        Rows that are one line to who printed them are one here, too.
        """
        first, old = self._line, self._old
        echoes = self._session.stream.echoes.within(first, first + len(lines))
        typed = self._note_typed(lines)
        new: list[tuple[int, int]] = []  # from where to where in the text
        at = 0
        for index, line in enumerate(lines):
            before = old.get(first + index, "")
            if not line.startswith(before):
                del old[first + index]  # overwritten: from now on this line counts
                before = ""
            end = _output_end(line, echoes.get(first + index))
            begin, echo_end = typed.get(first + index, (len(line), len(line)))
            new.append((at + len(before), at + min(begin, end)))
            new.append((at + max(len(before), echo_end), at + end))
            at += len(line) + (len(between[index]) if index < len(between) else 0)
        matches = pattern.finditer(searchable(_joined(lines, between)))
        return first_within(matches, [span for span in new if span[0] < span[1]])

    # --- what was typed --------------------------------------------------------------------

    def _note_typed(self, lines: list[str]) -> dict[int, tuple[int, int]]:
        """Return where lines that were typed stand, by number; each of them is looked for once.

        The width of the terminal may part one: its rows follow each other without anything between.
        """
        found: dict[int, tuple[int, int]] = {}
        index = 0
        while self._typed and index < len(lines):
            number = self._line + index
            is_old = self._old.get(number) == lines[index] or number in self._echoed
            spans = None if is_old else _spans(lines[index:], self._typed[0])
            if spans is not None:
                by_number = {number + row: span for row, span in spans.items()}
                if sum(end - begin for begin, end in spans.values()) < len(self._typed[0]):
                    found = by_number  # it is still being echoed
                    break
                self._echoed |= by_number
                del self._typed[0]
            index += 1
        return self._echoed | found


def first_within(matches: Iterable[Match], spans: Sequence[tuple[int, int]]) -> str | None:
    """Return the first match that shares something with a span; both are in order.

    Each span is passed once: a pattern such as ^ matches in every line, and counts in none.
    """
    at = 0
    for found in matches:
        while at < len(spans) and spans[at][1] <= found.start():
            at += 1
        if at == len(spans):
            return None
        if spans[at][0] < found.end():
            return found.group(0)
    return None


def _end(session: Session) -> int:
    """Return the number of the first line that has not scrolled off the screen."""
    return session.terminal.evicted + session.terminal.scrollback_total


def _joined(lines: list[str], between: list[str]) -> str:
    return "".join(map("".join, zip_longest(lines, between, fillvalue="")))


def _output_end(line: str, echo: Echo | None) -> int:
    """Return up to where a line is output; what follows is the echo of a command."""
    if echo is None or (echo.text is not None and echo.text != line):
        return len(line)
    return len(line) - len(from_column(line, echo.col))


def _spans(lines: list[str], typed: str) -> dict[int, tuple[int, int]] | None:
    """Return where a typed line stands that begins in the first row; None: it does not.

    At the end of the text it may be there in part only.
    """
    row = lines[0]
    begin = row.find(typed)
    if begin >= 0:
        return {0: (begin, begin + len(typed))}
    for cut in range(min(len(typed), len(row)), 0, -1):
        if not row.endswith(typed[:cut]):
            continue
        rest, spans = typed[cut:], {0: (len(row) - cut, len(row))}
        for below, line in enumerate(lines[1:], 1):
            taken = line[: len(rest)]
            if not taken or not rest.startswith(taken):
                break
            spans[below] = (0, len(taken))
            rest = rest[len(taken) :]
            if not rest:
                return spans
        if not any(lines[max(spans) + 1 :]):
            return spans
    return None
