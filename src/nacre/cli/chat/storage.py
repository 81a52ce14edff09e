"""Chats on disk, so that they can be resumed: one file each, readable by their owner alone."""

import fcntl
import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from nacre.cli.chat.conversation import Conversation
from nacre.errors import InvalidInput
from nacre.settings.paths import Paths, make_private

_TITLE = 60  # characters


class StoredChat(msgspec.Struct):
    """A chat as it lies on disk."""

    id: str
    started: float
    model: str
    conversation: Conversation
    folder: str = ""

    @property
    def title(self) -> str:
        said = next((one.text for one in self.conversation.messages if one.role == "user"), "")
        return " ".join(said.split())[:_TITLE]


class ChatShelf:
    def __init__(self, paths: Paths) -> None:
        self._folder = os.path.join(paths.state, "chats")

    @property
    def history(self) -> str:
        """Return the file of what the person typed."""
        make_private(self._folder)
        return os.path.join(self._folder, "history")

    def new(self, model: str) -> StoredChat:
        now = time.time()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
        chat_id = f"{stamp}-{secrets.token_hex(2)}"
        return StoredChat(chat_id, now, model, Conversation(), os.getcwd())

    @asynccontextmanager
    async def held(self, chat: StoredChat) -> AsyncIterator[None]:
        """Keep a chat for this process. Raises InvalidInput while it goes on in another one: each
        would write over what the other has said.
        """
        make_private(self._folder)
        path = os.path.join(self._folder, f"{chat.id}.lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InvalidInput(
                    f"the chat {chat.id} goes on in another terminal",
                    "leave it there, or begin a new one: nacre chat",
                ) from None
            try:
                yield
            finally:
                with suppress(OSError):
                    os.unlink(path)
        finally:
            os.close(descriptor)

    def save(self, chat: StoredChat) -> None:
        """Write a chat in the place of its last version; one in which nothing was said is none."""
        if not chat.conversation.messages:
            return
        make_private(self._folder)
        path = os.path.join(self._folder, f"{chat.id}.json")
        descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(chat))
        os.replace(f"{path}.new", path)

    def all(self) -> list[StoredChat]:
        """Return the chats that can be resumed, newest first; a damaged one is left out."""
        found = []
        for name in self._names():
            try:
                with open(os.path.join(self._folder, name), "rb") as file:
                    found.append(msgspec.json.decode(file.read(), type=StoredChat))
            except (OSError, msgspec.DecodeError):
                continue
        return sorted(found, key=lambda chat: (chat.started, chat.id), reverse=True)

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if name.endswith(".json")]
        except FileNotFoundError:
            return []

    def find(self, wanted: str) -> StoredChat:
        """Return a chat by its id, the beginning of it, or `last`. Raises InvalidInput."""
        chats = self.all()
        fitting = chats[:1] if wanted == "last" else [c for c in chats if c.id.startswith(wanted)]
        if len(fitting) != 1:
            what = "several chats begin" if fitting else "no chat begins"
            raise InvalidInput(
                "there is no chat yet" if wanted == "last" else f"{what} with {wanted!r}",
                "list them with: nacre chat --list",
            )
        fitting[0].conversation.mend()
        return fitting[0]
