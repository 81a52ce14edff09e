"""`nacre setup`: give nacre to AI hosts, and set up the MCP servers behind it."""

import os
import sys
from argparse import ArgumentParser, Namespace

from nacre.cli.output.answers import add_json, print_json
from nacre.cli.setup.hosts import HOSTS, MEMORY, HostProgram, StartCommand, our_command
from nacre.cli.setup.install import install
from nacre.cli.setup.wizard import Wizard
from nacre.client.calls import Client
from nacre.settings.paths import find_paths


def add_setup(parser: ArgumentParser) -> None:
    parser.description = (
        f"{parser.description}\n\n"
        "Without options it asks, step by step, about the MCP servers behind nacre.\n"
        "With --host, print the entry for an AI host, or install it; nothing is asked."
    )
    parser.add_argument(
        "--host", metavar="NAME", choices=sorted(HOSTS), help=f"{', '.join(sorted(HOSTS))}."
    )
    parser.add_argument(
        "--install", action="store_true", help="With --host: write the entry into the host's file."
    )
    parser.add_argument(
        "--toolsets", metavar="A,B", help="With --host: toolsets for this host. [default: agent]"
    )
    add_json(parser)
    parser.set_defaults(run=run_setup)


def run_setup(arguments: Namespace) -> int:
    if arguments.host is None:
        with Client.open(start=True) as client:
            return Wizard(client, find_paths().config_file, _ask, print, _Hosts()).run()
    host = HOSTS[arguments.host]
    path = _path(host)
    more = ["--toolsets", arguments.toolsets] if arguments.toolsets else []
    ours = our_command(more, os.environ)
    if arguments.install:
        return _install(arguments, host, path, ours)
    if arguments.json:
        print_json({"host": host.name, "file": path, "entry": host.entry(ours)})
        return 0
    _print(host, path, ours)
    return 0


def _path(host: HostProgram) -> str:
    return host.path(os.path.expanduser("~"), sys.platform, os.environ)


def _install(arguments: Namespace, host: HostProgram, path: str, ours: StartCommand) -> int:
    changed = install(host, path, ours)
    if arguments.json:
        print_json({"host": host.name, "file": path, "changed": changed})
    elif changed:
        print(
            f"{host.title} has nacre now, in {path}. Restart it, or let it read its servers again."
        )
    else:
        print(f"{host.title} has nacre already, in {path}.")
    if host.condition and not arguments.json:
        print(host.condition)
    return 0


def _print(host: HostProgram, path: str, ours: StartCommand) -> None:
    print(f"Add this to {path}, or run: nacre setup --host {host.name} --install\n")
    print(host.text(ours))
    if host.adds:
        print(f"\nOr let {host.title} do it:\n  {host.own_way(ours)}")
    if host.condition:
        print(f"\n{host.condition}")
    if host.memory:
        print(f"\nIts model picks nacre more surely if {host.memory} says:\n{MEMORY}")
    if host.own_shell:
        print(f"\nTo switch its own shell off, {host.own_shell}")


def _ask(question: str) -> str:
    """Return one line. Raises EOFError at the end of the input."""
    return input(question)


class _Hosts:
    """The hosts as the wizard shows and installs them."""

    names = tuple(HOSTS)

    def show(self, name: str) -> None:
        _print(*self._entry(name))

    def install(self, name: str) -> None:
        host, path, ours = self._entry(name)
        changed = install(host, path, ours)
        print(f"{host.title} has nacre {'now' if changed else 'already'}, in {path}.")

    def _entry(self, name: str) -> tuple[HostProgram, str, StartCommand]:
        return HOSTS[name], _path(HOSTS[name]), our_command([], os.environ)
