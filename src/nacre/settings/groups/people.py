"""People at a session: what they are shown, and what happens while one of them drives."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.limits import LimitSettings


class PeopleSettings(LimitSettings, frozen=True, kw_only=True):
    max_elements: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most overlays and panels in one session. Each is drawn in every frame, for every "
                "viewer."
            ),
        ),
    ] = 100
    max_element_chars: Annotated[
        int,
        Meta(
            ge=100,
            description="Most characters of text in one overlay or panel. A screen has about 2000.",
        ),
    ] = 20_000
    max_captured_keys: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description=(
                "Captured keys kept for each session until an agent asks for them, about 100 "
                "bytes each. The oldest are dropped first."
            ),
        ),
    ] = 1000
    control_wait: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that input from others waits while a person drives a session, before it "
                "fails. Hosts give up on longer calls."
            ),
        ),
    ] = 25.0
    lease_patience: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that a session stays a person's when the daemon was restarted "
            "while they drove, until their page or terminal is back: both try for 10.",
        ),
    ] = 15.0
    lease_idle: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds after which a person who drives and types nothing gives the "
            "session back: agents wait meanwhile, and people forget. 0: never.",
        ),
    ] = 900.0
    max_told_agents: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Most agents of a session whose news of hand-overs is remembered. Others "
            "are told of the last one again.",
        ),
    ] = 64
    max_handover_commands: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description=(
                "Most commands that a hand-over lists when a person gives a session back, counted "
                "from the last. Older ones are in the scrollback."
            ),
        ),
    ] = 20
    max_handover_chars: Annotated[
        int,
        Meta(
            ge=500,
            le=4000,
            description="Characters of what an agent is told when a person gives a session back; "
            "they are taken from those of the answer that it comes with (max_result_chars).",
        ),
    ] = 1500
    viewer_beat: Annotated[
        float,
        Meta(
            ge=0.05,
            le=60,
            description="Seconds between two heartbeats to a web page, which cannot see a "
            "WebSocket's own pings.",
        ),
    ] = 2.0
    viewer_silence: Annotated[
        float,
        Meta(
            ge=0.1,
            le=600,
            description="Seconds without a heartbeat after which a page says that it hears "
            "nothing, and connects again. Keys that were under way for longer are "
            "not typed: the screen may have changed.",
        ),
    ] = 6.0
    wall_interval: Annotated[
        float,
        Meta(
            ge=0.05,
            le=60,
            description="Least seconds between two pictures of the page's wall, for all sessions "
            "together. Each costs about half a millisecond a session.",
        ),
    ] = 0.5
    max_viewer_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Most output that waits for a slow viewer. After that it is dropped and replaced "
                "by a fresh screen. This bounds memory, and how far a viewer can fall behind."
            ),
        ),
    ] = 256 * 1024
    viewer_ahead: Annotated[
        int,
        Meta(
            ge=16384,
            description="Most bytes that are sent to a web page before it has drawn them. More "
            "would wait in the system's buffers for seconds, and with it what a key does.",
        ),
    ] = 64 * 1024
    frame_rate: Annotated[
        float,
        Meta(
            ge=1,
            le=240,
            description=(
                "Most updates per second for a viewer; most displays draw 60. A lower rate means "
                "less work with many viewers or a slow connection. The first output after a pause "
                "is never delayed."
            ),
        ),
    ] = 60.0
    frame_bytes: Annotated[
        int,
        Meta(
            ge=8192,
            description=(
                "Most bytes of output that all viewers of a session together get in one frame. If "
                "there is more, they get a fresh screen instead, because sending takes time that "
                "the session needs."
            ),
        ),
    ] = 128 * 1024
