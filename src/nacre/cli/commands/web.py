"""`nacre web`: the page's address, with a code that lets one browser in."""

import webbrowser
from argparse import ArgumentParser, Namespace

from nacre.cli.output.answers import add_json, print_json
from nacre.cli.session_argument import add_session
from nacre.client.calls import Client
from nacre.errors import Failed


def add_web(parser: ArgumentParser) -> None:
    add_session(parser, nargs="?")
    parser.add_argument("--open", action="store_true", help="Also open it in the browser.")
    parser.epilog = (
        "The address works for one browser, once, within ten minutes (code_lifetime). That browser "
        "stays logged in."
    )
    add_json(parser)
    parser.set_defaults(run=run_web)


def run_web(arguments: Namespace) -> int:
    with Client.open(start=True) as client:
        page = client.call("open_page", session=arguments.session)
    if arguments.json:
        print_json(page)
    else:
        print(page["url"])
    if arguments.open and not webbrowser.open(page["url"]):
        raise Failed("could not start a browser; open the address yourself")
    return 0
