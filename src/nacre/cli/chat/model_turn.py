"""One exchange: the person's words, the model's answers, and the tools that it calls meanwhile.

Rule 1: what a tool answered goes to the model as it is, a refusal too: it can then do otherwise.
Rule 2: when the person stops it, the conversation stays whole: calls without an answer get one.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import httpx2

from nacre.cli.chat.apis.events import BadAnswer, Calls, Done, ModelTool, TextPiece, Usage
from nacre.cli.chat.conversation import Conversation, ModelCall
from nacre.cli.chat.desk import Desk
from nacre.cli.chat.endpoint import Endpoint, ask
from nacre.cli.chat.face import Face

SYSTEM = (
    "You work for a person in nacre, which gives you real terminal sessions and the tools of MCP "
    "servers. Use the tools when they help, say shortly what you do, and answer in plain text: it "
    "is read in a terminal. Each call may be refused by the person: then ask, or do otherwise."
)
_SUMMARISE = (
    "Write a short summary of our conversation so far, from which you could go on with the work: "
    "what the person wants, what was done, which files, sessions and commands matter, what is "
    "open. Answer with the summary alone."
)


class _TurnAnswer(NamedTuple):
    calls: list[ModelCall]
    cut: bool


class ModelTurn:
    def __init__(
        self,
        client: httpx2.AsyncClient,
        conversation: Conversation,
        desk: Desk,
        face: Face,
        keep: Callable[[], None],
    ) -> None:
        """`keep` saves the conversation as it is."""
        self._client = client
        self._conversation = conversation
        self._desk = desk
        self._face = face
        self._keep = keep

    async def go(self, endpoint: Endpoint, text: str, rounds: int) -> bool:
        """Say it to the model, and do what it wants. Return whether that went well.

        Raises CancelledError when the person stops it; the conversation is whole all the same.
        """
        conversation = self._conversation
        conversation.say(text)
        try:
            for _ in range(rounds):
                self._keep()
                answer = await self._answer(endpoint, await self._desk.tools())
                if not answer.calls:
                    if answer.cut:
                        self._face.complain(
                            f"the answer was cut at {endpoint.most} tokens (chat_answer_tokens); "
                            "say 'go on'"
                        )
                    return True
                for call in answer.calls:
                    outcome = await self._desk.call(call.name, call.arguments)
                    conversation.result(
                        call, outcome.text, failed=outcome.failed, images=outcome.images
                    )
            self._face.complain(
                f"stopped after {rounds} rounds of tools (chat_rounds); say 'go on' for more"
            )
            return False
        except BadAnswer as error:
            self._face.complain(str(error))
            if conversation.messages[-1].role == "user":
                conversation.drop_last_exchange()
            return False
        finally:
            conversation.mend()

    async def _answer(self, endpoint: Endpoint, tools: list[ModelTool]) -> _TurnAnswer:
        said: list[str] = []
        calls: list[ModelCall] = []
        cut = False
        conversation = self._conversation
        try:
            async for event in ask(self._client, endpoint, SYSTEM, conversation.messages, tools):
                match event:
                    case TextPiece(text):
                        said.append(text)
                        self._face.words(text)
                    case Calls(call):
                        calls.append(call)
                    case Usage(tokens_in, tokens_out):
                        conversation.tokens_in = tokens_in or conversation.tokens_in
                        conversation.tokens_out += tokens_out or 0
                    case Done(cut):
                        pass
        except (BadAnswer, asyncio.CancelledError):
            if said:
                conversation.answer("".join(said))
            raise
        finally:
            if said and not said[-1].endswith("\n"):
                self._face.words("\n")
        conversation.answer("".join(said), calls)
        return _TurnAnswer(calls, cut)

    async def compact(self, endpoint: Endpoint) -> bool:
        """Have the model summarise what was said, and go on from the summary."""
        conversation = self._conversation
        asked = Conversation([*conversation.messages])
        asked.say(_SUMMARISE)
        summary: list[str] = []
        try:
            async for event in ask(self._client, endpoint, SYSTEM, asked.messages, ()):
                if isinstance(event, TextPiece):
                    summary.append(event.text)
        except BadAnswer as error:
            self._face.complain(f"the conversation stays as it is: {error}")
            return False
        conversation.compact("".join(summary))
        conversation.tokens_in = 0
        return True
