"""A terminal with one program in it, as a test drives it: the fixture `terminal`.

Rule: the words are those of scenarios: launch, keys, type, paste, mouse, resize, wait.
"""

import os
import shlex
import time
from collections.abc import Coroutine, Mapping
from typing import Any, Literal, TypeVar

from nacre.errors import Failed
from nacre.library.blocking import finish
from nacre.library.client import AsyncClient
from nacre.library.session import AsyncSession
from nacre.testing.scenarios.runner import StepTaken
from nacre.testing.screens.checks import CursorCheck, ExitCheck, TextCheck
from nacre.testing.screens.pilot import PATIENCE, Pilot, UnmetExpectation
from nacre.testing.screens.shown import ShownScreen

T = TypeVar("T")


class GoldenPlace:
    """Where the golden screens of a test are, and whether they are written."""

    def __init__(self, folder: str, names: tuple[str, ...], *, update: bool) -> None:
        self.folder = folder
        self.names = names
        self.update = update


class TerminalUnderTest:
    """One program at a time; a second `launch` ends the first.

    What is typed and waited for raises AssertionError with the screen if the program has ended.
    """

    def __init__(
        self, client: AsyncClient, golden: GoldenPlace, patience: float = PATIENCE
    ) -> None:
        self._client = client
        self._patience = patience
        self.golden = golden
        self.steps: list[StepTaken] = []
        self._begun = 0.0
        self._pilot: Pilot | None = None
        self.command: tuple[str, ...] = ()

    # --- life ------------------------------------------------------------------------------

    def launch(
        self,
        *command: str,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        rows: int = 24,
        cols: int = 80,
    ) -> "TerminalUnderTest":
        """Start a program: its words one by one, or one line that is split. No shell reads it."""
        self.close()
        words = shlex.split(command[0]) if len(command) == 1 else list(command)
        self.command = tuple(words)
        session = finish(
            self._client.launch(
                words[0], words[1:], env=env, cwd=cwd or os.getcwd(), rows=rows, cols=cols
            )
        )
        self._pilot = Pilot(session, self._patience)
        self._begun = time.monotonic()
        self.steps.clear()
        return self

    def close(self) -> None:
        """End the program, if there is one."""
        if self._pilot is not None:
            finish(self._pilot.session.stop())
            self._pilot = None

    def check_end(self) -> None:
        """Raise AssertionError if the program has failed by itself, and nothing expects that."""
        __tracebackhide__ = True
        if self._pilot is not None:
            self.take("the program's end", self._pilot.check_end())

    @property
    def pilot(self) -> Pilot:
        if self._pilot is None:
            raise Failed("this terminal has no program", "start one with launch")
        return self._pilot

    @property
    def session(self) -> AsyncSession:
        return self.pilot.session

    # --- input -----------------------------------------------------------------------------

    def keys(self, *keys: str) -> None:
        """Press keys by their names (Enter, Ctrl+C, F5); anything else is typed as text."""
        self.take(f"keys {' '.join(keys)}", self.pilot.keys(*keys))

    def type(self, text: str) -> None:
        self.take(f"type {text!r}", self.pilot.type(text))

    def paste(self, text: str) -> None:
        self.take(f"paste {text!r}", self.pilot.paste(text))

    def mouse(
        self,
        action: Literal["click", "double_click", "drag", "scroll"] = "click",
        text: str | None = None,
        **more: Any,
    ) -> None:
        """Use the mouse at a text, or at row=, col=."""
        where = {} if text is None else {"text": text}
        moving = self.pilot.mouse(action=action, **where, **more)
        self.take(f"mouse {action} {text or more}", moving)

    def focus(self, text: str, timeout: float | None = None) -> None:
        """Move the focus to the element with this text or label: a field, a button, an entry."""
        __tracebackhide__ = True
        self.take(f"focus {text!r}", self.pilot.focus(text, timeout))

    def resize(self, rows: int, cols: int) -> None:
        self.take(f"resize {rows}x{cols}", self.pilot.resize(rows, cols))

    # --- waiting and seeing ----------------------------------------------------------------

    def wait(
        self,
        text: str | None = None,
        *,
        regex: str | None = None,
        new: str | None = None,
        idle: float | None = None,
        exit: bool = False,
        cursor: tuple[int, int] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Wait until all of it is true; `new`: a text that is printed after the last input."""
        pilot = self.pilot
        if new is not None:
            self.take(f"wait new {new!r}", pilot.wait_new(new, timeout))
        if text is not None:
            self.take(f"wait {text!r}", pilot.expect(TextCheck(text), timeout))
        if regex is not None:
            self.take(f"wait /{regex}/", pilot.expect(TextCheck(regex, regex=True), timeout))
        if cursor is not None:
            self.take(
                f"wait cursor {cursor}", pilot.expect(CursorCheck(cursor[0], cursor[1]), timeout)
            )
        if exit:
            self.take("wait exit", pilot.expect(ExitCheck(), timeout))
        if idle is not None:
            self.take(f"wait idle {idle}", pilot.wait_idle(idle, timeout))

    @property
    def screen(self) -> ShownScreen:
        """The screen as it is now, with its styles."""
        return finish(self.pilot.look(styled=True))

    @property
    def text(self) -> str:
        """The screen's rows as they are now; blank ends are left out."""
        return finish(self.pilot.look(styled=False)).text

    # --- what is told of it ----------------------------------------------------------------

    def take(self, label: str, coroutine: Coroutine[Any, Any, T]) -> T:
        """Do something, and note it as a step."""
        __tracebackhide__ = True  # pytest shows the test's own line
        at = time.monotonic()
        failed = True
        try:
            done = finish(coroutine)
            failed = False
        except UnmetExpectation as error:
            raise error.with_traceback(None) from None
        finally:
            took = time.monotonic() - at
            self.steps.append(StepTaken(label, 0, at - self._begun, took, failed))
        return done
