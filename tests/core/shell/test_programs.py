"""What is told by a program's name and by the words on the screen."""

import pytest

from nacre.core.shell.programs import PASSWORD, is_confirm, is_interpreter, program_name


@pytest.mark.parametrize(
    "line",
    [
        *("[y/N] ", "Continue? [Y/n] ", "(yes/no)? ", "(y/n): ", "Are you sure? ", "proceed? "),
        *("[y|n]", "Overwrite? (y/n) ", "Proceed ([y]/n)? ", "Is this ok [y/d/N]: "),
        "replace x? [y]es, [n]o, [A]ll, [N]one, [r]ename: ",
        "*** x.conf (Y/I/N/O/D/Z) [default=N] ? ",
        "Please type 'yes', 'no' or the fingerprint: ",
        "file exists, overwrite? ",
        *("Continue? (y/n) [y]: ", "Go on? [Y/n] (default: Y) ", "Overwrite (y/n)> "),
        *("Delete all? y/n: ", "Delete? y/n", "Y/n? ", "yes/no? ", "Accept? y or n: "),
        *("Is this OK? (yes) ", "Install? [yes]: ", "Really (yes or no): "),
        "Enter 'yes' to continue: ",
    ],
)
def test_questions(line: str) -> None:
    assert is_confirm("some", line)


@pytest.mark.parametrize(
    "line",
    [
        *("any [y/n] left behind", "yes/no", "$ ", "continue", "what is your name? ", "array[y]: "),
        *("day/night? ", "Enter yesterday's date: ", "x [n]: ", "tests (y/n) [y] passed: "),
    ],
)
def test_no_questions(line: str) -> None:
    assert not is_confirm("some", line)


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("rm", "rm: remove regular empty file 'x'? "),
        ("rm", "rm: descend into directory 'd'? "),
        ("cp", "cp: overwrite 'x'? "),
        ("mv", "mv: replace 'x', overriding mode 0444 (r--r--r--)? "),
        ("find", "< rm ... ./x > ? "),
        ("xargs", "rm x ?..."),
    ],
)
def test_programs_that_ask_about_files(program: str, line: str) -> None:
    assert is_confirm(program, line)


@pytest.mark.parametrize(
    "line", ["Password: ", "x@y's password: ", "Enter passphrase for key '/k': ", "PIN: "]
)
def test_passwords(line: str) -> None:
    assert PASSWORD.search(line)


@pytest.mark.parametrize("line", ["password changed.", "spinning: ", "the password: x", "$ "])
def test_no_passwords(line: str) -> None:
    assert not PASSWORD.search(line)


@pytest.mark.parametrize(
    ("name", "file", "known"),
    [
        ("editor", "vim.basic", "vim"),
        ("editor", "nano", "nano"),
        ("vim.tiny", "vim.tiny", "vim"),
        ("view", "vim.basic", "view"),
        ("pager", "less", "less"),
        ("less", "less", "less"),
        ("tmux: client", "tmux", "tmux"),
        ("ipython", "python3.11", "ipython"),
        ("myscript", "python3.11", "myscript"),
        ("cat", "busybox", "cat"),
        ("cat", "", "cat"),
    ],
)
def test_alternatives_are_known_by_what_is_behind_them(name: str, file: str, known: str) -> None:
    assert program_name(name, file) == known


def test_interpreters() -> None:
    assert is_interpreter("python3.13")
    assert is_interpreter("node")
    assert not is_interpreter("ipython")
    assert not is_interpreter("sqlite3")
