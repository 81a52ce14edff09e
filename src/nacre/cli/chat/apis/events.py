"""What a model's answer is made of, in the order in which it comes."""

from typing import NamedTuple

from nacre.cli.chat.conversation import ModelCall


class TextPiece(NamedTuple):
    """A piece of the answer's text."""

    text: str


class Calls(NamedTuple):
    """A tool that the model wants to be called, whole."""

    call: ModelCall


class Usage(NamedTuple):
    """How many tokens it took; None where the endpoint does not say yet."""

    tokens_in: int | None
    tokens_out: int | None


class Done(NamedTuple):
    """The end of an answer."""

    cut: bool  # whether it ended because it was too long


ModelEvent = TextPiece | Calls | Usage | Done


class BadAnswer(Exception):
    """The endpoint said something that its API does not say, or reported an error."""


class ModelTool(NamedTuple):
    """A tool as models are told of it."""

    name: str
    description: str
    schema: dict[str, object]
