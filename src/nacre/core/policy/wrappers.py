"""The programs that run other programs, and the options that stand before those.

Rule: an option that is not listed here may take a value, so nobody knows where the inner command
begins. The lists are those of the manuals of GNU, util-linux, sudo and bash.
"""

from typing import NamedTuple

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"))


class Options(NamedTuple):
    """How a wrapper's own words end: its flags, its options with values, its other words."""

    flags: str = ""  # letters that stand alone
    values: str = ""  # letters that take a value
    long: tuple[str, ...] = ()  # without a value, or with =value
    long_values: tuple[str, ...] = ()
    words: int = 0  # that come before the command
    assigns: bool = False  # NAME=value may come before the command


# The options of GNU's, util-linux's and bash's own, in their manuals' order.
PREFIXES: dict[str, Options] = {
    "env": Options(
        "i0v",
        "uC",
        ("--ignore-environment", "--null", "--debug", "--unset", "--chdir", "--block-signal"),
        ("--unset", "--chdir"),
        assigns=True,
    ),
    "nohup": Options(),
    "nice": Options("", "n", ("--adjustment",), ("--adjustment",)),
    "ionice": Options("t", "cn"),
    "timeout": Options(
        "fvp",
        "ks",
        ("--foreground", "--preserve-status", "--verbose", "--kill-after", "--signal"),
        ("--kill-after", "--signal"),
        words=1,
    ),
    "stdbuf": Options("", "ioe", ("--input", "--output", "--error"), ()),
    "setsid": Options("cfw", "", ("--ctty", "--fork", "--wait")),
    "time": Options("pvaq", "fo", ("--portability", "--verbose", "--append", "--quiet"), ()),
    "builtin": Options(),
    "exec": Options("cl", "a"),
    "sudo": Options(
        "AbEeHiKknPSsVv",
        "CDghprRTtu",
        ("--preserve-env", "--non-interactive", "--login", "--set-home", "--stdin"),
        ("--user", "--group", "--chdir"),
        assigns=True,
    ),
    "doas": Options("Lns", "Cu"),
    "pkexec": Options("", "", (), ("--user",)),
    "runuser": Options("", "u", (), ("--user",)),
    "chronic": Options("ev"),
    "taskset": Options("a", "", words=1),
    "chrt": Options("abefior", "", words=1),
    "chroot": Options("", "", (), (), words=1),
    "flock": Options("sxeunoF", "wE", (), ("--timeout",), words=1),
    "xvfb-run": Options("a", "n", ("--auto-servernum",), ()),
    "caffeinate": Options("disu", "tw"),
    "unbuffer": Options("p"),
    "dotenv": Options("", "f"),
}
# They run a line of the shell's that is one of their words.
LINE_OPTION = {"script": "-c", "su": "-c", "runuser": "-c", "flock": "-c"}
XARGS = Options(
    "0oprtx",
    "aEeIiLlnPsdS",
    (
        *("--null", "--open-tty", "--interactive", "--no-run-if-empty", "--verbose", "--exit"),
        *("--max-args", "--max-procs", "--max-lines", "--delimiter", "--replace", "--arg-file"),
    ),
    ("--max-args", "--max-procs", "--delimiter", "--arg-file"),
)
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
SHELL_OPTIONS = frozenset(
    ("--norc", "--noprofile", "--login", "--posix", "--restricted", "--verbose")
)
WATCH = Options(
    "bcdegtwxr",
    "nq",
    ("--differences", "--errexit", "--chgexit", "--no-title", "--color"),
    ("--interval",),
)


def words_of_group(letters: str, options: Options) -> int | None:
    """Return how many words a group of short options takes; None: one of them is not known."""
    for index, letter in enumerate(letters):
        if letter in options.values:
            return 1 if index + 1 < len(letters) else 2
        if letter not in options.flags and not letter.isdigit():
            return None
    return 1
