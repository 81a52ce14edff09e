"""Who reads the terminal of a REPL: its own prompt, or input() in code that it runs.

Rule: told only by what the kernel knows of the process; where that says nothing, nobody knows.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from nacre.core.shell.repls import repl_at


class Asker(NamedTuple):
    """Where a process waits for the terminal."""

    thread: int
    stack: int  # its stack pointer
    code: int  # its program counter


class TypedRepl(Struct):
    """What a run was typed into last: its prompt tells it from a question."""

    program: str | None
    prompt: str  # that it was typed at
    runs: bool = True  # its prompt is not back yet
    pid: int | None = None
    readers: tuple[Asker, ...] = ()  # who showed the prompts that were typed at, outermost first

    def typed_again(self, pid: int | None, reader: Asker | None) -> tuple[Asker, ...]:
        """Return the readers when something is typed at what this one waits at now."""
        known = self.readers if pid == self.pid else ()
        if reader is None:
            return known
        return (*known[: known.index(reader)], reader) if reader in known else (*known, reader)

    def whose(
        self, pid: int | None, reader: Asker | None, *, steady: bool = True
    ) -> Literal["own", "other"] | None:
        """Tell the reader of a prompt that was typed at from others; None: nobody knows.

        A REPL waits for its next line always in the same depth of its stack, and input() in code
        that it runs in another. One that is itself interpreted is not so `steady`: it may get
        shallower, as its own code is run faster, but never deeper.
        """
        if reader is None or pid != self.pid or not self.readers:
            return None
        repl = repl_at(self.program, "")
        if repl.alike is None:
            return None  # others may wait in any thread, as GHCi does
        if reader in self.readers:
            return "own"
        known = self.readers[-1]
        if reader.code != known.code:
            # bc has readline for its own lines only.
            return None if repl.prompt is None or repl.prompt.pattern else "other"
        if reader.thread != known.thread:
            return "other"
        moved = reader.stack > known.stack and not (steady and len(self.readers) == 1)
        return None if moved else "other"
