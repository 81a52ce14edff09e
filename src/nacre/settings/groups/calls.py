"""Calls at any door: how large, how many at once, how long."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.people import PeopleSettings


class CallSettings(PeopleSettings, frozen=True, kw_only=True):
    max_message_bytes: Annotated[
        int,
        Meta(ge=65536, description="Largest request at any door, measured before it is parsed."),
    ] = 32 * 1024 * 1024
    max_header_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description=(
                "Largest head of an HTTP request: its address and headers, measured before they "
                "are parsed. Browsers and MCP clients send under 4 KB."
            ),
        ),
    ] = 65_536
    max_url_bytes: Annotated[
        int,
        Meta(
            ge=256,
            description=(
                "Longest address of an HTTP request with its query. Anything longer belongs in a "
                "body."
            ),
        ),
    ] = 16_384
    header_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds in which the head of an HTTP request must arrive, and before that the "
                "handshake of TLS. Clients send it at once; a slower one holds a connection."
            ),
        ),
    ] = 10.0
    max_connections: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most TCP connections to the daemon and its sessions' ports. Further ones are "
                "refused. Each takes a file descriptor and some memory."
            ),
        ),
    ] = 1000
    max_unknown_connections: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most TCP connections that have not shown a token or key. With more, the oldest of "
                "them is closed, so that nobody is kept out by somebody who opens many."
            ),
        ),
    ] = 64
    max_pipelined: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most requests of one HTTP connection that are parsed before the answer to the one "
                "before them is sent. With more, nothing is read from it meanwhile."
            ),
        ),
    ] = 16
    read_ahead_bytes: Annotated[
        int,
        Meta(
            ge=65536,
            description=(
                "Bytes of requests that are read from a client of the Unix socket, such as nacre "
                "mcp, that sends without reading its answers; up to twice as many for a moment. "
                "What it sends beyond waits in its own socket."
            ),
        ),
    ] = 1024 * 1024
    unread_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which a client of the Unix socket, such as nacre mcp, is "
                "disconnected if it reads nothing of its answers. No more requests are read from "
                "it meanwhile; this bounds memory."
            ),
        ),
    ] = 300.0
    greeting_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds in which a client of the Unix socket must say who it is, by its first "
                "line. Clients send it at once; a slower one holds a descriptor."
            ),
        ),
    ] = 10.0
    max_ungreeted: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most clients of the Unix socket that have not said who they are. With more, the "
                "oldest of them is disconnected. It should be more than connect in one moment."
            ),
        ),
    ] = 512
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
    max_film_frames: Annotated[
        int,
        Meta(
            ge=2,
            le=5000,
            description="Most frames of a recording as GIF or SVG (`film_recording`); of more, "
            "some are left out evenly.",
        ),
    ] = 300
    max_film_bytes: Annotated[
        int,
        Meta(
            ge=100_000,
            description="Largest such film, and longest recording that one is made of.",
        ),
    ] = 32 * 1024 * 1024
    film_time: Annotated[
        int,
        Meta(ge=1, le=600, description="Seconds that making a film may take."),
    ] = 60
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
    max_requests: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Requests from one WebSocket or one client of the Unix socket that run at once; "
                "the others wait their turn. This keeps one client from slowing down the rest."
            ),
        ),
    ] = 64
    max_waiting_requests: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most requests from one client that run or wait; more are refused on a WebSocket, "
                "and not read from the Unix socket. This bounds memory."
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
    max_wait: Annotated[
        float,
        Meta(
            ge=1,
            description="Longest wait of one call, in seconds. Hosts hang on longer calls.",
        ),
    ] = 3600.0
