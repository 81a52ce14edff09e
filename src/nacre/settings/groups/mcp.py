"""The MCP door."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.calls import CallSettings


class McpSettings(CallSettings, frozen=True, kw_only=True):
    max_watched_resources: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most resources that one MCP client can subscribe to. Each is checked at every "
                "change."
            ),
        ),
    ] = 1000
    notify_interval: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description=(
                "Seconds between two notifications about one resource to one MCP client, at "
                "least. A host reads the resource after each of them."
            ),
        ),
    ] = 0.1
    answer_within: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds after which an MCP call is answered, though it may wait longer: "
            "the official TypeScript client gives up at 60, and what it would have been told, such "
            "as a run_id, is lost. A call for more than a minute that asks for progress has its "
            "time. 0: all have.",
        ),
    ] = 55.0
    progress_interval: Annotated[
        float,
        Meta(
            ge=0.05,
            le=30,
            description="Seconds between two progress notifications of an MCP call: a person reads "
            "one a second, and clients that give up after 60 without one hear of it in time.",
        ),
    ] = 1.0
    mcp_replay_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description="Messages of one MCP session over HTTP that are kept for a client whose "
            "stream breaks: it comes back and gets what it missed; bounds memory.",
        ),
    ] = 1024 * 1024
    mcp_load_after: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds without a call after which the daemon loads HTTP's server and the MCP "
                "library, so that the first client that needs them need not wait for them. Loading "
                "takes a second of processor time. 0: load each when the first client asks."
            ),
        ),
    ] = 3.0
    sampling: Annotated[
        bool,
        Meta(
            description="Let suggest_command ask the model of the agent's own host, where it "
            "offers that (MCP's sampling) and no recipe covers a request."
        ),
    ] = True
    sampling_wait: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="Seconds that such a model has for its answer. Many hosts ask their user "
            "first.",
        ),
    ] = 45.0
