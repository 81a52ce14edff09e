"""Shells at the other end of something: ssh, su, a shell in a shell, and shells of all families.

Rule: an answer here is right, or says that it is not known, and does not wait where the prompt has
come back.
"""

from runs.corpus import (
    BASH,
    Case,
    Run,
    Screen,
    Step,
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
    return run(command, None, None, ended_by="prompt", context="wrapped", **more)  # type: ignore[arg-type]  # as given


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
        for shell in ("ksh93", "mksh", "@ash@", "zsh -f")
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
]
