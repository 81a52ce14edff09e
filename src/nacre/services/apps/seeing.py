"""What callers see of a screen beyond its text: snapshots, cells, hashes, differences.

Rule: secrets are taken out of the cells before anything is found in them, so that no element, hash
or difference has what an agent is not shown.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.apps.seeing import (
    CellLook,
    Cells,
    DiffScreens,
    GetCells,
    GetScreenHash,
    ScreenDiff,
    ScreenHash,
    ScreenSnapshot,
    TakeSnapshot,
)
from nacre.core.screen.screen import Span
from nacre.core.seeing.cells import ScreenCells
from nacre.core.seeing.difference import compare, hashes_of
from nacre.core.seeing.elements import Element
from nacre.core.seeing.snapshot import find_elements, find_highlights
from nacre.core.text.budget import fitting, item_size, json_size, last_lines
from nacre.core.text.redaction import redact_rows
from nacre.core.text.widths import text_width
from nacre.errors import BadParameter, InvalidInput
from nacre.services.apps.mouse import find_cell
from nacre.services.apps.references import ElementReferences
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.observe.views import screen_mode
from nacre.services.recordings import History
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint

_COUNTS = 200  # characters of an answer's counts of what is left out, and its hint

_LOOKS = Span.__struct_fields__[1:]


class Seeing:
    def __init__(self, registry: Registry, host: Host, history: History) -> None:
        self._registry = registry
        self._host = host
        self._history = history
        self.references = ElementReferences(host)

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(TakeSnapshot, self.snapshot)
            .on(GetCells, self.cells)
            .on(GetScreenHash, self.hash)
            .on(DiffScreens, self.diff)
        )

    async def snapshot(self, caller: Caller, request: TakeSnapshot) -> ScreenSnapshot:
        session = self._registry.find(request.session)
        terminal = session.terminal
        self.references.check_size(session)
        generation, cells = session.hand_out(), shown_cells(terminal.screen_cells())
        facts = ScreenSnapshot(
            generation=generation,
            rows=cells.rows,
            cols=cells.cols,
            mode=screen_mode(session),
            cursor=cells.cursor,
            title=terminal.title,
            text_hash="",
            styled_hash="",
            mouse=terminal.modes().mouse_tracking,
            elements=[],
            lines=(),
        )
        # A thread looks: it takes some milliseconds.
        found, full = await self._host.loop.run_in_executor(None, _looked_at, cells, facts)
        self.references.note(session, generation, found)
        lines = cells.lines() if request.lines else ()
        return _fitted(full, lines, self._host.budget(request.max_chars))

    async def cells(self, caller: Caller, request: GetCells) -> Cells:
        """Raises BadParameter for a range that is not on the screen, and for a text that is not."""
        session = self._registry.find(request.session)
        self.references.check_size(session)
        cells = shown_cells(session.terminal.screen_cells())
        row, col, height, width = _range(session, request)
        runs = [
            _look(at, begin, span)
            for at in range(row, row + height)
            for begin, span in cells.runs(at, col, col + width)
        ]
        answer = Cells(
            generation=session.hand_out(),
            rows=cells.rows,
            cols=cells.cols,
            row=row,
            col=col,
            height=height,
            width=width,
            runs=[],
        )
        room = self._host.budget(request.max_chars) - json_size(answer) - _COUNTS
        kept = fitting(map(item_size, runs), room)
        if kept == len(runs):
            return replace(answer, runs=runs)
        omitted = len(runs) - kept
        hint = Hint(f"{omitted} runs after these are left out", Higher("max_chars", "get them"))
        return replace(answer, omitted_runs=omitted, hint=hint, runs=runs[:kept])

    async def hash(self, caller: Caller, request: GetScreenHash) -> ScreenHash:
        session = self._registry.find(request.session)
        self.references.check_size(session)
        cells = shown_cells(session.terminal.screen_cells())
        text, styled = hashes_of(cells)
        return ScreenHash(
            generation=session.hand_out(),
            rows=cells.rows,
            cols=cells.cols,
            text_hash=text,
            styled_hash=styled,
        )

    async def diff(self, caller: Caller, request: DiffScreens) -> ScreenDiff:
        """Raises InvalidInput for a moment that is not in the journal."""
        session = self._registry.find(request.session)
        self.references.check_size(session)
        if (request.generation is None) == (request.time is None):
            raise InvalidInput("give either generation or time")
        if request.to_generation is not None and request.to_time is not None:
            raise BadParameter(("to_generation", "to_time"), "are both given", "give one of them")
        before_at, before = await self._at(session, request.generation, request.time)
        after_at, after = await self._at(session, request.to_generation, request.to_time)
        difference = compare(before, after)
        same = difference.same if request.styles else difference.same_text
        changes = [one for one in difference.changes if request.styles or not one.style_only]
        answer = ScreenDiff(
            same=same,
            same_text=difference.same_text,
            before_generation=before_at,
            after_generation=after_at,
            before_size=(before.rows, before.cols),
            after_size=(after.rows, after.cols),
            before_cursor=before.cursor,
            after_cursor=after.cursor,
            changes=[],
        )
        room = self._host.budget(request.max_chars) - json_size(answer) - _COUNTS
        kept = fitting(map(item_size, changes), room)
        if kept == len(changes):
            return replace(answer, changes=changes)
        omitted = len(changes) - kept
        hint = Hint(f"{omitted} rows after these are left out", Higher("max_chars", "get them"))
        return replace(answer, omitted_changes=omitted, hint=hint, changes=changes[:kept])

    async def _at(
        self, session: Session, generation: int | None, moment: float | None
    ) -> tuple[int, ScreenCells]:
        if generation is not None and generation > session.generation:
            raise InvalidInput(
                f"generation {generation} is not there yet: the session is at {session.generation}"
            )
        if moment is None and generation in (None, session.generation):
            return session.hand_out(), shown_cells(session.terminal.screen_cells())
        found, cells = await self._history.cells_at(session, generation, moment)
        return found, shown_cells(cells)


def shown_cells(cells: ScreenCells) -> ScreenCells:
    """Return cells as the call's reader may see them."""
    own = cells.columns()
    columns = redact_rows(own, cells.cols)
    return cells if columns is own else cells.with_columns(columns)


def _looked_at(cells: ScreenCells, facts: ScreenSnapshot) -> tuple[list[Element], ScreenSnapshot]:
    found = find_elements(cells)
    text, styled = hashes_of(cells)
    focused = [one.ref for one in found if one.focused]
    full = replace(
        facts,
        text_hash=text,
        styled_hash=styled,
        selected=tuple(one.ref for one in found if one.selected),
        focused=focused[0] if len(focused) == 1 else None,
        elements=found,
        highlights=tuple(find_highlights(cells)),
    )
    return found, full


def _fitted(full: ScreenSnapshot, lines: Sequence[str], budget: int) -> ScreenSnapshot:
    """Leave out what is too long: highlights first, then upper lines, then later elements."""
    if json_size(full) + sum(map(item_size, lines)) <= budget:
        return replace(full, lines=lines)
    bare = replace(full, highlights=(), elements=[])
    room = budget - json_size(bare) - _COUNTS
    kept = fitting(map(item_size, full.elements), room)
    some = replace(bare, elements=full.elements[:kept])
    last, above = last_lines(lines, budget - json_size(some) - _COUNTS)
    told: list[str] = ["highlights"] if full.highlights else []
    told += [f"{above} lines"] if above else []
    told += [f"{len(full.elements) - kept} elements"] if kept < len(full.elements) else []
    hint = Hint(f"{', '.join(told)} are left out", Higher("max_chars", "get them"))
    return replace(
        some,
        omitted_lines=above,
        omitted_elements=len(full.elements) - kept,
        hint=hint,
        lines=last,
    )


def _range(session: Session, request: GetCells) -> tuple[int, int, int, int]:
    """Return the row, the column, and how many of them."""
    terminal = session.terminal
    if request.text is not None:
        row, col = find_cell(session, ("text", "row", "col"), request.text, request.row, None)
        return row, col, 1, text_width(request.text)
    if request.row is None:
        raise BadParameter("row", "is missing", "give it, or a text on the screen")
    row, col = find_cell(session, ("text", "row", "col"), None, request.row, request.col)
    width = terminal.cols - col if request.width is None else request.width
    if row + request.height > terminal.rows or col + width > terminal.cols:
        size = f"{terminal.rows} rows and {terminal.cols} columns"
        raise BadParameter(("height", "width"), f"go beyond the screen, which has {size}")
    return row, col, request.height, width


def _look(row: int, col: int, span: Span) -> CellLook:
    looks: dict[str, Any] = {name: getattr(span, name) for name in _LOOKS}
    return CellLook(row=row, col=col, width=text_width(span.text), text=span.text, **looks)
