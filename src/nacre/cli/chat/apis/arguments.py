"""The arguments of a tool call, which come in pieces of JSON."""

import json
from typing import Any

from nacre.cli.chat.apis.events import BadAnswer
from nacre.cli.chat.conversation import ModelCall


class CallInPieces:
    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def whole(self) -> ModelCall:
        """Return the call. Raises BadAnswer when its arguments are no JSON object."""
        text = "".join(self._pieces)
        try:
            arguments: Any = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            raise BadAnswer(
                f"the model called {self.name} with broken JSON: {text[:200]}"
            ) from None
        if not isinstance(arguments, dict):
            raise BadAnswer(f"the model called {self.name} with {text[:200]} for its arguments")
        return ModelCall(self.id, self.name, arguments)
