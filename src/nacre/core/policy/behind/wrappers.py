"""The programs that run other programs, and the options that stand before those.

Rule: an option that is not listed here may take a value, so nobody knows where the inner command
begins. The lists are those of the manuals of GNU, util-linux, sudo and bash.
"""

import re
from typing import NamedTuple

from nacre.core.policy.words import Word

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"))


class Options(NamedTuple):
    """How a wrapper's own words end: its flags, its options with values, its other words."""

    flags: str = ""  # letters that stand alone
    values: str = ""  # letters that take a value
    long: tuple[str, ...] = ()  # without a value, or with =value
    long_values: tuple[str, ...] = ()
    optional: str = ""  # letters whose value, if they have one, is glued to them
    writing: tuple[str, ...] = ()  # how options begin by which it writes, or changes its folder
    words: int = 0  # that come before the command
    assigns: bool = False  # NAME=value may come before the command


# The options of GNU's, util-linux's and bash's own, in their manuals' order.
PREFIXES: dict[str, Options] = {
    "env": Options(
        "i0v",
        "uCS",
        (
            *("--ignore-environment", "--null", "--debug", "--unset", "--chdir", "--block-signal"),
            "--split-string",
        ),
        ("--unset", "--chdir", "--split-string"),
        assigns=True,
        writing=("-C", "--c"),
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
    "time": Options(
        "pvaq",
        "fo",
        ("--portability", "--verbose", "--append", "--quiet", "--output", "--format"),
        ("--output", "--format"),
        writing=("-o", "-a", "--o", "--a"),
    ),
    "builtin": Options(),
    "coproc": Options(),
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
    "strace": Options("cCdfFhiknqrtTvVwxyYzZ", "abeEIoOpPsSuUX"),
    "ltrace": Options("cCfhiLrStTVb", "aAeFlnopsuxX"),
    "unshare": Options("cfimnprTuU", "SGRw", ("--fork", "--mount-proc", "--map-root-user")),
    "nsenter": Options(
        "aFZmunipCUTrw",
        "tSG",
        ("--all", "--mount", "--uts", "--ipc", "--net", "--pid", "--user", "--root", "--target"),
        ("--target",),
    ),
    "valgrind": Options(
        "qv",
        "",
        (
            *("--leak-check", "--show-leak-kinds", "--track-origins", "--error-exitcode", "--tool"),
            *("--suppressions", "--num-callers", "--quiet", "--verbose", "--trace-children"),
            *("--errors-for-leak-kinds", "--show-reachable", "--track-fds", "--undef-value-errors"),
        ),
    ),
    "scan-build": Options("vV", "", ("--status-bugs", "--use-analyzer")),
    "heaptrack": Options(),
    "fakeroot": Options("uv", "lsib"),
    "gtimeout": Options("fvp", "ks", ("--foreground", "--preserve-status"), (), words=1),
    "proxychains": Options("q", "f"),
    "proxychains4": Options("q", "f"),
    "firejail": Options("", "", ("--quiet", "--noprofile", "--net")),
    "dbus-run-session": Options(),
    "systemd-run": Options("dGPqrSt", "HMpuE", ("--user", "--scope", "--wait", "--pty", "--pipe")),
}
# Of docker and podman: exec, and run of a service of the project.
CONTAINER = Options(
    "itT",
    "uwe",
    ("--interactive", "--tty", "--no-TTY", "--rm", "--no-deps", "--no-tty", "--quiet-pull"),
    ("--user", "--workdir", "--env", "--index"),
)
COMPOSE_VALUES = frozenset(("-f", "--file", "-p", "--project-name", "--profile"))
# They run a line of the shell's that is one of their words.
LINE_OPTION = {"script": "-c", "su": "-c", "runuser": "-c", "flock": "-c"}
XARGS = Options(
    "0oprtx",
    "aEILnPsd",
    (
        *("--null", "--open-tty", "--interactive", "--no-run-if-empty", "--verbose", "--exit"),
        *("--max-args", "--max-procs", "--max-lines", "--delimiter", "--replace", "--arg-file"),
    ),
    ("--max-args", "--max-procs", "--delimiter", "--arg-file"),
    optional="eil",
)
PARALLEL = Options(
    "0kmqrtuvX",
    "jnNIaLPsSCd",
    (
        *(
            "--keep-order",
            "--bar",
            "--progress",
            "--verbose",
            "--dry-run",
            "--null",
            "--line-buffer",
        ),
        *("--jobs", "--halt", "--joblog", "--timeout", "--delay", "--will-cite", "--no-notice"),
        *(
            "--no-run-if-empty",
            "--max-args",
            "--colsep",
            "--results",
            "--retries",
            "--tag",
            "--eta",
        ),
    ),
    ("--jobs", "--halt", "--joblog", "--timeout", "--delay", "--max-args", "--colsep", "--retries"),
)
HYPERFINE = Options(
    "iN",
    "wrmMn",
    ("--ignore-failure", "--show-output", "--style", "--warmup", "--runs", "--command-name"),
    ("--warmup", "--runs", "--min-runs", "--max-runs", "--style", "--command-name", "--time-unit"),
)
PERF = Options(
    "adgv", "erF", ("--event", "--repeat", "--detailed", "--append"), ("--event", "--repeat")
)
# A virtual environment's own script; its programs are believed too (.venv/bin/pytest).
ACTIVATE = re.compile(
    r"(?:\./)?(?:[\w-]+/)*\.?v?env/bin/activate(?:\.fish)?"
    # What installers tell their users to source; nobody writes there unasked.
    r"|~/(?:\.cargo/env|\.nvm/nvm\.sh|\.bashrc|\.profile|\.bash_profile|\.zshrc|\.asdf/asdf\.sh"
    r"|\.sdkman/bin/sdkman-init\.sh|(?:mini|ana|mini?forge)?conda3?/etc/profile\.d/conda\.sh)"
)
# A project's own script that builds or tests it, as a Makefile does; rules know it by its name.
SCRIPT = re.compile(
    r"(?:\./)?(?:[\w-]+/)*(?:build|test|tests|lint|check|format|typecheck|ci|run[_-]tests)\.sh"
)
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
FD_RUNS = frozenset(("-x", "-X", "--exec", "--exec-batch"))
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
        if letter in options.optional:
            return 1
        if letter not in options.flags and not letter.isdigit():
            return None
    return 1


def writes_a_file(text: str, options: Options) -> bool:
    """Return whether an option, or one in a group of letters, writes to a file."""
    if text.startswith(options.writing):
        return True
    letters = {one[1] for one in options.writing if one[1] != "-"}
    return text[:1] == "-" and text[1:2] != "-" and bool(letters & set(text[1:]))


def is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum() and not name[0].isdigit()


def found_path(word: Word) -> Word:
    """Return a word in which find puts a path, which begins like the folder that it searches."""
    unknown = with_unknown(word, {"{}"})
    return unknown if unknown.lead or unknown is word else unknown._replace(lead="./")


def with_unknown(word: Word, places: set[str], lead: str = "") -> Word:
    """Return a word in which the places of unknown text are marked as such."""
    if word.text is None or not any(place in word.text for place in places):
        return word
    begin = min(word.text.find(place) for place in places if place in word.text)
    return Word(None, word.raw, lead=word.text[:begin] or lead)
