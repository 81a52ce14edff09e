"""What was said in a chat, in no API's own form.

Rule 1: after a message that calls tools come the results of all its calls, or the APIs refuse the
whole conversation. `mended` makes that true of one that was cut off.
Rule 2: messages are only added; compaction puts a summary before the last exchange.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

Role = Literal["user", "assistant", "tool"]

CUT_OFF = "The person stopped this call before it answered."
_CHARACTERS_A_TOKEN = 4  # of English; other texts have more tokens


class ModelCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    arguments: dict[str, Any]


class Image(msgspec.Struct, frozen=True):
    media_type: str
    data: str  # base64


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    role: Role
    text: str = ""
    calls: tuple[ModelCall, ...] = ()  # of an assistant
    call_id: str = ""  # of a tool: which call it answers
    failed: bool = False
    images: tuple[Image, ...] = ()

    @property
    def size(self) -> int:
        """About how many tokens it has. An image counts as a thousand."""
        arguments = sum(len(msgspec.json.encode(call.arguments)) for call in self.calls)
        return (len(self.text) + arguments) // _CHARACTERS_A_TOKEN + 1000 * len(self.images)


class Conversation(msgspec.Struct):
    messages: list[ChatMessage] = []
    tokens_in: int = 0  # of the last request, as the endpoint counted
    tokens_out: int = 0  # of all answers

    def say(self, text: str) -> None:
        # Words without an answer (the chat was killed) are said with these: some endpoints refuse
        # two turns of one speaker.
        if self.messages and self.messages[-1].role == "user":
            text = f"{self.messages.pop().text}\n\n{text}"
        self.messages.append(ChatMessage("user", text))

    def answer(self, text: str, calls: Iterable[ModelCall] = ()) -> None:
        self.messages.append(ChatMessage("assistant", text, tuple(calls)))

    def result(
        self, call: ModelCall, text: str, *, failed: bool = False, images: tuple[Image, ...] = ()
    ) -> None:
        self.messages.append(
            ChatMessage("tool", text, call_id=call.id, failed=failed, images=images)
        )

    @property
    def size(self) -> int:
        """About how many tokens a request has now."""
        return sum(message.size for message in self.messages)

    def mend(self) -> None:
        """Answer the calls that were cut off."""
        answered = {message.call_id for message in self.messages if message.role == "tool"}
        mended: list[ChatMessage] = []
        for message in self.messages:
            mended.append(message)
            mended.extend(
                ChatMessage("tool", CUT_OFF, call_id=call.id, failed=True)
                for call in message.calls
                if call.id not in answered
            )
        self.messages = mended

    def drop_last_exchange(self) -> None:
        """Take back the person's last words and what came of them."""
        while self.messages and self.messages.pop().role != "user":
            pass

    def compact(self, summary: str) -> None:
        """Put a summary in the place of all but the last exchange."""
        last = next(
            (
                at
                for at in range(len(self.messages) - 1, -1, -1)
                if self.messages[at].role == "user"
            ),
            len(self.messages),
        )
        kept = self.messages[last:]
        self.messages = [
            ChatMessage("user", f"What we did so far, in short:\n{summary}"),
            ChatMessage("assistant", "I know what we did so far."),
            *kept,
        ]
