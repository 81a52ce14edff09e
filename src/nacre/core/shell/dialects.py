"""What is special about each shell: the one table that everything else uses.

A known shell has one entry here, and a script in system/processes/scripts if it can mark its own
prompts and commands.

Rule 1: everything here is data. Other code uses a shell's fields, never its name.
Rule 2: names of programs only choose an entry. They never decide that something is finished.
"""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from nacre.core.shell.programs import OPAQUE
from nacre.late_pattern import late_pattern

# dash reads lines of 4,095 bytes, busybox's ash about 1,000 (measured).
SHORT_LINE = 960

# Bytes of a line that a shell's own line editor takes; it drops the rest. busybox's Config.in:
# FEATURE_EDITING_MAX_LEN, 1024 by default.
LONGEST_EDITED = {"ash": 1000, "busybox": 1000}


class Syntax(Struct, frozen=True):
    """The parts of a wrapped command (wrapper.py); each is a statement or an expression.

    `_nacre_s` holds an exit code, `_nacre_c` the command. `begin` and `keep` have {host} where the
    host may be asked for (`ask_host`).
    """

    printf: str  # by a name that no function or alias of the user's takes
    code: str  # what _nacre_s holds, whatever IFS is
    # As `keep`; also takes the line, known by its {nonce}, out of the history. Where a command
    # follows it has `noted` for {noted}.
    begin: str
    keep: str  # the last exit code into _nacre_s
    leave: str  # in the shell's own variable, what _nacre_s holds
    itself: str  # the shell's process id
    # Notes the shell's process id, and behind a colon its options, for `began_in`. A shell that
    # takes its place (exec) has the same id, but no variables, unless all are exported (`set -a`).
    noted: str
    began_in: str
    take: str  # {body}, the command as `escapes` has it, into _nacre_c
    run: str  # what _nacre_c holds, behind {leave}
    # Where the shell is then: its process id, the host's name, `;` and the folder; no folder with
    # control characters.
    place: str
    ask_host: str = ""  # for {host}; `place` has the host only if a line has asked for it
    # Reads lines into _nacre_c up to an empty one, without echo, once it has said {reading}.
    read: str | None = None
    # {rest} where {take} went well: else nothing ran, and a code would be that of the wrapper.
    if_taken: str = "{take}&&{ {rest};}"
    # Brings back what a command took away of the session's own shell's hooks, where the key that
    # does so may be gone with them.
    mend: str = ""
    escapes: Literal["printf", "url"] = "printf"  # what the command is written in (wrapper.py)
    nonce: str | None = None  # what holds it since `begin`, where there is no room to repeat it
    # Where the marks of the session's own shell go: `exec >file` takes standard output away.
    own_out: str = ">/dev/tty"
    # A line behind the command that notes its exit code, and succeeds.
    behind: str | None = None


class NativeStart(Struct, frozen=True):
    """How a shell is started so that it marks its prompts and commands by itself."""

    script: str  # in the folder of scripts; for `variable` a folder
    arguments: tuple[str, ...] = ()  # {script} is its path, {quoted} the same between quotes
    # The variable with the folder of the user's files; its old value is passed on as NACRE_<name>.
    variable: str | None = None


class Dialect(Struct, frozen=True):
    name: str
    syntax: Syntax
    programs: tuple[str, ...]  # that it is recognised by
    offered: tuple[str, ...]  # those that are shown to users, if installed
    native: NativeStart | None = None
    tells_version: bool = False  # takes --version
    # Most characters of a typed line; its line editor draws longer ones slowly.
    longest_line: int = SHORT_LINE
    # Seconds after which a line that has not started may be incomplete. None: the shell marks
    # its continuation prompt.
    unread_after: float | None = None
    marks_unrun: bool = True  # the end also of a line that it did not run
    # Keys that begin the line anew where its line editor edits like vi, whatever mode that is in:
    # also where a command waits for its character (`f`) or for the text that it looks for (`/`).
    begin_anew: bytes = b"\x07\x1bcc"
    keeps_bad_line: bool = False  # leaves a line that it cannot parse standing at the next prompt
    takes_pastes: bool = True  # its line editor knows bracketed paste
    takes_pastes_late: bool = False  # switches bracketed paste on when its prompt is drawn
    pastes_as_it_is: bool = True  # else it changes quotes and blanks in what is pasted
    # What it tells after Ctrl+C may be the code of the builtin that was cut short, 0 mostly.
    forgets_interrupts: bool = False
    # What it prints before a prompt, after output that ends within a line.
    before_prompt: "re.Pattern[bytes] | None" = None
    # What it prints itself after the mark of a command's start, at most once each.
    after_start: "re.Pattern[bytes] | None" = None
    # What its line editor prints last before a prompt, with or without our marks (readline: it asks
    # for pastes).
    opens_prompt: bytes | None = None


# Nothing here is split by an odd IFS, shown by `set -x`, or seen by an ERR trap or `set -e`.
# A backslash keeps aliases away, a word that calls builtins only keeps functions away. In sh that
# is `command`; special builtins (set, exit) need none there, and `[` is not used at all.
_CODE = '"$_nacre_s"'
_NOTED = "_nacre_r=$$:$- "
_BEGAN_IN = '"${_nacre_r-:}"'
# Unset, $_nacre_c is a plain variable, whatever type a user has given to it.
_KEEP = "{ _nacre_s=$? _nacre_x=$-;\\unset _nacre_c;\\set +x;{host}} 2>/dev/null"
_BEGIN = _KEEP.replace("$? ", "$? {noted}")
_LEAVE = (
    "{ case $_nacre_x in *x*)\\set -x;;esac;"
    'case $_nacre_s in 0);;*)(\\exit "$_nacre_s")&&:;;esac;} 2>/dev/null'
)
_TAKE = "_nacre_c=\"$(\\command printf '{body}')\""
# In zsh, and in bash with functrace, a trap of the user's prints in a subshell, too (DEBUG; zsh's
# TRAPEXIT): the command is what stands between two words of ours, letters of the nonce.
_BOUND = "{bound}"
# The last two: such a trap may show the line itself.
_CUT = f"_nacre_c=${{_nacre_c%{_BOUND}*}};_nacre_c=${{_nacre_c##*{_BOUND}}}"
_TAKE_BOUND = f"_nacre_c=\"$(\\command printf '{_BOUND}{{body}}{_BOUND}')\";{_CUT}"
# Where the subshell failed they are missing. Reserved words only: `false` may be a function.
_CUT_FOUND = f"case $_nacre_c in *{_BOUND}*{_BOUND}*){_CUT};;*)! case . in esac;;esac"
# Reserved words only: `break` may be a function of the user's.
_UNLESS_LAST = "&&case $_nacre_l in '')! case . in esac;;esac;"
# `stty` is a program, which a subshell becomes.
_READ_LINES = (
    "(\\exec stty -echo);{reading};_nacre_c=;while IFS= \\command read -r _nacre_l"
    f"{_UNLESS_LAST}do _nacre_c=$_nacre_c$_nacre_l;done;"
    "(\\exec stty echo);"
)
# Where `read` was switched off, the parts of the command would be run one by one.
_READABLE = "\\enable read 2>/dev/null;"
_READ = f'{_READ_LINES}_nacre_c="$(\\command printf "$_nacre_c")"'
# The line that reads has none of these words, so the first one is ours. By `##*` dash would look
# through the whole command for each of its characters.
_CUT_READ = f"_nacre_c=${{_nacre_c%{_BOUND}*}};_nacre_c=${{_nacre_c#*{_BOUND}}}"
# Read in a subshell, where functions of these names can be taken away, and names can be short. The
# parts bring the words of ours with them (wrapper.py). {bare} where a function may be in the way:
# in a subshell ksh93 would lose the builtins.
_READ_BOUND = (
    "(\\exec stty -echo);{reading};"
    "_nacre_c=$({ {bare};_c=;while IFS= {word} read -r _l&&"
    '{word} test "$_l";do _c=$_c$_l;done;{word} printf "$_c";} 2>/dev/null);'
    f"{_CUT_READ};(\\exec stty echo)"
)
_BARE = "\\unset -f read printf test"
# A pattern that takes all away if it is found. To ask for the host takes a process, once a shell;
# $HOSTNAME may be another machine's, which was passed on. The id tells whose $_nacre_h it is. By
# `exec` no trap of the user's prints at the end of the subshell.
_FOLDER = "${PWD##*[[:cntrl:]]*}"
# `case` is a reserved word, and true whatever `uname` says. That names the system before the host:
# what a DEBUG trap prints there first is cut off with it (functrace).
_ASK_HOST = (
    'case "${_nacre_h:=$$ $(\\exec uname -sn)}" in esac;_nacre_h="${_nacre_h%% *} ${_nacre_h##* }";'
)
_PLACE = f'"${{_nacre_h-}};{_FOLDER}"'
# `command eval`: a syntax error must not end the line of a POSIX shell before its end mark.
_RUN = '{leave};\\command eval "$_nacre_c"'

# In bash `command` may be a function of the user's: _nacre_b is the word that is none. Only in
# POSIX mode no function takes the place of `exit`.
_BASH_WORD = '"$_nacre_b"'
# What it needs may be switched off (enable -n): without eval it would tell eval's own failure, and
# without printf, of which there is a program too, the command would be empty, and succeed.
# Bash keeps the line unless the user ignores leading blanks: take it out again. To ask for it takes
# a process, as long as all the rest.
_BASH_BEGIN = (
    "{ _nacre_s=$? {noted}_nacre_x=$- _nacre_b=command _nacre_c=;"
    '\\declare -F command&&_nacre_b=builtin;"$_nacre_b" eval&&"$_nacre_b" printf -v _nacre_c 1||'
    "_nacre_c=;case $_nacre_c in '')\\enable builtin command eval printf set history;;esac;"
    '"$_nacre_b" unset -v _nacre_c;'
    "case ${HISTCONTROL-} in *ignorespace*|*ignoreboth*);;*)"
    'case "$(HISTTIMEFORMAT= "$_nacre_b" history 1)" in *{nonce}*)"$_nacre_b" history -d -1;;esac;;'
    'esac;"$_nacre_b" set +x;{host}} >/dev/null 2>&1'
)
# At the other end of ssh there may be any shell: a line for all of the Bourne family, and as short
# as ash wants it. In zsh `command eval` would be a program, and `builtin` may be a function; `-`
# then keeps a function called eval, which is not likely to be there as well. zsh knows its host,
# and a DEBUG trap would print into what `uname` says.
_ANY_WORD = '"$_nacre_b"'
_ANY_BEGIN = (
    "{ _nacre_s=$? {noted}_nacre_x=$- _nacre_b=command _nacre_t= _nacre_n={nonce};"
    "case ${ZSH_VERSION+z}${BASH_VERSION+b} in z)_nacre_b=builtin _nacre_h=$$\\ $HOST;"
    "(($+functions[builtin]))&&_nacre_b=-;;"
    'b)case "$(\\history 1)" in '
    "*$_nacre_n*)\\history -d -1;;esac;;esac;\\set +x;{host}} >/dev/null 2>&1"
)
# In zsh it is `builtin`, or nothing where that is a function.
_ZSH_WORD = "$_nacre_b"
_ZSH_BEGIN = (
    "{ _nacre_s=$? {noted}_nacre_x=$- _nacre_b=builtin;"
    "case ${+functions[builtin]} in 1)_nacre_b=;;esac;"
    "$_nacre_b eval&&$_nacre_b printf ''||\\enable builtin eval printf set;"
    "$_nacre_b unset _nacre_c;$_nacre_b set +x;} 2>/dev/null"
)
# `eval` itself fails as the command did, and an ERR trap would see that: of what is inverted it
# sees nothing. With `set -e`, that would also keep a failure in it from ending the shell, which
# then ends before `eval` does. `set -x` shows the word of a case, and is on again only behind it.
_BASH_EVAL = f'{_BASH_WORD} eval "$_nacre_c"'
_BASH_RUN = f"case $_nacre_x in *e*){{leave}};{_BASH_EVAL};;*){{leave}};! {_BASH_EVAL};;esac"
_BASH_KEEP = (
    "{ _nacre_s=${PIPESTATUS[0]} _nacre_x=$-;"
    '"$_nacre_b" unset -v _nacre_c;"$_nacre_b" set +x;{host}} >/dev/null 2>&1'
)


# Bound by the scripts: in zsh's command mode, and in fish's hybrid one, Escape takes a key along.
# What comes before it is for a command that waits for a character, and in zsh ends a search, too:
# there Escape takes the blank along.
_BEGIN_ANEW = b"\x1b[7338~"


def _by(word: str, statement: str) -> str:
    """Return a statement of sh with another word that calls builtins."""
    for builtin in ("set", "unset"):
        statement = statement.replace(f"\\{builtin} ", f"{word} {builtin} ")
    return statement.replace("\\command", word)


def _unforbidden(syntax: Syntax) -> Syntax:
    """Return it without what a restricted shell refuses: to open a file, and `exec`.

    bash's manual, "The Restricted Shell"; ksh93, mksh and zsh refuse the same.
    """

    def allowed(text: str) -> str:
        text = text.replace(">/dev/null 2>&1", ">&- 2>&-").replace("2>/dev/null", "2>&-")
        for program in ("stty -echo", "stty echo"):
            text = text.replace(f"(\\exec {program})", f"\\command {program}")
        # Where standard error is closed, bash gives it to what captures the output.
        return text.replace("\\exec uname -sn", "\\command uname -sn 2>&-")

    return _each(syntax, allowed)


def _each(syntax: Syntax, change: Callable[[str], str]) -> Syntax:
    words = {name: getattr(syntax, name) for name in syntax.__struct_fields__}
    return Syntax(**{name: word and change(word) for name, word in words.items()})  # type: ignore[arg-type]  # `escapes` stays


# `eval` fails as the command did, and an ERR trap would see that once more. Only what comes behind
# the command in the same text tells the code and lets `eval` succeed.
_BEHIND = "{ _nacre_t=$?;} 2>/dev/null"
_TOLD = "_nacre_s=${_nacre_t:-$?}"
# `set -v` and `set -x` show what is evaluated.
_CUT_BEHIND = "case $_nacre_x in *[vx]*)_nacre_c=${_nacre_c%?\\{ _nacre_t=*};;esac"

_SH_SYNTAX = _unforbidden(
    Syntax(
        printf="\\command printf",
        code=_CODE,
        begin=_BEGIN.replace("$? ", "$? _nacre_t= ", 1),
        keep=_KEEP.replace("_nacre_s=$?", _TOLD),
        leave=_LEAVE,
        itself='"$$"',
        noted=_NOTED,
        began_in=_BEGAN_IN,
        take=_TAKE,
        run=f"{_CUT_BEHIND};{_RUN}",
        place=_PLACE,
        ask_host=_ASK_HOST,
        read=_READ,
        behind=_BEHIND,
    )
)

SH = Dialect(
    name="sh",
    syntax=_SH_SYNTAX,
    programs=("dash", "sh", "ash", "ksh", "ksh93", "mksh", "lksh", "yash", "busybox", "rbash"),
    offered=("dash", "sh"),
    takes_pastes=False,
)
BASH = Dialect(
    name="bash",
    syntax=Syntax(
        printf=f"{_BASH_WORD} printf",
        code=_CODE,
        begin=_BASH_BEGIN,
        keep=_BASH_KEEP,
        leave=_by(_BASH_WORD, _LEAVE.replace("(", "(POSIXLY_CORRECT=y;", 1)),
        itself='"$$"',
        noted=_NOTED,
        began_in=_BEGAN_IN,
        take=f"{_BASH_WORD} printf -v _nacre_c '{{body}}'",  # without a process
        run=_BASH_RUN,
        place=_PLACE,
        ask_host=_ASK_HOST,
        read=_READABLE + _by(_BASH_WORD, f'{_READ_LINES}\\command printf -v _nacre_c "$_nacre_c"'),
    ),
    programs=("bash",),
    offered=("bash",),
    native=NativeStart("nacre.bash", ("--rcfile", "{script}")),
    tells_version=True,
    longest_line=4000,
    opens_prompt=b"\x1b[?2004h",
)
# Widgets are functions: after `unfunction -m '*'` no key of ours does anything, and zle complains
# at each line of those of Debian's /etc/zsh/zshrc.
_ZSH_MEND = (
    "{ case ${+functions[__nacre_hook]}${__nacre_script+y} in 0y). $__nacre_script;"
    "for __nacre_w in zle-line-init zle-line-finish;do "
    "case ${widgets[$__nacre_w]}${+functions[${widgets[$__nacre_w]#user:}]} in "
    "user:*0)builtin zle -D $__nacre_w;;esac;done;unset __nacre_w;;esac;} 2>/dev/null"
)
ZSH = Dialect(
    name="zsh",
    syntax=Syntax(
        printf=f"{_ZSH_WORD} printf",
        code=_CODE,
        begin=_ZSH_BEGIN,
        keep=_by(_ZSH_WORD, _KEEP),
        leave=_by(_ZSH_WORD, _LEAVE.replace("\\exit", "\\command exit")),
        itself='"$$"',
        noted=_NOTED,
        began_in=_BEGAN_IN,
        take=_by(_ZSH_WORD, _TAKE_BOUND).replace(_CUT, _CUT_FOUND),
        run=_by(_ZSH_WORD, _RUN),
        place=f'"$$ $HOST;{_FOLDER}"',
        read=_READABLE
        + _READ_BOUND.replace(_CUT_READ, _CUT_FOUND)
        .replace("{bare}", _BARE)
        .replace("{word} ", "\\"),
        mend=_ZSH_MEND,
    ),
    programs=("zsh",),
    offered=("zsh",),
    native=NativeStart("zsh", variable="ZDOTDIR"),
    tells_version=True,
    longest_line=4000,
    begin_anew=b"\x07\x1b " + _BEGIN_ANEW,
    takes_pastes_late=True,
    forgets_interrupts=True,
    # PROMPT_SP: an output without a final newline is shown by a mark and blanks.
    before_prompt=late_pattern(rb"(?:\x1b\[[0-9;]*m)*[%#](?:\x1b\[[0-9;]*m)* +\r \r?\Z"),
)
_FISH_PLACE = (
    "\"$fish_pid $hostname;\"(builtin string match -rv '[[:cntrl:]]' -- $PWD; or builtin echo)"
)
FISH = Dialect(
    name="fish",
    syntax=Syntax(
        printf="builtin printf",
        code="$_nacre_s",
        # Local to the line that is read, whatever the user's variables of these names are.
        begin="set -l _nacre_s $status{noted}",
        # Nothing where nothing was run: the command did not arrive.
        keep="set -l _nacre_s $status;set -q _nacre_c[1];or set _nacre_s ''",
        leave='test "$_nacre_s" = 0;or /bin/sh -c "exit $_nacre_s"',
        itself="$fish_pid",
        noted=";set -gu _nacre_r $fish_pid",
        began_in='"$_nacre_r:"',
        take=(
            "set -l _nacre_c (builtin string unescape --style=url -- '{body}'"
            " | builtin string collect)"
        ),
        run="{leave};eval $_nacre_c",
        place=_FISH_PLACE,
        if_taken="{take};{rest}",
        # It calls a function for each quote or backslash that is pasted: 2,000 take minutes.
        escapes="url",
        # Its own `read` edits a line, and draws that; so does its prompt: 20 KB take half a minute.
        read=(
            "command stty -echo </dev/tty;{reading};"
            "set -l _nacre_c (/bin/sh -c 'while IFS= read -r l&&test \"$l\"'"
            "';do printf %s \"$l\";done' </dev/tty"
            " | builtin string unescape --style=url | builtin string collect);"
            "command stty echo </dev/tty"
        ),
    ),
    programs=("fish",),
    offered=("fish",),
    native=NativeStart("nacre.fish", ("--init-command", "source {quoted}")),
    tells_version=True,
    unread_after=0.5,
    marks_unrun=False,
    begin_anew=b" " + _BEGIN_ANEW,
    keeps_bad_line=True,
    pastes_as_it_is=False,
    forgets_interrupts=True,
    # The end of bracketed paste, a title, and its colours set back.
    after_start=late_pattern(
        rb"(?:\x1b\[\?2004l)?(?:\x1b\]0;[^\x07\x1b]*(?:\x07|\x1b\\))?"
        rb"(?:\x1b\[30m)?(?:\x1b\(B)?(?:\x1b\[m)?\r?"
    ),
)

DIALECTS = (BASH, ZSH, FISH, SH)  # in the order in which they are shown to users
SHELLS = frozenset(program for dialect in DIALECTS for program in dialect.programs)
OFFERED = tuple(program for dialect in DIALECTS for program in dialect.offered)
INTEGRATED = tuple(dialect.name for dialect in DIALECTS if dialect.native is not None)


def _silent(statement: str) -> str:
    """`set` may be a function that prints."""
    return statement.replace("} 2>/dev/null", "} >/dev/null 2>&1")


def _short(syntax: Syntax) -> Syntax:
    """Return it with shorter names: with the long ones its lines are too long for ash."""
    return _each(syntax, lambda word: word.replace("_nacre_", "_n"))


_ANY_BEGIN += f";_nacre_k='{_silent(_LEAVE)}'"
_ANY_LEAVE = f'{_ANY_WORD} eval "$_nacre_k"&&:'
# Nothing where nothing was run: printf may be a program, which takes no longer argument (mksh).
_ANY_TOLD = "_nacre_s=${_nacre_c:+${_nacre_t:-$?}}"
_ANY_RUN = f'{_CUT_BEHIND};{{leave}};{_ANY_WORD} eval "$_nacre_c"'

ANY_SHELL = Dialect(
    name="any",
    syntax=_short(
        _unforbidden(
            Syntax(
                printf="\\command printf",
                code=_CODE,
                begin=_ANY_BEGIN,
                keep=_silent(
                    _KEEP.replace(";\\unset _nacre_c", " _nacre_c=").replace(
                        "_nacre_s=$?", _ANY_TOLD
                    )
                ),
                leave=_ANY_LEAVE,
                itself='"$$"',
                noted=_NOTED,
                began_in=_BEGAN_IN,
                take=_TAKE_BOUND,
                run=_ANY_RUN,
                place=_PLACE,
                ask_host=_ASK_HOST,
                read=_READ_BOUND.replace("{bare}", f"case $_nacre_b in -){_BARE};;esac").replace(
                    "{word}", _ANY_WORD
                ),
                if_taken="{take};{rest}",
                nonce='"$_nacre_n"',
                own_out=">&2",
                behind=_BEHIND,
            )
        )
    ),
    programs=(),
    offered=(),
    forgets_interrupts=True,
)
_OTHER_FAMILY = FISH
# Where `command` is a function of the user's, and sh has no other word that calls builtins.
_SH_WITHOUT_COMMAND = replace(
    SH,
    name="sh without command",
    syntax=replace(
        _SH_SYNTAX,
        printf="\\printf",
        take=_TAKE.replace("command ", ""),
        run=_SH_SYNTAX.run.replace("command ", ""),
        read=_SH_SYNTAX.read and _SH_SYNTAX.read.replace("command ", ""),
    ),
    programs=(),
    offered=(),
)

_BY_PROGRAM = {
    **{program: dialect for dialect in DIALECTS for program in dialect.programs},
    **dict.fromkeys((*OPAQUE, "rbash"), ANY_SHELL),
}
_BY_NAME = {dialect.name: dialect for dialect in (*DIALECTS, ANY_SHELL, _SH_WITHOUT_COMMAND)}


def dialect_of(program: str) -> Dialect:
    """Return the dialect of a program, or of the shell behind it; of any shell if it is unknown."""
    return _BY_PROGRAM.get(program, ANY_SHELL)


# What fish alone prints before its prompt: black, and the colours set back (3); a mark for a mouse
# that clicks (4).
_FISH_PROMPTS = late_pattern(rb"\x1b\[30m(?:\x1b\(B)?\x1b\[m|\x1b\]133;A;click_events")


def shown_dialect(output: bytes, program: str) -> Dialect:
    """Return the dialect to try first in a program that printed this last.

    A line for another family makes fish wait for its end, and nobody hears of that.
    """
    dialect = dialect_of(program)
    return FISH if dialect is ANY_SHELL and _FISH_PROMPTS.search(output) else dialect


def dialect_named(name: str) -> Dialect:
    """Return a dialect by the name that another daemon stored."""
    return _BY_NAME.get(name, SH)


def other_family(dialect: Dialect) -> Dialect:
    """Return the dialect to try next if a line in this one was not understood behind ssh."""
    return ANY_SHELL if dialect is _OTHER_FAMILY else _OTHER_FAMILY


def without_words(dialect: Dialect) -> Dialect | None:
    """Return the dialect to try next in a shell that is known, if there is one.

    A restricted bash refuses what its own dialect needs.
    """
    others = {SH: _SH_WITHOUT_COMMAND, _SH_WITHOUT_COMMAND: SH, BASH: ANY_SHELL, ANY_SHELL: BASH}
    return others.get(dialect)
