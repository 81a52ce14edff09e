"""An agent that chooses its tools by itself, without a model: what you ask for becomes a call.

    python examples/ndjson_agent.py --port 9000 "how many lines are in README.md"

It asks suggest_command for a line. If the catalog has a command for it, that is called; else it
says which command comes nearest.
"""

import argparse
import json
from typing import Any

from ndjson_client import Client


def choose(client: Client, request: str) -> tuple[str, dict[str, Any]] | None:
    """Return the command for a request and its arguments; None if there is none."""
    told = json.loads(client.call("suggest_command", query=request)["output"])
    if told.get("tool"):
        return told["tool"], told["args"]
    return None


def answer(client: Client, request: str) -> str:
    chosen = choose(client, request)
    if chosen is None:
        found = json.loads(client.call("search_commands", query=request)["output"])["results"]
        return f"no command does this; the nearest is {found[0]['name']}" if found else "nothing"
    tool, args = chosen
    try:
        done = client.call(tool, **args)
    except RuntimeError as refused:
        return f"{tool} was refused: {refused}"
    return f"{tool} {json.dumps(args)} (exit code {done['exit_code']}):\n{done['output']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--token")
    parser.add_argument("request", nargs="+")
    given = parser.parse_args()
    client = Client(given.port)
    client.ask("initialize", token=given.token)
    for request in given.request:
        print(answer(client, request))


if __name__ == "__main__":
    main()
