"""Which session a call is about: the client's own main, or one by its name.

Rule 1: each client has a main session of its own, made with its first command, in the client's
folder and with the person's shell. Its name is main, main-2 and so on; its tag says whose it is.
Rule 2: who names another session means that one, whoever made it. A command for a name that is not
taken starts a shell there; any other call is refused.
"""

import re
from contextlib import suppress
from typing import Any

from nacre.core.agent.tools import MAIN
from nacre.core.operations.results import (
    SessionCreated,
    SessionDetails,
    SessionList,
    SessionState,
    WaitOutcome,
)
from nacre.core.operations.runs import GetSessionStatus, WaitFor
from nacre.core.operations.sessions import CreateSession, ListSessions
from nacre.core.operations.steps import LIST_SESSIONS
from nacre.errors import InvalidInput, SessionExists, SessionNotFound
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import AgentClient, KnownSession
from nacre.wording import Use

# Wide enough for tables (ps, docker ps); a screen of this size is 3,600 characters at most.
_ROWS, _COLS = 30, 120
# A pager shows a screen where the whole output could be searched. The person's own files win.
_ENVIRONMENT = {"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat"}
_FIRST_PROMPT = 20  # seconds for a new shell to come to its prompt; then it is tried all the same
_PORT_OR_ID = re.compile(r"\d+|[0-9a-fA-F]{8}")  # of one that is gone: no name for a new one
_MOST_MAINS = 100  # names that are tried for a new main session


async def find(call: AgentCall, client: AgentClient, reference: str | int) -> KnownSession:
    """Return a session that is there, also one whose program has ended. Raises SessionNotFound."""
    if reference != MAIN:
        status = await call(GetSessionStatus(session=reference), SessionState)
        return client.session(status.session_id, status.name)
    await _look_for_main(call, client)
    if client.main is None:
        raise SessionNotFound(
            "you have no session yet", Use("agent_run", "start one", {"command": "pwd"})
        )
    return client.main


async def find_or_make(
    call: AgentCall, client: AgentClient, reference: str | int, cwd: str | None
) -> tuple[KnownSession, bool]:
    """Return a session for a command, and whether it is new.

    That its program still runs is known of the main session only by trying: that costs nothing.
    """
    async with client.making:
        if reference == MAIN:
            await _look_for_main(call, client)
            if client.main is not None:
                return client.main, False
            return await _make_main(call, client, cwd), True
        with suppress(SessionNotFound):
            status = await call(GetSessionStatus(session=reference), SessionState)
            if status.alive or not isinstance(reference, str):
                return client.session(status.session_id, status.name), False
        if not isinstance(reference, str):
            raise SessionNotFound(f"no session with the port {reference}", LIST_SESSIONS)
        try:
            return await make(call, client, reference, cwd=cwd), True
        except InvalidInput as error:
            if _PORT_OR_ID.fullmatch(reference) is None:
                raise
            raise SessionNotFound(f"no session {reference!r}", LIST_SESSIONS) from error


async def make(
    call: AgentCall,
    client: AgentClient,
    name: str | None,
    *,
    command: str | None = None,
    cwd: str | None = None,
) -> KnownSession:
    request = CreateSession(
        name=name,
        command=command,
        cwd=cwd,
        rows=_ROWS,
        cols=_COLS,
        env=_ENVIRONMENT if command is None else None,
        tags=[client.tag],
    )
    created = await call(request, SessionCreated)
    if created.notice:
        call.told.append(created.notice)
    if command is None:
        # Its files may take a while; the time of the first command begins after that.
        timeout = call.milliseconds(_FIRST_PROMPT)
        states: list[Any] = ["prompt", "needs_input", "exited"]
        first = WaitFor(session=created.session_id, state=states, timeout_ms=timeout)
        await call(first, WaitOutcome)
    return client.session(created.session_id, created.session)


async def _look_for_main(call: AgentCall, client: AgentClient) -> None:
    """Find the main session that this client had with an earlier daemon."""
    if client.main is not None or client.looked:
        return
    client.looked = True
    listed = await call(ListSessions(), SessionList)
    for one in listed.sessions:
        tags = one.tags if isinstance(one, SessionDetails) else []
        mine = any(tag.endswith(client.mark) for tag in tags)
        if mine and one.alive and (one.name == MAIN or one.name.startswith(f"{MAIN}-")):
            client.main = client.session(one.session_id, one.name)
            return


async def _make_main(call: AgentCall, client: AgentClient, cwd: str | None) -> KnownSession:
    names: list[str | None] = [f"{MAIN}-{number}" for number in range(2, _MOST_MAINS + 1)]
    for name in (MAIN, *names):
        with suppress(SessionExists):
            client.main = await make(call, client, name, cwd=cwd)
            return client.main
    client.main = await make(call, client, None, cwd=cwd)
    return client.main
