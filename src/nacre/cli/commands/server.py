"""`nacre server`: the daemon in the foreground.

Rule: every setting is a flag. They all come from the settings table; none is stated here.
"""

import argparse
import json
import os
import sys
import threading
from argparse import ArgumentParser, Namespace

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import add_json, show
from nacre.client.calls import Client
from nacre.client.keeping import server_command
from nacre.settings.paths import Paths, find_paths
from nacre.settings.sources import load_settings
from nacre.settings.table import Settings, setting_names


def add_server(parser: ArgumentParser) -> None:
    parser.usage = "nacre server [options]"  # there are more than 200 of them
    # The settings table parses the text itself: its errors name the flag.
    add_flags(parser, Settings, _named(parser), parse=False)
    # Only for start.py, which starts a daemon on demand.
    parser.add_argument("--ephemeral", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ready-fd", type=int, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="Replace the running daemon with the installed version; sessions do not notice.",
    )
    add_json(parser)
    parser.set_defaults(run=run_server)


def _named(parser: ArgumentParser) -> set[str] | None:
    """Return the settings that the command line can mean; None: all of them, for its help.

    To add more than 200 flags takes longer than all else before the daemon.
    """
    words: list[str] | None = getattr(parser, "words", None)
    if words is None:
        return None
    flags = (word.partition("=")[0].removeprefix("--").removeprefix("no-") for word in words)
    return {flag.replace("-", "_") for flag in flags}


def run_server(arguments: Namespace) -> int:
    from nacre.system.keeper.client import Keeping

    keeping = Keeping.from_environment()
    flags = {name: getattr(arguments, name, None) for name in setting_names()}
    paths = find_paths()
    settings = load_settings(paths.config_file, flags=flags)
    if arguments.upgrade:
        return _upgrade(arguments)
    if settings.keeper and not keeping.alive:
        # From here on this process is the keeper, and starts the daemon as its child.
        command = server_command(sys.argv[1:])
        os.execv(command[0], command)  # noqa: S606  # its words are ours
    if not settings.keeper:
        keeping = Keeping(None)
    # Only the first daemon has somebody waiting for it to be ready.
    ready: int | None = arguments.ready_fd if keeping.last_status is None else None
    if ready is None and sys.stdout.isatty():
        ready = _announce_when_ready(paths)
    from nacre.daemon.process import run_daemon

    run_daemon(settings, paths, keeping, ephemeral=arguments.ephemeral, ready=ready)
    return 0


def _upgrade(arguments: Namespace) -> int:
    """Replace the running daemon, and wait until the next one answers."""
    with Client.open() as client:
        before = client.call("status")
        client.call("upgrade")
        client.wait_until_gone()
    with Client.open() as client:
        status = client.call("status")
    text = (
        f"nacre {before['version']} (pid {before['pid']}) was replaced by "
        f"{status['version']} (pid {status['pid']}); sessions kept: {status['sessions']}"
    )
    return show(arguments, {"success": True, "before": before, **status}, text)


def _announce_when_ready(paths: Paths) -> int:
    """Return a descriptor that the daemon writes to when it is ready; then print the address."""
    listening, ready = os.pipe()

    def announce() -> None:
        if os.read(listening, 1):
            with open(paths.state_file, encoding="utf-8") as file:
                port = json.load(file)["port"]
            print(f"nacre is up at http://127.0.0.1:{port}; Ctrl+C stops it", flush=True)

    threading.Thread(target=announce, daemon=True).start()
    return ready
