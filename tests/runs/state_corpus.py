"""What a caller of run is told when a program does not end by itself: real programs."""

from typing import Any

from runs.corpus import BASH, BOTH, Case, Keys, Run, Wait, asks, run


def asks_so(command: str, kind: str, *hints: str, **more: Any) -> Run:
    return asks(command, kind, hints=hints, **more)


def full_screen(command: str, leave: str) -> Run:
    """A run that is stopped since it would draw its screen for ever."""
    return asks(command, None, state="running", hints=(leave,))


def alternative(name: str, program: str, kind: str, keys: bytes) -> Case:
    return Case(
        f"{program} as {name}",
        BASH,
        (
            run(f"ln -s $(command -v {program}) {name}; seq 99 >x"),
            asks(f"./{name} x", kind),
            Keys(keys),
            Wait(output=None),
        ),
    )


QUIT_VIM = b"\x1b:q!\r"

STATE_CORPUS = [
    alternative("editor", "vim", "editor", QUIT_VIM),
    alternative("editor", "nano", "editor", b"\x18"),
    alternative("view", "vim", "editor", QUIT_VIM),
    alternative("pager", "less", "pager", b"q"),
    Case(
        "nano says how it is left",
        BASH,
        (asks_so("nano x", "editor", "ctrl+x"), Keys(b"\x18"), Wait(output=None)),
    ),
    Case(
        "git's pager",
        BASH,
        (
            run("git init -q . && git -c user.name=x -c user.email=x commit -qm x --allow-empty"),
            asks_so("git -c core.pager='less -+F' log", "pager", "q"),
            Keys(b"q"),
            Wait(output=None),
        ),
    ),
    Case(
        "python's help",
        BASH,
        (
            asks("@python@ -q", "repl"),
            asks("help(str)", "pager", context="repl"),
            Keys(b"q"),
            Wait(output=None, code=None),
        ),
    ),
    *(
        Case(
            f"{command} asks",
            BOTH,
            (
                run("touch x y"),
                asks_so(f"{command}; ls", "confirm", "y or n, and Enter"),
                Keys(b"n\r"),
                Wait(output=None),
                run("ls", "x  y"),
            ),
        )
        for command in ("rm -i x", "mv -i x y", "cp -i x y")
    ),
    Case(
        "a key needs no Enter",
        BASH,
        (
            asks_so("read -n1 x", "key", "without Enter"),
            Keys(b"a"),
            Wait(output="a"),
            asks_so("read -p 'ok? [y/n] ' -n1 x", "confirm", "without Enter"),
            Keys(b"y"),
            Wait(output="ok? [y/n] y"),
            asks_so("read -sn1 x", "key", "without Enter"),
            Keys(b"a"),
            Wait(),
            asks_so("read -e x", "line", "with Enter"),
            Keys(b"a\r"),
            Wait(output="a"),
        ),
    ),
    Case(
        "a script that is called by its own name",
        BASH,
        (
            run("sed -i 1s,PYTHON,@python@, s.py; chmod +x s.py"),
            asks_so("./s.py", "line", "with Enter"),
            Keys(b"joe\r"),
            Wait(output=None),
        ),
        files={"s.py": "#!PYTHON\nimport readline\ninput('name (joe) ')\n"},
    ),
    Case(
        "git asks hunk by hunk",
        BASH,
        (
            run("git init -q . && echo 1 >x && git add x && echo 2 >x"),
            asks_so("git add -p", "confirm", "y or n, and Enter"),
            Keys(b"n\r"),
            Wait(output=None),
        ),
    ),
    Case(
        "top draws its screen by itself",
        BASH,
        (full_screen("top", "q leaves it"), Keys(b"q"), Wait(output=None)),
    ),
    Case(
        "htop draws its screen by itself",
        BASH,
        (full_screen("htop", "q leaves it"), Keys(b"q"), Wait(output=None)),
    ),
    Case(
        "watch draws its screen by itself",
        BASH,
        (full_screen("watch -n 1 date", "ctrl+c leaves it"), Keys(b"\x03"), Wait(output=None)),
    ),
    Case(
        "tmux inside",
        BASH,
        (
            asks_so("tmux -f /dev/null -S ./t new", "multiplexer", "ctrl+b, then d"),
            run("echo x", None, None, status="error", asks="multiplexer"),
            Keys(b"exit\r"),
            Wait(output=None),
            run("echo on", "on"),
        ),
    ),
    Case(
        "screen inside",
        BASH,
        (
            asks_so("screen -c /dev/null sh", "multiplexer", "ctrl+a, then d"),
            run("echo x", None, None, status="error", asks="multiplexer"),
            Keys(b"exit\r"),
            Wait(output=None),
            run("echo on", "on"),
        ),
    ),
    Case(
        "a new ssh host wants a whole yes",
        BASH,
        (
            asks_so(
                "@ssh@ -o StrictHostKeyChecking=ask -o UserKnownHostsFile=./known",
                "confirm",
                "yes or no, in full",
            ),
            Keys(b"no\r"),
            Wait(output=None, code=255),
        ),
    ),
]
