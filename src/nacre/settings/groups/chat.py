"""The model that `nacre chat` talks to, and how far it goes by itself."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.upstream import UpstreamSettings


class ChatSettings(UpstreamSettings, frozen=True, kw_only=True):
    chat_api: Annotated[
        Literal["anthropic", "openai"],
        Meta(
            description=(
                "API that the model's endpoint speaks: Anthropic's Messages, or OpenAI's Chat "
                "Completions, which most other servers speak too."
            )
        ),
    ] = "anthropic"
    chat_url: Annotated[
        str,
        Meta(
            description=(
                "Address of the endpoint, with or without /v1: http://127.0.0.1:11434/v1. Without "
                "it, the one of the API's maker."
            )
        ),
    ] = ""
    chat_model: Annotated[
        str,
        Meta(description="Name of the model. Without one, a chat is a console for calling tools."),
    ] = ""
    chat_key: Annotated[
        str,
        Meta(
            description=(
                "Key of the endpoint, or $NAME for the one in an environment variable. Without it, "
                "ANTHROPIC_API_KEY or OPENAI_API_KEY, unless chat_url names another endpoint."
            )
        ),
    ] = ""
    chat_toolsets: Annotated[
        str,
        Meta(description="Toolsets that the model of a chat gets, separated by commas."),
    ] = "agent,upstream"
    chat_answer_tokens: Annotated[
        int,
        Meta(ge=1, description="Most tokens of one answer; the APIs want such a limit."),
    ] = 8192
    chat_compact_tokens: Annotated[
        int,
        Meta(
            ge=1000,
            description=(
                "Tokens of a chat at which a summary takes the place of what was said. Models take "
                "more, but each request sends all of it."
            ),
        ),
    ] = 120_000
    chat_rounds: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most times in a row that the model may call tools before the person says "
                "something, so that a model that goes in circles stops."
            ),
        ),
    ] = 50
    chat_connect: Annotated[
        float,
        Meta(gt=0, description="Seconds for the connection to the model's endpoint."),
    ] = 10.0
    chat_show_after: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds until the terminal that a tool drives is shown in a chat: what is over "
                "sooner is not worth the flicker."
            ),
        ),
    ] = 0.7
    chat_show_rows: Annotated[
        int,
        Meta(ge=0, description="Last rows of that terminal that are shown; 0 shows none."),
    ] = 10
    chat_show_quiet: Annotated[
        float,
        Meta(
            gt=0,
            description="Seconds without output until the terminal in a chat is drawn again.",
        ),
    ] = 0.1
    chat_show_redraw: Annotated[
        float,
        Meta(
            gt=0,
            description="Seconds until one that prints all the time is drawn again.",
        ),
    ] = 1.0
    chat_message_bytes: Annotated[
        int,
        Meta(
            ge=65_536,
            description=(
                "Longest answer of a tool that a chat takes. A screenshot is long; without a "
                "bound, one answer could take all memory."
            ),
        ),
    ] = 64 * 1024 * 1024
    chat_silence: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that an endpoint may say nothing before the chat gives up on its answer. "
                "A large model takes long to begin."
            ),
        ),
    ] = 120.0
