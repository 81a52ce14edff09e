"""A chat, from its first word to its last: what the person types goes to a model or to the chat.

Rule 1: without a model it is a console: slash commands work, and words are answered with how to set
a model.
Rule 2: Ctrl+C stops the answer, and the tool that it waits for, not the chat.
"""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import httpx2

from nacre.cli.chat.desk import Desk
from nacre.cli.chat.endpoint import Endpoint
from nacre.cli.chat.face import Face
from nacre.cli.chat.model_turn import ModelTurn
from nacre.cli.chat.slash import SlashCommands
from nacre.cli.chat.storage import ChatShelf, StoredChat

NO_MODEL = (
    "no model is set. Name one by the settings chat_model, chat_key and, if it is not Anthropic's, "
    "chat_url; or call tools yourself: /tools lists them, /call calls one"
)


class Chat:
    def __init__(
        self,
        face: Face,
        desk: Desk,
        shelf: ChatShelf,
        stored: StoredChat,
        endpoint: Endpoint | None,
        *,
        rounds: int,
        compact_at: int,
    ) -> None:
        self._face = face
        self._desk = desk
        self._shelf = shelf
        self._stored = stored
        self._endpoint = endpoint
        self._rounds = rounds
        self._compact_at = compact_at
        self._leaving = False
        self._client = httpx2.AsyncClient()
        self._slash = SlashCommands(face, desk, self)

    async def close(self) -> None:
        await self._client.aclose()

    async def talk(self) -> int:
        """Take what the person says until they leave; return the exit code."""
        code = 0
        model = f"model: {self.model}" if self.model else NO_MODEL
        self._face.welcome(f"{model}\n/help shows the commands, Ctrl+D leaves")
        while not self._leaving and (line := await self._face.line()) is not None:
            if not line.strip():
                continue
            done = await self._stoppable(self.say(line))
            code = 0 if done else 1
        return code

    async def _stoppable(self, work: Coroutine[Any, Any, bool]) -> bool:
        loop = asyncio.get_running_loop()
        task = loop.create_task(work)
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            self._face.say("[stopped]")
            return False
        finally:
            with suppress(ValueError):
                loop.remove_signal_handler(signal.SIGINT)
            self._shelf.save(self._stored)

    async def say_once(self, line: str) -> bool:
        """Say one thing, without a terminal; Ctrl+C stops it. Return whether it went well."""
        if not line.strip():
            self._face.complain("there is nothing to say")
            return False
        return await self._stoppable(self.say(line))

    async def say(self, line: str) -> bool:
        """Do what a line says; return whether it went well."""
        if (command := line.strip()).startswith("/"):
            return await self._slash.run(command)
        if self._endpoint is None:
            self._face.complain(NO_MODEL)
            return False
        if self._tokens() > self._compact_at and self._is_compactable:
            self._face.say("[the chat is long: it goes on from a summary]")
            await self.compact()
        return await self._exchange().go(self._endpoint, line, self._rounds)

    def _keep(self) -> None:
        """Save what was said so far, so that a chat that is killed can be resumed."""
        try:
            self._shelf.save(self._stored)
        except OSError as error:
            self._face.complain(f"the chat cannot be saved: {error.strerror or error}")

    def _exchange(self) -> ModelTurn:
        return ModelTurn(
            self._client, self._stored.conversation, self._desk, self._face, self._keep
        )

    def _tokens(self) -> int:
        conversation = self._stored.conversation
        return max(conversation.tokens_in, conversation.size)

    # --- what slash commands ask for ---------------------------------------------------------

    @property
    def model(self) -> str:
        return self._endpoint.model if self._endpoint is not None else ""

    def change_model(self, name: str) -> None:
        if self._endpoint is None:
            self._face.complain(NO_MODEL)
            return
        self._endpoint = self._endpoint._replace(model=name)
        self._stored.model = name

    def usage(self) -> str:
        conversation = self._stored.conversation
        counted = conversation.tokens_in
        size = f"{counted} tokens" if counted else f"about {conversation.size} tokens"
        return (
            f"{size} in the chat, {conversation.tokens_out} answered; "
            f"a summary takes its place at {self._compact_at} (chat_compact_tokens)"
        )

    @property
    def _is_compactable(self) -> bool:
        """Whether there is more than the last exchange, which stays as it is."""
        return len(self._stored.conversation.messages) > 2

    async def compact(self) -> None:
        if self._endpoint is None:
            self._face.complain(NO_MODEL)
        elif not self._is_compactable:
            self._face.say("[there is nothing to summarise: the last exchange stays as it is]")
        elif await self._exchange().compact(self._endpoint):
            self._face.say(f"[{self.usage()}]")

    def start_again(self) -> None:
        self._shelf.save(self._stored)
        self._stored = self._shelf.new(self.model)

    def leave(self) -> None:
        self._leaving = True
