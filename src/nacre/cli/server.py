"""`nacre server`: the daemon in the foreground.

Rule: every setting is a flag, derived from the settings table; nothing is stated here.
"""

import argparse
import json
import os
import sys
import threading
from argparse import ArgumentParser, Namespace

from nacre.cli.flags import add_flags
from nacre.config import Settings, load_settings, setting_names
from nacre.paths import Paths, find_paths


def add_server(parser: ArgumentParser) -> None:
    # The settings table parses the text itself: its errors name the flag.
    add_flags(parser, Settings, parse=False)
    # Only for start.py, which starts a daemon on demand.
    parser.add_argument("--ephemeral", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ready-fd", type=int, metavar="N", help=argparse.SUPPRESS)
    parser.set_defaults(run=run_server)


def run_server(arguments: Namespace) -> int:
    flags = {name: getattr(arguments, name) for name in setting_names()}
    paths = find_paths()
    settings = load_settings(paths.config_file, flags=flags)
    ready: int | None = arguments.ready_fd
    if ready is None and sys.stdout.isatty():
        ready = _announce_when_ready(paths)
    from nacre.daemon import run_daemon

    run_daemon(settings, paths, ephemeral=arguments.ephemeral, ready=ready)
    return 0


def _announce_when_ready(paths: Paths) -> int:
    """Return a descriptor for the daemon to write to; the address is printed when it does."""
    listening, ready = os.pipe()

    def announce() -> None:
        if os.read(listening, 1):
            with open(paths.state_file, encoding="utf-8") as file:
                port = json.load(file)["port"]
            print(f"nacre is up at http://127.0.0.1:{port}; Ctrl+C stops it", flush=True)

    threading.Thread(target=announce, daemon=True).start()
    return ready
