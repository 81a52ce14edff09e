"""MCP servers behind nacre: how long they are waited for, and how much of them is kept."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.commands import CommandSettings


class UpstreamSettings(CommandSettings, frozen=True, kw_only=True):
    upstream_start_timeout: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds for an upstream server to start and to list its tools, if its table has "
                "no start_timeout. The first start of an npx package downloads it."
            ),
        ),
    ] = 30.0
    upstream_call_timeout: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds for an upstream server to answer a call, if its table has no "
                "call_timeout. Hosts give up on a call after 60 seconds."
            ),
        ),
    ] = 55.0
    upstream_list_wait: Annotated[
        float,
        Meta(
            ge=0,
            description=(
                "Seconds that a list of upstream tools waits for servers that were never "
                "connected before. What comes later is announced as a change of the list."
            ),
        ),
    ] = 4.0
    max_upstream_tools: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Most tools that the toolset upstream lists. With more, it has three tools that "
                "search, describe and call them. 50 servers with two tools each fit in; models' "
                "APIs take 128, and 50 tools cost up to 20,000 tokens."
            ),
        ),
    ] = 128
    upstream_start_share: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which a server that is still starting no longer counts among "
                "max_upstream_starts: by then it mostly waits, and others need not."
            ),
        ),
    ] = 1.0
    max_upstream_starts: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Upstream servers that are started at the same time. Most need a second of a "
                "processor each; further ones wait."
            ),
        ),
    ] = 8
    max_upstream_connections: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most connections to one upstream server: callers with different values of its "
                "variables do not share one. With more, the one that was unused for longest "
                "ends."
            ),
        ),
    ] = 8
    upstream_retry: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds until a server that could not be started is tried again, at the next "
                "call; twice as long after each further failure."
            ),
        ),
    ] = 1.0
    upstream_retry_most: Annotated[
        float, Meta(gt=0, description="The longest of these pauses, in seconds.")
    ] = 60.0
    upstream_question_wait: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that a question of an upstream server waits for the host of the call. "
                "Meanwhile its call_timeout does not run: a person has to read it."
            ),
        ),
    ] = 600.0
    max_upstream_questions: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Calls of upstream tools that wait for answers of hosts of revision 2026-07-28. "
                "Each holds a call open; further ones are refused."
            ),
        ),
    ] = 100
    upstream_message_bytes: Annotated[
        int,
        Meta(
            ge=65_536,
            description=(
                "Longest message of an upstream server. A server that sends a longer one is "
                "ended: it may be one line without an end."
            ),
        ),
    ] = 32 * 1024 * 1024
    upstream_log_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            description="What is kept of an upstream server's standard error, in bytes.",
        ),
    ] = 65_536
    upstream_result_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Memory for the whole texts of results that were too long for an answer. The "
                "oldest are dropped first."
            ),
        ),
    ] = 32 * 1024 * 1024
    upstream_connect: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds for a connection to a remote upstream server, and for sending to it. How "
                "long its answer takes is the call's."
            ),
        ),
    ] = 15.0
    upstream_alive_wait: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds in which an upstream server that left a call unanswered must show that it "
                "lives. Otherwise its connection is given up, and the next call makes a new one."
            ),
        ),
    ] = 5.0
    max_upstream_listed: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Most tools, prompts or resources that are read of one upstream server. Lists "
                "come in pages, and may have no end."
            ),
        ),
    ] = 5000
    upstream_login_wait: Annotated[
        float,
        Meta(
            gt=0,
            description="Seconds that `nacre upstream login` waits for the person at the browser.",
        ),
    ] = 600.0
    upstream_client_url: Annotated[
        str,
        Meta(
            description=(
                "Address (https) of a client metadata document of yours. Logins then use it as "
                "their client's id where the server takes such; without it, each login registers."
            )
        ),
    ] = ""
