"""`nacre share`: a link that lets somebody watch one session on the page, for a while.

Rule: the link is a token: it shows this session alone, types nothing, and ends by itself. It is
revoked like every other one.
"""

from argparse import ArgumentParser, Namespace
from urllib.parse import urlencode

from nacre.cli.commands.safety.token import lifetime
from nacre.cli.output.answers import add_json, print_json
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client

_LIFETIME = "1h"


def add_share(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--ttl",
        metavar="TIME",
        default=_LIFETIME,
        help="How long it is valid: 30m, 1h, 7d. [default: 1h]",
    )
    parser.epilog = (
        "Whoever has the link can watch, and do nothing else. It works on this machine, and for "
        "others where the daemon serves them: see the setting host, or forward the port by ssh. "
        "The link is for the session's name: a later session of that name can be watched, too."
    )
    add_json(parser)
    parser.set_defaults(run=run_share)


def run_share(arguments: Namespace) -> int:
    with Client.open() as client:
        name = client.ask("list_sessions", session=arguments.session)["name"]
        made = client.call(
            "create_token",
            scope="observe",
            name=f"share {name}",
            session_names=[name],
            ttl=lifetime(arguments.ttl),
            person=True,
        )
        status = client.ask("status")
    base = status.get("beyond_url") or status["url"]
    url = f"{base}/#{urlencode({'token': made['token'], 'session': name})}"
    if arguments.json:
        print_json({"url": url, "session": name, "token_id": made["facts"]["id"]})
    else:
        print(url)
    return 0
