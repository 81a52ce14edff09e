"""`nacre config`: what is set and by what, and a config.toml to begin with.

Rule 1: no daemon is needed. What is shown is what one that starts now would take; one that runs has
read its settings at its start.
Rule 2: a token is never shown.
"""

import os
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from typing import Any

import msgspec

from nacre.cli.flags import explain
from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.errors import InvalidInput
from nacre.settings.paths import find_paths, make_private
from nacre.settings.sources import given_settings
from nacre.settings.table import Settings, environment_name

_ACTIONS = ("init", "show", "path")
_HIDDEN = ("token", "chat_key")
_WIDTH = 98  # of the comments in the file

_HEAD = """\
# nacre's settings. A line counts when its # is removed; the value there is the default.
# The daemon reads this file when it starts: nacre stop, or nacre server --upgrade.
# An environment variable (NACRE_PORT) or a flag of nacre server (--port) wins over it.
# MCP servers behind nacre have tables of their own below: nacre upstream add writes them.
"""


def add_config(parser: ArgumentParser) -> None:
    parser.usage = "nacre config init|show|path [SETTING] [options]"
    parser.add_argument("action", choices=_ACTIONS, metavar="ACTION", help=", ".join(_ACTIONS))
    parser.add_argument("setting", metavar="SETTING", nargs="?", help="For show: this one only.")
    parser.add_argument(
        "--changed", action="store_true", help="For show: only what is not the default."
    )
    add_json(parser)
    parser.set_defaults(run=run_config)


def run_config(arguments: Namespace) -> int:
    path = find_paths().config_file
    if arguments.action == "path":
        print_json({"path": path, "exists": os.path.exists(path)}) if arguments.json else print(
            path
        )
        return 0
    if arguments.action == "show":
        return _show(arguments, path)
    _write(path)
    print_json({"path": path}) if arguments.json else print(f"written: {path}")
    return 0


def _show(arguments: Namespace, path: str) -> int:
    given = given_settings(path)
    wanted = [field.name for field in msgspec.structs.fields(Settings)]
    if arguments.setting is not None:
        if arguments.setting not in wanted:
            raise InvalidInput(f"there is no setting {arguments.setting!r}; see nacre config show")
        wanted = [arguments.setting]
    defaults = Settings()
    shown: dict[str, dict[str, Any]] = {}
    for name in wanted:
        value, source = given.get(name, (getattr(defaults, name), "default"))
        if arguments.changed and source == "default":
            continue
        hidden = name in _HIDDEN and value is not None
        shown[name] = {"value": "(hidden)" if hidden else value, "source": source}
    if arguments.json:
        print_json(shown)
        return 0
    for name, one in shown.items():
        source = "" if one["source"] == "default" else f"  # {one['source']}"
        print(harmless(f"{name} = {_toml(one['value'])}{source}"))
    if not shown:
        print("every setting has its default", file=sys.stderr)
    return 0


def _write(path: str) -> None:
    """Raises InvalidInput if there is a file already."""
    make_private(os.path.dirname(path))
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput(f"{path} exists; nacre config show says what it sets") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(_template())


def _template() -> str:
    parts = [_HEAD]
    for field in msgspec.structs.fields(Settings):
        told = explain(field).partition(" [default")[0].replace("%%", "%")
        comment = textwrap.fill(
            told, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False
        )
        value = "(not set)" if field.default is None else _toml(field.default)
        parts.append(f"{comment}\n# {environment_name(field.name)}\n# {field.name} = {value}\n")
    return "\n".join(parts)


def _toml(value: Any) -> str:
    if value is None:
        return "(not set)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return msgspec.json.encode(value).decode() if isinstance(value, str) else str(value)
