"""The one table of settings.

Rule 1: a setting is stated here and nowhere else. NACRE_<NAME>, config.toml, flags and
docs/configuration.md follow from the fields of Settings; sources.py reads the values.
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
            description=(
                "TCP port of the daemon on loopback. If it is taken, the daemon uses the next "
                "free port below it, because 20000 and up belong to sessions. 0: any free port."
            ),
        ),
    ] = 19999
    token: (
        Annotated[
            str,
            Meta(
                min_length=16,
                description=(
                    "Bearer token for the TCP doors, instead of the one in the token file. It "
                    "needs at least 16 characters, so that it cannot be guessed."
                ),
            ),
        ]
        | None
    ) = None
    max_wrong_tokens: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description=(
                "Wrong tokens per minute after which the page's login checks none for a while. "
                "This makes even a token of 16 characters impossible to guess."
            ),
        ),
    ] = 20
    ticket_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            description=(
                "Seconds that a WebSocket ticket is valid. It is short because a ticket is part "
                "of an address, which may be logged, and clients ask for one just before they use "
                "it."
            ),
        ),
    ] = 30
    code_lifetime: Annotated[
        int,
        Meta(
            ge=1,
            le=86400,
            description=(
                "Seconds that the address printed by `nacre web` can be used to log in. It is "
                "long enough for a person to find their browser."
            ),
        ),
    ] = 600
    log_level: Annotated[
        LogLevel,
        Meta(description="Lowest level that is logged (JSON lines on standard error)."),
    ] = "info"
    grace: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a daemon started on demand keeps running after its last client "
                "leaves. 0: it stops with its last client."
            ),
        ),
    ] = 60.0
    shell: (
        Annotated[
            str,
            Meta(
                description=(
                    "Shell for sessions that are created without a command. Default: $SHELL, else "
                    "/bin/sh."
                )
            ),
        ]
        | None
    ) = None
    max_sessions: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most sessions that can run at once. Each takes five file descriptors and up to 7 "
                "MB."
            ),
        ),
    ] = 100
    idle_timeout: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds after which an idle session is ended: a shell at its prompt, without "
                "input or output, that nobody named, keeps or watches. 0: never."
            ),
        ),
    ] = 1800.0
    ended_keep: Annotated[
        float,
        Meta(
            ge=0, description="Seconds that an ended session stays readable before it is removed."
        ),
    ] = 3600.0
    max_ended: Annotated[
        int,
        Meta(
            ge=0,
            description="Most ended sessions to keep; the oldest are removed first. This bounds "
            "memory.",
        ),
    ] = 100
    scrollback: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Lines kept above the screen. 10,000 lines take 6 to 7 MB.",
        ),
    ] = 10_000
    first_session_port: Annotated[
        int,
        Meta(
            ge=1024,
            le=65000,
            description=(
                "First port to try for sessions. Later sessions count up from here and skip ports "
                "that are taken."
            ),
        ),
    ] = 20000
    max_input_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Largest input in one call. Put more than that into a file: a terminal takes "
                "input line by line."
            ),
        ),
    ] = 2 * 1024 * 1024
    max_pending_input_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Most input that waits for a program which does not read. Further input is "
                "refused. This bounds memory."
            ),
        ),
    ] = 8 * 1024 * 1024
    max_message_bytes: Annotated[
        int,
        Meta(ge=65536, description="Largest request at any door, measured before it is parsed."),
    ] = 32 * 1024 * 1024
    max_result_chars: Annotated[
        int,
        Meta(
            ge=5000,
            description=(
                "Most characters of one answer, its JSON included, if the caller sets no "
                "max_chars. Hosts cut longer ones (Codex at 10,000 tokens) or put them aside "
                "(Claude Code at 25,000)."
            ),
        ),
    ] = 30_000
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
    max_told_agents: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Agents of a session of which is known what they were told of hand-overs; "
            "others are told again of the last one.",
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
    max_requests: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Requests from one WebSocket or one command line that run at once; the others "
                "wait their turn. This keeps one client from slowing down the rest."
            ),
        ),
    ] = 64
    max_waiting_requests: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most requests from one WebSocket that run or wait; more are refused. This bounds "
                "memory."
            ),
        ),
    ] = 1000
    max_subscriptions: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most subscriptions on one WebSocket: enough for two on each of 100 sessions, and "
                "some more. Each is a task and a queue."
            ),
        ),
    ] = 256
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
                "Least seconds between two notifications about one resource to one MCP client. A "
                "host reads the resource after each of them."
            ),
        ),
    ] = 0.1
    event_queue: Annotated[
        int,
        Meta(
            ge=10,
            description=(
                "Most events that wait for a subscriber that does not read. After that events are "
                "dropped, and the subscriber gets the whole state again. This bounds memory."
            ),
        ),
    ] = 1000
    max_picture_pixels: Annotated[
        int,
        Meta(
            ge=100_000,
            description=(
                "Largest width times height of a screenshot. 16 million pixels take 48 MB while "
                "they are painted, and hosts refuse or shrink larger pictures."
            ),
        ),
    ] = 16_000_000
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
    max_wait: Annotated[
        float,
        Meta(
            ge=1,
            description="Longest wait of one call, in seconds. Hosts hang on longer calls.",
        ),
    ] = 3600.0
    journal: Annotated[
        bool,
        Meta(
            description=(
                "Record what sessions print, for recovery after a crash, recordings and earlier "
                "screens. Passwords and other input that is not shown are never recorded."
            )
        ),
    ] = True
    journal_pause: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description=(
                "Seconds that output is collected in memory before it is written to the journal. "
                "A longer pause means fewer writes to a slow disk. If the daemon crashes, nothing "
                "of it is lost; if the machine crashes, it is."
            ),
        ),
    ] = 0.2
    journal_segment_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description=(
                "Bytes after which the journal starts its next segment, with the whole screen. A "
                "larger segment takes longer to replay after a crash (17 to 50 ms/MB)."
            ),
        ),
    ] = 4 * 1024 * 1024
    journal_replay: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds of engine time for the output of one segment, after which the journal "
                "starts the next one too. Output that is slow to draw is as slow to replay after "
                "a crash."
            ),
        ),
    ] = 0.05
    journal_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description="Bytes of journal kept for each session; the oldest segments are removed "
            "first.",
        ),
    ] = 32 * 1024 * 1024
    journal_age: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a segment of the journal is kept after the next one has started. 0: "
                "as long as the session."
            ),
        ),
    ] = 7 * 86400.0
    lost_keep: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that a lost session stays listed, so that it can be restored.",
        ),
    ] = 7 * 86400.0
    keeper: Annotated[
        bool,
        Meta(
            description=(
                "Run under a keeper, which starts the daemon again when it dies. Sessions do not "
                "notice."
            )
        ),
    ] = True
    read_buffer_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Bytes that all busy sessions together may read in one turn of the loop. A larger "
                "value gives more throughput, a smaller one less delay for the other sessions."
            ),
        ),
    ] = 32 * 1024
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
    shell_integration: Annotated[
        bool,
        Meta(
            description=(
                "Start bash, zsh and fish so that they mark prompts and commands. Without it, a "
                "wrapper around each command reports its end."
            ),
        ),
    ] = True
    first_prompt_wait: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds that input waits for the first prompt of a shell that was just "
            "started, so that it is not echoed twice. Start-up files rarely take longer.",
        ),
    ] = 5.0
    send_quiet: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds without output after which `send` returns where no mark can come.",
        ),
    ] = 0.15
    run_memory_bytes: Annotated[
        int,
        Meta(
            ge=4096,
            description=(
                "Output of a run that is kept in memory: half from its beginning, half from its "
                "end. If there is more, all of it goes to disk."
            ),
        ),
    ] = 512 * 1024
    max_run_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most output of one run that is kept on disk. Output beyond that is counted, but "
                "lost."
            ),
        ),
    ] = 256 * 1024 * 1024
    max_runs_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most output of all runs together that is kept on disk; the oldest is removed "
                "first."
            ),
        ),
    ] = 1024 * 1024 * 1024
    find_time: Annotated[
        float,
        Meta(
            gt=0,
            le=60,
            description="Seconds that one search in the output of a run may take; the answer says "
            "where to go on. 100 MB take about one.",
        ),
    ] = 5.0
    max_runs: Annotated[
        int,
        Meta(
            ge=1,
            description="Most runs that can be read by their run_id; the oldest are forgotten "
            "first.",
        ),
    ] = 1000
    kill_grace: Annotated[
        float,
        Meta(
            ge=0,
            description="Seconds between the hangup signal and the kill when a session is killed.",
        ),
    ] = 1.0
    max_log_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description=(
                "Size at which the log file of a background daemon is rotated. One older file is "
                "kept."
            ),
        ),
    ] = 5 * 1024 * 1024
    compress_after: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds without output or input after which a session's scrollback is "
                "compressed. 0: never."
            ),
        ),
    ] = 30.0
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
                "Seconds after its start at which the daemon loads the MCP library, so that the "
                "first MCP client need not wait for it. Loading takes a second of processor time. "
                "0: load it when the first client asks."
            ),
        ),
    ] = 3.0


def setting_names() -> tuple[str, ...]:
    return Settings.__struct_fields__


def environment_name(setting: str) -> str:
    return f"NACRE_{setting.upper()}"
