"""Tests of terminal programs: scenarios as data, golden screens, and a plugin for pytest.

`from nacre.testing import expect` is for tests with the fixture `terminal` (docs/testing.md). What
it needs is loaded when it is called: pytest imports this room at every start.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.testing.expectation import Expectation
    from nacre.testing.terminal import TerminalUnderTest

__all__ = ["expect"]


def expect(terminal: "TerminalUnderTest") -> "Expectation":
    """Expect something of a terminal's screen: what follows waits until it is true.

    Raises AssertionError with the screen if it does not become true in time, or at once if the
    program has ended.
    """
    from nacre.testing.expectation import Expectation

    return Expectation(terminal)
