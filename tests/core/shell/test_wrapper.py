"""The wrapper: one encoding that every shell gives back, and lines that fit."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import steady
from nacre.core.shell.dialects import (
    ANY_SHELL,
    BASH,
    DIALECTS,
    FISH,
    LONGEST_EDITED,
    SH,
    SHORT_LINE,
    ZSH,
    Dialect,
)
from nacre.core.shell.marks import Mark, MarkScanner, ShellPlace
from nacre.core.shell.wrapper import encode, report, wrap, wrap_long
from nacre.services.runs.request import new_nonce

NONCE = "f" * 32
SHELLS: list[tuple[list[str], Dialect]] = [
    (["bash", "-c"], BASH),
    (["zsh", "-fc"], ZSH),
    (["fish", "--no-config", "-c"], FISH),
    (["dash", "-c"], SH),
    (["busybox", "sh", "-c"], SH),
    (["bash", "-c"], ANY_SHELL),
    (["dash", "-c"], ANY_SHELL),
]
COMMANDS = [
    "echo 'a b'  c",
    "echo one\necho two",
    "printf '%s %d%%\\n' \"x\" 5",
    "echo 'hi!' '!!' '#'",
    "echo 'grüße 世界'",
    "echo '\t|'",
]


def named(value: object) -> str:
    return value.name if isinstance(value, Dialect) else str(value)


def ran(argv: list[str], line: str) -> subprocess.CompletedProcess[bytes]:
    if shutil.which(argv[0]) is None:
        pytest.fail(f"{argv[0]} is not installed; 'make test' installs it", pytrace=False)
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run([*argv, line], **together, check=False)  # type: ignore[call-overload, no-any-return]  # as a dict


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("argv", "dialect"), SHELLS, ids=named)
def test_a_wrapped_command_does_what_the_bare_one_does(
    argv: list[str], dialect: Dialect, command: str
) -> None:
    bare, wrapped = ran(argv, command), ran(argv, wrap(command, dialect, NONCE))
    found = re.fullmatch(
        rb"\x1b\]133;S;n=f{32};(\d+)\x07(.*)\x1b\]133;E;n=f{32};(\d+);;\1 [^;]+;/[^\x07]+\x07",
        wrapped.stdout,
        re.DOTALL,
    )
    assert found, wrapped
    assert (found.group(2), int(found.group(3))) == (bare.stdout, bare.returncode)
    assert wrapped.returncode == bare.returncode


def test_the_line_for_an_unknown_shell_suits_zsh_too() -> None:
    wrapped = ran(["zsh", "-fc"], wrap("echo x; (exit 4)", ANY_SHELL, NONCE))
    assert b"\x07x\n\x1b]133;E;n=" + NONCE.encode() + b";4;;" in wrapped.stdout


def test_a_variable_called_pipestatus_is_no_exit_code() -> None:
    """As in mksh, where it tells other things than in bash."""
    wrapped = ran(["dash", "-c"], f"PIPESTATUS=9;{wrap('false', ANY_SHELL, NONCE)}")
    assert b"E;n=" + NONCE.encode() + b";1;;" in wrapped.stdout


@pytest.mark.parametrize("name", ["command", "builtin", "exit", "set", "history", "["])
def test_function_of_the_user_s_does_not_spoil_the_line(name: str) -> None:
    command = wrap("sh -c 'exit 4'", BASH, NONCE)
    wrapped = ran(["bash", "-c"], f"function {name} {{ echo spoilt; }}\n{command}")
    assert b"spoilt" not in wrapped.stdout
    assert b"E;n=" + NONCE.encode() + b";4;;" in wrapped.stdout
    assert wrapped.returncode == 4


WITH_LINE_BEHIND: list[tuple[list[str], Dialect]] = [
    *((["dash", "-c"], dialect) for dialect in (SH, ANY_SHELL)),
    *((["busybox", "sh", "-c"], dialect) for dialect in (SH, ANY_SHELL)),
    *(([shell, "-c"], dialect) for shell in ("ksh93", "mksh") for dialect in (SH, ANY_SHELL)),
    (["bash", "-c"], ANY_SHELL),
    (["zsh", "-fc"], ANY_SHELL),
]
_E = re.compile(rb"\x1b\]133;E;n=f{32};(\d+);")


@pytest.mark.parametrize(
    "command",
    [
        "cat <<END\nhi\nEND",
        "cat <<-'END'\n\thi\n\tEND\nsh -c 'exit 3'",
        "cat <<END\nhi",
        "echo $((1 << 2))",
        "echo a &&",
        "echo a | # and then",
        "echo a ||\n# b\n",
        "f()",
        "case x in",
        "echo a\\",
        "echo a # b",
        "(exit 3)",
        "f() { echo x; }; f; (exit 3)",
        "{ sh -c 'exit 3'; }",
        "false | true",
        "fi",
    ],
)
@pytest.mark.parametrize(("argv", "dialect"), WITH_LINE_BEHIND, ids=named)
def test_the_line_behind_a_command_changes_neither_its_output_nor_its_code(
    argv: list[str], dialect: Dialect, command: str
) -> None:
    quoted = command.replace("'", "'\\''")
    bare, wrapped = ran(argv, f"eval '{quoted}'"), ran(argv, wrap(command, dialect, NONCE))
    told = _E.search(wrapped.stdout)
    if argv[0] == "mksh" and bare.returncode not in (0, 3):
        assert (
            told is None
        )  # it ends at a syntax error, here; at its prompt it is asked for its end
        return
    assert told is not None, wrapped
    code = int(told.group(1))
    assert (code != 0) if bare.returncode not in (0, 3) else (code == bare.returncode), wrapped
    output = wrapped.stdout[wrapped.stdout.index(b"\x07") + 1 : told.start()]
    assert b"_n" not in output
    if bare.returncode in (0, 3) and b"bash: line" not in output:
        assert output == bare.stdout


@pytest.mark.parametrize(
    ("argv", "dialect"), [one for one in WITH_LINE_BEHIND if one[0][0] != "dash"], ids=named
)
def test_an_err_trap_fires_once(argv: list[str], dialect: Dialect) -> None:
    line = wrap("sh -c 'exit 3'", dialect, NONCE)
    wrapped = ran(argv, f"trap 'echo ERR' ERR\n{line}")
    assert wrapped.stdout.count(b"ERR\n") == 1, wrapped
    assert b"E;n=" + NONCE.encode() + b";3;" in wrapped.stdout
    wrapped = ran(argv, f"trap 'echo ERR' ERR\n{wrap('true', dialect, NONCE)}")
    assert b"ERR" not in wrapped.stdout


def test_a_command_that_does_not_arrive_has_no_exit_code() -> None:
    """mksh's printf is a program, which takes no argument of 200,000 bytes."""
    head, parts = wrap_long("echo " + "z" * 200_000, ANY_SHELL, NONCE)
    told = subprocess.run(
        ["mksh", "-c", head],
        input="\n".join((*parts, "")),
        capture_output=True,
        text=True,
        check=False,
    )
    ends = [one for one in MarkScanner(NONCE).scan(told.stderr.encode()) if isinstance(one, Mark)]
    assert ends[-1].kind == "E"
    assert ends[-1].exit_code is None
    assert "z" not in told.stdout


RESTRICTED = [["bash", "--restricted", "-c"], ["ksh93", "-r", "-c"], ["mksh", "-r", "-c"]]


@pytest.mark.parametrize("argv", RESTRICTED, ids=named)
@pytest.mark.parametrize("dialect", [SH, ANY_SHELL], ids=named)
def test_a_restricted_shell_runs_a_command_and_tells_its_code(
    argv: list[str], dialect: Dialect
) -> None:
    wrapped = ran(argv, wrap("echo on; sh -c 'exit 3'", dialect, NONCE))
    assert re.fullmatch(
        rb"\x1b\]133;S;n=f{32};(\d+)\x07on\n\x1b\]133;E;n=f{32};3;;\1 [^;]+;/[^\x07]+\x07",
        wrapped.stdout,
    ), wrapped


@pytest.mark.parametrize(("argv", "dialect"), SHELLS, ids=named)
def test_the_code_before_it_reaches_the_command(argv: list[str], dialect: Dialect) -> None:
    word = "$status" if dialect is FISH else "$?"
    line = f"sh -c 'exit 9'\n{wrap(f'echo was {word}', dialect, NONCE)}"
    assert b"was 9\n" in ran(argv, line).stdout


@pytest.mark.parametrize(("argv", "dialect"), SHELLS, ids=named)
def test_a_shell_reports_its_code_and_keeps_it(argv: list[str], dialect: Dialect) -> None:
    wrapped = wrap("sh -c 'exit 130'", dialect, NONCE)
    told = ran(argv, f"{wrapped}\n{report(dialect, NONCE)}")
    reported = rb"\x1b\]133;E;n=f{32};130;(\d+):\w*;\1 [^;]+;/[^\x07]+\x07"
    assert re.fullmatch(reported, told.stdout.split(b"\x07", 2)[2])
    assert told.returncode == 130


@pytest.mark.parametrize(("argv", "dialect"), SHELLS, ids=named)
def test_a_shell_that_began_no_command_says_so(argv: list[str], dialect: Dialect) -> None:
    nounset = "" if dialect is FISH else "set -u;"
    assert b";0;:;" in ran(argv, f"{nounset}{report(dialect, NONCE)}").stdout


@pytest.mark.parametrize("folder", ["a b", "grüße;1", "a\nb", "\x1b[1m"])
@pytest.mark.parametrize(("argv", "dialect"), SHELLS, ids=named)
def test_a_shell_tells_its_folder_and_none_with_control_characters(
    argv: list[str], dialect: Dialect, folder: str, tmp_path: Path
) -> None:
    place = tmp_path / folder
    place.mkdir()
    told = ran(argv, f"cd '{place}'\n{wrap('true', dialect, NONCE)}").stdout
    pieces = MarkScanner(NONCE).scan(told)
    start, end = (one for one in pieces if isinstance(one, Mark))
    expected = (
        None if "\n" in folder or "\x1b" in folder else ShellPlace(os.uname().nodename, str(place))
    )
    assert end.place(start.value) == expected


# zsh and fish know it without a process, and busybox has a uname of its own.
@pytest.mark.parametrize(
    ("argv", "dialect"),
    [one for one in SHELLS if one[0][0] in ("bash", "dash")],
    ids=named,
)
def test_the_host_is_asked_for_once_and_a_shell_without_uname_tells_none(
    argv: list[str], dialect: Dialect, tmp_path: Path
) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho asked >> asked; echo web1\n")
    (tmp_path / "uname").chmod(0o755)
    line = wrap("true", dialect, NONCE)
    setting = f"cd '{tmp_path}'; set -eu; PATH='{tmp_path}'"
    told = ran(argv, f"{setting}:$PATH\n{line}\n{line}").stdout
    assert told.count(b" web1;/") == 2
    assert (tmp_path / "asked").read_text() == "asked\n"
    (tmp_path / "uname").unlink()
    told = ran(argv, f"{setting}\n{line}").stdout
    marks = [one for one in MarkScanner(NONCE).scan(told) if isinstance(one, Mark)]
    assert (marks[-1].exit_code, marks[-1].place(marks[0].value)) == (0, None)
    assert b"uname" not in told


@steady
@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_the_encoding_is_plain_text_that_no_shell_reads(command: str) -> None:
    for escapes, unwanted in (("printf", r"['!]"), ("url", r"['!\\]")):
        encoded = encode(command, escapes)  # type: ignore[arg-type]  # one of the two
        assert re.fullmatch(r"[ -~]*", encoded)
        assert not re.search(unwanted, encoded)


@settings(steady, max_examples=20)
@given(
    st.text(
        alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200
    )
)
def test_printf_gives_back_what_was_encoded(command: str) -> None:
    # A blank stands before a hyphen, which would begin an option.
    expected = (f" {command}" if command.startswith("-") else command).encode()
    printed = subprocess.run(["printf", encode(command)], capture_output=True, check=True)
    assert printed.stdout == expected
    assert unquote_to_bytes(encode(command, "url")) == expected


def test_the_echo_of_a_line_is_no_mark() -> None:
    for dialect in DIALECTS:
        assert "\x1b" not in wrap("echo \x1b]133;", dialect, NONCE)


@pytest.mark.parametrize(
    "hook",
    [
        ["bash", "-c", 'echo -ne "$0"'],
        ["bash", "-c", 'printf %b "$0"'],
        ["zsh", "-fc", 'print "$0"'],
    ],
)
def test_a_hook_that_reads_the_backslashes_of_the_line_makes_no_mark(
    hook: list[str],
) -> None:
    for line in (wrap("true", BASH, NONCE), report(BASH, NONCE), wrap_long("x", BASH, NONCE)[0]):
        shown = subprocess.run([*hook, line], capture_output=True, check=True).stdout
        assert b"printf" in shown
        assert MarkScanner(NONCE).scan(shown) == [shown]


def test_only_the_sessions_own_shell_marks_by_its_terminal() -> None:
    for dialect in DIALECTS:
        assert wrap("true", dialect, NONCE).count("/dev/tty") == 0
        assert wrap("true", dialect, NONCE, own=True).count(">/dev/tty") == 2


# Characters that must stay free in the longest of our lines: who adds to it hears of it in time.
_ROOM = 30


@steady
@given(st.text(alphabet="ab%\\\n'!é", max_size=6000))
def test_a_long_command_is_cut_between_escapes(command: str) -> None:
    nonce = new_nonce()
    head, parts = wrap_long(command, ANY_SHELL, nonce)
    assert parts[-1] == ""
    bound = f"{nonce[-6:]}:"  # what is found between two of them is the command
    behind = encode(f"\n{ANY_SHELL.syntax.behind}")
    assert "".join(parts) in [f"{bound}{encode(command)}{more}{bound}" for more in (behind, "")]
    assert all(0 < len(part) <= SHORT_LINE for part in parts[:-1])
    for part in parts:
        assert re.fullmatch(r"(?:%%|\\n|\\[0-7]{3}|[^%\\])*", part)
    # The shortest line that a shell takes is busybox's.
    assert len(head) <= LONGEST_EDITED["ash"] - _ROOM


def test_only_a_line_for_bash_cleans_the_history() -> None:
    assert "history -d" in wrap("true", BASH, NONCE)
    assert "history -d" not in wrap("true", SH, NONCE)
