"""What a caller of run gets, case by case: commands, the shells they hold for, and every answer.

A case is a list of steps in one fresh session. What a step leaves out has the value of a command
that simply ends: completed, exit code 0, known by its mark, nothing printed.
Words between @ signs are filled in: @home@, @python@, @ssh@, @shell@, @ash@.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

BASH, ZSH, FISH, DASH, ASH = ("bash",), ("zsh",), ("fish",), ("dash",), ("ash",)
ALL = ("bash", "zsh", "fish", "dash", "ash")
BOURNE = ("bash", "zsh", "dash", "ash")
# One that marks its commands and one that is wrapped: for what does not depend on the shell.
BOTH = ("bash", "dash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a command and compare all of the answer; output None: compared by has and lacks."""

    command: str
    output: str | None = ""
    code: int | None = 0
    status: Literal["completed", "timeout", "busy", "error"] = "completed"
    ended_by: str | None = "mark"
    context: str | None = None  # None: as the session's own shell runs things
    asks: str | None = None
    state: str | None = None
    cwd: str | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    omits: int = 0
    timeout_ms: int = 60_000
    max_chars: int | None = None
    hints: tuple[str, ...] = ()
    inputs: int | None = None  # that may be typed for it at most: the command, then Ctrl+C
    meanwhile: "Keys | None" = None  # pressed while it runs


@dataclass(frozen=True, slots=True)
class Keys:
    """Press keys once `after` stands on the screen; go on when `shows` does."""

    keys: bytes
    after: str | None = None
    shows: str | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """Send a signal to the program in the foreground, as signal_session does, or as others do."""

    number: int
    by_others: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Wait for the last run by its id; several codes where it is the shell's luck which it has."""

    output: str | None = ""
    code: int | tuple[int | None, ...] | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Read the last run's output."""

    offset: int
    limit: int
    output: str
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resize:
    rows: int
    cols: int


Step = Run | Keys | Signal | Wait | Page | Screen | Resize


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    shells: tuple[str, ...]
    steps: tuple[Step, ...]
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    rows: int = 24
    cols: int = 80


def run(command: str, output: str | None = "", code: int | None = 0, **more: Any) -> Run:
    return Run(command=command, output=output, code=code, **more)


def asks(command: str, kind: str | None, output: str | None = None, **more: Any) -> Run:
    """A run that is stopped by a question."""
    return Run(
        command=command,
        output=output,
        code=None,
        status="timeout",
        ended_by="needs_input",
        asks=kind,
        **more,
    )


def opens(command: str, **more: Any) -> Run:
    """A run that brings up another shell."""
    return asks(command, None, state="prompt", **more)


def inner(command: str, output: str | None = "", code: int | None = 0, **more: Any) -> Run:
    """A run inside of what an earlier one brought up."""
    return run(command, output, code, context="wrapped", **more)


def repl(command: str, output: str | None = "", **more: Any) -> Run:
    return run(command, output, None, ended_by="prompt", context="repl", **more)


def leaves(command: str, output: str | None = "", code: int | None = 0, **more: Any) -> Run:
    """A run that ends what it ran in, back to the session's own shell."""
    return run(command, output, code, ended_by="exit", **more)


# In the foreground once it prints: a key that came before would meet the shell.
SLEEPS = "sh -c 'echo begun; exec sleep 9'"

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
LONG_5K = _LETTERS * 140
LONG_20K = _LETTERS * 560

PLAIN = [
    Case("silent compute", ALL, (run("sleep 0.3"),)),
    Case("silence is no end", ALL, (run("sleep 0.35; echo done", "done"),)),
    Case("one line", ALL, (run("echo hello", "hello"),)),
    Case("exit code one", ALL, (run("false", code=1),)),
    Case("exit code of a program", ALL, (run("sh -c 'exit 42'", code=42),)),
    Case("exit code 255", ALL, (run("sh -c 'exit 255'", code=255),)),
    Case(
        "slow dots with gaps", BOURNE, (run("for i in 1 2 3; do printf .; sleep 0.1; done", "..."),)
    ),
    Case(
        "slow dots with gaps in fish",
        FISH,
        (run("for i in 1 2 3; printf .; sleep 0.1; end", "..."),),
    ),
    Case("no newline at the end", ALL, (run("printf abc", "abc"), run("echo x", "x"))),
    Case("only a newline", ALL, (run("echo", ""), run("echo x", "x"))),
    Case("blank lines stay inside", BOTH, (run(r"printf 'a\n\n\nb\n'", "a\n\n\nb"),)),
    Case("leading blanks stay", BOTH, (run("echo '   x'", "   x"),)),
    Case("a percent sign at the end", ALL, (run("printf '100%%'", "100%"),)),
    Case("colours are no text", BOTH, (run(r"printf '\033[31mred\033[0m plain\n'", "red plain"),)),
    Case(
        "256 colours and links",
        BOTH,
        (run(r"printf '\033[38;5;9mA\033]8;;http://x\033\\B\033]8;;\033\\\033[m\n'", "AB"),),
    ),
    Case("a progress bar collapses", BOTH, (run(r"printf '10%%\r50%%\r100%%\n'", "100%"),)),
    Case("a bar with erased line", BOTH, (run(r"printf 'working\r\033[Kok\n'", "ok"),)),
    Case("backspaces", BOTH, (run(r"printf 'abd\bc\n'", "abc"),)),
    Case("cursor movement", BOTH, (run(r"printf 'one\ntwo\n\033[2Auno\033[2B\r'", "uno\ntwo"),)),
    Case("tabs", BOTH, (run(r"printf 'a\tb\n'", "a       b"),)),
    Case("unicode", ALL, (run("echo 'grüße 世界 🎉'", "grüße 世界 🎉"),)),
    Case(
        "a line wider than the terminal is whole", ALL, (run(f"echo {_LETTERS * 5}", _LETTERS * 5),)
    ),
    Case(
        "a coloured line wider than the terminal",
        BOTH,
        (run(f"printf '\\033[1m{_LETTERS * 5}\\033[m\\n'", _LETTERS * 5),),
    ),
    Case("stderr is output", BOTH, (run("sh -c 'echo out; echo err >&2'", "out\nerr"),)),
    Case("bell and nul", BOTH, (run(r"printf 'a\007b\000c\n'", "abc"),)),
    Case("bytes that are no text", BOTH, (run(r"printf 'a\377b\n'", "a\ufffdb"),)),
    Case("title and other OSC", BOTH, (run(r"printf '\033]0;title\007x\n'", "x"),)),
    Case("five hundred lines", BOTH, (run("seq 500", "\n".join(map(str, range(1, 501)))),)),
    Case(
        "head and tail within a budget",
        BOTH,
        (
            run(
                "seq 1000",
                None,
                max_chars=400,
                has=("1\n2\n3\n", "\n999\n1000", "lines left out"),
                lacks=("\n500\n",),
            ),
        ),
    ),
    Case(
        "clear does not end or hide it",
        BOTH,
        (run("printf 'a\\n\\033[H\\033[2Jb\\n'", None, has=("b",)), run("echo x", "x")),
    ),
    Case(
        "the clear program",
        BOTH,
        (run("clear; echo after", None, has=("after",)), run("echo x", "x")),
    ),
    Case("a full reset", BOTH, (run(r"printf 'a\033cb\n'", None, has=("b",)), run("echo x", "x"))),
    Case(
        "an alternate screen that ends",
        BOTH,
        (run(r"printf 'before\n\033[?1049hinside\033[?1049lafter\n'", "before\nafter"),),
    ),
    Case(
        "a deep cwd is reported",
        ALL,
        (
            run("mkdir -p 'a b/c'"),
            run("cd 'a b/c'", cwd="@home@/a b/c"),
            run("pwd", "@home@/a b/c", cwd="@home@/a b/c"),
        ),
    ),
]

STATE = [
    Case("cd stays", ALL, (run("cd /usr"), run("pwd", "/usr", cwd="/usr"))),
    Case("export stays", BOURNE, (run("export X=1 Y='a b'"), run("sh -c 'echo $X-$Y'", "1-a b"))),
    Case("export stays in fish", FISH, (run("set -x X 1"), run("sh -c 'echo $X'", "1"))),
    Case("alias stays", BASH + ZSH, (run("alias hi='echo hello'"), run("hi", "hello"))),
    Case("alias stays, wrapped", DASH + ASH, (run("alias hi='echo hello'"), run("hi", "hello"))),
    Case("a function stays", BOURNE, (run('f() { echo "f $1"; return 4; }'), run("f x", "f x", 4))),
    Case(
        "a function stays in fish",
        FISH,
        (run("function f; echo f $argv; return 4; end"), run("f x", "f x", 4)),
    ),
    Case(
        "a function of several lines",
        BOURNE,
        (run("f() {\n  echo one\n  return 5\n}"), run("f", "one", 5)),
    ),
    Case("a variable that is not exported", BOURNE, (run("x=5"), run("echo $x", "5"))),
    Case(
        "$? is the command's before", BOURNE, (run("sh -c 'exit 9'", code=9), run("echo $?", "9"))
    ),
    Case(
        "$status is the command's before",
        FISH,
        (run("sh -c 'exit 9'", code=9), run("echo $status", "9")),
    ),
    Case(
        "$? after several lines", BOURNE, (run("true\nsh -c 'exit 9'", code=9), run("echo $?", "9"))
    ),
    Case(
        "$? into several lines", BOURNE, (run("sh -c 'exit 9'", code=9), run("echo $?\ntrue", "9"))
    ),
    Case(
        "$status across several lines",
        FISH,
        (run("true\nsh -c 'exit 9'", code=9), run("echo $status\ntrue", "9")),
    ),
    Case("shell options stay", ("bash", "dash", "ash"), (run("set -f"), run("echo *", "*"))),
    Case(
        "pipefail and PIPESTATUS", BASH, (run("false | true"), run("echo ${PIPESTATUS[@]}", "1 0"))
    ),
    Case(
        "a subshell's exit is not the shell's",
        BOURNE,
        (run("(exit 3)", code=3), run("echo on", "on")),
    ),
    Case(
        "a subshell's cd is not the shell's", BOURNE, (run("(cd /usr; pwd)", "/usr", cwd="@home@"),)
    ),
]

SYNTAX = [
    Case("a pipeline", ALL, (run("printf 'b\\na\\n' | sort", "a\nb"),)),
    Case("a failing pipeline's last", ALL, (run("true | sh -c 'exit 3'", code=3),)),
    Case("and, or", BOURNE, (run("false || echo or", "or"), run("true && false", code=1))),
    Case("several lines", ALL, (run("echo one\necho two\nfalse", "one\ntwo", 1),)),
    Case("several lines with blank ones", ALL, (run("echo one\n\n\necho two", "one\ntwo"),)),
    Case("a loop over lines", BOURNE, (run("for i in 1 2; do\n  echo $i\ndone", "1\n2"),)),
    Case("a loop over lines in fish", FISH, (run("for i in 1 2\n  echo $i\nend", "1\n2"),)),
    Case("a heredoc", BOURNE, (run("cat <<EOF\na $((1+1))\n  b\nEOF", "a 2\n  b"),)),
    Case("a quoted heredoc", BOURNE, (run("cat <<'EOF'\n$HOME `x` \\n\nEOF", "$HOME `x` \\n"),)),
    Case(
        "a heredoc between commands",
        BOURNE,
        (run("echo a\ncat <<E\nb\nE\nsh -c 'exit 6'", "a\nb", 6),),
    ),
    Case("a here-string", BASH + ZSH, (run("cat <<< 'a b'", "a b"),)),
    Case("quotes of all kinds", BOURNE, (run("""echo 'it'"'"'s' "a\\"b" \\$x""", "it's a\"b $x"),)),
    Case("quotes over lines", BOURNE, (run("echo 'a\nb'", "a\nb"), run('echo "c\nd"', "c\nd"))),
    Case(
        "a history character", ALL, (run("echo hi!", "hi!"), run('echo "a !b !! c"', "a !b !! c"))
    ),
    Case(
        "!! does not run anything",
        BASH + ZSH,
        (run("echo one", "one"), run("echo '!!' !$", "!! !$")),
    ),
    Case("tabs in the command", ALL, (run("echo 'a\tb'", "a       b"),)),
    Case("a tab completes nothing", ALL, (run("echo\tx", "x"),)),
    Case("printf's own characters", ALL, (run(r"printf '%s|%d%%\n' 'a\b' 5", r"a\b|5%"),)),
    Case("percent signs over lines", ALL, (run("echo 50%\necho '%s %d'", "50%\n%s %d"),)),
    Case("a trailing comment", ("bash", "fish", "dash", "ash"), (run("echo a # comment", "a"),)),
    Case(
        "a comment over lines",
        ("bash", "fish", "dash", "ash"),
        (run("# first\necho a # x\n# last", "a"),),
    ),
    Case("trailing newlines", ALL, (run("echo a\n\n", "a"),)),
    Case("trailing blanks", ALL, (run("echo a   ", "a"),)),
    Case("a leading blank", ALL, (run("   echo a", "a"),)),
    Case("a line that is continued", ALL, (run("echo a \\\n  b", "a b"),)),
    Case("carriage returns at line ends", BOURNE, (run("echo a\r\necho b", None, has=("a", "b")),)),
    Case("a command of 5 KB", ALL, (run(f"echo {LONG_5K}", LONG_5K),)),
    Case("a command of 20 KB", ALL, (run(f"echo {LONG_20K}", LONG_20K),)),
    Case(
        "20 KB over 500 lines",
        BOURNE,
        (run("x=0\n" + "x=$((x+1)) # padding so that it is long\n" * 500 + "echo $x", "500"),),
    ),
    Case(
        "20 KB of what is escaped",
        BOURNE,
        (run("printf %s '" + "é%!\\\n" * 2000 + "' | wc -l", None, has=("2000",)),),
    ),
    Case(
        "20 KB, its exit code",
        BOURNE,
        (run(f": {LONG_20K}\nsh -c 'exit 8'", code=8), run("echo on", "on")),
    ),
    Case(
        "thousands of characters that are no ASCII",
        ALL,
        (run(f"echo '{'é世' * 1000}'", "é世" * 1000, timeout_ms=20_000), run("echo on", "on")),
    ),
    Case("unicode over lines", ALL, (run("echo 'é世'\necho '🎉'", "é世\n🎉"),)),
    Case(
        "an incomplete quote",
        BASH + ZSH + FISH,
        (run("echo 'a", None, None, status="error", state="prompt"), run("echo on", "on")),
    ),
    Case(
        "a block that somebody left without its end",
        FISH,
        (Keys(b"begin\r  echo a\r", shows="echo a"), run("echo on", "on"), run("false", code=1)),
    ),
    Case(
        "one Ctrl+C takes an incomplete command back",
        BASH + ZSH,
        (run("echo 'a", None, None, status="error", inputs=2), run("echo on", "on")),
    ),
    Case(
        "a last line that nothing continues",
        BOURNE + FISH,
        (run("echo a \\\n", "a"), run("echo b\necho c \\\n\n", "b\nc"), run("echo d\\\\\n", "d\\")),
    ),
    Case(
        "an incomplete block",
        BASH + ZSH,
        (run("for i in 1 2; do", None, None, status="error", state="prompt"), run("echo on", "on")),
    ),
    Case(
        "an incomplete block in fish",
        FISH,
        (run("for i in 1 2", None, None, status="error", state="prompt"), run("echo on", "on")),
    ),
    Case(
        "a backslash at the end",
        BASH + ZSH,
        (run("echo a\\", None, None, status="error", state="prompt"), run("echo on", "on")),
    ),
    Case(
        "an incomplete quote, wrapped",
        DASH + ASH,
        (run("echo 'a", None, 2, has=("nterminated quoted string",)), run("echo on", "on")),
    ),
    Case(
        "an incomplete quote over lines in bash",
        BASH,
        (
            run("echo a\necho 'b", "a\nbash: unexpected EOF while looking for matching `''", 2),
            run("echo on", "on"),
        ),
    ),
    Case(
        "an incomplete quote over lines in zsh",
        ZSH,
        (run("echo a\necho 'b", "zsh: unmatched '", 1), run("echo on", "on")),
    ),
    Case(
        "syntax error in bash",
        BASH,
        (run("fi", "bash: syntax error near unexpected token `fi'", 2), run("echo on", "on")),
    ),
    Case(
        "syntax error in zsh",
        ZSH,
        (run("fi", "zsh: parse error near `fi'", 1), run("echo on", "on")),
    ),
    Case(
        "syntax error in fish",
        FISH,
        (run("echo )", None, 127, has=("Unexpected ')'",)), run("echo on", "on")),
    ),
    Case(
        "syntax error in dash",
        DASH,
        (run("fi", None, 2, has=('Syntax error: "fi" unexpected',)), run("echo on", "on")),
    ),
    Case(
        "syntax error in busybox",
        ASH,
        (run("fi", None, 2, has=('syntax error: unexpected "fi"',)), run("echo on", "on")),
    ),
    Case(
        "syntax error over lines",
        ("bash", "dash", "ash"),
        (run("echo a\nfi", None, 2, has=("a\n",)), run("echo on", "on")),
    ),
    Case(
        "syntax error over lines in zsh",
        ZSH,
        (run("echo a\nfi", "zsh: parse error near `fi'", 1), run("echo on", "on")),
    ),
    Case(
        "not found",
        ALL,
        (run("no-such-program", None, 127, has=("no-such-program",)), run("echo on", "on")),
    ),
    Case(
        "not permitted",
        ALL,
        (run("/etc/passwd", None, 126, has=("/etc/passwd",)), run("echo on", "on")),
    ),
    Case(
        "what looks as a wrapper",
        ALL,
        (
            run(
                r"printf '%s\n' 'printf \033]133;S;n=0\007;eval'", r"printf \033]133;S;n=0\007;eval"
            ),
        ),
    ),
]

PROCESSES = [
    Case(
        "a background job",
        BOURNE,
        (
            run("sleep 5 & echo started", None, has=("started",)),
            run("kill %1", None),
            run("echo on", None, has=("on",)),
        ),
    ),
    Case(
        "a background job in fish",
        FISH,
        (
            run("sleep 5 & ; echo started", "started"),
            run("kill (jobs -p)", None),
            run("echo on", None, has=("on",)),
        ),
    ),
    Case(
        "a background job that prints later",
        BOURNE,
        (
            run("(until [ -e go ]; do sleep 0.02; done; echo late) &", None),
            run("touch go; wait", None, has=("late",)),
            run("echo on", None, has=("on",)),
        ),
    ),
    Case(
        "wait for a background job",
        BOURNE,
        (run("sleep 0.1 & wait", None), run("echo on", None, has=("on",))),
    ),
    Case("exit", BOURNE, (run("exit 3", None, 3, ended_by="exit"),)),
    Case(
        "exit after output",
        BOURNE,
        (run("echo bye; exit 4", None, 4, ended_by="exit", has=("bye",)),),
    ),
    Case(
        "exit on the last of several lines",
        BOURNE,
        (run("echo bye\nexit 4", None, 4, ended_by="exit", has=("bye",)),),
    ),
    Case(
        "set -e and a failing command",
        BOURNE,
        (run("set -e"), run("sh -c 'exit 5'", None, 5, ended_by="exit")),
    ),
    Case("kill -9 of itself", BOURNE, (run("kill -9 $$", None, None, ended_by="exit"),)),
    Case(
        "exec of a program",
        ALL,
        (run("exec sh -c 'echo last; exit 6'", "last", 6, ended_by="exit"),),
    ),
    Case(
        "exec of another shell",
        ALL,
        (
            opens("exec bash --norc"),
            inner("echo $0", "bash"),
            inner("exit 7", None, 7, ended_by="exit"),
        ),
    ),
    Case(
        "killed by SIGTERM", BOURNE, (run("sh -c 'kill -TERM $$'", None, 143), run("echo on", "on"))
    ),
    Case("exit in fish, which marks it", FISH, (run("echo bye; exit 4", "bye", 4),)),
    Case(
        "killed by SIGINT",
        BASH + ZSH,
        (run("sh -c 'kill -INT $$'", None, 130), run("echo on", "on")),
    ),
    Case(
        "killed by SIGINT, which takes dash along",
        DASH,
        (run("sh -c 'kill -INT $$'", "", 130, ended_by="prompt"), run("echo on", "on")),
    ),
    Case(
        "killed by SIGSEGV", BOURNE, (run("sh -c 'kill -SEGV $$'", None, 139), run("echo on", "on"))
    ),
    Case("many short ones in a row", ALL, tuple(run(f"echo {n}", f"{n}") for n in range(30))),
]

INPUT = [
    Case(
        "read in dash",
        DASH,
        (
            asks("read x", "line", ""),
            run("echo no", None, None, status="error", asks="line"),
            Keys(b"joe\r"),
            Wait(output="joe"),
            run("echo $x", "joe"),
        ),
    ),
    Case(
        "read in busybox",
        ASH,
        (asks("read x", "line", ""), Keys(b"joe\r"), Wait(output="joe"), run("echo $x", "joe")),
    ),
    Case(
        "read in bash",
        BASH,
        (
            asks("read -p 'name: ' x", "line", "name:"),
            Keys(b"joe\r"),
            Wait(output="name: joe"),
            run("echo $x", "joe"),
        ),
    ),
    Case(
        "read in zsh",
        ZSH,
        (asks("read x", "line", ""), Keys(b"joe\r"), Wait(output="joe"), run("echo $x", "joe")),
    ),
    Case(
        "read in fish",
        FISH,
        (asks("read x", "line"), Keys(b"joe\r"), Wait(output=None), run("echo $x", "joe")),
    ),
    Case(
        "read in a script",
        ALL,
        (
            asks("sh -c 'printf \"name: \"; read x; echo got $x'", "line", "name:"),
            Keys(b"joe\r"),
            Wait(output="name: joe\ngot joe"),
        ),
    ),
    Case(
        "read -s",
        BASH,
        (
            asks("read -s x", "password", ""),
            Keys(b"secret\r"),
            Wait(output=""),
            run("echo $x", "secret"),
        ),
    ),
    Case(
        "read -n 1",
        BASH,
        (
            asks("read -n 1 -p 'key: ' x", "key", "key:"),
            Keys(b"k"),
            Wait(output="key: k"),
            run("echo $x", "k"),
        ),
    ),
    Case(
        "cat",
        ALL,
        (
            asks("cat", "line", ""),
            Keys(b"one\r", shows="one\none"),
            Keys(b"\x04"),
            Wait(output="one\none"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "a script's input()",
        BOTH,
        (
            asks('@python@ -c \'print("got", input("name: "))\'', "line", "name:"),
            Keys(b"joe\r"),
            Wait(output="name: joe\ngot joe"),
        ),
    ),
    Case(
        "getpass",
        BOTH,
        (
            asks(
                "@python@ -c 'import getpass; print(len(getpass.getpass()))'",
                "password",
                "Password:",
            ),
            Keys(b"12345\r"),
            Wait(output="Password:\n5"),
        ),
    ),
    Case(
        "a command that begins with a hyphen",
        BOURNE,
        (
            run("--help\necho x; sh -c 'exit 3'", None, 3, has=("not found", "x")),
            run("-n", None, 127, has=("not found",)),
            run("echo on", "on"),
        ),
    ),
    Case(
        "stty raw in a shell that reads lines as the terminal gives them",
        ("dash", "ash"),
        (
            run("stty raw", ""),
            run("echo x; sh -c 'exit 3'", "x", 3),
            run("stty sane", ""),
            run("echo on", "on"),
        ),
    ),
    Case(
        "stty -echo",
        BOTH,
        (
            asks("sh -c 'stty -echo; read x; stty echo; echo $x'", "password", ""),
            Keys(b"abc\r"),
            Wait(output="abc"),
        ),
    ),
    Case(
        "yes or no",
        ALL,
        (
            asks("sh -c 'printf \"sure [y/N] \"; read x; test $x = y'", "confirm", "sure [y/N]"),
            Keys(b"n\r"),
            Wait(output="sure [y/N] n", code=1),
        ),
    ),
    Case(
        "yes or no of bash",
        BASH,
        (
            asks("read -p 'Continue? [Y/n] ' x", "confirm"),
            Keys(b"y\r"),
            Wait(output="Continue? [Y/n] y"),
        ),
    ),
    Case(
        "less",
        ALL,
        (asks("seq 100 | less", "pager"), Keys(b"q"), Wait(output=None), run("echo on", "on")),
    ),
    Case(
        "a pager under git log",
        BASH,
        (
            run(
                "git init -q . && git -c user.name=x -c user.email=x@x commit -q "
                "--allow-empty -m first",
                None,
            ),
            asks("git -c core.pager='less -+FX' log", "pager"),
            Keys(b"q"),
            Wait(output=None),
            run("echo on", "on"),
        ),
    ),
    Case(
        "man",
        BASH,
        (
            run("mkdir -p man1 && printf '.TH X 1\\n.SH NAME\\nx\\n' > man1/x.1"),
            asks("man -l man1/x.1", "pager"),
            Keys(b"q"),
            Wait(output=None),
        ),
    ),
    Case(
        "vim",
        BASH + DASH,
        (
            asks("vim -u NONE file", "editor"),
            Keys(b":q!\r"),
            Wait(output=None),
            run("echo on", "on"),
        ),
    ),
    Case(
        "nano",
        BASH,
        (asks("nano file", "editor"), Keys(b"\x18"), Wait(output=None), run("echo on", "on")),
    ),
    Case(
        "a busy session refuses",
        ALL,
        (
            run("true"),
            run(
                "sleep 5; echo end",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                timeout_ms=500,
                state="running",
            ),
            run("echo second", None, None, status="busy", state="running"),
            Keys(b"\x03"),
            Wait(output=None, code=130),
            run("echo on", "on"),
        ),
    ),
    Case(
        "a time-out, then the end by run_id",
        ALL,
        (
            run("true"),
            run(
                "sh -c 'echo a; sleep 2; echo b'",
                "a",
                None,
                status="timeout",
                ended_by="deadline",
                timeout_ms=1000,
            ),
            Wait(output="a\nb"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "a time-out of zero",
        ALL,
        (
            run("true"),
            run("sleep 0.2", None, None, status="timeout", ended_by="deadline", timeout_ms=0),
            Wait(),
            run("echo on", "on"),
        ),
    ),
    Case(
        "interrupted while it runs",
        ALL,
        (
            run("true"),
            run(SLEEPS, None, None, status="timeout", ended_by="deadline", timeout_ms=100),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=130),
            run("echo on", "on"),
        ),
    ),
    Case(
        "interrupted over lines",
        ALL,
        (
            run("true"),
            run(
                f"echo a\n{SLEEPS}",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                timeout_ms=150,
            ),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=130),
            run("echo on", "on"),
        ),
    ),
    Case(
        "a run into a question is refused",
        BOURNE,
        (
            asks("cat", "line", ""),
            run("echo x", None, None, status="error", asks="line"),
            Keys(b"\x04"),
            Wait(),
        ),
    ),
    Case(
        "what a person typed goes",
        BASH + ZSH + FISH,
        (
            run("echo on", "on"),
            Keys(b"typed by somebody", shows="typed by somebody"),
            run("echo x", "x"),
            Keys(b"typed again", shows="typed again"),
            run("echo y\necho z", "y\nz"),
        ),
    ),
    Case(
        "resized while it runs",
        ALL,
        (
            run("true"),
            run(
                "sh -c 'sleep 1; stty size'",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                timeout_ms=50,
            ),
            Resize(30, 100),
            Wait(output="30 100"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "suspended",
        BASH + ZSH,
        (
            run(SLEEPS, None, None, status="timeout", ended_by="deadline", timeout_ms=100),
            Keys(b"\x1a", after="\nbegun"),
            Wait(output=None, code=148),
            run("kill %1", None),
            run("echo on", None, has=("on",)),
        ),
    ),
]

REPLS = [
    Case(
        "python",
        ALL,
        (
            asks("@python@ -q", "repl"),
            repl("1 + 1", "2"),
            repl("x = 5"),
            repl("print('a\\nb')", "a\nb"),
            # Not exit(3): the REPL of Python 3.13.0 makes 1 of it.
            leaves("import os; os._exit(3)", None, 3, context="repl"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "python blocks",
        BASH,
        (
            asks("@python@ -q", "repl"),
            repl("for i in range(2):\n    print(i)", "0\n1"),
            repl("def f():\n    return 7"),
            repl("f()", "7"),
        ),
    ),
    Case(
        "python exceptions",
        BASH,
        (
            asks("@python@ -q", "repl"),
            repl("1/0", None, has=("ZeroDivisionError: division by zero",)),
            repl("2", "2"),
        ),
    ),
    Case(
        "python's input()",
        BASH,
        (
            asks("@python@ -q", "repl"),
            asks("x = input('name: ')", "line", context="repl"),
            Keys(b"joe\r", shows="name: joe\n>>>"),
            repl("x", "'joe'"),
            repl("'é' * 3", "'ééé'"),
        ),
    ),
    Case(
        "python is slow",
        BASH,
        (asks("@python@ -q", "repl"), repl("import time; time.sleep(0.4); print('end')", "end")),
    ),
    Case(
        "python, os.system",
        BASH,
        (asks("@python@ -q", "repl"), repl("import os; os.system('echo hi')", "hi\n0")),
    ),
    Case(
        "a shell out of python",
        BASH,
        (
            asks("@python@ -q", "repl"),
            opens("import os; os.system('bash --norc')", context="repl"),
            inner("echo in", "in"),
            inner("false", code=1),
            asks("exit 3", "repl", context="wrapped"),
            repl("1", "1"),
        ),
    ),
    Case(
        "node",
        BASH + DASH,
        (
            asks("node", "repl"),
            repl("1 + 1", "2"),
            repl("let s = 'a'", "undefined"),
            repl("console.log('x'); 5", "x\n5"),
        ),
    ),
    Case(
        "sqlite3",
        BASH + DASH,
        (
            asks("sqlite3", "repl"),
            repl("select 1 + 1;", "2"),
            repl("create table t(x);"),
            repl("insert into t values (5),(6); select * from t;", "5\n6"),
            repl("select x\nfrom t\nwhere x = 6;", "6"),
        ),
    ),
    Case("bc", BASH, (asks("bc -q", "repl"), repl("2^10", "1024"))),
    Case("gdb", BASH, (asks("gdb -q", "repl"), repl("print 6 * 7", "$1 = 42"))),
]

NESTED = [
    Case(
        "bash inside",
        ALL,
        (
            opens("bash --norc"),
            inner("echo $0", "bash"),
            inner("false", code=1),
            inner("cd /usr"),
            inner("pwd", "/usr"),
            inner("echo a\nsh -c 'exit 4'", "a", 4),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "sh inside",
        ALL,
        (
            opens("sh"),
            inner("echo in", "in"),
            inner("fi", None, 2),
            inner("echo $?", "2"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "zsh inside",
        ALL,
        (
            opens("zsh -f"),
            inner("echo in", "in"),
            inner("fi", None, 1),
            inner("sh -c 'exit 9'", code=9),
            inner("echo $?", "9"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "fish inside",
        ALL,
        (
            opens("fish --no-config"),
            inner("echo in", "in"),
            inner("sh -c 'exit 9'", code=9),
            inner("echo $status", "9"),
            inner("echo a\necho b", "a\nb"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "busybox inside",
        BASH + DASH,
        (
            opens("busybox sh"),
            inner("echo in", "in"),
            inner("fi", None, 2),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "three deep",
        BASH + DASH,
        (
            opens("zsh -f"),
            opens("sh", context="wrapped"),
            opens("bash --norc", context="wrapped"),
            inner("echo $0", "bash"),
            inner("sh -c 'exit 2'", code=2),
        ),
    ),
    Case(
        "up and down again",
        BASH,
        (
            opens("sh"),
            opens("bash --norc", context="wrapped"),
            inner("echo deep", "deep"),
            leaves("exit 5", None, 5, context="wrapped"),
            inner("echo up", "up"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "env -i",
        BASH,
        (
            opens("env -i bash --norc"),
            inner("echo in", "in"),
            leaves("exit", None, 0, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "a long command inside",
        BASH,
        (opens("sh"), inner(f"echo {LONG_20K}", LONG_20K), inner("echo on", "on")),
    ),
    Case(
        "interrupted inside",
        BASH + DASH,
        (
            opens("bash --norc"),
            inner(SLEEPS, None, None, status="timeout", ended_by="deadline", timeout_ms=100),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=130),
            inner("echo on", "on"),
        ),
    ),
    Case(
        "a question inside",
        BASH,
        (
            opens("sh"),
            asks("read x", "line", "", context="wrapped"),
            Keys(b"joe\r"),
            Wait(output="joe"),
            inner("echo $x", "joe"),
            asks("cat", "line", "", context="wrapped"),
            Keys(b"\x04"),
            Wait(),
        ),
    ),
    Case(
        "su",
        BASH,
        (
            opens("su root -s /bin/bash -c 'exec bash --norc'"),
            inner("echo in", "in"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "sudo",
        BASH,
        (
            opens("sudo -n bash --norc"),
            inner("echo in", "in"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "script",
        BASH,
        (
            opens("script -q /dev/null -c 'bash --norc'"),
            inner("echo in", "in"),
            inner("false", code=1),
        ),
    ),
]

REMOTE = [
    Case(
        "ssh to bash",
        BASH,
        (
            opens("@ssh@ -t bash --norc"),
            inner("echo in", "in"),
            inner("sh -c 'exit 9'", code=9),
            inner("echo $?", "9"),
            inner("cd /usr"),
            inner("pwd", "/usr"),
            inner("echo a\necho b", "a\nb"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "ssh to dash",
        BASH + ZSH + FISH,
        (
            opens("@ssh@ -t dash"),
            inner("echo in", "in"),
            inner("fi", None, 2),
            inner("echo on", "on"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "ssh to zsh",
        BASH,
        (
            opens("@ssh@ -t zsh -f"),
            inner("echo in", "in"),
            inner("fi", None, 1),
            inner("echo on", "on"),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "ssh to fish",
        BASH,
        (
            opens("@ssh@ -t fish --no-config"),
            inner("echo in", "in"),
            inner("false", code=1),
            leaves("exit 6", None, 6, context="wrapped"),
            run("echo back", "back"),
        ),
    ),
    Case(
        "ssh to busybox",
        BASH,
        (
            opens("@ssh@ -t busybox sh"),
            inner("echo in", "in"),
            inner("false", code=1),
            inner(f"echo {LONG_5K}", LONG_5K),
        ),
    ),
    Case(
        "ssh, silent compute", BASH, (opens("@ssh@ -t dash"), inner("sleep 0.4; echo end", "end"))
    ),
    Case(
        "ssh, a long command",
        BASH,
        (opens("@ssh@ -t dash"), inner(f"echo {LONG_20K}", LONG_20K), inner("echo on", "on")),
    ),
    Case(
        "ssh, a password is asked for",
        BASH,
        (
            opens("@ssh@ -t bash --norc"),
            asks(
                "@python@ -c 'import getpass; getpass.getpass()'",
                "password",
                "Password:",
                context="wrapped",
            ),
            Keys(b"x\r"),
            Wait(output="Password:"),
            inner("echo on", "on"),
        ),
    ),
    Case(
        "ssh, interrupted",
        BASH,
        (
            opens("@ssh@ -t bash --norc"),
            inner(SLEEPS, None, None, status="timeout", ended_by="deadline", timeout_ms=200),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=130),
            inner("echo on", "on"),
        ),
    ),
    Case("ssh with a command", ALL, (run("@ssh@ 'echo remote; exit 5'", "remote", 5),)),
    Case(
        "ssh in ssh",
        BASH,
        (
            opens("@ssh@ -t bash --norc"),
            opens("@ssh@ -t dash", context="wrapped"),
            inner("echo deep", "deep"),
        ),
    ),
    Case(
        "the wrapper does not show after ssh",
        BASH,
        (
            opens("@ssh@ -t bash --norc"),
            inner("echo in", "in"),
            Screen(has=("echo in\nin",), lacks=("printf", "_nacre")),
        ),
    ),
]

FORGED = [
    Case(
        "marks without the nonce",
        ALL,
        (
            run(r"printf '\033]133;D;n=00;7\007\033]133;D;7\007x\n'; sleep 0.1; echo y", "x\ny"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "wrapper marks without the nonce",
        ALL,
        (
            run(
                r"printf '\033]133;S;n=0123456789abcdef\007\033]133;E;n=0123456789abcdef;7\007x\n';"
                "sleep 0.1; echo y",
                "x\ny",
            ),
        ),
    ),
    Case(
        "marks of other terminals",
        BOURNE,
        (
            run(r"printf '\033]133;A\033\\\033]133;C\033\\x\033]133;D;3\033\\\n'; sleep 0.1", "x"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "an unfinished mark",
        ALL,
        (run(r"printf 'a\033]133;D;n='", None, has=("a",)), run("echo on", "on")),
    ),
]

RC = [
    Case(
        "PROMPT_COMMAND as a string",
        BASH,
        (run("false", code=1), run("echo $?", "1"), Screen(has=("pc1> ",))),
        {".bashrc": "PROMPT_COMMAND='PS1=\"pc$?> \"'\n"},
    ),
    Case(
        "PROMPT_COMMAND as an array",
        BASH,
        (run("false", code=1), run("echo $n", "2"), Screen(has=("arr> ",))),
        {".bashrc": "n=0\nf() { n=$((n+1)); }\ng() { PS1='arr> '; }\nPROMPT_COMMAND=(f g)\n"},
    ),
    Case(
        "PROMPT_COMMAND with a trailing semicolon",
        BASH,
        (run("false", code=1), run("echo x", "x")),
        {".bashrc": "PROMPT_COMMAND='true; '\n"},
    ),
    Case(
        "a PS0 of the user's",
        BASH,
        (run("echo x", None, has=("x",)), run("false", None, 1)),
        {".bashrc": "PS0='[run]'\nPS1='> '\n"},
    ),
    Case(
        "a DEBUG trap",
        BASH,
        (run("echo x", None, has=("x",)), run("false", None, 1), run("echo a\nfalse", None, 1)),
        {".bashrc": "n=0\ntrap 'n=$((n+1))' DEBUG\n"},
    ),
    Case(
        "set -u",
        BASH + ZSH,
        (
            run("echo x", "x"),
            run("false", code=1),
            run("echo a\nfalse", "a", 1),
            run("echo b", "b"),
        ),
        {".bashrc": "set -u\n", ".zshrc": "set -u\nPS1='> '\n"},
    ),
    Case("set -u, wrapped", DASH + ASH, (run("set -u"), run("echo x", "x"), run("false", code=1))),
    Case(
        "a coloured prompt of two lines",
        BASH,
        (
            run("echo x", "x"),
            run("printf y", "y"),
            run("false", code=1),
            Screen(has=("top\nbot> echo x\nx\ntop\nbot> ",)),
        ),
        {".bashrc": "PS1='\\[\\e[32m\\]top\\[\\e[m\\]\\nbot> '\n"},
    ),
    Case(
        "an exported PS1",
        BASH,
        (
            run("echo x", "x"),
            opens("bash --norc"),
            inner("echo in", "in"),
            leaves("exit", None, 0, context="wrapped"),
            run("false", code=1),
        ),
        {".bashrc": "export PS1='exp> '\n"},
    ),
    Case(
        "as starship does it",
        BASH,
        (
            run("false", code=1),
            run("echo x", "x"),
            run("sh -c 'exit 9'", code=9),
            Screen(has=("[9]>",)),
        ),
        {
            ".bashrc": 'starship_precmd() { local s=$?; PS1="[$s]> "; }\n'
            "starship_preexec() { :; }\nPROMPT_COMMAND=starship_precmd\n"
        },
    ),
    Case("an rc that fails", BASH, (run("echo x", "x"),), {".bashrc": "false\nno-such-thing\n"}),
    Case("an rc that returns", BASH, (run("echo x", "x"),), {".bashrc": "PS1='r> '\nreturn 0\n"}),
    Case(
        "an rc that prints",
        BASH + ZSH + FISH,
        (run("echo x", "x"),),
        {
            ".bashrc": "echo hello from rc\n",
            ".zshrc": "echo hello from rc\n",
            ".config/fish/config.fish": "echo hello from rc\n",
        },
    ),
    Case(
        "posix mode",
        BASH,
        (run("echo x", "x"), run("false", code=1), run("fi", None, 2), run("echo on", "on")),
        {".bashrc": "set -o posix\n"},
    ),
    Case(
        "vi mode",
        BASH + ZSH,
        (run("echo x", "x"), run("echo a\nfalse", "a", 1)),
        {".bashrc": "set -o vi\n", ".zshrc": "bindkey -v\n"},
    ),
    Case(
        "bracketed paste switched off",
        BASH,
        (run("echo x", "x"), run("echo a\nfalse", "a", 1)),
        {".inputrc": "set enable-bracketed-paste off\n"},
    ),
    Case(
        "histignore and histcontrol",
        BASH,
        (run("echo x", "x"), run("echo a\nfalse", "a", 1)),
        {".bashrc": "HISTCONTROL=ignoreboth:erasedups\nshopt -s histappend histverify\n"},
    ),
    Case(
        "zsh hooks",
        ZSH,
        (run("false", None, 1), run("echo $n-$m", None, has=("2-2",))),
        {".zshrc": "n=0; m=0\nprecmd() { n=$((n+1)); }\npreexec() { m=$((m+1)); }\n"},
    ),
    Case(
        "zsh hooks by add-zsh-hook",
        ZSH,
        (run("false", code=1), run("echo $n", "2")),
        {".zshrc": "n=0\nautoload -Uz add-zsh-hook\nf() { n=$((n+1)); }\nadd-zsh-hook precmd f\n"},
    ),
    Case(
        "PROMPT_SP",
        ZSH,
        (run("printf abc", "abc"), run("printf 'x%%'", "x%"), run("echo on", "on")),
    ),
    Case(
        "promptsubst",
        ZSH,
        (run("false", code=1), run("echo x", "x"), Screen(has=("s1> ",))),
        {".zshrc": "setopt promptsubst\nPS1='s$?> '\n"},
    ),
    Case(
        "a theme that rebuilds the prompt",
        ZSH,
        (run("false", code=1), run("echo x", "x"), Screen(has=("t1> ",))),
        {".zshrc": 'theme() { PROMPT="t$?> "; }\nprecmd_functions+=(theme)\n'},
    ),
    Case(
        "a right prompt",
        ZSH,
        (run("echo x", "x"), run("false", code=1)),
        {".zshrc": "RPROMPT='right'\nPS1='> '\n"},
    ),
    Case(
        "zsh options of frameworks",
        ZSH,
        (run("echo x", "x"), run("false", code=1), run("echo a\nfalse", "a", 1)),
        {".zshrc": "setopt extendedglob nomatch interactivecomments sharehistory correct\n"},
    ),
    Case(
        "ksharrays",
        ZSH,
        (run("echo x", "x"), run("false", code=1)),
        {".zshrc": "setopt ksharrays shwordsplit\n"},
    ),
    Case(
        "a prompt of fish",
        FISH,
        (run("false", code=1), run("echo x", "x"), Screen(has=("f1> ",))),
        {".config/fish/config.fish": 'function fish_prompt; echo -n "f$status> "; end\n'},
    ),
    Case(
        "a prompt of fish in its own file",
        FISH,
        (run("false", code=1), run("echo x", "x"), Screen(has=("own1> ",))),
        {
            ".config/fish/functions/fish_prompt.fish": "function fish_prompt\n"
            'echo -n "own$status> "\nend\n'
        },
    ),
    Case(
        "a right prompt of fish",
        FISH,
        (run("echo x", "x"), run("false", code=1)),
        {".config/fish/config.fish": "function fish_right_prompt; echo right; end\n"},
    ),
    Case(
        "events of fish",
        FISH,
        (run("false", None, 1), run("echo x", None, has=("x",))),
        {
            ".config/fish/config.fish": "function pre --on-event fish_preexec; echo pre; end\n"
            "function post --on-event fish_postexec; echo post; end\n"
        },
    ),
    Case(
        "vi keys in fish",
        FISH,
        (run("echo x", "x"), run("echo a\nfalse", "a", 1)),
        {".config/fish/config.fish": "fish_vi_key_bindings\n"},
    ),
    Case(
        "a wide output before the prompt",
        BASH,
        (run(f"printf {_LETTERS * 2}", _LETTERS * 2), run("echo on", "on")),
    ),
    Case(
        "a narrow terminal",
        ALL,
        (run(f"echo {_LETTERS}", _LETTERS), run("echo a\nfalse", "a", 1)),
        {},
        {},
        6,
        20,
    ),
]

CORPUS = [*PLAIN, *STATE, *SYNTAX, *PROCESSES, *INPUT, *REPLS, *NESTED, *REMOTE, *FORGED, *RC]
