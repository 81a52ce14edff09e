"""See through the programs that run other programs: env, sudo, xargs, find, sh -c and their like.

Rule 1: a wrapper's options are listed. One that is not may take a value, and then nobody knows
where the inner command begins: a doubt.
Rule 2: the wrapper itself stays a command that rules are asked about; the inner one comes beside
it.
Rule 3: what is known only when it runs (a name from a variable, a script from a file or from a
program's input) is a doubt.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from nacre.core.policy.grammar.signs import Syntax
from nacre.core.policy.known.far import remote_line
from nacre.core.policy.reading import MOST_BYTES, LineReading, read_line
from nacre.core.policy.words import (
    UNKNOWN,
    Assignment,
    Feed,
    Program,
    Reach,
    Redirect,
    SimpleCommand,
    Word,
)
from nacre.core.policy.wrappers import (
    ACTIVATE,
    FD_RUNS,
    FIND_RUNS,
    LINE_OPTION,
    PARALLEL,
    PREFIXES,
    SCRIPT,
    SHELL_OPTIONS,
    SHELLS,
    WATCH,
    XARGS,
    Options,
    found_path,
    is_assignment,
    with_unknown,
    words_of_group,
    writes_a_file,
)

_SPLITS = re.compile(r"(?:-[i0v]*S|--s[plit-]*string=?|--s)(.*)", re.DOTALL)  # of env
_MOST_NESTED = 6  # lines within lines (sh -c "sh -c …")


@dataclass(slots=True)
class Resolved:
    """All that a line runs, writes to and sets, and why that may not be all."""

    programs: list[Program] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    repeats: bool = False  # what stands later may run before what stands earlier
    forks_itself: str | None = None  # a function that starts copies of itself

    def doubt(self, why: str) -> None:
        if why not in self.doubts:
            self.doubts.append(why)


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
        if reading.scripts and names & SHELLS:
            for script in reading.scripts:  # for what it forbids: it is a doubt all the same
                self.line(script, (*via, "input"), depth + 1, 0)

    def command(self, command: SimpleCommand, via: tuple[str, ...], depth: int) -> None:
        first = command.words[0]
        if first.text is None or first.globs or not first.text:
            self._out.doubt(f"which program {first.raw[:40]} is, is known only when it runs")
            return
        if not first.text.isascii():
            self._out.doubt("a program's name has letters that look like others")
        name = first.text.rsplit("/", 1)[-1]
        if depth > _MOST_NESTED or len(self._out.programs) > 500:
            self._out.doubt("it runs too many programs")
            return
        self._out.programs.append(Program(name, command.words, via, command.at, command.reach))
        inner = _Inner(self, command, (*via, name), depth + 1)
        if name in _NAMING:
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


class _Inner:
    """The words of a wrapper, and what it runs."""

    def __init__(
        self,
        resolver: _Resolver,
        command: SimpleCommand,
        via: tuple[str, ...],
        depth: int,
    ) -> None:
        self._resolver = resolver
        self._name = command.words[0].text or ""
        self._words = command.words[1:]
        self._via = via
        self._depth = depth
        self._at = command.at
        self._reach = command.reach
        self._fed = command.fed

    # --- kinds of wrappers -----------------------------------------------------------------

    def prefix(self, options: Options) -> None:
        """`wrapper [options] command …`"""
        line_option = LINE_OPTION.get(self._via[-1])
        if line_option and self._line_after(line_option):
            return
        begin = self._after_options(options)
        if begin is None:
            return
        if self._via[-1] == "env" and (line := self._split_line(begin)) is not None:
            self._text(line)
            return
        for word in self._words[:begin]:
            if options.writing and writes_a_file(word.text or "", options):
                self._resolver.doubt(f"where {self._via[-1]} {word.raw[:20]} leads is not known")
        begin += options.words
        rest = self._words[begin:]
        if line_option and len(rest) == 2 and rest[0].text == line_option:
            self._line(rest[1])
        elif rest:
            self._run(rest)

    def _split_line(self, begin: int) -> str | None:
        """Return the words of env -S as a line."""
        for index, word in enumerate(self._words[:begin]):
            found = _SPLITS.match(word.text or "")
            if found is not None:
                self._resolver.doubt("env -S reads its words in its own way")
                rest = [one.shown for one in self._words[index + 1 :]]
                return " ".join((*filter(None, (found[1],)), *rest))
        return None

    def lines_only(self) -> None:
        self._line_after("-c")

    def command_builtin(self) -> None:
        texts = [word.text for word in self._words]
        if texts and texts[0] in ("-v", "-V", "-pv", "-pV"):
            return
        rest = self._words[1:] if texts and texts[0] == "-p" else self._words
        if rest and (rest[0].text or "").startswith("-") and rest[0].text != "--":
            self._resolver.doubt(f"it is not known what {rest[0].raw} does in {self._name}")
            return
        rest = rest[1:] if rest and rest[0].text == "--" else rest
        if rest:
            self._run(rest)

    def shell(self) -> None:
        """`sh -c LINE`: the line is the first word that is no option. The rest reads a script."""
        if [word.text for word in self._words] == ["--version"]:
            return
        if self._words and self._words[0].text == "-n" and self._only_reads(self._words[1:]):
            return
        index, line = 0, False
        while index < len(self._words):
            text = self._words[index].text
            if text is None:
                break
            if text in SHELL_OPTIONS:
                index += 1
            elif text in ("-o", "+o", "-O", "+O"):
                index += 2
            elif text[:1] in ("-", "+") and len(text) > 1 and not text.startswith("--"):
                line = line or (text[0] == "-" and "c" in text)
                index += 1 + text.count("o") + text.count("O")
            else:
                index += text == "--"
                break
        if line:
            self._line_at(index)
        elif index == 0 and self._words and SCRIPT.fullmatch(self._words[0].text or ""):
            self._run(self._words)
        else:
            self._resolver.doubt(f"what {self._via[-1]} reads is not known")

    @staticmethod
    def _only_reads(words: tuple[Word, ...]) -> bool:
        """Return whether sh -n has files to check, and no option that could undo it."""
        return bool(words) and not any(
            word.may_be_option or (word.text or word.lead)[:1] in ("-", "+") for word in words
        )

    def eval(self) -> None:
        words = self._words[1:] if self._words and self._words[0].text == "--" else self._words
        if any(word.text is None or word.globs for word in words):
            self._resolver.doubt("what eval runs is known only when it runs")
            return
        if words:
            self._text(" ".join(word.text or "" for word in words))

    def parallel(self) -> None:
        """`parallel [options] command ::: words`; without a command the words are lines."""
        texts = [word.text for word in self._words]
        signs = [index for index, text in enumerate(texts) if text in (":::", ":::+", "::::")]
        end = signs[0] if signs else len(texts)
        given = [word for word in self._words[end:] if word.text not in (":::", ":::+", "::::")]
        begin = self._after_options(PARALLEL)
        command = self._words[min(begin or 0, end) : end] if begin is not None else ()
        if len(command) == 1 and (command[0].text is None or " " in command[0].text):
            for word in given or (UNKNOWN,):
                line = (command[0].text or "").replace("{}", word.text or "")
                self._text(line if "{}" in (command[0].text or "") else f"{line} {word.shown}")
        elif command:
            plain = tuple(word for word in command if word.text != "{}")
            self._run((*plain, *(given or (UNKNOWN,))))
        else:
            for word in given:
                self._line(word)

    def alias(self) -> None:
        for word in self._words:
            name, equals, line = (word.text or "").partition("=")
            if name and equals:
                self._text(line)

    def trap(self) -> None:
        words = self._words[1:] if self._words and self._words[0].text == "--" else self._words
        if len(words) > 1 and words[0].text not in ("-", "", "-p", "-l"):
            self._line(words[0])

    def xargs(self) -> None:
        begin = self._after_options(XARGS)
        if begin is None:
            return
        options = [word.text or "" for word in self._words[:begin]]
        places = {"{}"} if "-i" in options or "--replace" in options else set()
        for index, text in enumerate(options):
            if text == "-I" and index + 1 < len(options):
                places.add(options[index + 1])
            elif text.startswith("-I"):
                places.add(text[2:])
            elif text.startswith("--replace="):
                places.add(text[10:])
        places.discard("")
        lead = "./" if self._fed else ""
        self._fed = False
        rest = tuple(with_unknown(word, places, lead) for word in self._words[begin:])
        if rest:
            self._run(rest if places else (*rest, UNKNOWN._replace(lead=lead)))

    def find(self) -> None:
        """-exec and its like run the words up to `;` or `+`."""
        index = 0
        while index < len(self._words):
            if self._words[index].text in FIND_RUNS:
                end = index + 1
                while end < len(self._words) and self._words[end].text not in (";", "+"):
                    end += 1
                words = self._words[index + 1 : end]
                if words:
                    self._run(tuple(found_path(word) for word in words))
                index = end
            index += 1

    def fd(self) -> None:
        """-x and -X run the words behind them, each with a path that was found."""
        for index, word in enumerate(self._words):
            if word.text in FD_RUNS:
                words = [one for one in self._words[index + 1 :] if one.text not in (";", "{}")]
                if words:
                    found = UNKNOWN._replace(lead="./")
                    self._run((*(found_path(one) for one in words), found))
                return

    def watch(self) -> None:
        begin = self._after_options(WATCH)
        if begin is None:
            return
        words = self._words[begin:]
        if any(word.text is None or word.globs for word in words):
            self._resolver.doubt("what watch runs is known only when it runs")
        elif words:
            self._text(" ".join(word.text or "" for word in words))

    def names(self) -> None:
        """Their words name variables: NAME=value, or NAME alone."""
        for word in self._words:
            if word.text is None or word.globs:
                if self._via[-1] != "unset" or "[" in word.raw:
                    self._resolver.doubt(f"what {self._via[-1]} sets is known only when it runs")
            elif not word.text.startswith("-"):
                name, equals, value = word.text.partition("=")
                known = Word(value, value) if equals else UNKNOWN
                if equals or self._via[-1] in _SETTING:
                    self._resolver.assign(Assignment(name, known))

    def far(self) -> None:
        """ssh: the line for the other machine, if it is known. Else a rule must know better."""
        line = remote_line(self._words)
        if line is not None:
            self._resolver.far(line, self._via, self._depth, self._at)

    def all_words(self) -> None:
        if self._words:
            self._run(self._words)

    def reads_a_script(self) -> None:
        if not (len(self._words) == 1 and ACTIVATE.fullmatch(self._words[0].text or "")):
            self._resolver.doubt(f"what {self._via[-1]} reads is not known")

    # --- the parts of them -----------------------------------------------------------------

    def _after_options(self, options: Options) -> int | None:
        """Return where the words begin that are no options; None: nobody can tell."""
        index = 0
        while index < len(self._words):
            word = self._words[index]
            text = word.text
            if text is None:
                # A variable may hold an option, and no more is known after it.
                if word.may_be_option:
                    self._unknown(word)
                    return None
                return index
            if text == "--":
                return index + 1
            if options.assigns and is_assignment(text):
                name, _, value = text.partition("=")
                self._resolver.assign(Assignment(name, Word(value, value)))
                index += 1
            elif text.startswith("--"):
                name, equals, _ = text.partition("=")
                if name in options.long_values and not equals:
                    index += 2
                elif name in options.long or name in options.long_values:
                    index += 1
                else:
                    self._unknown(word)
                    return None
            elif text.startswith("-") and len(text) > 1:
                step = words_of_group(text[1:], options)
                if step is None:
                    self._unknown(word)
                    return None
                index += step
            else:
                return index
        return index

    def _unknown(self, word: Word) -> None:
        self._resolver.doubt(f"it is not known what {word.raw[:40]} does in {self._via[-1]}")

    def _line_after(self, option: str) -> bool:
        for index, word in enumerate(self._words):
            text = word.text or ""
            if text == option or (text[:1] == "-" and text[1:2] != "-" and text.endswith("c")):
                self._line_at(index + 1)
                return True
        return False

    def _line_at(self, index: int) -> None:
        if index >= len(self._words):
            self._resolver.doubt(f"{self._via[-1]} has no line to run")
        else:
            self._line(self._words[index])

    def _line(self, word: Word) -> None:
        if word.text is None or word.globs:
            self._resolver.doubt(f"the line that {self._via[-1]} runs is known only when it runs")
        else:
            self._text(word.text)

    def _text(self, line: str) -> None:
        self._resolver.line(line, self._via, self._depth, self._at)

    def _run(self, words: tuple[Word, ...]) -> None:
        self._resolver.command(
            SimpleCommand(words, (), self._at, self._reach, self._fed), self._via, self._depth
        )


# Builtins whose words are names of variables; the second ones give them a value of their own.
_NAMING = frozenset(("export", "declare", "typeset", "readonly", "local", "read", "unset"))
_SETTING = frozenset(("read", "unset"))

_HANDLERS: dict[str, Callable[[_Inner], None]] = {
    "command": _Inner.command_builtin,
    "eval": _Inner.eval,
    "trap": _Inner.trap,
    "xargs": _Inner.xargs,
    "find": _Inner.find,
    "watch": _Inner.watch,
    "parallel": _Inner.parallel,
    "alias": _Inner.alias,
    "fd": _Inner.fd,
    "fdfind": _Inner.fd,
    "busybox": _Inner.all_words,
    "toybox": _Inner.all_words,
    "script": _Inner.lines_only,
    "su": _Inner.lines_only,
    "ssh": _Inner.far,
    "source": _Inner.reads_a_script,
    ".": _Inner.reads_a_script,
}
