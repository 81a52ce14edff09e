"""What is special about each shell: the one table that everything else uses.

A known shell has one entry here, and a script in system/processes/scripts if it can mark its own
prompts and commands.

Rule 1: everything here is data. Other code uses a shell's fields, never its name.
Rule 2: names of programs only choose an entry. They never decide that something is finished.
"""

import re
from dataclasses import dataclass, replace

from nacre.core.shell.programs import OPAQUE

# dash reads lines of 4,095 bytes, busybox's ash about 1,000 (measured).
SHORT_LINE = 900


@dataclass(frozen=True, slots=True)
class Syntax:
    """The parts of a wrapped command (wrapper.py); each is a statement or an expression.

    `_nacre_s` holds an exit code, `_nacre_c` the command.
    """

    printf: str  # by a name that no function or alias of the user's takes
    code: str  # what _nacre_s holds, whatever IFS is
    keep: str  # the last exit code into _nacre_s
    leave: str  # in the shell's own variable, what _nacre_s holds
    itself: str  # the shell's process id
    take: str  # {body}, a format of printf, into _nacre_c
    run: str  # what _nacre_c holds
    choose: str = ""  # comes before the run and says how to do it
    clean: str = ""  # takes the line, known by its {nonce}, out of the history
    # Reads lines into _nacre_c up to an empty one, without echo: says {reading}, then {start}.
    read: str | None = None


@dataclass(frozen=True, slots=True)
class NativeStart:
    """How a shell is started so that it marks its prompts and commands by itself."""

    script: str  # in the folder of scripts; for `variable` a folder
    arguments: tuple[str, ...] = ()  # {script} is its path, {quoted} the same between quotes
    # The variable with the folder of the user's files; its old value is passed on as NACRE_<name>.
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    syntax: Syntax
    programs: tuple[str, ...]  # that it is recognised by
    offered: tuple[str, ...]  # those that are shown to users, if installed
    native: NativeStart | None = None
    tells_version: bool = False  # takes --version
    # Most characters of a typed line; its line editor draws longer ones slowly.
    longest_line: int = SHORT_LINE
    # Seconds after which a line that has not started counts as incomplete. None: the shell marks
    # its continuation prompt.
    unread_after: float | None = None
    marks_unrun: bool = True  # the end also of a line that it did not run
    # Keys that begin the line anew where its line editor edits like vi, whatever mode that is in.
    begin_anew: bytes = b"\x1bcc"
    keeps_bad_line: bool = False  # leaves a line that it cannot parse standing at the next prompt
    takes_pastes_late: bool = False  # switches bracketed paste on when its prompt is drawn
    pastes_as_it_is: bool = True  # else it changes quotes and blanks in what is pasted
    # What it prints before a prompt, after output that ends within a line.
    before_prompt: "re.Pattern[bytes] | None" = None


# Nothing here is split by an odd IFS, shown by `set -x`, or seen by an ERR trap or `set -e`.
_CODE = '"$_nacre_s"'
_KEEP = "{ _nacre_s=$? _nacre_x=$-;\\set +x;} 2>/dev/null"
_TRACE = "case $_nacre_x in *x*)\\set -x;;esac"
_LEAVE = "{ " + _TRACE + ';[ "$_nacre_s" = 0 ]||(exit "$_nacre_s")&&:;} 2>/dev/null'
_PRINTF = "command printf"
_TAKE = "_nacre_c=\"$(command printf '{body}')\""
_READ = (
    "stty -echo;{reading};_nacre_c=;"
    'while IFS= read -r _nacre_l&&[ "$_nacre_l" ];do _nacre_c=$_nacre_c$_nacre_l;done;'
    'stty echo;{start};_nacre_c="$(command printf "$_nacre_c")"'
)
# `command eval`: a syntax error must not end the line of a POSIX shell before its end mark.
# In zsh that would be a program, and zsh may be at the other end of ssh, unknown to us.
_CHOOSE = '_nacre_e=command;[ "${ZSH_VERSION-}" ]&&_nacre_e=builtin;'
_RUN = '"$_nacre_e" eval "$_nacre_c"'
# Bash keeps the line unless the user ignores leading blanks: take it out again.
_CLEAN_BASH = (
    '[ "${BASH_VERSION-}" ]&&case "$(HISTTIMEFORMAT= history 1)" in *{nonce}*)history -d -1;;esac;'
)

SH = Dialect(
    name="sh",
    syntax=Syntax(
        printf=_PRINTF,
        code=_CODE,
        keep=_KEEP,
        leave=_LEAVE,
        itself='"$$"',
        take=_TAKE,
        run=_RUN,
        choose=_CHOOSE,
        read=_READ,
    ),
    programs=("dash", "sh", "ash", "ksh", "mksh", "busybox", "rbash"),
    offered=("dash", "sh"),
)
BASH = Dialect(
    name="bash",
    syntax=replace(SH.syntax, clean=_CLEAN_BASH),
    programs=("bash",),
    offered=("bash",),
    native=NativeStart("nacre.bash", ("--rcfile", "{script}")),
    tells_version=True,
    longest_line=4000,
)
ZSH = Dialect(
    name="zsh",
    syntax=Syntax(
        printf="builtin printf",  # `command` would start a program
        code=_CODE,
        keep=_KEEP,
        leave=_LEAVE,
        itself='"$$"',
        take=_TAKE.replace("command", "builtin"),
        run='builtin eval "$_nacre_c"',
        read=_READ.replace("command", "builtin"),
    ),
    programs=("zsh",),
    offered=("zsh",),
    native=NativeStart("zsh", variable="ZDOTDIR"),
    tells_version=True,
    longest_line=4000,
    begin_anew=b"\x1b[7338~",  # bound by its script: in zsh's command mode Escape takes a key along
    takes_pastes_late=True,
    # PROMPT_SP: an output without a final newline is shown by a mark and blanks.
    before_prompt=re.compile(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r?\Z"),
)
FISH = Dialect(
    name="fish",
    syntax=Syntax(
        printf="builtin printf",
        code="$_nacre_s",
        keep="set -g _nacre_s $status",
        leave='test $_nacre_s = 0;or sh -c "exit $_nacre_s"',
        itself="$fish_pid",
        take="set -g _nacre_c (builtin printf '{body}' | string collect)",
        run="eval $_nacre_c",
    ),
    programs=("fish",),
    offered=("fish",),
    native=NativeStart("nacre.fish", ("--init-command", "source {quoted}")),
    tells_version=True,
    unread_after=1.5,
    marks_unrun=False,
    keeps_bad_line=True,
    pastes_as_it_is=False,
)

DIALECTS = (BASH, ZSH, FISH, SH)  # in the order in which they are shown to users
SHELLS = frozenset(program for dialect in DIALECTS for program in dialect.programs)
OFFERED = tuple(program for dialect in DIALECTS for program in dialect.offered)
INTEGRATED = tuple(dialect.name for dialect in DIALECTS if dialect.native is not None)

# At the other end of ssh there may be any shell; bash's line works in all of the Bourne family.
_ANY_SHELL = BASH
_OTHER_FAMILY = FISH

_BY_PROGRAM = dict.fromkeys(OPAQUE, _ANY_SHELL) | {
    program: dialect for dialect in DIALECTS for program in dialect.programs
}
_BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


def dialect_of(program: str) -> Dialect:
    """Return the dialect of a program, or of the shell behind it; plain sh if it is unknown."""
    return _BY_PROGRAM.get(program, SH)


def dialect_named(name: str) -> Dialect:
    """Return a dialect by the name that another daemon stored."""
    return _BY_NAME.get(name, SH)


def other_family(dialect: Dialect) -> Dialect:
    """Return the dialect to try next if a line in this one was not understood."""
    return _ANY_SHELL if dialect is _OTHER_FAMILY else _OTHER_FAMILY


def without_prompt_mark(output: bytes) -> bytes:
    """Remove what a shell printed before its prompt; it may be a shell behind ssh."""
    for dialect in DIALECTS:
        if dialect.before_prompt is not None:
            output = dialect.before_prompt.sub(b"", output)
    return output
