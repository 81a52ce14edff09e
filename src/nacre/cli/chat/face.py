"""How a chat looks: what it needs of the terminal, or of the pipe, that it runs in.

Rule: text of models, tools and programs is data: it is shown without control characters.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from nacre.cli.output.answers import harmless

Choice = Literal["once", "exact", "pattern", "exact always", "pattern always", "deny"]


class Face(Protocol):
    """Where a chat is read and answered."""

    async def line(self) -> str | None:
        """Return what the person says next; None at the end."""

    async def choose(self, call: str, pattern: str) -> tuple[Choice, str]:
        """Ask whether a tool may be called; return the answer, and the pattern of it."""

    async def question(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Ask what a server asks (MCP elicitation); return the protocol's answer."""

    def welcome(self, text: str) -> None:
        """Show a person what they can do here, before the first line."""

    def words(self, text: str) -> None:
        """Show a piece of the model's answer."""

    def say(self, text: str = "") -> None:
        """Show a line of the chat's own."""

    def complain(self, text: str) -> None:
        """Show what went wrong."""

    async def watching(self, session: str | None, call: Awaitable[Any]) -> Any:
        """Wait for a call that drives a terminal, which may be shown meanwhile."""


class PlainFace:
    """A chat without a person: one prompt (`-p`), or lines from a pipe. It asks nobody."""

    def __init__(self, lines: Callable[[], str] | None = None) -> None:
        self._lines = lines
        self._open = False  # whether a line of the answer is not ended yet

    async def line(self) -> str | None:
        text = self._lines() if self._lines is not None else ""
        return text if text else None

    async def choose(self, call: str, pattern: str) -> tuple[Choice, str]:
        self.complain(f"not allowed, and nobody to ask: {call}")
        return "deny", pattern

    async def question(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.complain(f"nobody to ask: {asked.get('message', '')}")
        return {"action": "decline"}

    def welcome(self, text: str) -> None:
        pass

    def words(self, text: str) -> None:
        sys.stdout.write(harmless(text))
        sys.stdout.flush()
        self._open = not text.endswith("\n")

    def say(self, text: str = "") -> None:
        if self._open:
            sys.stdout.write("\n")
            self._open = False
        print(harmless(text), flush=True)

    def complain(self, text: str) -> None:
        if self._open:
            sys.stdout.write("\n")
            self._open = False
        sys.stdout.flush()
        print(f"nacre: {harmless(text)}", file=sys.stderr, flush=True)

    async def watching(self, session: str | None, call: Awaitable[Any]) -> Any:
        return await call
