"""The REPLs that `run` knows: their prompts, how input is typed, and how an open one is given up.

Rule: a REPL that is not in the table is taken by the prompt that stood there when it was typed at;
what is here are the exceptions: prompts that change, and those that ask for the rest.
"""

import re
from collections.abc import Callable

from msgspec import Struct

from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.repl_input import (
    bracket_lines,
    dc_lines,
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
from nacre.late_pattern import late_pattern


class Repl(Struct, frozen=True):
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


def _repl(names: str, prompt: str | None, more: str | None, **rest: object) -> Repl:
    return Repl(
        tuple(names.split()),
        late_pattern(prompt) if prompt is not None else None,
        late_pattern(more) if more is not None else None,
        **rest,  # type: ignore[arg-type]  # the fields of Repl, by their names
    )


# Lua dies of Ctrl+C while it reads. No chunk goes on after this line, whatever it is open in.
_LUA_ERROR = b"]] ]=] ]==] )\r"

# To column 1, erase below, the prompt, to its end (ECMA-48, CHA and ED; lib/internal/readline).
_NODE_DRAWS = late_pattern(rb"\x1b\[1G\x1b\[0J(?:\S+ )?> \x1b\[\d+G")

# The line editor asks for pastes, and draws its prompt without anything behind it (rustyline).
_DENO_DRAWS = late_pattern(rb"\x1b\[\?2004h(?:\x1b\[\?2026h)?\r\x1b\[K> \r\x1b\[2C")
# To column 1, erase below, a faint prompt, to its end.
_BUN_DRAWS = late_pattern(rb"\r\x1b\[J\x1b\[2m(?:>|\xe2\x9d\xaf)\x1b\[0m \r\x1b\[2C")

IPYTHON = _repl("ipython", r"In \[\d+\]:", r"\s*\.\.\.:", parts=one_paste, closes_with=2, gap=True)
# The same without a line editor: it reads line by line as Python does.
SIMPLE_IPYTHON = _repl("", r"In \[\d+\]:", r"\s*\.\.\.:", parts=python_lines, gap=True)
GENERIC = _repl("", None, r"\s*(?:\.{2,}|[-'\"`*(|.]+>|\||\.{3}:)")

_TABLE = (
    IPYTHON,
    _repl("pdb ipdb", r"\(+(?:Pdb|Pdb\+\+)\)+|ipdb>", r"\.\.\."),
    _repl("python", r">>>", r"\.{2,}", parts=python_lines, alike=late_pattern(r">>>")),
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
    _repl("R", r">|Browse\[\d+\]>", r"\+", alike=late_pattern(r">")),
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
        alike=late_pattern(r"php >"),
    ),
    _repl("gdb lldb", r"\((?:gdb|lldb)\)", r"\s*>"),
    _repl("ocaml", r"#", r"\s*", parts=ocaml_lines, give_up=b""),
    _repl("bc", r"", None, parts=bracket_lines, give_up=b"", alike=late_pattern("")),
    _repl("dc", r"", None, parts=dc_lines, give_up=b"", alike=late_pattern("")),
    _repl("guile", r"scheme@\(.*\)(?: \[\d+\])?>", r"", parts=lisp_lines, give_up=b""),
    _repl("racket", r">", r"", parts=lisp_lines, give_up=b""),
    _repl("sbcl", r"\*|\d+\]", r"", parts=lisp_lines, give_up=b""),
    _repl("clj", r"\S+=>", r"#_=>", parts=lisp_lines),
    _repl("julia", r"julia>", r"\s*"),
    _repl("octave octave-cli", r"octave:\d+>", r">", alike=late_pattern(r"octave:\d+>")),
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
_UNTELLING = late_pattern(r">>|\W*[=^!][*!?]?[#>]")  # other programs have such prompts, too


def repl_at(program: str | None, line: str, *, canonical: bool = False) -> Repl:
    """Return the REPL that shows this line, by its prompt or by the program's name."""
    shown = line.rstrip()
    tells = not matches(_UNTELLING, shown)
    found = next((repl for repl in _TELLING if tells and matches(repl.prompt, shown)), None)
    found = found or next((repl for repl in _TABLE if program and repl.named(program)), None)
    if found is not None and found.named("erl") and matches(_IEX.more, shown):
        found = _IEX  # which runs in Erlang's machine
    if found is None and program in OPAQUE and tells:
        found = next((repl for repl in _FAR if matches(repl.prompt, shown)), None)
    return SIMPLE_IPYTHON if found is IPYTHON and canonical else found or GENERIC


def matches(expression: re.Pattern[str] | None, shown: str) -> bool:
    return expression is not None and expression.fullmatch(shown) is not None


def _unnumbered(program: str) -> str:
    """python3.13 is a python, lua5.4 a lua."""
    return re.sub(r"[-0-9.]+$", "", program)
