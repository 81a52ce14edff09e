"""See through the programs that run other programs: env, sudo, xargs, find, sh -c and their like.

Rule 1: a wrapper's options are listed. One that is not may take a value, and then nobody knows
where the inner command begins: a doubt.
Rule 2: the wrapper itself stays a command that rules are asked about; the inner one comes beside
it.
Rule 3: what is known only when it runs (a name from a variable, a script from a file or from a
program's input) is a doubt.
"""

from collections.abc import Callable

from nacre.core.policy.behind.feeders import Feeder
from nacre.core.policy.behind.prefixes import NAMING, Prefix
from nacre.core.policy.behind.runners import same_program
from nacre.core.policy.behind.wrappers import PREFIXES, SHELLS
from nacre.core.policy.grammar.line import LineReading
from nacre.core.policy.grammar.signs import Syntax
from nacre.core.policy.reading import MOST_BYTES, read_line
from nacre.core.policy.resolved import Resolved
from nacre.core.policy.words import Assignment, Program, Reach, SimpleCommand, Word, literal

_READING_LINES = SHELLS | {"at", "batch"}  # from their input
_MOST_NESTED = 6  # lines within lines (sh -c "sh -c …")


def resolve_line(line: str, syntax: Syntax = "posix") -> Resolved:
    resolved = Resolved()
    _Resolver(resolved, syntax).line(line, (), 0, at=None)
    return resolved


def resolve_words(words: tuple[Word, ...]) -> Resolved:
    """Resolve one command without a shell."""
    resolved = Resolved()
    _Resolver(resolved, "posix").command(SimpleCommand(words), (), 0)
    return resolved


class _Resolver:
    def __init__(self, resolved: Resolved, syntax: Syntax) -> None:
        self._out = resolved
        self._syntax = syntax
        self._read = 0  # characters of all lines, those within others counted again

    def line(self, text: str, via: tuple[str, ...], depth: int, at: int | None) -> None:
        """Resolve a line; `at` is where it stands in the outer one, None for the outer one."""
        self._read += len(text)
        if depth > _MOST_NESTED or (at is not None and self._read > MOST_BYTES):
            self._out.doubt("it has lines within lines within lines")
            return
        # Only the outer line goes to the session's own shell.
        reading = read_line(text, self._syntax if at is None else "posix")
        self._take(reading, via, depth, at)

    def _take(self, reading: LineReading, via: tuple[str, ...], depth: int, at: int | None) -> None:
        out = self._out
        for why in reading.doubts:
            out.doubt(why)
        for redirect in reading.redirects:
            out.redirects.append(redirect if at is None else redirect._replace(at=at, begin=at))
        out.functions |= reading.functions
        out.feeds += (
            feed if at is None else feed._replace(begin=at, end=at + 1) for feed in reading.feeds
        )
        out.repeats = out.repeats or reading.repeats
        out.forks_itself = out.forks_itself or reading.forks_itself
        for command in reading.commands:
            reads = bool(command.words) and command.words[0].text == "read"
            # IFS says how this one read splits its line, and is gone after it.
            out.assignments += (
                one for one in command.assignments if not (reads and one.name == "IFS")
            )
            if command.words:
                # What a line within the line does to its folder ends with it, or may.
                inner = command if at is None else command._replace(at=at, reach=Reach(at))
                self.command(inner, via, depth)
        names = {program.name for program in out.programs}
        if reading.scripts and names & _READING_LINES:
            for script in reading.scripts:  # for what it forbids: it is a doubt all the same
                self.line(script, (*via, "input"), depth + 1, 0)

    def command(self, command: SimpleCommand, via: tuple[str, ...], depth: int) -> None:
        first = command.words[0]
        if first.text is None and first.guess and not first.globs:
            self._out.doubt(f"which program {first.raw[:40]} is, is known only when it runs")
            first = literal(first.guess)
            command = command._replace(words=(first, *command.words[1:]))
        if first.text is None or first.globs or not first.text:
            self._out.doubt(f"which program {first.raw[:40]} is, is known only when it runs")
            return
        if not first.text.isascii():
            self._out.doubt("a program's name has letters that look like others")
        name = first.text.rsplit("/", 1)[-1]
        if (runner := same_program(name, command.words)) is not None:
            name, words = runner
            command = command._replace(words=words)
        if depth > _MOST_NESTED or len(self._out.programs) > 500:
            self._out.doubt("it runs too many programs")
            return
        self._out.programs.append(Program(name, command.words, via, command.at, command.reach))
        inner = _Wrapper(self, command, (*via, name), depth + 1)
        if name in NAMING:
            inner.names()
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(inner)
        elif name in SHELLS:
            inner.shell()
        elif name in PREFIXES:
            inner.prefix(PREFIXES[name])

    def far(self, text: str, via: tuple[str, ...], depth: int, at: int) -> None:
        """Resolve a line for another machine, whose files are not those of this one."""
        known = len(self._out.redirects)
        self.line(text, via, depth, at)
        targets = self._out.redirects[known:]
        if any(one.writes and one.target.text != "/dev/null" for one in targets):
            self.doubt("it may write to a file of another machine")

    def doubt(self, why: str) -> None:
        self._out.doubt(why)

    def assign(self, assignment: Assignment) -> None:
        self._out.assignments.append(assignment)


class _Wrapper(Prefix, Feeder):
    """Every kind of program that runs others."""


_HANDLERS: dict[str, Callable[[_Wrapper], None]] = {
    "command": _Wrapper.command_builtin,
    "eval": _Wrapper.eval,
    "trap": _Wrapper.trap,
    "xargs": _Wrapper.xargs,
    "find": _Wrapper.find,
    "watch": _Wrapper.watch,
    "parallel": _Wrapper.parallel,
    "alias": _Wrapper.alias,
    "fd": _Wrapper.fd,
    "fdfind": _Wrapper.fd,
    "hyperfine": _Wrapper.lines,
    "perf": _Wrapper.below,
    "bear": _Wrapper.below,
    "busybox": _Wrapper.all_words,
    "toybox": _Wrapper.all_words,
    "script": _Wrapper.lines_only,
    "mise": _Wrapper.behind_dashes,
    "docker": _Wrapper.in_container,
    "docker-compose": _Wrapper.in_container,
    "podman": _Wrapper.in_container,
    "su": _Wrapper.lines_only,
    "ssh": _Wrapper.far,
    "source": _Wrapper.reads_a_script,
    ".": _Wrapper.reads_a_script,
}
