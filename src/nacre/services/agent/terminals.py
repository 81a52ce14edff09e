"""The tool sessions: list terminals, start, close, restart, rename and resize them.

Rule: the client's own main session is called main here too, whatever its name.
"""

from nacre.core.agent import status
from nacre.core.agent.tools import MAIN, AgentAnswer, AgentSessions
from nacre.core.operations.results import (
    Closed,
    SessionCreated,
    SessionDetails,
    SessionList,
    Size,
    Success,
)
from nacre.core.operations.sessions import (
    CloseSession,
    ListSessions,
    ManageSession,
    ResizeSession,
    RestartSession,
)
from nacre.errors import BadParameter
from nacre.services.agent.answers import Answers
from nacre.services.agent.asking import AgentCall
from nacre.services.agent.clients import AgentClient, KnownSession
from nacre.services.agent.places import find, make
from nacre.wording import Omit

_COMMAND = 60  # characters of a command in a list

# What each action takes beside the session. What another one takes would be left out in silence.
_TAKES: dict[str, tuple[str, ...]] = {
    "start": ("command", "cwd", "name"),
    "close": (),
    "restart": (),
    "rename": ("name",),
    "resize": ("rows", "cols"),
}


class Terminals:
    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def manage(
        self, call: AgentCall, client: AgentClient, request: AgentSessions
    ) -> AgentAnswer:
        if request.action == "list":
            return await self._list(call, client)
        _refuse_others(request)
        if request.action == "start":
            return await self._start(call, client, request)
        session = await find(call, client, MAIN if request.session is None else request.session)
        line = await self._change(call, client, session, request)
        return self._answers.answer(call, line, "", self._answers.facts(session, None, None))

    async def _list(self, call: AgentCall, client: AgentClient) -> AgentAnswer:
        listed = await call(ListSessions(), SessionList)
        rows = [self._row(client, one) for one in listed.sessions]
        count = len(rows) + listed.omitted_sessions
        line = status.status_line(f"{count} session{'' if count == 1 else 's'}")
        names = {"sessions": [one.name for one in listed.sessions]}
        return self._answers.answer(call, line, "\n".join(rows) or "(none)", names)

    def _row(self, client: AgentClient, one: SessionDetails) -> str:
        yours = client.main is not None and client.main.id == one.session_id
        # A list that is too long has the main facts of each alone.
        tags = getattr(one, "tags", [])
        cwd = self._answers.folder(getattr(one, "cwd", "") or None)
        state = one.state if getattr(one, "asks", None) is None else f"asks {one.asks}"
        if not one.alive:
            code = getattr(one, "exit_code", None)
            state = "ended" if code is None else f"exit {code}"
        facts = [
            f"{one.name}{' (yours: main)' if yours else ''}",
            state,
            cwd,
            one.command[:_COMMAND],
            f"idle {one.idle_seconds}s",
            f"driven by {driver}" if (driver := getattr(one, "driver", None)) else None,
            None if yours else ", ".join(tags),
        ]
        return " · ".join(fact for fact in facts if fact)

    async def _start(
        self, call: AgentCall, client: AgentClient, request: AgentSessions
    ) -> AgentAnswer:
        if request.session is not None and not isinstance(request.session, str):
            raise BadParameter("session", "must be a name for a new session")
        if request.name is not None and request.session not in (None, request.name):
            raise BadParameter("name", "is another name than session", Omit(("name",), "here"))
        wanted = request.name if request.session is None else request.session
        made = await make(call, client, wanted, command=request.command, cwd=request.cwd)
        if request.command is None and wanted == MAIN:
            client.main = made
        details = await self._answers.details(call, made)
        where = self._answers.folder(details.cwd)
        line = status.status_line("started", made.name, where, details.command[:_COMMAND])
        return self._answers.answer(call, line, "", self._answers.facts(made, None, None))

    async def _change(
        self,
        call: AgentCall,
        client: AgentClient,
        session: KnownSession,
        request: AgentSessions,
    ) -> str:
        if request.action == "close":
            await call(CloseSession(session=session.id), Closed)
            client.forget_session(session.id)
            return status.status_line("closed", session.name)
        if request.action == "restart":
            await call(RestartSession(session=session.id), SessionCreated)
            session.last = session.rows = session.since = None
            return status.status_line("restarted", session.name)
        if request.action == "rename":
            if request.name is None:
                raise BadParameter("name", "is missing for action rename", "give the new name")
            before = session.name
            renaming = ManageSession(session=session.id, action="rename", new_name=request.name)
            await call(renaming, Success)
            session.name = request.name
            return status.status_line("renamed", before, f"now {request.name}")
        if request.rows is None and request.cols is None:
            raise BadParameter("rows", "is missing for action resize", "give rows, cols or both")
        details = await self._answers.details(call, session)
        rows, cols = request.rows or details.rows, request.cols or details.cols
        size = await call(ResizeSession(session=session.id, rows=rows, cols=cols), Size)
        return status.status_line("resized", session.name, f"{size.rows} rows, {size.cols} columns")


def _refuse_others(request: AgentSessions) -> None:
    """Raises BadParameter for what does not go with the action."""
    for name in ("command", "cwd", "name", "rows", "cols"):
        if getattr(request, name) is not None and name not in _TAKES[request.action]:
            raise BadParameter(
                name, f"does not go with action {request.action}", Omit((name,), "here")
            )
