"""The help of `nacre mcp`. The bridge itself (bridge.py) is started without an argument parser."""

from argparse import ArgumentParser, Namespace

# What to paste into an AI host's configuration; README and the short help show the same.
HOST_CONFIG = '{"mcpServers": {"nacre": {"command": "nacre", "args": ["mcp"]}}}'


def add_mcp(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--toolsets",
        metavar="A,B",
        help="Toolsets to offer, separated by commas: agent, terminal, shell, apps, extra, "
        "commands, upstream; 'all' is all but agent, commands and upstream. [default: agent]",
    )
    parser.add_argument(
        "--prefix", help="Put this before every tool's name, as in --prefix wsh_. [default: none]"
    )
    parser.epilog = f"Paste this into the AI host's MCP configuration:\n  {HOST_CONFIG}"
    parser.set_defaults(run=run_mcp)


def run_mcp(arguments: Namespace) -> int:
    from nacre.cli.bridge.bridge import run_bridge
    from nacre.settings.paths import find_paths

    return run_bridge(find_paths(), arguments.toolsets, arguments.prefix)
