"""What a command asks for that does nothing else, and commands of which nobody can tell."""

import pytest

from nacre.core.shell.builtin_reads import Wanted, wanted_by

ASKING: list[tuple[str, Wanted]] = [
    ("read x", "line"),
    ("read", "line"),
    ("read -r a b", "line"),
    ("read -p 'Your name: ' x", "line"),
    ("read -rp'Name; or none? ' x", "line"),
    ("printf 'Name: '; read x", "line"),
    ('echo Name && read -r x; echo "hi $x";', "line"),
    ("read -s pw", "password"),
    ("read -rsp 'Token: ' pw", "password"),
    ("read -n 1 -s", "password"),
    ("read -n1 x", "key"),
    ("read -k", "key"),
    ("read -q 'x?sure'", "key"),
]
UNKNOWN = [
    "",
    "echo x",
    "sleep 5; read x",
    "read x < file",
    "echo a | read x",
    "read x &",
    "read -t 5 x",
    "read -u 3 x",
    "read x || exit",
    "(read x)",
    "echo $(sleep 9); read x",
    "echo `sleep 9`; read x",
    "while read x; do echo; done",
    "read 'x",
    ";; read x",
    "read x; make",
    "read x\nmake",
    "echo " + "x" * 500 + "; read y",
]


@pytest.mark.parametrize(("command", "wanted"), ASKING)
def test_a_command_that_only_asks_says_what_for(command: str, wanted: Wanted) -> None:
    assert wanted_by(command) == wanted


@pytest.mark.parametrize("command", UNKNOWN)
def test_any_other_command_says_nothing(command: str) -> None:
    assert wanted_by(command) is None
