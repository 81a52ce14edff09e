"""The chat in a terminal: prompt_toolkit reads, rich shows a terminal that a tool drives.

Rule: nothing is printed over the line that the person types.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from nacre.cli.chat.face import Choice, PlainFace
from nacre.cli.chat.slash import MCP_ACTIONS, SLASH
from nacre.cli.output.answers import harmless
from nacre.client.calls import Client
from nacre.errors import NacreError

_ANSWERS: dict[str, Choice] = {
    "y": "once",
    "e": "exact",
    "p": "pattern",
    "E": "exact always",
    "P": "pattern always",
    "n": "deny",
}
_CHOICES = (
    "  y once · e exactly this, in this chat · p pattern, in this chat\n"
    "  E exactly this, always · P pattern, always · n no"
)


class LiveView(NamedTuple):
    """How a terminal that a tool drives is shown."""

    rows: int
    after: float  # seconds
    quiet: float  # seconds without output until it is drawn again
    redraw: float  # seconds at the most between two drawings of one that prints all the time


class SlashCompleter(Completer):
    """Completes slash commands, and what follows /mcp and /patterns."""

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        name, space, rest = text[1:].partition(" ")
        if not space:
            words: Iterable[str] = SLASH
            typed = name
        else:
            words = {"mcp": MCP_ACTIONS, "patterns": ("list", "add", "rm", "clear")}.get(name, ())
            typed = rest
        for word in words:
            if word.startswith(typed):
                yield Completion(word, start_position=-len(typed))


class TerminalFace(PlainFace):
    def __init__(self, history: str, view: LiveView) -> None:
        super().__init__()
        self._view = view
        keys = KeyBindings()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        self._prompt: PromptSession[str] = PromptSession(
            history=FileHistory(history), completer=SlashCompleter(), key_bindings=keys
        )
        self._ask: PromptSession[str] = PromptSession()
        self._console = Console(highlight=False)

    def welcome(self, text: str) -> None:
        self.say(text)

    async def line(self) -> str | None:
        """Return what the person typed. Alt+Enter, or \\ at the end, begins another line."""
        lines: list[str] = []
        while True:
            try:
                typed = await self._prompt.prompt_async("… " if lines else "> ")
            except KeyboardInterrupt:
                return ""
            except EOFError:
                return None
            if not typed.endswith("\\"):
                return "\n".join((*lines, typed))
            lines.append(typed[:-1])

    async def choose(self, call: str, pattern: str) -> tuple[Choice, str]:
        self.say(f"The model wants to call\n  {call}\n{_CHOICES}\n  (the pattern: {pattern})")
        while True:
            typed = await self._answer("Allow it? ")
            if typed is None or typed == "":
                return "deny", pattern
            choice = _ANSWERS.get(typed[:1])
            if choice is not None and len(typed) == 1:
                if choice in ("pattern", "pattern always"):
                    pattern = await self._answer("Pattern: ", pattern) or pattern
                return choice, pattern
            self.say(_CHOICES)

    async def question(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.say(str(asked.get("message", "")))
        content: dict[str, Any] = {}
        for name, schema in asked.get("requestedSchema", {}).get("properties", {}).items():
            choices = schema.get("enum")
            if choices:
                names = schema.get("enumNames", choices)
                for at, title in enumerate(names, 1):
                    self.say(f"  {at} {title}")
            default = schema.get("default")
            shown = "" if default is None else f" [{default}]"
            typed = await self._answer(f"{schema.get('title', name)}{shown}: ")
            if typed == "" and default is not None:  # as the server would have it
                content[name] = default
                continue
            if not typed:
                return {"action": "cancel"}
            if choices:
                if not typed.isdigit() or not 1 <= int(typed) <= len(choices):
                    return {"action": "decline"}
                content[name] = choices[int(typed) - 1]
            else:
                content[name] = _typed(typed, schema.get("type", "string"))
        return {"action": "accept", "content": content}

    async def _answer(self, prompt: str, default: str = "") -> str | None:
        try:
            text = await self._ask.prompt_async(FormattedText([("bold", prompt)]), default=default)
        except (KeyboardInterrupt, EOFError):
            return None
        return text.strip()

    async def watching(self, session: str | None, call: Awaitable[Any]) -> Any:
        running = asyncio.ensure_future(call)
        showing: asyncio.Future[None] | None = None
        try:
            done, _ = await asyncio.wait({running}, timeout=self._view.after)
            if not done and session is not None and self._view.rows:
                showing = asyncio.ensure_future(self._show(session))
            return await running
        except asyncio.CancelledError:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            raise
        finally:
            if showing is not None:
                showing.cancel()
                with suppress(asyncio.CancelledError):
                    await showing

    async def _show(self, session: str) -> None:
        """Show the last rows of a session's screen until we are cancelled."""
        generation = 0
        with Live(console=self._console, transient=True, auto_refresh=False) as live:
            while True:
                screen = await asyncio.to_thread(_screen, session, generation, self._view)
                if screen is None:
                    return
                generation, rows = screen
                text = Text(harmless("\n".join(rows[-self._view.rows :])), no_wrap=True)
                live.update(Panel(text, title=harmless(session)), refresh=True)


def _screen(session: str, generation: int, view: LiveView) -> tuple[int, list[str]] | None:
    """Return a screen that is newer, once it is quiet; None when there is none to be had."""
    try:
        with Client.open(told=False) as client:
            with suppress(NacreError):  # it prints all the time
                client.ask(
                    "await_quiesce",
                    session=session,
                    last_generation=generation,
                    timeout_ms=int(view.quiet * 1000),
                    max_wait_ms=int(view.redraw * 1000),
                )
            screen = client.ask("get_screen", session=session, format="plain")
    except NacreError:
        return None
    lines: list[str] = screen["lines"]
    while lines and not lines[-1].strip():
        lines.pop()
    return screen["generation"], lines


def _typed(text: str, kind: str) -> Any:
    """Return an answer of the kind that a form asks for; what does not fit goes as it is."""
    with suppress(ValueError):
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
    if kind == "boolean":
        return text.lower() in ("y", "yes", "true", "1")
    return text
