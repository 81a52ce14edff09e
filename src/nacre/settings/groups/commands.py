"""Commands of the catalog: which may run, within which limits, and the NDJSON door to them."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.settings.groups.secrets import SecretSettings


class CommandSettings(SecretSettings, frozen=True, kw_only=True):
    ndjson_enabled: Annotated[
        bool,
        Meta(description="Open the NDJSON door: commands of the catalog as lines of JSON on TCP."),
    ] = False
    ndjson_port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description=(
                "TCP port of the NDJSON door, on loopback alone. If it is taken, the daemon does "
                "not start. 0: any free port."
            ),
        ),
    ] = 9000
    ndjson_auth: Annotated[
        Literal["token", "off"],
        Meta(
            description=(
                "Whether a client of the NDJSON door must give the token in initialize. off: every "
                "user and program of this machine can run the commands of the catalog."
            )
        ),
    ] = "token"
    ndjson_max_clients: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most clients of the NDJSON door at once. A further one gets an error and is "
                "closed."
            ),
        ),
    ] = 5
    ndjson_timeout: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which an idle client of the NDJSON door is closed: one that has "
                "sent nothing and waits for nothing."
            ),
        ),
    ] = 30.0
    ndjson_max_line_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description=(
                "Longest line at the NDJSON door, measured before it is parsed. A longer one is "
                "skipped and answered with an error."
            ),
        ),
    ] = 1024 * 1024
    ndjson_apart: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description=(
                "Most seconds that a message of the NDJSON door waits until its client has read "
                "the one before, if it asks for one thing at a time: simple clients lose what "
                "shares a read. The kernel has no event for that and is asked, so the wait needs "
                "an end: a client that is busy this long gets the message all the same. 0: none "
                "waits."
            ),
        ),
    ] = 1.0
    commands_whitelist: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description=(
                    "Commands of the catalog that may run, separated by commas; all others are "
                    "refused. Without it, every command that is not blacklisted."
                ),
            ),
        ]
        | None
    ) = None
    commands_allow_patterns: Annotated[
        bool,
        Meta(
            description=(
                "Let arguments that are patterns (grep, find, sed, awk) have characters such as * "
                "and $. No shell reads them."
            )
        ),
    ] = False
    max_command_tools: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most commands that the toolset commands lists as tools of their own. With more, "
                "it has three tools that search, describe and call them: each tool of a list "
                "costs a model about 100 tokens."
            ),
        ),
    ] = 120
    command_cpu_seconds: Annotated[
        int,
        Meta(ge=1, description="Processor time of a command's program, in seconds (RLIMIT_CPU)."),
    ] = 30
    command_wall_seconds: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which a command is ended, whatever it does. One that sleeps uses no "
                "processor time and would hold its place for ever."
            ),
        ),
    ] = 300.0
    command_memory_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description=(
                "Address space of a command's program (RLIMIT_AS). Programs that reserve much "
                "(node, java, go) need more to start."
            ),
        ),
    ] = 256 * 1024 * 1024
    command_processes: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Processes that a command may add to those that the machine has (RLIMIT_NPROC, "
                "which counts all of a user's and does not hold for root)."
            ),
        ),
    ] = 10
    command_file_bytes: Annotated[
        int,
        Meta(ge=1, description="Largest file that a command may write (RLIMIT_FSIZE)."),
    ] = 10 * 1024 * 1024
    command_descriptors: Annotated[
        int,
        Meta(ge=8, description="Files that a command's program may have open (RLIMIT_NOFILE)."),
    ] = 50
    command_places: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Commands that run at once. A free place goes to the client that has the fewest."
            ),
        ),
    ] = 32
    command_queue: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most commands of one client that wait for a place. Further ones are refused. "
                "This bounds memory."
            ),
        ),
    ] = 1000
    command_output_chars: Annotated[
        int,
        Meta(
            ge=1000,
            description=(
                "Characters of a command's output that are kept: the first half and the last. "
                "What is left out in between is counted."
            ),
        ),
    ] = 1024 * 1024
    command_results: Annotated[
        int,
        Meta(
            ge=1,
            description=("Ended executions that are kept, so that their output can be read later."),
        ),
    ] = 500
    command_results_chars: Annotated[
        int,
        Meta(
            ge=1000,
            description=(
                "Characters of output that these executions have together; beyond that the oldest "
                "are forgotten. This bounds memory."
            ),
        ),
    ] = 64 * 1024 * 1024
    command_contexts: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Contexts (folder, variables, history) that are kept; with more, the longest "
                "unused one is forgotten."
            ),
        ),
    ] = 256
    command_history: Annotated[
        int,
        Meta(ge=1, description="Commands that a context's history keeps."),
    ] = 1000
