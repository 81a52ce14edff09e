"""The REPLs that `run` knows: their prompts, how input is typed, and how an open one is given up.

Rule 1: a prompt is what stands left of the cursor. Numbers in it count: In [3]: is In [4]:.
Rule 2: a REPL that is not in the table is taken by the prompt that stood there when it was typed
at; what is here are the exceptions: prompts that change, and those that ask for the rest.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.repl_input import (
    bracket_lines,
    each_line,
    erlang_lines,
    haskell_lines,
    lisp_lines,
    ocaml_lines,
    one_paste,
    php_lines,
    python_lines,
    ruby_pastes,
    script_paste,
    sql_lines,
    tcl_lines,
)

Place = Literal["prompt", "more"]
_SHARED = 3  # characters that two forms of a prompt begin with: user and host, or a folder
_NUMBER = re.compile(r"\d+")
_FOLDER = re.compile(r"[~/][^\s#$%>\])]*")


@dataclass(frozen=True, slots=True)
class Repl:
    """`prompt` and `more` match the whole line left of the cursor, without blanks at its end."""

    names: tuple[str, ...]
    prompt: re.Pattern[str] | None  # where it waits for something new
    more: re.Pattern[str] | None  # where it waits for the rest
    parts: Callable[[str], list[str]] = each_line  # what is typed, each with Enter behind it
    give_up: bytes = b"\x03"  # brings it from `more` back to its prompt
    always_reads: bool = False  # it listens to the terminal also while it computes
    closes_with: int = 0  # more Enters that may end a block
    gap: bool = False  # a blank line comes before its prompt
    draws_slowly: bool = False  # it reads keys only when it has drawn those before
    drawn: re.Pattern[bytes] | None = None  # how it draws its prompt, as no output looks
    counts: bool = False  # its prompt has a number, which mostly grows with each input
    alike: re.Pattern[str] | None = None  # prompts that code in it can show by the same editor
    moves: bool = False  # it changes folders, and its prompt may show them

    def named(self, program: str) -> bool:
        return program in self.names or _unnumbered(program) in self.names


class Asker(NamedTuple):
    """Where a process waits for the terminal."""

    thread: int
    stack: int  # its stack pointer
    code: int  # its program counter


@dataclass(slots=True)
class TypedRepl:
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


def _repl(names: str, prompt: str | None, more: str | None, **rest: object) -> Repl:
    return Repl(
        tuple(names.split()),
        re.compile(prompt) if prompt is not None else None,
        re.compile(more) if more is not None else None,
        **rest,  # type: ignore[arg-type]  # the fields of Repl, by their names
    )


# Lua dies of Ctrl+C while it reads. No chunk goes on after this line, whatever it is open in.
_LUA_ERROR = b"]] ]=] ]==] )\r"

# To column 1, erase below, the prompt, to its end (ECMA-48, CHA and ED; lib/internal/readline).
_NODE_DRAWS = re.compile(rb"\x1b\[1G\x1b\[0J(?:\S+ )?> \x1b\[\d+G")

# The line editor asks for pastes, and draws its prompt without anything behind it (rustyline).
_DENO_DRAWS = re.compile(rb"\x1b\[\?2004h(?:\x1b\[\?2026h)?\r\x1b\[K> \r\x1b\[2C")
# To column 1, erase below, a faint prompt, to its end.
_BUN_DRAWS = re.compile(rb"\r\x1b\[J\x1b\[2m(?:>|\xe2\x9d\xaf)\x1b\[0m \r\x1b\[2C")

IPYTHON = _repl("ipython", r"In \[\d+\]:", r"\s*\.\.\.:", parts=one_paste, closes_with=2, gap=True)
# The same without a line editor: it reads line by line as Python does.
SIMPLE_IPYTHON = _repl("", r"In \[\d+\]:", r"\s*\.\.\.:", parts=python_lines, gap=True)
GENERIC = _repl("", None, r"\s*(?:\.{2,}|[-'\"`*(|.]+>|\||\.{3}:)")

_TABLE = (
    IPYTHON,
    _repl("pdb ipdb", r"\(+(?:Pdb|Pdb\+\+)\)+|ipdb>", r"\.\.\."),
    _repl("python", r">>>", r"\.{2,}", parts=python_lines, alike=re.compile(r">>>")),
    _repl("pypy", r">>>", r"\.{2,}", parts=python_lines),
    _repl("node mongosh", r"(?:\S+ )?>", r"\.{2,}|\|", always_reads=True, drawn=_NODE_DRAWS),
    # It goes on in the next row without any prompt: what is incomplete is not typed.
    _repl(
        "deno",
        r">",
        None,
        parts=script_paste,
        give_up=b"",
        always_reads=True,
        drawn=_DENO_DRAWS,
    ),
    _repl("bun", r"[>❯]", r"\.{2,}|\|", always_reads=True, drawn=_BUN_DRAWS),
    # Ctrl+C does not give a statement up there: what is incomplete is not typed.
    _repl("sqlite3", r"sqlite>", r"\S{0,3}\s*\.{2,}>", parts=sql_lines, give_up=b""),
    _repl("psql", r"\S*[=^!][*!?]?[#>]", r"\S*[-*'\"$(][*!?]?[#>]"),
    _repl("mysql mariadb", r"mysql>|MariaDB \[.*\]>", r"\s*[-'\"`/]\*?>"),
    _repl("lua luajit", r">", r">>", give_up=_LUA_ERROR),
    _repl(
        "irb ruby pry",
        r"irb(?:\(.*\))?(?::\d+)*>|\[\d+\] pry\(.*\)>|>>",
        r"irb(?:\(.*\))?(?::\d+)*[*\"'/\]`]|\[\d+\] pry\(.*\)[*\"'/]|\?>",
        parts=ruby_pastes,
        draws_slowly=True,
    ),
    _repl("R", r">|Browse\[\d+\]>", r"\+", alike=re.compile(r">")),
    _repl("ghc ghci", r"ghci>|\*?[A-Z][\w.]*(?: \*?[A-Z][\w.]*)*>", r".*\|", parts=haskell_lines),
    _repl(
        "iex",
        r"iex(?:\(.*\))?>",
        r"\.\.\.(?:\(.*\))?>",
        give_up=b"#iex:break\r",
        always_reads=True,
        counts=True,
    ),
    # It asks for the rest with the very same prompt, and Ctrl+C stops all of it for a menu.
    _repl(
        "erl beam.smp beam",
        r"(?:\(\S+\))?\d+>",
        None,
        parts=erlang_lines,
        give_up=b"",
        always_reads=True,
        counts=True,
    ),
    _repl("perl", r"\s*DB<+\d+>+", r"\s*cont:"),
    _repl(
        "php",
        r"php >",
        r"php [{(\[\"'*] ?>?|/\* +>|<<< >",
        parts=php_lines,
        give_up=b"",
        alike=re.compile(r"php >"),
    ),
    _repl("gdb lldb", r"\((?:gdb|lldb)\)", r"\s*>"),
    _repl("ocaml", r"#", r"\s*", parts=ocaml_lines, give_up=b""),
    _repl("bc dc", r"", None, parts=bracket_lines, give_up=b"", alike=re.compile("")),
    _repl("guile", r"scheme@\(.*\)(?: \[\d+\])?>", r"", parts=lisp_lines, give_up=b""),
    _repl("racket", r">", r"", parts=lisp_lines, give_up=b""),
    _repl("sbcl", r"\*|\d+\]", r"", parts=lisp_lines, give_up=b""),
    _repl("clj", r"\S+=>", r"#_=>", parts=lisp_lines),
    _repl("julia", r"julia>", r"\s*"),
    _repl("octave octave-cli", r"octave:\d+>", r">", alike=re.compile(r"octave:\d+>")),
    _repl("redis-cli", r"\S+:\d+(?:\[\d+\])?(?:\(.*\))?>|not connected>", None),
    _repl("gnuplot", r"gnuplot>", r"(?:more)?>"),
    _repl("ftp sftp lftp", r"s?ftp>|lftp .*>", None),
    _repl("jshell", r"jshell>", r"\s*\.{3}>", always_reads=True),
    _repl("scala", r"scala>", r"\s*\|", always_reads=True),
    # Ctrl+C brings up a menu there; |: is shown where code reads.
    _repl("swipl", r"(?:\d+ )?\?-", r"\|", give_up=b""),
    _repl("tclsh", r"%", r"", parts=tcl_lines, give_up=b""),
    _repl("pwsh", r"PS .*>", r">>"),
    # Shells of other families: their prompts are what their users want.
    _repl("tcsh csh", None, r"\S*\?", moves=True),
    _repl("xonsh", None, r"\s*", parts=one_paste, closes_with=2, moves=True),
    _repl("nu", None, r":::", moves=True),
    _repl("elvish", None, None, moves=True),
)
# Prompts that no other program shows: they tell a debugger or a console in whatever runs it.
_TELLING = tuple(
    repl
    for repl in _TABLE
    if repl.names[0] in ("ipython", "pdb", "python", "irb", "iex", "perl", "gdb")
)
# Those that tell a REPL at the other end of ssh, su or a container's door. What is not here looks
# as the prompt of some shell does.
_FAR = tuple(
    repl
    for repl in _TABLE
    if repl.names[0]
    in (
        *("ipython", "pdb", "python", "sqlite3", "psql", "mysql", "irb", "iex", "perl", "php"),
        *("gdb", "guile", "julia", "octave", "redis-cli", "gnuplot", "jshell", "scala"),
    )
)
_IEX = next(repl for repl in _TABLE if repl.names[0] == "iex")
_UNTELLING = re.compile(r">>|\W*[=^!][*!?]?[#>]")  # other programs have such prompts, too


def repl_at(program: str | None, line: str, *, canonical: bool = False) -> Repl:
    """Return the REPL that shows this line, by its prompt or by the program's name."""
    shown = line.rstrip()
    tells = not _matches(_UNTELLING, shown)
    found = next((repl for repl in _TELLING if tells and _matches(repl.prompt, shown)), None)
    found = found or next((repl for repl in _TABLE if program and repl.named(program)), None)
    if found is not None and found.named("erl") and _matches(_IEX.more, shown):
        found = _IEX  # which runs in Erlang's machine
    if found is None and program in OPAQUE and tells:
        found = next((repl for repl in _FAR if _matches(repl.prompt, shown)), None)
    return SIMPLE_IPYTHON if found is IPYTHON and canonical else found or GENERIC


def prompt_in(repl: Repl, line: str) -> str:
    """Return the prompt at the end of a line, where a known one stands behind text."""
    shown = line.rstrip()
    if repl.prompt is None:
        return line
    if not repl.prompt.pattern:
        return ""  # whatever was printed last
    if _matches(repl.prompt, shown) or _matches(repl.more, shown):
        return line
    found = re.search(f"(?:{repl.prompt.pattern})$", shown)
    return found.group() if found is not None else line


def is_prompt(program: str | None, line: str) -> bool:
    """Whether a line is the prompt of the program, or of a debugger or console in it."""
    repl = repl_at(program, line)
    if repl is GENERIC:
        return False
    if repl.prompt is not None and not repl.prompt.pattern:
        return True  # it has none, whatever was printed last
    return _shows(repl, line.rstrip())


def is_at(program: str | None, known: str, line: str) -> bool:
    """Whether the prompt of a REPL is back that it was typed at, or waits for the rest."""
    repl, shown, asked = repl_at(program, known), line.rstrip(), prompt_pattern(known)
    return bool(asked) and (
        prompt_pattern(line).endswith(asked) or (bool(shown) and _matches(repl.more, shown))
    )


def listens_always(program: str, *, draws_again: bool = False) -> bool:
    """Whether a REPL listens to the terminal also while it computes: only its prompt tells.

    With `draws_again` of those alone that draw their prompt again below what is printed later.
    """
    repl = repl_at(program, "")
    return repl.always_reads and not (draws_again and repl.drawn is not None)


def asks_for_more(program: str | None, line: str) -> bool:
    """Whether a known REPL waits for the rest of its input."""
    repl, shown = repl_at(program, line), line.rstrip()
    known = repl is not GENERIC and bool(shown) and not _matches(repl.prompt, shown)
    return known and _matches(repl.more, shown)


def place_of(repl: Repl, first: str, line: str) -> Place | None:
    """Tell the prompt from the wait for the rest and from anything else; `first` was typed at.

    What was printed without a line's end stands before the prompt.
    """
    shown, asked = prompt_pattern(line), prompt_pattern(first)
    if shown == asked or _matches(repl.prompt, line.rstrip()):
        return "prompt"
    if repl.moves and _matches(_in_any_folder(first), line.rstrip()):
        return "prompt"
    if _matches(repl.more, line.rstrip()):
        return "more"
    return "prompt" if shown.endswith(asked) else None


def counted_on(repl: Repl, first: str, line: str) -> bool:
    """Whether the number of a prompt follows that of the one typed at.

    It does not after an error, or where the REPL was started anew.
    """
    before, now = _NUMBER.findall(first), _NUMBER.findall(line)
    if not repl.counts or not (before and now):
        return True
    return int(now[-1]) - int(before[-1]) == 1


def shown_by_code(program: str | None, first: str, line: str) -> bool:
    """Whether code in this REPL can show such a line as the REPL does its prompt."""
    repl = repl_at(program, line)
    if repl.alike is None or not (program and repl.named(program)):
        return False
    shown = line.rstrip()
    if _matches(repl.prompt, shown) and not _matches(repl.alike, shown):
        return False
    found = re.search(f"(?:{repl.alike.pattern})$", shown)
    return found is not None and prompt_pattern(found.group()) == prompt_pattern(first)


def without_prompt(repl: Repl, first: str, line: str) -> str:
    """Return what stands before the prompt in a line that `place_of` knows."""
    shown, asked = line.rstrip(), prompt_pattern(first)
    if prompt_pattern(shown) == asked or _matches(repl.more, shown) or _matches(repl.prompt, shown):
        return ""
    if asked and shown.endswith(first.rstrip()):
        return shown.removesuffix(first.rstrip())
    if repl.moves and _matches(_in_any_folder(first), shown):
        return ""
    begins = (at for at in range(len(shown)) if shown[at] != " ")
    return next((shown[:at] for at in begins if prompt_pattern(shown[at:]) == asked), shown)


def prompt_pattern(prompt: str) -> str:
    """A prompt may count: In [3]: is the same prompt as In [4]:."""
    return _NUMBER.sub("0", prompt.strip())


def is_same_prompt(known: str, shown: str, *, sure: bool = False) -> bool:
    """Whether a shell's prompt is one that is known: in another folder, or behind some output.

    `sure` says that a prompt stands there, and only whose is asked: it may show an exit code too.
    """
    known, shown = prompt_pattern(known), prompt_pattern(shown)
    if not known or not shown:
        return known == shown
    if known.endswith(shown) or shown.endswith(known):
        return True
    elsewhere = _in_any_folder(known)
    if elsewhere is not None and elsewhere.fullmatch(shown):
        return True
    return sure and known[-1] == shown[-1]


def without_shell_prompt(known: str, line: str) -> str:
    """Return what stands before a shell's prompt in a line; `is_same_prompt` knows the prompt.

    In doubt it is output: what begins otherwise than the prompt, up to what both end with.
    """
    known, line = known.strip(), line.rstrip()
    elsewhere = _in_any_folder(known)
    if line.endswith(known):
        return line.removesuffix(known)
    if known.endswith(line) or prompt_pattern(known) == prompt_pattern(line):
        return ""
    if elsewhere is not None and elsewhere.fullmatch(prompt_pattern(line)):
        return ""
    if _equal_at_first(known, line) >= _SHARED:
        return ""
    return line[: len(line) - _equal_at_first(known[::-1], line[::-1])]


def _equal_at_first(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _in_any_folder(prompt: str) -> re.Pattern[str] | None:
    """Return how a prompt with a folder in it looks after a change of folder."""
    around = _FOLDER.split(prompt_pattern(prompt))
    if len(around) == 1:
        return None
    return re.compile(_FOLDER.pattern.join(map(re.escape, around)).replace("0", r"\d+"))


def _shows(repl: Repl, shown: str) -> bool:
    return _matches(repl.prompt, shown) or (bool(shown) and _matches(repl.more, shown))


def _matches(expression: re.Pattern[str] | None, shown: str) -> bool:
    return expression is not None and expression.fullmatch(shown) is not None


def _unnumbered(program: str) -> str:
    """python3.13 is a python, lua5.4 a lua."""
    return re.sub(r"[-0-9.]+$", "", program)
