"""What a program's name says about it, where the kernel's facts leave a question open.

Rule: names only distinguish what the kernel cannot: the prompt of a REPL from an editor that waits,
a remote shell from a local program. They never decide that something is finished. Shells have their
own table (dialects.py).
"""

import re

from nacre.late_pattern import late_pattern

# The local terminal is raw and says nothing: what matters happens at the other end.
OPAQUE = frozenset(
    [
        "ssh",
        "mosh",
        "mosh-client",
        "su",
        "sudo",
        "doas",
        "docker",
        "podman",
        "kubectl",
        "nerdctl",
        "lxc",
        "nsenter",
        "machinectl",
        "script",
        "telnet",
        "telnet.netkit",
        "chroot",
        "runuser",
        "crictl",
        "oc",
        "vagrant",
        "multipass",
    ]
)

# A terminal within the terminal: what runs in there is not seen from outside.
MULTIPLEXERS = frozenset(["tmux", "screen", "zellij", "byobu", "dvtm"])

REPLS = frozenset(
    [
        "python",
        "python2",
        "python3",
        "ipython",
        "ipython3",
        "pypy",
        "pypy3",
        "node",
        "deno",
        "bun",
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "irb",
        "ruby",
        "gdb",
        "lldb",
        "pdb",
        "lua",
        "luajit",
        "ghci",
        "ghc",
        "pry",
        "R",
        "julia",
        "php",
        "scala",
        "clj",
        "redis-cli",
        "mongosh",
        "bc",
        "dc",
        "erl",
        "beam.smp",
        "beam",
        "iex",
        "ocaml",
        "guile",
        "racket",
        "sbcl",
        "gnuplot",
        "maxima",
        "octave",
        "octave-cli",
        "ftp",
        "sftp",
        "lftp",
        "pwsh",
        "jshell",
        "swipl",
        "tclsh",
        # Shells of other families, whose exit codes no wrapper of ours can ask for.
        "tcsh",
        "csh",
        "nu",
        "xonsh",
        "elvish",
    ]
)
_NUMBERED = late_pattern(r"(python|pypy|ipython|ruby|irb|lua|node|php|erl|ghci|tclsh)[-0-9.]+$")

# They run scripts, too: then only a prompt tells a REPL.
_INTERPRETERS = frozenset(["python", "pypy", "node", "deno", "bun", "ruby", "php", "lua", "luajit"])

PAGERS = frozenset(
    ["less", "more", "most", "pg", "man", "moar", "moor", "bat", "batcat", "ov", "delta", "w3m"]
)
EDITORS = frozenset(
    [
        "vi",
        "vim",
        "nvim",
        "view",
        "vimdiff",
        "rvim",
        "rview",
        "nano",
        "rnano",
        "pico",
        "emacs",
        "ed",
        "ex",
        "micro",
        "hx",
        "helix",
        "joe",
        "jed",
        "mcedit",
        "ne",
        "kak",
    ]
)

# What the prompts of shells end with, in their own settings and in common themes.
PROMPT_ENDS = frozenset("$#>%❯❮➜λ»›→▶")

# A question at the end of a line, as programs write them: [y/N], (yes/no), [Y/n]?, ([y]/n)?,
# [y/d/N]:, rename? [y]es, [n]o, [A]ll:
CONFIRM = late_pattern(
    r"[\[(]\s*\[?y(?:es)?\]?\s*[/|]\s*(?:[\w/|\[\]]+[/|])?\[?n(?:o)?\]?(?:\s*/\s*\S+)?\s*[\])]"
    r"\s*[?:]*(?:\s*[\[(][^\])]{1,20}[\])])?\s*[?:>]*\s*$|"
    r"\by(?:es)?\s*(?:/|or\s)\s*no?\s*[?:>]+\s*$|"
    r"\?\s*y(?:es)?\s*/\s*no?\s*$|"
    r"\?\s*[\[(](?:y|yes|n|no)[\])]\s*:?\s*$|"
    r"[\[(]y[\])]es\b.*[\[(]n[\])]o\b[^?:]*[?:]?\s*$|"
    r"^\*\*\* .*\(Y/I/N/O/D/Z\).*\?\s*$|"
    r"[\[(]y(?:es)? or n(?:o)?[\])]\s*[?:]*\s*$|"
    r"\[y,n(?:,\S)*\]\??\s*$|"
    r"\(yes/no(?:/\[fingerprint\])?\)\?\s*$|\b(?:type|enter) ['\"]?yes['\"]?[^\w:][^:]*:\s*$|"
    r"\b(?:continue|proceed|sure|overwrite|replace|remove)\b\s*(?:it|this|anyway|file)?\s*\?\s*$",
    re.IGNORECASE,
)
# What programs that show their output by pages print at a page's end: more(1), gdb.
BY_PAGES = late_pattern(r"^\s*--\s?(?:More\b.*--|Type <RET> for more.*)\s*$", re.IGNORECASE)

# What a program of its own may show where it takes commands: app>, (Cmd), my app >
_OWN_PROMPT = late_pattern(r"\s*(?:\([\w.+-]+\)|[^\s>?:]+(?: [^\s>?:]+)? ?[>❯»›])\s+")

# In their code something may ask for a line as their own prompt does: by their line editor.
_READ_IN_CODE = ("python", "pypy", "R", "octave", "php", "ghc")

# They ask about one file after the other, in the user's language, without saying what to type.
_ASK_ABOUT_FILES = frozenset(["rm", "cp", "mv", "ln", "find", "xargs", "tar"])
_QUESTION = late_pattern(r"\?(?:\.\.\.)?\s*$")
# What is asked there must be answered in full.
IN_FULL = late_pattern(r"\byes(?:/| or )no\b|\b(?:type|enter) ['\"]?yes\b", re.IGNORECASE)
PASSWORD = late_pattern(r"(?:password|passphrase|passcode|\bPIN\b)[^:]{0,80}:\s*$", re.IGNORECASE)


def is_repl(program: str) -> bool:
    return program in REPLS or _NUMBERED.match(program) is not None


def is_interpreter(program: str) -> bool:
    """Whether the program runs scripts in the same process that has a REPL."""
    return program in _INTERPRETERS or program.rstrip("-.0123456789") in _INTERPRETERS


def reads_in_code(program: str) -> bool:
    """Whether code in this REPL can ask for a line where its prompt might stand."""
    return program.startswith(_READ_IN_CODE)


def looks_as_prompt(line: str) -> bool:
    """Whether a line looks as programs ask for commands, where nothing else is known."""
    return _OWN_PROMPT.fullmatch(line) is not None


def is_confirm(program: str | None, line: str) -> bool:
    """Whether a program asks for a yes or no at the end of this line."""
    about_files = program in _ASK_ABOUT_FILES and _QUESTION.search(line) is not None
    return about_files or CONFIRM.search(line) is not None


def program_name(name: str, file: str) -> str:
    """Return the name by which a process is known here; `file` is what it was started from.

    Names like editor and pager stand for others: vim.basic, less.
    """
    for known in (name, name.partition(":")[0], file, file.partition(".")[0]):
        if known in EDITORS or known in PAGERS or known in MULTIPLEXERS:
            return known
    return name
