"""Sessions: how many, how long they are kept, what they read and hold."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.daemon import DaemonSettings


class SessionSettings(DaemonSettings, frozen=True, kw_only=True):
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
                "Seconds after which an idle session is ended: nobody named, keeps or watches it, "
                "nothing was typed or printed, and its program waits for input, by what the kernel "
                "knows; a silent build does not. 0: never."
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
    descriptor_reserve: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Descriptors that stay free for the sessions and clients that exist. When no "
                "more are left, new sessions, MCP clients and viewers are refused. A session "
                "takes six, a client one; the limit (RLIMIT_NOFILE) is raised at the start."
            ),
        ),
    ] = 16
    kill_grace: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds between the hangup signal and the kill when a session is killed; and "
                "those in which output that is slow to draw is still shown then."
            ),
        ),
    ] = 1.0
    scrollback: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Lines kept above the screen. 10,000 lines take 6 to 7 MB.",
        ),
    ] = 10_000
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
    turn_time: Annotated[
        float,
        Meta(
            ge=0.0001,
            description=(
                "Seconds that all busy sessions together may take to show their output in one turn "
                "of the loop. Some output is short to print and slow to draw; who asks something "
                "else waits for a few turns."
            ),
        ),
    ] = 0.001
    flood_pause: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description=(
                "Longest time in seconds for which sessions that print without a pause are not "
                "read while a call of anybody is being answered. The answer would wait for them "
                "several times. 0 reads them always."
            ),
        ),
    ] = 0.02
    flood_part: Annotated[
        float,
        Meta(
            ge=0.01,
            description=(
                "Part of that pause for which sessions that print without a pause are read before "
                "the next one, so that they go on however much is asked."
            ),
        ),
    ] = 0.25
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
    max_snapshot_cells: Annotated[
        int,
        Meta(
            ge=1024,
            description=(
                "Largest screen, in cells, that a snapshot, a hash or a comparison is made of. A "
                "snapshot takes about 10 ms for each 2,000 cells."
            ),
        ),
    ] = 40_000
    max_focus_keys: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most keys that are pressed to move the focus to an element. A form or a list that "
                "needs more is better searched in the program's own way."
            ),
        ),
    ] = 100
    focus_key_wait: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that a program has to show what a key has done, when the focus is moved. "
                "After that the key counts as without effect."
            ),
        ),
    ] = 1.0
    max_file_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description=(
                "Largest file that is read, written or edited in one call. It is held in memory, "
                "and after ssh it goes through the terminal."
            ),
        ),
    ] = 8 * 1024 * 1024
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
    max_unread_answer_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description=(
                "Most bytes of the terminal's own answers (colours, device attributes, the "
                "cursor's place) that a program has not read yet; further ones are dropped. The "
                "next program would take them for keys. A program that asks for all 256 colours "
                "at once gets 6,400."
            ),
        ),
    ] = 8192
    escape_delay: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds between an Escape that a program has read and what is typed behind it. "
                "Programs take a key that follows sooner for one with Alt; most wait for up to a "
                "tenth of a second."
            ),
        ),
    ] = 0.12
    escape_wait: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Most seconds that what is typed behind an Escape waits for a program that has "
                "not read it yet, or still waits for the rest of a key. Curses programs wait for a "
                "second."
            ),
        ),
    ] = 1.5
