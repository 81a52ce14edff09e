# PYTHON_ARGCOMPLETE_OK
"""The entry point: finds the subcommand and loads only what it needs."""

import sys


def main() -> int:
    """Run one command; return the exit code."""
    arguments = sys.argv[1:]
    try:
        if arguments[:1] == ["mcp"] and not {"-h", "--help"} & set(arguments):
            # The bridge is started by AI hosts that wait for it: no argument parser before it.
            from nacre.cli.bridge.bridge import main_mcp

            return main_mcp(arguments[1:])
        from nacre.cli.parser import run

        return run(arguments)
    except KeyboardInterrupt:
        return 130  # as a program that SIGINT ended
