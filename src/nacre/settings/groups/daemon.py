"""The daemon's own process: its log, its end, its keeper."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.access import AccessSettings

LogFormat = Literal["json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]


class DaemonSettings(AccessSettings, frozen=True, kw_only=True):
    log_level: Annotated[
        LogLevel,
        Meta(description="Lowest level that is logged, on standard error; debug: every message."),
    ] = "info"
    log_format: Annotated[
        LogFormat,
        Meta(description="What a line of the log is: a JSON object, or text for people."),
    ] = "json"
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
    keeper: Annotated[
        bool,
        Meta(
            description=(
                "Run under a keeper, which starts the daemon again when it dies. Sessions do not "
                "notice."
            )
        ),
    ] = True
    keeper_patience: Annotated[
        float,
        Meta(
            ge=0.1,
            description=(
                "Seconds for which a keeper may take nothing that the daemon tells it. Then it "
                "hangs, a crash would lose sessions, and another keeper replaces it."
            ),
        ),
    ] = 10.0
    keeper_messages: Annotated[
        int,
        Meta(
            ge=16,
            description=(
                "Most messages that wait for a keeper that takes nothing. Then it is replaced at "
                "once, because each message may hold a descriptor."
            ),
        ),
    ] = 4096
    home_check: Annotated[
        float,
        Meta(
            ge=60,
            description=(
                "Seconds between two looks whether the daemon's folders, socket and state file "
                "still exist. On Linux it hears of it at once when they are deleted; the look is "
                "for what causes no event, such as an unmounted runtime folder."
            ),
        ),
    ] = 60.0
    stop_patience: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that 'nacre stop' waits for the daemon to end by itself. Then it kills "
                "the daemon and what runs in its sessions, and says so."
            ),
        ),
    ] = 20.0
    end_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that each step of the daemon's end may take: to leave its cluster, to "
                "close its doors, to end its threads. What takes longer is left, and the log "
                "says where it waits; the sessions are ended in any case."
            ),
        ),
    ] = 5.0
