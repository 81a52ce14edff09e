"""Runs: how a shell is driven, and how much of their output is kept."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.journal import JournalSettings


class RunSettings(JournalSettings, frozen=True, kw_only=True):
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
    shell_answer_wait: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds that a command waits for a shell that is asked whether it is at "
            "its prompt, because its marks are gone or keys were pressed. It answers at once, "
            "unless a prompt command keeps it busy; a slow one (git, a network folder) takes "
            "seconds.",
        ),
    ] = 10.0
    mark_wait: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds that a command in a wrapper waits for its mark. If none comes, it "
            "is typed once more, in the syntax of another shell. A slow connection (ssh) takes up "
            "to a second.",
        ),
    ] = 3.0
    repl_echo_wait: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds that a line waits for its echo in a REPL before Enter is pressed. "
            "One that shows nothing of it costs this much for each line.",
        ),
    ] = 1.0
    repl_prompt_wait: Annotated[
        float,
        Meta(
            ge=0,
            le=600,
            description="Seconds that a REPL has to show its prompt again after a command that was "
            "incomplete. It is tried three times.",
        ),
    ] = 1.0
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
    max_pattern_chars: Annotated[
        int,
        Meta(
            ge=100,
            description=(
                "Longest text or regular expression to wait for or to find. What a search takes "
                "grows with its length, too."
            ),
        ),
    ] = 4096
    find_time: Annotated[
        float,
        Meta(
            gt=0,
            le=60,
            description="Seconds that one search in the output of a run may take; the answer says "
            "where to go on. 100 MB take about one.",
        ),
    ] = 5.0
    max_activity: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Most commands of a session that are listed with who ran them "
            "(`list_activity`); the oldest are dropped.",
        ),
    ] = 500
    max_activity_chars: Annotated[
        int,
        Meta(ge=1, description="Most characters of a command in that list."),
    ] = 2000
    max_runs: Annotated[
        int,
        Meta(
            ge=1,
            description="Most runs that can be read by their run_id; the oldest are forgotten "
            "first.",
        ),
    ] = 1000
