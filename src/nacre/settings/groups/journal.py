"""The journal: what is recorded, and for how long."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.mcp import McpSettings


class JournalSettings(McpSettings, frozen=True, kw_only=True):
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
    journal_retry: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which a journal that has stopped, mostly because the disk was full, "
                "is written again. Each try costs a full disk a few writes."
            ),
        ),
    ] = 10.0
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
    replay_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that a replay may take after a crash, in a process of its own. If it "
                "takes longer, the journal is put aside, and the session starts with an empty "
                "screen. A segment takes less than one, on a busy machine a few."
            ),
        ),
    ] = 20.0
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
    search_time: Annotated[
        float,
        Meta(
            gt=0,
            le=50,
            description=(
                "Seconds that one search over sessions may take. What was not searched by then is "
                "said, and the next search goes on there. 20 MB of output take 4 s the first time."
            ),
        ),
    ] = 10.0
    search_memory_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description=(
                "Bytes of text that the process that searches keeps for the next search. With "
                "less, a search over more output replays it again."
            ),
        ),
    ] = 64 * 1024 * 1024
    search_idle: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds after the last search until the process that searches ends, and its "
                "memory is free."
            ),
        ),
    ] = 60.0
