"""What a program's name says about it, where the kernel's facts leave a question open.

Rule: names only split what the kernel cannot: a prompt of a REPL from an editor's wait, a remote
shell from a local program. They never decide that something is finished.
"""

import re

SHELLS = frozenset(
    ("sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "busybox", "rbash", "tcsh", "csh")
)

# The local terminal is raw and tells nothing: what matters happens at the other end.
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
        "tmux",
        "tmux:",
        "screen",
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
        "pwsh",
    ]
)
_NUMBERED = re.compile(r"(python|pypy|ipython|ruby|irb|lua|node|php|erl|ghci)[-0-9.]+$")

PAGERS = frozenset(["less", "more", "most", "pg", "man", "moar", "bat", "ov"])
EDITORS = frozenset(
    [
        "vi",
        "vim",
        "nvim",
        "view",
        "vimdiff",
        "nano",
        "pico",
        "emacs",
        "ed",
        "ex",
        "micro",
        "hx",
        "helix",
        "joe",
        "mcedit",
        "ne",
        "kak",
    ]
)

# A question at the end of a line, as programs write them: [y/N], (yes/no), [Y/n]?
CONFIRM = re.compile(
    r"[\[(]\s*(?:y(?:es)?\s*[/|]\s*n(?:o)?)(?:\s*/\s*\S+)?\s*[\])]\s*[?:]?\s*$|"
    r"\(yes/no(?:/\[fingerprint\])?\)\?\s*$|\b(?:continue|proceed|sure)\?\s*$",
    re.IGNORECASE,
)
PASSWORD = re.compile(r"(?:password|passphrase|passcode|\bPIN\b)[^:]{0,80}:\s*$", re.IGNORECASE)


def is_repl(program: str) -> bool:
    return program in REPLS or _NUMBERED.match(program) is not None
