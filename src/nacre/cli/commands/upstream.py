"""`nacre upstream`: the MCP servers behind nacre.

Rule 1: what a variable stands for is never printed or written: $TOKEN stays $TOKEN.
Rule 2: what a tool answered goes to standard output, its errors to standard error, and an error is
exit code 1.
"""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, print_json
from nacre.cli.output.table import format_table
from nacre.client.calls import Client
from nacre.client.upstream_values import referenced_values
from nacre.errors import InvalidInput
from nacre.settings.paths import find_paths
from nacre.settings.sources import load_settings

_ACTIONS = {
    "list": "print the servers and their states",
    "add": "add a server: NAME -- COMMAND ARGS, or NAME --url URL",
    "remove": "remove a server from the config",
    "enable": "let a server be used",
    "disable": "stop a server, and do not use it any more",
    "reload": "read the config again, and reconnect to one server or to all",
    "test": "connect to a server, and say what it offers or what fails",
    "tools": "print the tools of one server, or of all",
    "call": "call a tool: SERVER TOOL [JSON]",
    "logs": "print what a server said on its standard error",
    "import": "add the servers of another host's file: PATH",
    "login": "log in at a remote server (OAuth), in the browser or by a pasted code",
    "logout": "forget the tokens of a login",
}


def add_upstream(parser: ArgumentParser) -> None:
    parser.usage = "nacre upstream ACTION [NAME] [options] [-- COMMAND ARG …]"
    actions = "\n".join(f"{name:8} {what}" for name, what in _ACTIONS.items())
    parser.description = f"{parser.description}\n\n{actions}"
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help=", ".join(_ACTIONS))
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="Name of the server; for call also the tool and its arguments as JSON.",
    )
    parser.add_argument("--url", help="Address of a server that runs already.")
    parser.add_argument(
        "--env",
        metavar="K=V",
        action="append",
        default=[],
        help="A variable for the server. Quote '$TOKEN', so that no shell writes its value.",
    )
    parser.add_argument(
        "--header", metavar="K=V", action="append", default=[], help="A header of its requests."
    )
    parser.add_argument("--cwd", metavar="DIR", help="Its folder; your home without it.")
    parser.add_argument("--transport", choices=("stdio", "sse", "http"), help="How it is reached.")
    parser.add_argument("--client-id", metavar="ID", help="Client that is registered for logins.")
    parser.add_argument(
        "--client-secret", metavar="SECRET", help="Its secret; quote '$SECRET' as in --env."
    )
    parser.add_argument(
        "--callback-port", metavar="PORT", type=int, help="Port that its browser is sent back to."
    )
    parser.add_argument("--disabled", action="store_true", help="Add it, but do not use it yet.")
    parser.add_argument("--replace", action="store_true", help="Replace a server of the same name.")
    parser.add_argument(
        "--host",
        choices=("claude-desktop", "claude-code", "cursor", "vscode"),
        help="Whose file is imported, if its name does not say it.",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="Print the address of a login, open nothing."
    )
    add_json(parser)
    parser.set_defaults(run=run_upstream)


def run_upstream(arguments: Namespace) -> int:
    """Raises InvalidInput for words that do not fit, and what the daemon answers with."""
    values = referenced_values(find_paths())
    with Client.open(start=True, values=values) as client:
        action = {
            "list": _list,
            "add": _add,
            "remove": _change("remove_upstream", "removed"),
            "enable": _change("enable_upstream", "enabled", enabled=True),
            "disable": _change("enable_upstream", "disabled", enabled=False),
            "reload": _reload,
            "test": _test,
            "tools": _tools,
            "call": _call,
            "logs": _logs,
            "import": _import,
            "login": _login,
            "logout": _logout,
        }[arguments.action]
        code: int = action(client, arguments)
        return code


def _words(arguments: Namespace, least: int, most: int, what: str) -> list[str]:
    words: list[str] = arguments.words
    if not least <= len(words) <= most:
        raise InvalidInput(f"nacre upstream {arguments.action} takes {what}")
    return words


def _list(client: Client, arguments: Namespace) -> int:
    _words(arguments, 0, 0, "no name")
    found = client.ask("list_upstreams")
    servers = found["servers"]
    if found.get("error"):
        print(f"nacre: {harmless(found['error'])}", file=sys.stderr)
    if arguments.json:
        order = ("name", "transport", "enabled", "state", "error", "tools", "calls", "p50_ms")
        print_json([{key: one[key] for key in (*order, "failures")} for one in servers])
        return 0
    if not servers:
        print(f"no upstream servers in {harmless(found['file'])}; nacre upstream add --help")
        return 0
    rows = [
        (
            one["name"],
            one["transport"] or "-",
            one["state"],
            "-" if one["tools"] is None else str(one["tools"]),
            str(one["calls"]),
            "-" if one["p50_ms"] is None else f"{one['p50_ms']:g}",
            str(one["failures"]),
            one["error"] or one["target"],
        )
        for one in servers
    ]
    head = ("NAME", "TRANSPORT", "STATE", "TOOLS", "CALLS", "P50 MS", "FAILED", "SERVER")
    print(harmless(format_table(head, rows, None)))
    return 0


def _add(client: Client, arguments: Namespace) -> int:
    words = _words(arguments, 1, 1_000, "a name, and behind -- the command")
    name, *command = words
    if bool(command) == bool(arguments.url):
        raise InvalidInput("give a command behind --, or --url with an address")
    request: dict[str, Any] = {
        "name": name,
        "env": _pairs(arguments.env, "--env"),
        "headers": _pairs(arguments.header, "--header"),
        "cwd": arguments.cwd,
        "url": arguments.url,
        "transport": arguments.transport,
        "client_id": arguments.client_id,
        "client_secret": arguments.client_secret,
        "callback_port": arguments.callback_port,
        "replace": arguments.replace,
    }
    if command:
        request.update(command=command[0], args=command[1:] or None)
    if arguments.disabled:
        request["enabled"] = False
    given = {key: value for key, value in request.items() if value is not None}
    return _tell(client.call("add_upstream", **given), arguments, f"added {name}")


def _pairs(given: list[str], flag: str) -> dict[str, str] | None:
    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{flag} takes NAME=VALUE, not {one!r}")
        pairs[name] = value
    return pairs or None


def _tell(changed: dict[str, Any], arguments: Namespace, what: str) -> int:
    if arguments.json:
        print_json(changed)
    else:
        print(harmless(f"{what} ({changed['file']})"))
    return 0


def _change(operation: str, done: str, **more: Any) -> Any:
    def change(client: Client, arguments: Namespace) -> int:
        (name,) = _words(arguments, 1, 1, "the name of a server")
        return _tell(client.call(operation, server=name, **more), arguments, f"{done} {name}")

    return change


def _reload(client: Client, arguments: Namespace) -> int:
    words = _words(arguments, 0, 1, "the name of a server, or none")
    changed = client.call("reload_upstreams", **({"server": words[0]} if words else {}))
    if arguments.json:
        print_json(changed)
    else:
        print("Reconnected to MCP servers")
    return 0


def _test(client: Client, arguments: Namespace) -> int:
    (name,) = _words(arguments, 1, 1, "the name of a server")
    found = client.call("test_upstream", server=name)
    if arguments.json:
        print_json(found)
    else:
        counts = (
            f"{found['tools']} tools, {found['prompts']} prompts, {found['resources']} resources"
        )
        how = f"{found['transport']}, revision {found['revision']}, {found['ms']:g} ms"
        print(harmless(f"{name}: {found['server'] or 'connected'}: {counts} ({how})"))
    return 0


def _tools(client: Client, arguments: Namespace) -> int:
    words = _words(arguments, 0, 1, "the name of a server, or none")
    request: dict[str, Any] = {"max_chars": NO_LIMIT, "schemas": arguments.json}
    if words:
        request["server"] = words[0]
    found = client.ask("list_upstream_tools", **request)
    for problem in found.get("failed", ()):
        print(f"nacre: {harmless(problem)}", file=sys.stderr)
    if arguments.json:
        print_json(found["tools"])
        return 0
    rows = [
        (one["name"], one["server"], one["tool"], one["description"].partition("\n")[0])
        for one in found["tools"]
    ]
    print(harmless(format_table(("NAME", "SERVER", "TOOL", "DESCRIPTION"), rows, None)))
    return 0


def _call(client: Client, arguments: Namespace) -> int:
    server, tool, *given = _words(arguments, 2, 3, "SERVER TOOL [JSON]")
    request: dict[str, Any] = {"server": server, "tool": tool, "max_chars": NO_LIMIT}
    if given:
        try:
            request["arguments"] = json.loads(given[0])
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the arguments are no JSON: {error}") from error
        if not isinstance(request["arguments"], dict):
            raise InvalidInput('the arguments must be a JSON object, such as {"path": "/tmp"}')
    answer = client.call("call_upstream_tool", **request)
    failed = bool(answer.get("is_error"))
    if arguments.json:
        print_json(answer)
        return int(failed)
    stream = sys.stderr if failed else sys.stdout
    for block in answer["content"]:
        print(harmless(_shown(block)), file=stream)
    if not answer["content"] and answer.get("structured_content") is not None:
        print(harmless(json.dumps(answer["structured_content"], ensure_ascii=False)), file=stream)
    return int(failed)


def _shown(block: dict[str, Any]) -> str:
    """Return what a person reads of one part of a result."""
    if block.get("type") == "text":
        return str(block["text"])
    if block.get("type") in ("image", "audio"):
        size = len(str(block.get("data", ""))) * 3 // 4
        return f"[{block['type']}, {block.get('mimeType')}, {size} bytes; --json has it]"
    if block.get("type") == "resource_link":
        return f"[{block.get('name')}: {block.get('uri')}]"
    resource = block.get("resource")
    if isinstance(resource, dict):
        return str(resource.get("text") or f"[{resource.get('uri')}; --json has it]")
    return json.dumps(block, ensure_ascii=False)


def _logs(client: Client, arguments: Namespace) -> int:
    (name,) = _words(arguments, 1, 1, "the name of a server")
    found = client.ask("read_upstream_log", server=name)
    if arguments.json:
        print_json(found["lines"])
    else:
        for line in found["lines"]:
            print(harmless(line))
    return 0


def _import(client: Client, arguments: Namespace) -> int:
    from nacre.core.upstream.imports import host_of

    (path,) = _words(arguments, 1, 1, "the path of a file")
    whole = os.path.abspath(os.path.expanduser(path))
    try:
        with open(whole, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is no text") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}", "check its path") from error
    folder = os.path.dirname(whole)
    if os.path.basename(folder) in (".vscode", ".cursor"):
        folder = os.path.dirname(folder)
    found = client.call(
        "import_upstreams",
        text=text,
        host=arguments.host or host_of(whole),
        folder=folder,
        replace=arguments.replace,
    )
    if arguments.json:
        print_json(found)
        return 0 if found["added"] or not found["left_out"] else 1
    for one in found["added"]:
        print(harmless(f"added {one['name']}" + "".join(f"; {note}" for note in one["notes"])))
    for one in found["left_out"]:
        print(harmless(f"nacre: left out {one['name']}: {one['why']}"), file=sys.stderr)
    return 0 if found["added"] or not found["left_out"] else 1


def _login(client: Client, arguments: Namespace) -> int:
    import asyncio

    from nacre.cli.setup.login import file_of, log_in, remote_server

    (name,) = _words(arguments, 1, 1, "the name of a server")
    paths = find_paths()
    server = remote_server(paths, name, dict(os.environ))
    file = file_of(paths, name, server.url)
    settings = load_settings(paths.config_file)
    if not asyncio.run(log_in(server, file, settings, browser=not arguments.no_browser)):
        print(f"{name} wants no login")
        return 0
    client.call("reload_upstreams", server=name)
    print(f"logged in at {name}; the tokens are in {harmless(file.path)}")
    return _test(client, arguments)


def _logout(client: Client, arguments: Namespace) -> int:
    from nacre.cli.setup.login import file_of, remote_server

    (name,) = _words(arguments, 1, 1, "the name of a server")
    paths = find_paths()
    url = remote_server(paths, name, dict(os.environ)).url
    if not file_of(paths, name, url).remove():
        print(f"there is no login at {name}")
        return 0
    client.call("reload_upstreams", server=name)
    print(f"logged out of {name}: its tokens are removed here; the server may still know them")
    return 0
