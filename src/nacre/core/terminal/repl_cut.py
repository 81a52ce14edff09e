"""What a REPL prints for a command, without the echo before it and the prompt behind it.

A REPL marks nothing. What comes after an Enter begins with the end of the line that was typed,
which line editors draw again and again, and it ends with a prompt, before which there may be text.

Rule 1: it is rendered below the screen as it stood at that Enter: so the line is told from what is
printed, whatever it is drawn with.
Rule 2: memory does not grow: what is more than a page is passed on line by line. Only the last line
is held back, for it may be the prompt.
"""

from nacre.core.shell.repl_prompts import place_of, without_prompt
from nacre.core.shell.repls import Repl, repl_at
from nacre.core.terminal.transcript import render, render_below

_PAGE = 64 * 1024  # bytes in which the typed line is looked for
_LONGEST_LINE = 64 * 1024  # bytes; a longer one is no prompt

# How Python's REPL looks whether there is a line above: up and down again, which is nothing.
_UP_AND_DOWN = b"\x1b[1A\n"
_ERASE_BELOW = b"\x1b[J"  # ECMA-48 8.3.39, ED


class ReplCut:
    def __init__(self, rows: int, cols: int, program: str | None, prompt: str) -> None:
        """`prompt` is the line that the command was typed at."""
        self.at_prompt = False  # what is held ends with a prompt
        self.prompt_drawn = False  # it was drawn as only a prompt is: what follows is no answer
        self._rows, self._cols = rows, cols
        self._repl: Repl = repl_at(program, prompt)
        self._prompt = prompt
        self._above: list[str] | None = [""]
        self._held = b""

    def begin(self, above: list[str]) -> None:
        """Enter is about to be pressed below these lines of the screen."""
        self._above, self._held, self.at_prompt = above, b"", False
        self.prompt_drawn = False

    def take(self, data: bytes) -> bytes:
        """Return what of it is known to be output."""
        if self.prompt_drawn:
            return b""
        self._held += data
        if self._repl.drawn is not None and (found := self._repl.drawn.search(self._held)):
            self._held, self.prompt_drawn = self._held[: found.start()], True
        if self._above is not None:
            return self._take_page() if len(self._held) > _PAGE else b""
        held = self._held.replace(_UP_AND_DOWN, b"")
        cut = held.rfind(b"\n") + 1
        if not cut and len(held) > _LONGEST_LINE:
            cut = len(held)
        self._held = held[cut:]
        return held[:cut]

    def _take_page(self) -> bytes:
        cut = self._held.rfind(b"\n") + 1
        if not cut:
            return b""
        lines = self._render(self._held[:cut])
        self._above, self._held = None, self._held[cut:]
        return _joined(lines)

    def finish(self) -> bytes:
        """Return the rest, without a prompt at its end, and hold nothing more."""
        rest = self.rest()
        self._above, self._held = None, b""
        return rest

    def rest(self) -> bytes:
        """Return what is held as it stands now."""
        if not self._held:
            return b""
        # Behind the prompt, to its right and below it, an editor may show its own.
        end = _ERASE_BELOW if self.at_prompt and not self.prompt_drawn else b""
        lines = self._render(self._held.replace(_UP_AND_DOWN, b"") + end)
        if self.prompt_drawn:
            return _joined(lines)
        last = lines[-1] if lines else ""
        if self.at_prompt and lines and place_of(self._repl, self._prompt, last):
            lines.pop()
            before = without_prompt(self._repl, self._prompt, last)
            lines += [before] if before else []
            if self._repl.gap and lines and not lines[-1]:
                lines.pop()
        return _joined(lines)

    def _render(self, data: bytes) -> list[str]:
        if self._above is None:
            return render(data, self._cols)
        return render_below(self._above, data, self._rows, self._cols)


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode()
