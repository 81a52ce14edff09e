"""`nacre list`: the sessions as a table.

Rule: this is the most used command, so it loads neither msgspec nor the operations.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.output.answers import add_json, print_json
from nacre.cli.output.table import format_table
from nacre.client.calls import Client
from nacre.settings.paths import find_paths

_PAGE = 1000  # sessions that are asked for at once
_NO_LIMIT = 1 << 40  # a table has the folders of all sessions, however many
_WIDEST_CELL = 40  # columns; on a terminal only, a pipe gets everything


def add_list(parser: ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(run=run_list)


def run_list(arguments: Namespace) -> int:
    client = Client.reach()
    if client is None and _some_are_lost():
        client = Client.open(start=True)
    sessions: list[dict[str, Any]] = []  # without a daemon there are none: that is no error
    if client is not None:
        with client:
            sessions = _all(client)
    if arguments.json:
        print_json(sessions)
    elif sessions:
        print(_table(sessions))
    else:
        print("no sessions; start one with 'nacre new'")
    return 0


def _all(client: Client) -> list[dict[str, Any]]:
    """Return all sessions, of a large cluster one page after the other."""
    whole = {"limit": _PAGE, "max_chars": _NO_LIMIT}
    listed = client.ask("list_sessions", **whole)
    sessions: list[dict[str, Any]] = listed["sessions"]
    while "next_cursor" in listed:
        listed = client.ask("list_sessions", **whole, cursor=listed["next_cursor"])
        sessions += listed["sessions"]
    return sessions


def _some_are_lost() -> bool:
    """Return whether an earlier daemon left journals behind, as after a reboot."""
    try:
        return bool(os.listdir(find_paths().journals))
    except FileNotFoundError:
        return False


def _table(sessions: list[dict[str, Any]]) -> str:
    header = ["NAME", "ID", "PORT", "STATE", "COMMAND", "CWD", "IDLE"]
    rows = [
        [
            session["name"],
            session["session_id"],
            str(session["port"]),
            _state(session),
            session["command"],
            _home_relative(session["cwd"]),
            _duration(session["idle_seconds"]),
        ]
        for session in sessions
    ]
    if any("host" in session for session in sessions):
        header.insert(1, "HOST")
        for row, session in zip(rows, sessions, strict=True):
            row.insert(1, session.get("host", ""))
    boxes = [session.get("sandbox", "off") for session in sessions]
    if set(boxes) != {"off"}:
        header.append("SANDBOX")
        for row, box in zip(rows, boxes, strict=True):
            row.append(box)
    return format_table(header, rows, _WIDEST_CELL if sys.stdout.isatty() else None)


def _state(session: dict[str, Any]) -> str:
    if session["running"]:
        return _doing(session)
    if session["signal"] is not None:
        return f"killed ({session['signal']})"
    if session["state"] == "lost":
        return "lost"
    code = "?" if session["exit_code"] is None else session["exit_code"]
    return f"exited ({code})"


def _doing(session: dict[str, Any]) -> str:
    asks = session["asks"]
    doing = f"waits ({asks})" if session["state"] == "needs_input" and asks else session["state"]
    return f"{doing}, {session['driver']} drives" if session["driver"] else str(doing)


def _duration(seconds: int) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _home_relative(folder: str) -> str:
    """Shorten the user's own folder to ~, as shells do."""
    home = os.path.expanduser("~")
    inside = folder == home or folder.startswith(home.rstrip("/") + "/")
    return "~" + folder[len(home) :] if inside and home != "/" else folder
