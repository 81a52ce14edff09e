"""Drive one program and wait until its screen is as expected.

Rule 1: nothing sleeps. Between two looks at the screen it waits for the daemon to tell of a change.
Rule 2: a program that has ended fails what is expected of it at once, unless its last screen is
right, or its end is what is expected.
Rule 3: it runs over a socket that waits or one that blocks: nothing here needs a loop.
"""

import time
from collections.abc import Sequence
from typing import Any

from nacre.core.operations.apps.programs import AppScreen
from nacre.errors import Failed, InvalidInput, SessionExited
from nacre.library.session import AsyncSession
from nacre.testing.screens.checks import Check, TextCheck, ended
from nacre.testing.screens.golden import GoldenCheck
from nacre.testing.screens.shown import ShownCursor, ShownScreen

PATIENCE = 10.0  # seconds that a screen may take to become as expected
SETTLED = 0.2  # seconds of silence after which a screen is taken for a golden one
_ROWS_TOLD = 24  # of a screen in a message


class UnmetExpectation(AssertionError):
    """A screen did not become as expected; `screen` is the last one."""

    def __init__(self, message: str, screen: ShownScreen | None) -> None:
        super().__init__(message)
        self.screen = screen


class Pilot:
    def __init__(self, session: AsyncSession, patience: float = PATIENCE) -> None:
        self.session = session
        self.patience = patience
        self.typed_at = 0  # the generation before the last input
        self.end_expected = False

    # --- input -----------------------------------------------------------------------------

    async def keys(self, *keys: str) -> None:
        await self._input(self.session.keys(*keys))

    async def type(self, text: str) -> None:
        await self._input(self.session.type(text))

    async def paste(self, text: str) -> None:
        await self._input(self.session.paste(text))

    async def mouse(self, **params: Any) -> None:
        await self._input(self.session.mouse(**params))

    async def focus(self, text: str, patience: float | None = None) -> None:
        """Move the focus to an element once it is there. Raises UnmetExpectation."""
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        while True:
            screen = await self.look(styled=False)
            left = max(0.0, deadline - time.monotonic())
            try:
                return await self._input(self.session.focus(text, timeout=left))
            except InvalidInput as error:  # it is not on the screen yet, or not alone
                if not left:
                    raise UnmetExpectation(f"{error.message}{told(screen)}", screen) from error
            except Failed as error:
                screen = await self.look(styled=False)
                raise UnmetExpectation(f"{error.message}{told(screen)}", screen) from error
            await self.session.view(since=screen.generation, wait_idle=SETTLED, timeout=left)

    async def _input(self, sending: Any) -> None:
        try:
            self.typed_at = (await sending).generation
        except SessionExited as error:
            raise await self._dead("it takes no input") from error

    async def resize(self, rows: int, cols: int) -> None:
        try:
            await self.session.resize(rows, cols)
        except SessionExited as error:
            raise await self._dead("it cannot be resized") from error

    async def _dead(self, what: str) -> UnmetExpectation:
        screen = await self.look(styled=False)
        return UnmetExpectation(f"{ended(screen.exit_code)}, and {what}{told(screen)}", screen)

    # --- seeing ----------------------------------------------------------------------------

    async def look(self, *, styled: bool) -> ShownScreen:
        return await self._shown(await self.session.view(), styled=styled)

    async def _shown(self, seen: AppScreen, *, styled: bool) -> ShownScreen:
        lines: Sequence[Any] = seen.content.split("\n")
        cursor, generation = seen.cursor, seen.generation
        if styled:
            screen = await self.session.screen(styled=True)
            lines, generation = screen.lines, screen.generation
        place = ShownCursor(cursor.row, cursor.col, cursor.visible)
        return ShownScreen(lines, place, seen.cols, generation, seen.alive, seen.exit_code)

    async def expect(self, check: Check, patience: float | None = None) -> ShownScreen:
        """Return the screen as soon as it is as expected. Raises UnmetExpectation."""
        if check.after_end:
            self.end_expected = True
        limit = self.patience if patience is None else patience
        deadline = time.monotonic() + limit
        quiet = await self._quiet(check, None, deadline) if check.quiet else True
        screen = await self._first_look(check, limit)
        while True:
            problem = check.problem(screen)
            if problem is None and quiet:
                return screen
            problem = problem or "the screen does not come to rest"
            shown = "" if isinstance(check, GoldenCheck) and check.stored() else told(screen)
            if not screen.alive:
                dead = "" if check.after_end else f"{ended(screen.exit_code)}: "
                raise UnmetExpectation(f"{dead}{problem}{shown}", screen)
            if time.monotonic() >= deadline:
                after = f" (after {limit:g} s)" if limit and shown else ""
                raise UnmetExpectation(f"{problem}{after}{shown}", screen)
            quiet = await self._quiet(check, screen.generation, deadline)
            screen = await self.look(styled=check.styled)

    async def _first_look(self, check: Check, limit: float) -> ShownScreen:
        """Look at the screen; for a text that is all there is to it, the daemon waits: one call."""
        text = check.text if isinstance(check, TextCheck) and check.is_plain else None
        seen = await self.session.view(wait_text=text, timeout=limit)
        return await self._shown(seen, styled=check.styled)

    async def _quiet(self, check: Check, since: int | None, deadline: float) -> bool:
        """Wait for the next change, and then for as much silence as the check needs.

        Return whether there was that.
        """
        left = max(0.0, deadline - time.monotonic())
        seen = await self.session.view(since=since, wait_idle=check.quiet, timeout=left)
        return bool(seen.matched) or not seen.alive

    async def wait_new(self, text: str, patience: float | None = None) -> None:
        """Wait for a text that was printed after the last input. Raises UnmetExpectation."""
        limit = self.patience if patience is None else patience
        seen = await self.session.view(since=self.typed_at, wait_text=text, timeout=limit)
        if not seen.matched:
            screen = await self.look(styled=False)
            dead = "" if screen.alive else f"{ended(screen.exit_code)}: "
            raise UnmetExpectation(
                f"{dead}{text!r} was not printed since the last input{told(screen)}", screen
            )

    async def wait_idle(self, seconds: float, patience: float | None = None) -> None:
        limit = self.patience if patience is None else patience
        seen = await self.session.view(wait_idle=seconds, timeout=limit)
        if not seen.matched and seen.alive:
            raise UnmetExpectation(f"the screen was never quiet for {seconds:g} s", None)

    async def golden(
        self, check: GoldenCheck, *, update: bool, patience: float | None = None
    ) -> bool:
        """Compare with a golden screen, or store it; return whether its file is another one now."""
        if not update:
            if check.stored() is None:
                await self.wait_idle(SETTLED, patience)  # so that the screen told is the one meant
                patience = 0.0
            await self.expect(check, patience)
            return False
        await self.wait_idle(SETTLED, patience)
        return check.write(await self.look(styled=check.styled))

    async def check_end(self) -> None:
        """Raise UnmetExpectation if the program has failed by itself, and nothing expects that."""
        screen = await self.look(styled=False)
        if not screen.alive and screen.exit_code != 0 and not self.end_expected:
            raise UnmetExpectation(
                f"{ended(screen.exit_code)}, which nothing expects{told(screen)}", screen
            )


def told(screen: ShownScreen) -> str:
    """Return the screen for a message."""
    rows = screen.rows
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        return "; the screen is empty"
    left_out = len(rows) - _ROWS_TOLD
    shown = rows[-_ROWS_TOLD:]
    above = [f"⋮ {left_out} rows above"] if left_out > 0 else []
    return "; the screen:\n" + "\n".join(f"  │{row}" for row in [*above, *shown])
