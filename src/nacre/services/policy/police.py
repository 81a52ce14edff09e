"""Judge what is about to be typed or started, at the moment when it is.

Rule 1: a person at a screen is not judged: they are who approves. All others are, whatever door
they came by, and who attaches from inside of a session.
Rule 2: a line that nobody knows runs under open. Under guarded and strict it asks (typed_lines.py).
Rule 3: whoever reads it, what is judged is what is typed: after any wait all is judged again.
"""

import os
import shlex
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.apps.files import EditFile, GetFile, PutFile
from nacre.core.operations.apps.programs import LaunchApp, RestartApp
from nacre.core.operations.daemon import OpenPage
from nacre.core.operations.recordings import ExportRecording, RestoreSessions
from nacre.core.operations.runs import Run, RunCommand, Send
from nacre.core.operations.safety.tokens import CreateToken
from nacre.core.operations.sessions import (
    CreateSession,
    ManageSession,
    RestartSession,
    StartSession,
)
from nacre.core.operations.watch import WatchSession
from nacre.core.policy.verdicts import sandbox_of
from nacre.core.shell.entering import (
    Stroke,
    ends_input,
    strokes_of,
    text_of,
    up_to_last_enter,
)
from nacre.core.shell.wrapper import as_fed
from nacre.errors import Forbidden
from nacre.services.dispatch.call import Call
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.dispatch.permit import Judgement, Permit, ToType, Typeable, permit_of_call
from nacre.services.host.host import Host
from nacre.services.observe.state import look
from nacre.services.policy.approvals import Approvals, IsInside
from nacre.services.policy.changes import change_of, shown_change
from nacre.services.policy.judge import Judge, Site, is_bare_shell
from nacre.services.policy.reader import is_idle, own_shell_reads, reader_of, shown_line
from nacre.services.policy.refusals import denied
from nacre.services.policy.typed_lines import TypedLines
from nacre.services.policy.verdicts import Line, Verdicts
from nacre.services.registry.registry import Registry
from nacre.services.session.launch import refuse_impossible, resolve_folder
from nacre.services.session.session import Session

_OPENING = (OpenPage, CreateToken)  # ways in for a person

_MOST_INSIDE = 1000  # screens that are remembered to be inside of sessions


class Police:
    def __init__(
        self,
        registry: Registry,
        judge: Judge,
        approvals: Approvals,
        host: Host,
        is_inside: IsInside,
    ) -> None:
        """`is_inside` tells of a caller in a session."""
        self._is_inside = is_inside
        self._inside: OrderedDict[str, None] = OrderedDict()  # keys of who attach in a session
        self._registry = registry
        self._judge = judge
        self._host = host
        self._verdicts = Verdicts(judge, approvals, host)
        self._typed_lines = TypedLines(judge, self._verdicts, host)
        self._judges: dict[type[Operation], Callable[[Permit, Any], Awaitable[None]]] = {
            Run: self._run,
            RunCommand: self._run_command,
            Send: self._send,
            **dict.fromkeys((CreateSession, StartSession), self._new_session),
            **dict.fromkeys((RestartSession, ManageSession, RestoreSessions), self._restart),
            **dict.fromkeys((PutFile, GetFile, EditFile), self._file),
            LaunchApp: self._launch,
            RestartApp: self._restart_app,
            ExportRecording: self._export,
        }

    # --- for dispatch ----------------------------------------------------------------------

    def judges(self, caller: Caller) -> bool:
        return not (caller.person and caller.key) or caller.key in self._inside

    async def before(self, call: Call) -> None:
        """Judge what a call says it will run, before it begins. Raises PolicyDenied.

        What is typed is judged again when it is typed (`judge`); an approval counts for both.
        """
        operation, permit = call.operation, permit_of_call()
        if isinstance(operation, WatchSession):
            await self._note_watcher(call.caller)
        elif isinstance(operation, _OPENING):
            await self._refuse_inside(call.caller)
        if permit is None or not self.judges(call.caller):
            return
        judge = self._judges.get(type(operation))
        if judge is not None:
            await judge(permit, operation)

    async def _run(self, permit: Permit, operation: Run) -> None:
        text, relay = operation.command.strip("\r\n"), relay_of_call()
        if relay is not None and relay.feeds:
            text = as_fed(text)
        await self._command(permit, operation.session, text)

    async def _run_command(self, permit: Permit, operation: RunCommand) -> None:
        await self._command(permit, operation.session, operation.input.strip("\r\n"))

    async def _send(self, permit: Permit, operation: Send) -> None:
        session = self._registry.find(operation.session)
        if session.alive and "\x1b" not in operation.text and is_idle(session):
            await self._command(permit, operation.session, operation.text)

    async def _launch(self, permit: Permit, operation: LaunchApp) -> None:
        await self._new_session(permit, operation.as_session())

    async def _restart_app(self, permit: Permit, operation: RestartApp) -> None:
        await self._restart(permit, RestartSession(session=operation.session))

    async def _note_watcher(self, caller: Caller) -> None:
        """Who attaches from inside of a session may be its agent."""
        if await self._is_inside(caller):
            self._inside[caller.key] = None
            if len(self._inside) > _MOST_INSIDE:
                self._inside.popitem(last=False)

    async def _refuse_inside(self, caller: Caller) -> None:
        """Let no agent become a person: it could answer its own questions. Raises Forbidden."""
        settings = self._host.settings
        alive = [known for known in self._registry if known.alive]
        presets = {self._judge.preset(known.record.policy, caller) for known in alive}
        asks = {settings.policy, *presets} != {"open"} or settings.cluster  # other hosts may
        if caller.pid is None or not asks:
            return  # nobody is asked anything
        if await self._is_inside(caller):
            raise Forbidden(
                "who has this can answer what the policy asks, so it is not given out inside of a "
                "session: its agent could do that too",
                "run this in a terminal of your own",
            )

    async def judge(self, permit: Permit, session: Typeable, typing: ToType) -> tuple[bytes, bool]:
        known = self._registry.find(session.identity.id)
        await self._loaded()
        site = self._judge.place(known, permit.caller)
        if typing.runs is not None:
            if (known.identity.id, typing.runs, site) in permit.granted:
                return typing.data, False  # judged when the call began: nothing is different now
            return typing.data, await self._verdicts.judge(permit, known, site, Line(typing.runs))
        strokes = strokes_of(typing.data)
        if site.preset == "open":
            return typing.data, await self._in_open(permit, known, site, strokes)
        return await self._typed_lines.typed(permit, known, site, typing, strokes)

    async def _loaded(self) -> None:
        if not self._judge.rulebooks.is_loaded:
            await self._judge.rulebooks.load()

    # --- whole commands --------------------------------------------------------------------

    async def _command(self, permit: Permit, reference: str | int, text: str) -> None:
        session = self._registry.find(reference)
        if not session.alive or not text.strip():
            return
        await self._loaded()
        preset = self._judge.preset(session.record.policy, permit.caller)
        folder = session.stream.prompting.folder or session.launch.cwd
        site = Site(folder, session.launch.cwd, preset)
        if self._judge.allows_anywhere(text, site):
            permit.cleared = text
            permit.judged.judgements.append(
                Judgement("allow", session.identity.id, text, site.preset)
            )
            return
        site = self._judge.place(session, permit.caller)
        if self._judge.line(text, site).verdict == "allow":
            permit.judged.judgements.append(
                Judgement("allow", session.identity.id, text, site.preset)
            )
            permit.granted.add((session.identity.id, text, site))
            return
        if reader_of(look(session)) in ("program", "unseen"):
            return  # it is no shell's line there; it is judged as what is typed
        await self._verdicts.judge(permit, session, site, Line(text))

    async def _new_session(self, permit: Permit, request: CreateSession | StartSession) -> None:
        """Judge what a new session would run, which no shell types."""
        self._judge.rulebooks.begin_to_load()
        start = isinstance(request, StartSession)
        command = request.shell if isinstance(request, StartSession) else request.command
        args = None if isinstance(request, StartSession) else request.args
        env = {} if isinstance(request, StartSession) else request.env or {}
        preset = self._judge.preset(request.policy, permit.caller)
        if (start or is_bare_shell(command, args)) and (preset == "open" or not env):
            return
        await self._loaded()
        refuse_impossible([request.cwd or ""])
        folder = resolve_folder(request.cwd, permit.caller.cwd, self._judge.home)
        site = Site(folder, folder, preset)
        here = self._host.settings.sandbox
        sandbox = sandbox_of(request.sandbox, here, permit.caller.sandbox)
        text = command or ""
        if not is_bare_shell(command, args):
            if args is not None:
                words = [command or "", *args]
                text = shlex.join(words)  # two vectors are never one text
                found = self._judge.program(words, site)
            else:
                found = self._judge.line(text, site)
            line = _with_variables(text, env)
            await self._verdicts.settle(permit, None, site, line, found, sandbox)
        if names := self._judge.variables(env, site):
            from nacre.core.policy.decide import Decision

            why = f"{', '.join(names)} changes what programs do"
            shown = " ".join(f"{name}={env[name]}" for name in names)
            line = _with_variables(f"{shown} {text}".strip(), env)
            await self._verdicts.settle(permit, None, site, line, Decision("ask", (why,)), sandbox)

    async def _restart(
        self, permit: Permit, request: RestartSession | ManageSession | RestoreSessions
    ) -> None:
        """Judge what would run again: somebody else may have started it, who was not judged."""
        if isinstance(request, ManageSession) and request.action != "restart":
            return
        if request.session is not None:
            wanted = [self._registry.find(request.session)]
        else:
            wanted = [known for known in self._registry if known.ending and known.ending.lost]
        for session in wanted:
            launch = session.launch
            if launch.is_shell or is_bare_shell(launch.command, None):
                continue
            await self._loaded()
            site = Site(
                launch.cwd, launch.cwd, self._judge.preset(session.record.policy, permit.caller)
            )
            await self._verdicts.judge(permit, session, site, Line(launch.command))

    async def _export(self, permit: Permit, request: ExportRecording) -> None:
        """Judge the file that a recording goes to, which the daemon writes outside of any sandbox.

        What programs printed stands in it: a shell that reads it as its start-up file would run it.
        """
        caller = permit.caller
        if request.path is None or "\0" in request.path:  # no file's name; the operation says so
            return
        if caller.person and not await self._is_inside(caller):
            return
        session = self._registry.find(request.session)
        folder = caller.cwd or self._judge.home
        path = os.path.join(folder, self._judge.in_home(request.path))
        preset = self._judge.preset(session.record.policy, permit.caller)
        site = Site(folder, session.launch.cwd, preset)
        line = f"cat recording > {shlex.quote(path)}"
        for forbidden, why in (
            (self._judge.is_private(path), "it is one of nacre's own folders"),
            (session.launch.sandbox != "off", "its session runs in a sandbox, this file does not"),
        ):
            if forbidden:
                raise denied(Judgement("deny", session.identity.id, line, preset, (why,)))
        await self._loaded()
        found = self._judge.line(line, site)
        await self._verdicts.settle(permit, session, site, Line(line), found)

    async def _file(self, permit: Permit, request: PutFile | GetFile | EditFile) -> None:
        """Judge a file that is read or written, as a line that does the same in its shell."""
        caller = permit.caller
        if caller.person and not await self._is_inside(caller):
            return
        session = self._registry.find(request.session)
        await self._loaded()
        while session.alive and "\0" not in request.path:  # else it is refused
            site = self._judge.place(session, permit.caller)
            path = request.path
            if site.folder is not None and session.launch.sandbox == "off":
                path = os.path.join(site.folder, self._judge.in_home(path))
            # While a person thought, the session may have gone to another folder: look again.
            if not await self._reach_file(permit, session, site, request, path):
                return

    async def _reach_file(
        self,
        permit: Permit,
        session: Session,
        site: Site,
        request: PutFile | GetFile | EditFile,
        path: str,
    ) -> bool:
        """Judge a whole path; whether that took time. Raises PolicyDenied."""
        reads = f"cat -- {shlex.quote(path)}"
        writes = f"cat file > {shlex.quote(path)}"
        lines = [] if isinstance(request, PutFile) else [reads]
        lines += [] if isinstance(request, GetFile) else [writes]
        for text in lines:
            if session.launch.sandbox == "off" and self._judge.is_private(path):
                why = "it is one of nacre's own folders"
                raise denied(Judgement("deny", session.identity.id, text, site.preset, (why,)))
            line, found = Line(text), self._judge.line(text, site)
            # Only where somebody is asked: there may be megabytes of content.
            if found.verdict == "ask" and text == writes and not isinstance(request, GetFile):
                line = Line(text, data=change_of(request), beside=shown_change(request))
            if await self._verdicts.settle(permit, session, site, line, found):
                return True
        return False

    # --- open ------------------------------------------------------------------------------

    async def _in_open(
        self, permit: Permit, session: Session, site: Site, strokes: list[Stroke]
    ) -> bool:
        own = own_shell_reads(session)
        handed = not own and ends_input(strokes)
        text = text_of(strokes if handed else up_to_last_enter(strokes))
        if own:
            line = session.known_line
            text = (shown_line(session) if line is None else line) + text
        if not text.strip():
            return False
        found = self._judge.line(text.rstrip("\n"), site)
        if found.verdict != "allow" and reader_of(look(session)) in ("program", "unseen"):
            return False
        return await self._verdicts.settle(permit, session, site, Line(text.rstrip("\n")), found)


def _with_variables(text: str, env: Mapping[str, str]) -> Line:
    """Return a line that runs with these variables: an answer is bound to their values."""
    if not env:
        return Line(text)
    beside = f"# with the variables {', '.join(sorted(env))}"
    return Line(text, data=repr(sorted(env.items())).encode(), beside=beside)
