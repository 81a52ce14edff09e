"""docs/cli.md names everything that the command line has."""

import argparse
import re
from pathlib import Path

from nacre.cli.index import COMMANDS
from nacre.cli.parser import build_parser
from nacre.errors import WIRE

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


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
