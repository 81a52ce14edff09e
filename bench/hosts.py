"""Real hosts' clients against nacre: what arrives, and in which form.

    python bench/hosts.py [--scratch FOLDER] [NAME …]

Each client is installed from its registry into a scratch folder and driven through the same story
(clients/story.py), over stdio and over HTTP, each with a daemon of its own. The table shows the
clients and the steps; the script exits with 1 when a step failed. A client that cannot be installed
is told of and is no failure. Nothing is contacted but the registries and this machine.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clients import hosted
from clients.installs import CannotInstall, Scratch
from clients.peer import Peer
from clients.smoke import claude, codex, conformance, gemini
from clients.story import SETTINGS, STEPS, Report, Server, Story
from scratch import scratch_environment, table

_CLIENTS = Path(__file__).resolve().parent / "clients"

Wrap = Callable[[dict[str, Any]], dict[str, Any]]

_COMPLAINTS = 8  # lines of a client's standard error that are shown


@dataclass(frozen=True)
class Client:
    """How a client is installed and started."""

    argv: Callable[[Scratch], list[str]]
    over: tuple[str, ...] = ("stdio", "http")
    wrap: Callable[[Scratch], Wrap] | None = None  # what stands between the client and nacre


def _python(script: str, *packages: str) -> Client:
    def argv(scratch: Scratch) -> list[str]:
        name = packages[0].replace("==", "-").replace("[mcp]", "")
        return [str(scratch.python(name, *packages)), str(_CLIENTS / script)]

    return Client(argv)


def _node(script: str, *words: str, packages: tuple[str, ...]) -> Client:
    def argv(scratch: Scratch) -> list[str]:
        name = packages[0].lstrip("@").replace("/", "-").replace("@", "-")
        place = scratch.npm(name, *packages)
        return [str(scratch.node()), str(place / script), *words]

    return Client(argv)


def _inspector(scratch: Scratch) -> list[str]:
    place = scratch.npm("inspector", "@modelcontextprotocol/inspector@2.12.0")
    program = place / "node_modules" / ".bin" / "mcp-inspector"
    script = str(_CLIENTS / "inspector.py")
    return [sys.executable, script, str(scratch.node()), str(program)]


def _proxied(scratch: Scratch) -> Wrap:
    """mcp-proxy gives a host that knows only stdio a server that is reached over HTTP."""
    proxy = scratch.python("mcp-proxy-0.13.0", "mcp-proxy==0.13.0").parent / "mcp-proxy"

    def wrap(address: dict[str, Any]) -> dict[str, Any]:
        headers = [word for pair in address["headers"].items() for word in ("-H", *pair)]
        words = ["--transport", "streamablehttp", *headers, address["url"]]
        return {"command": [str(proxy), *words], "env": dict(os.environ)}

    return wrap


CLIENTS = {
    "typescript-1": _node("typescript.mjs", "1", packages=("@modelcontextprotocol/sdk@1.32.2",)),
    "typescript-2": _node("typescript.mjs", "2", packages=("@modelcontextprotocol/client@2.4.0",)),
    "python-1": _python("mcp_sdk_1.py", "mcp==1.30.0"),
    "python-2": _python("mcp_sdk.py", "mcp==2.3.0"),
    "fastmcp": _python("fastmcp_client.py", "fastmcp==4.1.2"),
    "langchain": _python("langchain_client.py", "langchain-mcp-adapters==0.3.2"),
    "openai-agents": _python("openai_agents_client.py", "openai-agents==0.24.0"),
    "pydantic-ai": _python("pydantic_ai_client.py", "pydantic-ai-slim[mcp]==2.66.0"),
    "ai-sdk": _node("ai_sdk.mjs", packages=("@ai-sdk/mcp@2.0.97", "ai@7.0.170", "zod@4")),
    "mcp-proxy": replace(_python("mcp_sdk_1.py", "mcp==1.30.0"), over=("http",), wrap=_proxied),
    "inspector": Client(_inspector),
}

# What is asked of these takes one step.
SMOKE = {"conformance": conformance, "claude": claude, "codex": codex, "gemini": gemini}
# Whole hosts, with a scripted model behind them (clients/hosted.py).
HOSTED = {"claude-model": hosted.claude, "codex-model": hosted.codex}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = (*CLIENTS, *SMOKE, *HOSTED)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--scratch", type=Path, help="keep what is installed in this folder")
    parser.add_argument("--over", choices=("stdio", "http"), help="only this way in")
    given = parser.parse_args()
    if unknown := set(given.names) - {*CLIENTS, *SMOKE, *HOSTED}:
        parser.error(f"no client named {', '.join(unknown)}")
    rows: dict[str, Report] = {}
    with ExitStack() as stack:
        folder = given.scratch or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scratch = Scratch(folder.resolve())
        for name in given.names or (*CLIENTS, *SMOKE, *HOSTED):
            try:
                for row, report in _tried(name, scratch, given.over):
                    rows[row] = report
                    _print(row, report)
            except CannotInstall as reason:
                rows[name] = Report(cells={"opened": "not installable"})
                print(f"== {name}: cannot be installed here: {reason}", flush=True)
    for columns, names in ((STEPS, {*rows} - {*HOSTED}), (hosted.COLUMNS, {*rows} & {*HOSTED})):
        if names:
            table(*_as_table({name: rows[name] for name in rows if name in names}, columns))
    return 1 if any(report.failed for report in rows.values()) else 0


def _tried(name: str, scratch: Scratch, only: str | None) -> Iterator[tuple[str, Report]]:
    if (alone := {**SMOKE, **HOSTED}.get(name)) is not None:
        with scratch_environment() as env:
            yield name, alone(scratch, env)
        return
    client = CLIENTS[name]
    argv = client.argv(scratch)
    wrap = client.wrap(scratch) if client.wrap else None
    for over in client.over:
        if only in (None, over):
            yield f"{name} {over}", _told(argv, over, wrap)


def _told(argv: list[str], over: str, wrap: Wrap | None) -> Report:
    with scratch_environment(**SETTINGS) as env:
        server = Server(env, over, wrap)
        if over == "http":
            server.nacre("new", "held", "--keep")  # it holds the daemon
        with Peer(argv, env) as peer:
            report = Story(peer, server, Path(env["HOME"])).tell()
        report.complaints = peer.complaints
        return report


def _as_table(rows: dict[str, Report], columns: Iterable[str]) -> Iterator[tuple[object, ...]]:
    yield "client", *columns
    for name, report in rows.items():
        yield name, *(report.cells.get(step, "") for step in columns)


def _print(title: str, report: Report) -> None:
    print(f"== {title}")
    for name in (*STEPS, *hosted.COLUMNS):
        if name in report.cells:
            took = report.seconds.get(name, 0)
            print(f"   {name:18} {took:6.1f} s  {report.cells[name]}")
    for failure in report.failed:
        print(f"   FAILED {failure}")
    for line in report.complaints[:_COMPLAINTS]:
        print(f"   stderr: {line}")
    if (more := len(report.complaints) - _COMPLAINTS) > 0:
        print(f"   stderr: … {more} more lines")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
