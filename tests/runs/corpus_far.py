"""Shells at the other end of something: ssh, su, a shell in a shell, and shells of all families.

Rule: an answer here is right, or says that it is not known, and does not wait where the prompt has
come back.
"""

from runs.corpus import (
    BASH,
    FISH,
    SLEEPS,
    Case,
    Keys,
    Run,
    Screen,
    Step,
    Wait,
    asks,
    inner,
    leaves,
    opens,
    run,
)

_TRACES = ("_nacre_", "_ns=", "$_n", "133")  # of our lines
_LONG = "z" * 1500
_VERY_LONG = "z" * 20_000


def _far(shell: str, name: str, *steps: Step) -> Case:
    """Behind ssh; afterwards the wrapper stands nowhere."""
    opened = opens(f"@ssh@ -t '{shell}'")
    return Case(f"{name}, behind ssh", BASH, (opened, *steps, Screen(lacks=_TRACES)))


def _within(shell: str, name: str, *steps: Step) -> Case:
    """In a shell in the session's own."""
    return Case(f"{name}, in bash", BASH, (opens(shell), *steps, Screen(lacks=_TRACES)))


def _fails(command: str, **more: object) -> Run:
    """It says that its code is not known, and does not wait for its time-out."""
    return run(command, None, None, ended_by="prompt", context="wrapped", **more)


_ERR = (
    inner("trap 'echo ERR' ERR"),
    inner("false", "ERR", 1),
    inner("echo a; sh -c 'exit 3'", "a\nERR", 3),
    inner("cat <<E\nhi\nE\nfalse", "hi\nERR", 1),
    inner("(exit 4)", "ERR", 4),
    inner("! true", code=1),
    inner("true"),
    inner("trap - ERR"),
    inner("false", code=1),
)
_RESTRICTED = (
    inner("echo on; sh -c 'exit 3'", "on", 3),
    inner(f"echo {_LONG}; false", _LONG, 1),
    inner("echo x >/tmp/no", None, None, ended_by=None),
    inner("echo on", "on"),
)

_BAD = ("fi", "echo 'open", "(", "if true", "case x in", "echo a &&", "echo a | # more", "f()")
_ODD = (
    *(
        step
        for command in _BAD
        for step in (
            run(command, None, None, context="wrapped", ended_by=None),
            inner("echo on; sh -c 'exit 3'", "on", 3),
        )
    ),
    inner("cat <<EOF\n$((1+1))\nEOF\nfalse", "2", 1),
    inner("cat <<-'E O'\n\t$x `y`\n\tE O\nsh -c 'exit 5'", "$x `y`", 5),
    inner("f() {\n echo in\n return 8\n}\nf", "in", 8),
    inner("x=$(false)", code=1),
    inner("sh -c 'exit 9' # why", code=9),
    inner("echo $?", "9"),
    inner("printf 'a\\n\\nb'", "a\n\nb"),
    inner("cd /usr/lib"),
    inner("pwd", "/usr/lib"),
)
_SETTINGS = (
    inner("IFS=0123456789"),
    inner("sh -c 'exit 42'", code=42),
    inner("unset IFS; set -u"),
    inner("echo ${nope-un}; sh -c 'exit 7'", "un", 7),
    inner("set +u; set -a; X=1; sh -c 'echo $X'", "1"),
    inner("set +a; stty -echo"),
    inner("echo on; sh -c 'exit 3'", "on", 3),
    inner("stty echo; trap 'echo USR' USR1"),
    inner("kill -USR1 $$; sh -c 'exit 4'", "USR", 4),
    inner("trap '' INT; sh -c 'exit 5'", code=5),
    inner("echo 'grüße 世界 🎉'", "grüße 世界 🎉"),
    inner("stty cols 40; echo " + "a" * 100, "a" * 100),
)
_PROMPTS = tuple(
    step
    for prompt in ("a% ", "a: ", "λ ", "[1] > ")
    for step in (
        run(f"PS1='{prompt}'", None, None, context="wrapped", ended_by=None),
        inner("echo on; sh -c 'exit 3'", "on", 3),
    )
)

FAR = [
    *(
        place(shell, f"an ERR trap in {shell}", *_ERR)
        for shell in ("@ash@", "ksh93", "mksh")
        for place in (_far, _within)
    ),
    *(
        _far(
            shell,
            f"long commands in {shell}",
            *(
                inner(f"echo {'z' * size} | wc -c; sh -c 'exit 6'", f"{size + 1}", 6)
                for size in (700, 1100, 3900, 20_000)
            ),
        )
        for shell in ("ksh93", "mksh", "@ash@", "zsh -f", "fish --no-config")
    ),
    *(
        Case(
            f"{size} bytes, {place}",
            FISH if opened is None else BASH,
            (
                *(() if opened is None else (opened,)),
                run(
                    f"printf %s '{'é世' * (size // 5)}' | wc -c; sh -c 'exit 6'",
                    f"{size}",
                    6,
                    context="any",
                ),
                run("echo on; false", "on", 1, context="any"),
                Screen(lacks=_TRACES),
            ),
        )
        for place, opened in (
            ("in fish", None),
            ("in fish in bash", opens("fish --no-config")),
            ("in fish behind ssh", opens("@ssh@ -t 'fish --no-config'")),
        )
        for size in (1000, 20_000, 200_000)
    ),
    *(
        place(shell, f"restricted: {shell}", *_RESTRICTED)
        for shell in ("bash --norc --restricted", "ksh93 -r", "mksh -r")
        for place in (_far, _within)
    ),
    _within("rbash --norc", "restricted: rbash", *_RESTRICTED),
    _within(
        "mksh",
        "a command that is too long for printf in mksh",
        _fails(f"echo {'z' * 200_000}", hints=("not known",)),
        inner("echo on; sh -c 'exit 3'", "on", 3),
    ),
    _far(
        "mksh",
        "a command that is too long for printf in mksh",
        run(f"echo {'z' * 200_000}", None, None, context="wrapped", hints=("not known",)),
        inner("echo on; sh -c 'exit 3'", "on", 3),
    ),
    _far(
        "fish --no-config",
        "fish and a shell in it",
        inner("echo on", "on", timeout_ms=2500),
        inner("sh -c 'exit 3'", code=3),
        opens("bash --norc", context="wrapped"),
        inner("echo in; false", "in", 1, timeout_ms=2500),
        leaves("exit 4", None, 4, context="wrapped"),
        inner("echo $status", "4", timeout_ms=2500),
    ),
    _far(
        "bash --norc",
        "fish in bash",
        inner("echo on", "on"),
        opens("fish --no-config", context="wrapped"),
        inner("echo in; false", "in", 1, timeout_ms=2500),
        leaves("exit 4", None, 4, context="wrapped"),
        inner("echo $?", "4", timeout_ms=2500),
        opens("exec fish --no-config", context="any"),
        inner("echo in; false", "in", 1, timeout_ms=2500),
    ),
    _far(
        "env TERM=dumb fish --no-config",
        "fish that shows nothing of itself, and a short time-out",
        run(
            "echo on",
            None,
            None,
            context="wrapped",
            status="timeout",
            ended_by="deadline",
            timeout_ms=300,
        ),
        inner("sh -c 'exit 3'", None, 3),
    ),
    *(
        Case(
            f"read with a line editor in {shell}",
            BASH,
            (
                opens(shell),
                asks("printf 'Name? '; read x", "line", context="wrapped"),
                Keys(b"joe\r"),
                Wait(output=None),
                inner("echo $x", "joe"),
                opens(f"exec {shell}", context="wrapped"),
                inner("echo on; sh -c 'exit 3'", "on", 3),
            ),
        )
        for shell in ("ksh93", "fish --no-config")
    ),
    *(
        _far(
            outer,
            f"ssh in {outer} to {shell}",
            opens(f"@ssh@ -t '{shell}'", context="wrapped"),
            inner("echo deep; sh -c 'exit 3'", "deep", 3, timeout_ms=2500),
            leaves("exit 4", None, 4, context="wrapped"),
            inner("echo on; sh -c 'exit 5'", "on", 5, timeout_ms=2500),
        )
        for outer, shell in (
            ("dash", "fish --no-config"),
            ("fish --no-config", "dash"),
            ("mksh", "zsh -f"),
            ("ksh93", "@ash@"),
        )
    ),
    *(
        place(shell, f"odd commands in {shell}", *_ODD)
        for shell in ("dash", "@ash@", "ksh93", "mksh", "bash --norc", "zsh -f")
        for place in (_far, _within)
    ),
    *(
        _far(shell, f"odd settings in {shell}", *_SETTINGS)
        for shell in ("dash", "@ash@", "ksh93", "mksh", "bash --norc", "zsh -f")
    ),
    *(
        _far(shell, f"odd prompts in {shell}", *_PROMPTS)
        for shell in ("dash", "@ash@", "ksh93", "mksh", "bash --norc", "zsh -f")
    ),
    *(
        place(
            shell,
            f"Ctrl+C and what comes after it in {shell}",
            run(
                SLEEPS,
                None,
                None,
                context="wrapped",
                status="timeout",
                ended_by="deadline",
                timeout_ms=300,
            ),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=codes),
            inner("echo on; sh -c 'exit 3'", None, 3, has=("on",)),
        )
        for shell, codes in (
            ("@ash@", (130, None)),
            ("ksh93", (130, 258, None)),  # 256 and the signal's number is its own way to count
            ("mksh", (130, None)),
            ("fish --no-config", (130, None)),
        )
        for place in (_far, _within)
    ),
    *(
        _far(
            shell,
            f"set -e ends {shell}",
            inner("set -e"),
            inner("echo on", "on"),
            leaves("echo a; sh -c 'exit 3'; echo b", None, 3, context="wrapped"),
            run("echo back", "back"),
        )
        for shell in ("dash", "@ash@", "ksh93", "mksh", "bash --norc", "zsh -f")
    ),
]
