"""What a test expects of a terminal: `expect(terminal).to_have_text(…)`.

Rule: each waits until it is true, and raises AssertionError with the screen if it does not become
true in time, or at once if the program has ended.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nacre.testing.screens.checks import AbsenceCheck, Check, CursorCheck, ExitCheck, TextCheck
from nacre.testing.screens.golden import GoldenCheck, golden_path
from nacre.testing.screens.masks import Mask, PatternMask, RegionMask
from nacre.testing.screens.style import ExpectedStyle
from nacre.testing.terminal import TerminalUnderTest

StyleGiven = Mapping[str, Any] | str
MaskGiven = str | Mapping[str, int] | Mask


class Expectation:
    def __init__(self, terminal: TerminalUnderTest) -> None:
        self._terminal = terminal

    def to_have_text(
        self,
        text: str,
        *,
        style: StyleGiven | None = None,
        row: int | None = None,
        col: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Expect a text: anywhere, or in a row, or at a column; in a style, as "bold red"."""
        __tracebackhide__ = True
        self._check(f"text {text!r}", TextCheck(text, False, _style(style), row, col), timeout)

    def not_to_have_text(self, text: str, *, timeout: float | None = None) -> None:
        """Expect that a text is not there, once the screen is quiet."""
        __tracebackhide__ = True
        self._check(f"not text {text!r}", AbsenceCheck(text), timeout)

    def to_match(
        self,
        regex: str,
        *,
        style: StyleGiven | None = None,
        row: int | None = None,
        col: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Expect that an expression matches somewhere on the screen."""
        __tracebackhide__ = True
        self._check(f"/{regex}/", TextCheck(regex, True, _style(style), row, col), timeout)

    def not_to_match(self, regex: str, *, timeout: float | None = None) -> None:
        __tracebackhide__ = True
        self._check(f"not /{regex}/", AbsenceCheck(regex, regex=True), timeout)

    def to_have_cursor(
        self,
        row: int | None = None,
        col: int | None = None,
        *,
        visible: bool | None = None,
        timeout: float | None = None,
    ) -> None:
        """Expect the cursor at a place, from zero; or that it is visible, or hidden."""
        __tracebackhide__ = True
        self._check(f"cursor {row}, {col}", CursorCheck(row, col, visible), timeout)

    def to_have_exited(self, code: int | None = None, *, timeout: float | None = None) -> None:
        """Expect that the program has ended, with this exit code if one is given."""
        __tracebackhide__ = True
        self._check(f"exit code {code}", ExitCheck(code), timeout)

    def to_match_snapshot(
        self,
        name: str = "screen",
        *,
        masks: Iterable[MaskGiven] = (),
        style: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Expect the golden screen of this name; --nacre-update writes it."""
        __tracebackhide__ = True
        terminal, golden = self._terminal, self._terminal.golden
        path = golden_path(golden.folder, *golden.names, name)
        check = GoldenCheck(path, tuple(map(_mask, masks)), style)
        comparing = terminal.pilot.golden(check, update=golden.update, patience=timeout)
        terminal.take(f"expect snapshot {name}", comparing)

    def _check(self, label: str, check: Check, timeout: float | None) -> None:
        __tracebackhide__ = True
        self._terminal.take(f"expect {label}", self._terminal.pilot.expect(check, timeout))


def _style(given: StyleGiven | None) -> ExpectedStyle | None:
    return None if given is None else ExpectedStyle.parse(given)


def _mask(given: MaskGiven) -> Mask:
    if isinstance(given, str):
        return PatternMask(given)
    return RegionMask(**given) if isinstance(given, Mapping) else given
