"""`nacre chat`: talk to a model that has terminals and upstream tools, or call them yourself."""

import asyncio
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nacre.cli.output.answers import harmless
from nacre.cli.output.table import format_table
from nacre.errors import InvalidInput
from nacre.settings.paths import Paths, find_paths
from nacre.settings.sources import load_settings
from nacre.settings.table import Settings

if TYPE_CHECKING:  # a chat's modules take a while to load; `nacre chat --help` does without
    from nacre.cli.chat.endpoint import Endpoint
    from nacre.cli.chat.face import PlainFace
    from nacre.cli.chat.storage import ChatShelf

_NEEDED = ("prompt_toolkit", "rich")
_OWN_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def add_chat(parser: ArgumentParser) -> None:
    parser.usage = "nacre chat [-p TEXT] [--resume [CHAT]] [--list] [--model NAME]"
    parser.add_argument(
        "-p",
        "--prompt",
        metavar="TEXT",
        help="Say this (- reads it from standard input), or run this slash command, and leave. "
        "Calls that are not allowed yet are denied: nobody is asked.",
    )
    parser.add_argument(
        "--resume",
        metavar="CHAT",
        nargs="?",
        const="last",
        help="Go on with an earlier chat: the last one, or the one with this id.",
    )
    parser.add_argument("--list", action="store_true", help="List the chats that can be resumed.")
    parser.add_argument(
        "--model", metavar="NAME", help="Model for this chat. [default: chat_model]"
    )
    parser.set_defaults(run=run_chat)


def run_chat(arguments: Namespace) -> int:
    from nacre.cli.chat.storage import ChatShelf

    paths = find_paths()
    settings = load_settings(paths.config_file)
    shelf = ChatShelf(paths)
    if arguments.list:
        rows = [
            (chat.id, time.strftime("%Y-%m-%d %H:%M", time.localtime(chat.started)), chat.title)
            for chat in shelf.all()
        ]
        print(harmless(format_table(("CHAT", "STARTED", "FIRST WORDS"), rows, None)))
        return 0
    return asyncio.run(_talk(arguments, paths, settings, shelf))


async def _talk(arguments: Namespace, paths: Paths, settings: Settings, shelf: "ChatShelf") -> int:
    from nacre.cli.chat.chat import Chat
    from nacre.cli.chat.desk import Desk, unconnected
    from nacre.cli.chat.folders import Folders
    from nacre.cli.chat.rules import Rules
    from nacre.cli.chat.toolbox import open_toolbox

    endpoint = _endpoint(settings, arguments.model)
    stored = shelf.find(arguments.resume) if arguments.resume else shelf.new(settings.chat_model)
    face = _face(arguments, shelf, settings)
    longest = settings.chat_message_bytes
    async with (
        shelf.held(stored),
        open_toolbox(settings.chat_toolsets, longest, face.question) as box,
    ):
        desk = Desk(box, face, Rules(paths, Folders(box).of), unconnected)
        chat = Chat(
            face,
            desk,
            shelf,
            stored,
            endpoint,
            rounds=settings.chat_rounds,
            compact_at=settings.chat_compact_tokens,
        )
        try:
            if arguments.prompt is not None:
                said = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
                return 0 if await chat.say_once(said) else 1
            return await chat.talk()
        finally:
            await chat.close()


def _face(arguments: Namespace, shelf: "ChatShelf", settings: Settings) -> "PlainFace":
    from nacre.cli.chat.face import PlainFace

    if arguments.prompt is not None:
        return PlainFace()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return PlainFace(sys.stdin.readline)
    if any(find_spec(name) is None for name in _NEEDED):
        raise InvalidInput(
            "a chat in a terminal needs prompt_toolkit and rich",
            "install them: pip install 'nacre[chat]'; or say one thing: nacre chat -p '…'",
        )
    from nacre.cli.chat.terminal_face import LiveView, TerminalFace

    view = LiveView(
        settings.chat_show_rows,
        settings.chat_show_after,
        settings.chat_show_quiet,
        settings.chat_show_redraw,
    )
    return TerminalFace(shelf.history, view)


def _endpoint(settings: Settings, model: str | None) -> "Endpoint | None":
    """Return the model that the settings name, or None when they name none."""
    from nacre.cli.chat.endpoint import Endpoint

    name = model or settings.chat_model
    if not name:
        return None
    return Endpoint(
        settings.chat_api,
        settings.chat_url,
        name,
        _key(settings),
        settings.chat_answer_tokens,
        settings.chat_silence,
        settings.chat_connect,
    ).checked()


def _key(settings: Settings) -> str:
    """Return the key. The maker's variable counts for the maker's endpoint alone.

    Raises InvalidInput when it is in a variable that is not set.
    """
    given = settings.chat_key
    if given.startswith("$"):
        variable = given[1:].strip("{}")
        if variable not in os.environ:
            raise InvalidInput(f"chat_key is {given}, and ${variable} is not set")
        return os.environ[variable]
    if given or settings.chat_url:
        return given
    return os.environ.get(_OWN_KEYS[settings.chat_api], "")
