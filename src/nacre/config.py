"""The one table of settings.

Rule 1: a setting is stated here and nowhere else: NACRE_<NAME>, config.toml, flags and
docs/configuration.md follow from the fields of Settings; sources.py reads them.
Rule 2: every limit is a setting, with its reason in its description.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

LogLevel = Literal["debug", "info", "warning", "error"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="TCP port of the daemon on loopback. When it is taken, the next free one "
            "below it is used (20000 and up are sessions'). 0: any free port.",
        ),
    ] = 19999
    token: (
        Annotated[
            str,
            Meta(
                min_length=16,
                description="Bearer token of the TCP doors, instead of the one in the token file. "
                "At least 16 characters, so that it cannot be guessed.",
            ),
        ]
        | None
    ) = None
    max_wrong_tokens: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Wrong tokens in a minute at the page's login, after which none is looked "
            "at: even a token of 16 characters is not found by trying.",
        ),
    ] = 20
    ticket_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            description="Seconds that a ticket for a WebSocket is good: it stands in an address, "
            "which may be logged, and is asked for right before it is used.",
        ),
    ] = 30
    code_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=86400,
            description="Seconds that the address which `nacre web` prints lets a browser in: "
            "somebody may have to find the browser first.",
        ),
    ] = 600
    log_level: Annotated[
        LogLevel,
        Meta(description="Least severe level that is logged (JSON lines, on standard error)."),
    ] = "info"
    grace: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that a daemon which was started on demand waits without clients "
            "before it ends. 0: it ends with its last client.",
        ),
    ] = 60.0
    shell: (
        Annotated[
            str,
            Meta(
                description="Shell of a session without a command. Default: $SHELL, else /bin/sh."
            ),
        ]
        | None
    ) = None
    max_sessions: Annotated[
        int,
        Meta(
            ge=1,
            description="Sessions at once; each takes five descriptors and up to 7 MB.",
        ),
    ] = 100
    idle_timeout: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds after which a session that nobody named, in which nothing runs "
            "and to which nobody wrote, is ended. 0: never.",
        ),
    ] = 1800.0
    ended_keep: Annotated[
        float,
        Meta(
            ge=0, description="Seconds that an ended session stays readable before it is aged out."
        ),
    ] = 3600.0
    max_ended: Annotated[
        int,
        Meta(ge=0, description="Ended sessions kept at most, the oldest go first: bounds memory."),
    ] = 100
    scrollback: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description="Lines kept above the screen; 10,000 take 6 to 7 MB."),
    ] = 10_000
    first_session_port: Annotated[
        int,
        Meta(
            ge=1024, le=65000, description="Session ports count up from here, skipping taken ones."
        ),
    ] = 20000
    max_input_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description="Largest input of one call. More belongs into a file: a terminal takes it "
            "line by line.",
        ),
    ] = 2 * 1024 * 1024
    max_pending_input_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description="Input that waits for a child which does not read, before further input is "
            "refused: bounds memory.",
        ),
    ] = 8 * 1024 * 1024
    max_message_bytes: Annotated[
        int,
        Meta(ge=65536, description="Largest request on any door, measured before it is parsed."),
    ] = 32 * 1024 * 1024
    max_result_chars: Annotated[
        int,
        Meta(
            ge=1000,
            description="Characters of text in one answer when the caller sets no max_chars: more "
            "is no use to a model, and hosts refuse large answers.",
        ),
    ] = 250_000
    max_elements: Annotated[
        int,
        Meta(
            ge=0,
            description="Overlays and panels of one session: each is drawn in every frame for "
            "everybody who watches.",
        ),
    ] = 100
    max_element_chars: Annotated[
        int,
        Meta(ge=100, description="Characters of text in one overlay or panel: a screen has 2000."),
    ] = 20_000
    max_captured_keys: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Captured keys of one session kept for an agent that asks late, some 100 "
            "bytes each; the oldest go first.",
        ),
    ] = 1000
    control_wait: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that what others type waits while a person drives a session, "
            "before it fails: hosts give up on longer calls.",
        ),
    ] = 25.0
    max_handover_commands: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Commands that an agent is told of when a person gives a session back, the "
            "last ones: more is what the scrollback is for.",
        ),
    ] = 20
    max_requests: Annotated[
        int,
        Meta(
            ge=1,
            description="Requests of one WebSocket or one command line that run at once; further "
            "ones wait for their turn: one client does not keep the others waiting.",
        ),
    ] = 64
    max_waiting_requests: Annotated[
        int,
        Meta(
            ge=1,
            description="Requests of one WebSocket that run or wait; further ones are refused: "
            "bounds memory.",
        ),
    ] = 1000
    max_subscriptions: Annotated[
        int,
        Meta(
            ge=1,
            description="Subscriptions of one WebSocket: two for each of 100 sessions, and some; "
            "each is a task and a queue.",
        ),
    ] = 256
    max_watched_resources: Annotated[
        int,
        Meta(
            ge=1,
            description="Resources that one MCP client can subscribe to: each is looked at with "
            "every change.",
        ),
    ] = 1000
    notify_interval: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="Seconds between two notifications about one resource to one MCP client: "
            "a host reads the resource after each.",
        ),
    ] = 0.1
    event_queue: Annotated[
        int,
        Meta(
            ge=10,
            description="Events that wait for a follower who does not read; beyond that they are "
            "dropped and it is told everything anew: bounds memory.",
        ),
    ] = 1000
    max_picture_pixels: Annotated[
        int,
        Meta(
            ge=100_000,
            description="Width times height of a screenshot: 16 million take 48 MB while it is "
            "painted, and hosts refuse or shrink larger ones.",
        ),
    ] = 16_000_000
    max_wait: Annotated[
        float,
        Meta(
            ge=1,
            description="Longest wait in seconds of one call; hosts hang on longer ones.",
        ),
    ] = 3600.0
    journal: Annotated[
        bool,
        Meta(
            description="Record what sessions print, for recovery after a crash, recordings and "
            "earlier screens. Passwords and other input that is not shown are never recorded."
        ),
    ] = True
    journal_pause: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="Seconds that output waits in memory to be written to the journal together "
            "with more. Longer: fewer writes on a slow disk; a crash of the daemon loses none of "
            "it, one of the machine does.",
        ),
    ] = 0.2
    journal_segment_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description="Bytes after which the journal begins its next segment with the whole "
            "screen: what is more would have to be replayed after a crash (17 to 50 ms/MB).",
        ),
    ] = 4 * 1024 * 1024
    journal_replay: Annotated[
        float,
        Meta(
            gt=0,
            description="Seconds that the engine took for the output of a segment, after which the "
            "next one begins too: what is costly to draw is costly to replay after a crash.",
        ),
    ] = 0.05
    journal_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description="Bytes of journal kept for a session; the oldest segments go first.",
        ),
    ] = 32 * 1024 * 1024
    journal_age: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that a segment of the journal is kept once the next has begun. "
            "0: for as long as the session.",
        ),
    ] = 7 * 86400.0
    lost_keep: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that a session which was lost with its daemon stays listed, so "
            "that it can be restored.",
        ),
    ] = 7 * 86400.0
    keeper: Annotated[
        bool,
        Meta(
            description="Run under a keeper, which starts the daemon again when it dies; sessions "
            "do not notice."
        ),
    ] = True
    read_buffer_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description="Bytes that busy sessions together read in one turn of the loop. Larger: "
            "more throughput; smaller: less delay for the others.",
        ),
    ] = 32 * 1024
    max_viewer_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description="Output that waits for a viewer who reads slowly, before it is dropped and "
            "replaced by a fresh screen: bounds memory, and how far behind a viewer can be.",
        ),
    ] = 256 * 1024
    frame_rate: Annotated[
        float,
        Meta(
            ge=1,
            le=240,
            description="Times a second that a viewer is told something: screens are drawn by 60. "
            "Fewer: less work for many viewers and slow lines. After a pause nothing waits.",
        ),
    ] = 60.0
    frame_bytes: Annotated[
        int,
        Meta(
            ge=8192,
            description="Bytes of output that all viewers of a session together get in one frame; "
            "who is due more gets a fresh screen: what it costs to send is taken from the "
            "session's speed.",
        ),
    ] = 128 * 1024
    shell_integration: Annotated[
        bool,
        Meta(
            description="Start bash, zsh and fish so that they mark prompts and commands; without "
            "it ends of commands are known by a wrapper around each.",
        ),
    ] = True
    send_quiet: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds of silence after which `send` returns where no mark can come.",
        ),
    ] = 0.15
    run_memory_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description="Output of a run kept in memory, half of it from its beginning, half from "
            "its end; all of a longer one goes to disk.",
        ),
    ] = 512 * 1024
    max_run_bytes: Annotated[
        int,
        Meta(ge=0, description="Output of one run kept on disk; what is more is counted and lost."),
    ] = 256 * 1024 * 1024
    max_runs_bytes: Annotated[
        int,
        Meta(ge=0, description="Output of all runs kept on disk; the oldest go first."),
    ] = 1024 * 1024 * 1024
    max_runs: Annotated[
        int,
        Meta(ge=1, description="Runs remembered by their run_id; the oldest go first."),
    ] = 1000
    kill_grace: Annotated[
        float,
        Meta(ge=0, description="Seconds between the hangup and the kill when a session is ended."),
    ] = 1.0
    max_log_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description="Size at which the log file of a daemon in the background is set aside; "
            "one older file is kept.",
        ),
    ] = 5 * 1024 * 1024
    compress_after: Annotated[
        float,
        Meta(
            ge=0,
            description="Quiet seconds after which a session's scrollback is packed. 0: never.",
        ),
    ] = 30.0


def setting_names() -> tuple[str, ...]:
    return Settings.__struct_fields__


def environment_name(setting: str) -> str:
    return f"NACRE_{setting.upper()}"
