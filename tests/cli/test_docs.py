"""docs/cli.md names everything that the command line has."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.cli.index import COMMANDS
from nacre.cli.parser import build_parser
from nacre.errors import WIRE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text()


def test_every_command_is_documented() -> None:
    for command in COMMANDS:
        assert f"| `nacre {command.name}" in PAGE


def test_every_flag_is_documented_but_the_settings() -> None:
    names = [command.name for command in COMMANDS if command.name != "server"]
    parser = build_parser(configured=names)
    [action] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for name in names:
        for flag in action.choices[name]._option_string_actions:
            assert flag in ("-h", "--help") or f"{flag}" in PAGE, f"nacre {name} {flag}"


def test_every_error_code_is_documented_with_its_exit_code() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]*) \|", PAGE, re.M))
    for code, wire in WIRE.items():
        assert f"`{code}`" in rows[str(wire.exit)]


def shown_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each `nacre` that stands in a block of a page."""
    for kind, block in re.findall(r"```(sh|console)\n(.*?)```", text, re.DOTALL):
        begin = "$ " if kind == "console" else ""  # the rest is what was printed
        lines = [line.removeprefix(begin) for line in block.splitlines() if line.startswith(begin)]
        for line in lines:
            word = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
            word.whitespace_split = True
            for part in re.split(r"\0(?:;|&&|\||>)\0", "\0".join(word)):
                if (words := part.split("\0"))[0] == "nacre":
                    yield words[1:]


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "docs/day.md", "docs/cli.md"])
def test_commands_that_a_page_shows_are_taken(page: str) -> None:
    parser = build_parser(configured=[command.name for command in COMMANDS])
    shown = list(shown_commands((ROOT / page).read_text()))
    assert len(shown) > 5
    for words in shown:
        before = words[: words.index("--")] if "--" in words else words
        parser.parse_args(before)  # raises InvalidInput, which names what is wrong
