"""The wrapper: one encoding that every shell gives back, and lines that fit."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.core.wrapper import (
    SHORT_LINE,
    ShellKind,
    ask_kind,
    encode,
    read_kind,
    report,
    wrap,
    wrap_long,
)

NONCE = "f" * 32
SHELLS: list[tuple[list[str], ShellKind]] = [
    (["bash", "-c"], "bash"),
    (["zsh", "-fc"], "zsh"),
    (["fish", "--no-config", "-c"], "fish"),
    (["dash", "-c"], "sh"),
    (["busybox", "sh", "-c"], "sh"),
]
COMMANDS = [
    "echo 'a b'  c",
    "echo one\necho two",
    "printf '%s %d%%\\n' \"x\" 5",
    "echo 'hi!' '!!' '#'",
    "echo 'grüße 世界'",
    "echo '\t|'",
]


def ran(argv: list[str], line: str) -> subprocess.CompletedProcess[bytes]:
    if shutil.which(argv[0]) is None:
        pytest.fail(f"{argv[0]} is not installed; 'make test' installs it", pytrace=False)
    return subprocess.run([*argv, line], capture_output=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("argv", "kind"), SHELLS, ids=lambda value: str(value))
def test_a_wrapped_command_does_what_the_bare_one_does(
    argv: list[str], kind: ShellKind, command: str
) -> None:
    bare, wrapped = ran(argv, command), ran(argv, wrap(command, kind, NONCE))
    found = re.fullmatch(
        rb"\x1b\]133;S;n=f{32};(\d+)\x07(.*)\x1b\]133;E;n=f{32};(\d+)\x07",
        wrapped.stdout,
        re.DOTALL,
    )
    assert found, wrapped
    assert (found.group(2), int(found.group(3))) == (bare.stdout, bare.returncode)
    assert wrapped.returncode == bare.returncode


@pytest.mark.parametrize("kind", ["sh", "bash"])
def test_the_line_for_an_unknown_shell_suits_zsh_too(kind: ShellKind) -> None:
    wrapped = ran(["zsh", "-fc"], wrap("echo x; (exit 4)", kind, NONCE))
    assert wrapped.stdout.endswith(b"\x07x\n\x1b]133;E;n=" + NONCE.encode() + b";4\x07")


@pytest.mark.parametrize(("argv", "kind"), SHELLS, ids=lambda value: str(value))
def test_the_code_before_it_reaches_the_command(argv: list[str], kind: ShellKind) -> None:
    word = "$status" if kind == "fish" else "$?"
    line = f"sh -c 'exit 9'\n{wrap(f'echo was {word}', kind, NONCE)}"
    assert b"was 9\n" in ran(argv, line).stdout


@pytest.mark.parametrize(("argv", "kind"), SHELLS, ids=lambda value: str(value))
def test_a_shell_reports_its_code_and_keeps_it(argv: list[str], kind: ShellKind) -> None:
    told = ran(argv, f"sh -c 'exit 130'\n{report(kind, NONCE)}")
    assert re.fullmatch(rb"\x1b\]133;E;n=f{32};130;\d+\x07", told.stdout)
    assert told.returncode == 130


@settings(deadline=None)  # a busy machine is no failure
@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_the_encoding_is_plain_text_that_no_shell_reads(command: str) -> None:
    encoded = encode(command)
    assert re.fullmatch(r"[ -~]*", encoded)
    assert not re.search(r"['!]", encoded)


@settings(max_examples=20, deadline=None)
@given(
    st.text(
        alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200
    )
)
def test_printf_gives_back_what_was_encoded(command: str) -> None:
    printed = subprocess.run(["printf", encode(command)], capture_output=True, check=True)
    assert printed.stdout == command.encode()


def test_the_echo_of_a_line_is_no_mark() -> None:
    for kind in ("sh", "bash", "zsh", "fish"):
        assert "\x1b" not in wrap("echo \x1b]133;", kind, NONCE)


@settings(deadline=None)  # a busy machine is no failure
@given(st.text(alphabet="ab%\\\n'!é", max_size=6000))
def test_a_long_command_is_cut_between_escapes(command: str) -> None:
    head, parts = wrap_long(command, "bash", NONCE)
    assert parts[-1] == ""
    assert "".join(parts) == encode(command)
    assert all(0 < len(part) <= SHORT_LINE for part in parts[:-1])
    for part in parts:
        assert re.fullmatch(r"(?:%%|\\n|\\[0-7]{3}|[^%\\])*", part)
    # The shortest line that a shell takes is busybox's.
    assert len(head) < 1000


@pytest.mark.parametrize(("argv", "kind"), SHELLS, ids=lambda value: str(value))
def test_a_shell_says_what_it_is(argv: list[str], kind: ShellKind) -> None:
    answer = ran(argv, ask_kind(NONCE)).stdout.decode()
    value = re.fullmatch(r"\x1b\]133;K;n=f{32};(.*)\x07", answer)
    assert value
    assert read_kind(value.group(1)) == kind


def test_only_a_line_for_bash_cleans_the_history() -> None:
    assert "history -d" in wrap("true", "bash", NONCE)
    assert "history -d" not in wrap("true", "sh", NONCE)
