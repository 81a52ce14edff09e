"""What an input is: lines for a shell, keys for a program, a command where none can be read."""

import pytest

from nacre.core.shell.typed import (
    ends_with_enter,
    ends_with_key,
    is_command,
    is_empty,
    is_keys,
    lines_of,
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("ls", ["ls"]),
        ("ls\r", ["ls\r"]),
        ("ls\n", ["ls\n"]),
        ("ls\r\n", ["ls\r"]),
        ("one\ntwo", ["one\n", "two"]),
        ("one\r\ntwo\r\n", ["one\r", "two\r"]),
        ("one\n\ntwo\n\n\n", ["one\n", "\n", "two\n"]),
        ("\n\n", ["\n"]),
        ("if x\n\tthen\n", ["if x\n", "\tthen\n"]),
    ],
)
def test_lines_keep_their_enter_and_lose_empty_ones_at_the_end(text: str, lines: list[str]) -> None:
    assert lines_of(text) == lines
    assert ends_with_enter(text) is (bool(text) and text[-1] in "\r\n")


@pytest.mark.parametrize(
    "text", ["q", "y", "\x03", "\x1b", "\x1b[A", "\x1bOP", "\x1b[1;5C", "\x1bx", "\t\t", "\x04\r"]
)
def test_single_characters_and_sequences_are_keys(text: str) -> None:
    assert is_keys(text)
    assert not is_command(text)


@pytest.mark.parametrize("text", ["", "\r", "\n", "ls", "y\r", "ls\t", "\x15echo x", "\x1b[Ax"])
def test_text_is_no_key(text: str) -> None:
    assert not is_keys(text)


@pytest.mark.parametrize("text", ["ls", "ls\r", "echo hi", "git commit -m x\n", "make"])
def test_command_line_is_known_for_one(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize(
    "text",
    [":wq\r", "/word\n", "?back\r", "dd", "ZZ", "ZQ", "gg", "50g", "100%", "ihey\x1b", "q\r", ""],
)
def test_what_editors_and_pagers_read_is_no_command(text: str) -> None:
    assert not is_command(text)


def test_a_key_at_the_end_wants_no_enter_behind_it() -> None:
    assert ends_with_key("cat\nfoo\n\x04")
    assert ends_with_key("\x1b[A")
    assert not ends_with_key("ls\t")
    assert not ends_with_key("\x15ls")


def test_blank_lines_and_comments_run_nothing() -> None:
    assert is_empty(" \r")
    assert is_empty("  # only words\n")
    assert not is_empty("echo # x\n")
