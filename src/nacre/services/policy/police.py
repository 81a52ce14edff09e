"""Judge what is about to be typed or started, at the moment when it is.

Rule 1: a person at a screen is not judged: they are who approves. All others are, whatever door
they came by, and who attaches from inside of a session.
Rule 2: at a prompt of the session's own shell the line is what was typed since the prompt came; as
soon as a key has changed it otherwise (history, completion), what the shell itself says it is.
Rule 3: under guarded and strict a line that nobody knows asks. Under open it runs.
Rule 4: what goes to a program that reads the terminal (a REPL, an editor) is not judged; the answer
says so. Several lines at once may outlive the program: they are typed one by one then, and each is
judged by who reads it.
Rule 5: whoever reads it, what is judged is what is typed: after any wait all is judged again.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.operations.recordings import RestoreSessions
from nacre.core.operations.runs import Run, RunCommand, Send
from nacre.core.operations.sessions import (
    CreateSession,
    ManageSession,
    RestartSession,
    StartSession,
)
from nacre.core.operations.watch import WatchSession
from nacre.core.shell.entering import (
    Stroke,
    ends_input,
    expands_history,
    first_that_runs,
    is_plain,
    strokes_of,
    text_of,
    up_to_last_enter,
)
from nacre.core.shell.state import State
from nacre.errors import PolicyDenied
from nacre.services.dispatch.call import Call
from nacre.services.dispatch.permit import Judgement, Permit, ToType, Typeable, permit_of_call
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.observe.state import look
from nacre.services.policy.approvals import Approvals, Asked, BoundTo, IsInside
from nacre.services.policy.judge import Judge, Site, is_bare_shell
from nacre.services.registry.registry import Registry
from nacre.services.runs.ask_shell import QUICK, ask_shell, waits_for_keys
from nacre.services.session.session import Session

if TYPE_CHECKING:
    from nacre.core.policy.decide import Decision

# Who reads the terminal: the session's own shell at its prompt; another shell, or whoever comes
# next; a program; somebody of whom nothing is known (tmux, or an editor of the line editor's own).
Reader = Literal["own", "shell", "program", "unseen"]

_TAKES_SOON = (0.005, 0.01, 0.03, 0.2, 1.0)  # seconds: who waits for a line gets it soon
_MOST_INSIDE = 1000  # screens that are remembered to be inside of sessions
_TRIES = 3  # without an answer: somebody has taken the key away


class Line(NamedTuple):
    """What a shell would run."""

    text: str
    doubt: str = ""  # why this may not be all of it
    data: bytes = b""  # the keys themselves, where there is a doubt


class Police:
    def __init__(
        self,
        registry: Registry,
        judge: Judge,
        approvals: Approvals,
        host: Host,
        is_inside: IsInside,
    ) -> None:
        """`is_inside` tells of a process in a session."""
        self._is_inside = is_inside
        self._inside: OrderedDict[str, None] = OrderedDict()  # keys of who attach in a session
        self._registry = registry
        self._judge = judge
        self._approvals = approvals
        self._host = host

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
        if permit is None or not self.judges(call.caller):
            return
        if isinstance(operation, CreateSession | StartSession):
            self._judge.rulebooks.begin_to_load()
            await self._new_session(permit, operation)
        elif isinstance(operation, RestartSession | ManageSession | RestoreSessions):
            await self._restart(permit, operation)
        elif isinstance(operation, Run):
            await self._command(permit, operation.session, operation.command.strip("\r\n"))
        elif isinstance(operation, RunCommand):
            await self._command(permit, operation.session, operation.input.strip("\r\n"))
        elif isinstance(operation, Send):
            session = self._registry.find(operation.session)
            if session.alive and "\x1b" not in operation.text and _is_idle(session):
                await self._command(permit, operation.session, operation.text)

    async def _note_watcher(self, caller: Caller) -> None:
        """Who attaches from inside of a session may be its agent."""
        if caller.pid is not None and await self._is_inside(caller.pid):
            self._inside[caller.key] = None
            if len(self._inside) > _MOST_INSIDE:
                self._inside.popitem(last=False)

    async def judge(self, permit: Permit, session: Typeable, typing: ToType) -> tuple[bytes, bool]:
        known = self._registry.find(session.identity.id)
        await self._loaded()
        site = self._judge.place(known)
        if typing.runs is not None:
            if (known.identity.id, typing.runs, site) in permit.granted:
                return typing.data, False  # judged when the call began: nothing is different now
            return typing.data, await self._pass(permit, known, site, Line(typing.runs))
        strokes = strokes_of(typing.data)
        if site.preset == "open":
            return typing.data, await self._in_open(permit, known, site, strokes)
        return await self._typed(permit, known, site, typing, strokes)

    async def _loaded(self) -> None:
        if not self._judge.rulebooks.is_loaded:
            await self._judge.rulebooks.load()

    # --- whole commands --------------------------------------------------------------------

    async def _command(self, permit: Permit, reference: str | int, text: str) -> None:
        session = self._registry.find(reference)
        if not session.alive or not text.strip():
            return
        await self._loaded()
        preset = self._judge.preset(session.record.policy)
        folder = session.stream.prompting.folder or session.launch.cwd
        site = Site(folder, session.launch.cwd, preset)
        if self._judge.allows_anywhere(text, site):
            permit.cleared = text
            permit.judged.judgements.append(
                Judgement("allow", session.identity.id, text, site.preset)
            )
            return
        site = self._judge.place(session)
        if self._judge.line(text, site).verdict == "allow":
            permit.judged.judgements.append(
                Judgement("allow", session.identity.id, text, site.preset)
            )
            permit.granted.add((session.identity.id, text, site))
            return
        if _reads(look(session)) in ("program", "unseen"):
            return  # it is no shell's line there; it is judged as what is typed
        await self._pass(permit, session, site, Line(text))

    async def _new_session(self, permit: Permit, request: CreateSession | StartSession) -> None:
        """Judge what a new session would run, which no shell types."""
        start = isinstance(request, StartSession)
        command = request.shell if isinstance(request, StartSession) else request.command
        args = None if isinstance(request, StartSession) else request.args
        env = {} if isinstance(request, StartSession) else request.env or {}
        preset = self._judge.preset(request.policy)
        if (start or is_bare_shell(command, args)) and (preset == "open" or not env):
            return
        await self._loaded()
        folder = request.cwd or permit.caller.cwd
        site = Site(folder, folder, preset)
        sandbox = request.sandbox or self._host.settings.sandbox
        text = command or ""
        if not is_bare_shell(command, args):
            if args is not None:
                words = [command or "", *args]
                text = " ".join(words)
                found = self._judge.program(words, site)
            else:
                found = self._judge.line(text, site)
            await self._settle(permit, None, site, Line(text), found, sandbox)
        if names := self._judge.variables(env, site):
            from nacre.core.policy.decide import Decision

            why = f"{', '.join(names)} changes what programs do"
            shown = " ".join(f"{name}={env[name]}" for name in names)
            line = Line(f"{shown} {text}".strip())
            await self._settle(permit, None, site, line, Decision("ask", (why,)), sandbox)

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
            if launch.is_shell:
                continue
            await self._loaded()
            site = Site(launch.cwd, launch.cwd, self._judge.preset(session.record.policy))
            await self._pass(permit, session, site, Line(launch.command))

    # --- open ------------------------------------------------------------------------------

    async def _in_open(
        self, permit: Permit, session: Session, site: Site, strokes: list[Stroke]
    ) -> bool:
        own = _own_shell_reads(session)
        handed = not own and ends_input(strokes)
        text = text_of(strokes if handed else up_to_last_enter(strokes))
        if own:
            line = session.known_line
            text = (_shown_line(session) if line is None else line) + text
        if not text.strip():
            return False
        found = self._judge.line(text.rstrip("\n"), site)
        if found.verdict != "allow" and _reads(look(session)) in ("program", "unseen"):
            return False
        return await self._settle(permit, session, site, Line(text.rstrip("\n")), found)

    # --- guarded and strict ----------------------------------------------------------------

    async def _typed(
        self,
        permit: Permit,
        session: Session,
        site: Site,
        typing: ToType,
        strokes: list[Stroke],
    ) -> tuple[bytes, bool]:
        if _own_shell_reads(session) and first_that_runs(strokes) is None:
            return typing.data, False  # a line editor runs nothing for Ctrl+D
        if await self._until_read(session):
            return typing.data, True
        reader = "own" if _own_shell_reads(session) else _reads(look(session))
        if reader == "own":
            return await self._at_prompt(permit, session, site, typing, strokes)
        if reader == "program":
            return await self._for_program(permit, session, site, typing, strokes)
        if strokes[0].data == b"\x04" and len(strokes) == 1 and not session.typed.partial:
            return typing.data, False  # it ends a shell, with nothing in its line
        run = strokes if ends_input(strokes) else up_to_last_enter(strokes)
        text = text_of(run).rstrip("\n")
        doubt = ""
        ours = permit.typed_last.get(session.identity.id) == session.inputs
        if reader == "unseen":
            doubt = "who reads this is not seen from here"
        elif typing.part_of is not None and (ours or not session.typed.partial):
            text = typing.part_of.rstrip("\r\n")
        elif session.typed.partial:
            doubt = "something was typed before that this shell may have in its line"
        elif not is_plain(run) or first_that_runs(strokes) is None:
            doubt = "these keys may run something else than what was typed"
        if not doubt and expands_history(text):
            doubt = "the shell puts older lines in the site of ! and ^"
        line = Line(text, doubt, typing.data if doubt else b"")
        return typing.data, await self._pass(permit, session, site, line)

    async def _until_read(self, session: Session) -> bool:
        """Wait until the shell has taken an Enter that was pressed before; whether that took time.

        Else what is typed next could reach a prompt, a continuation or a program.
        """
        prompting, typed = session.stream.prompting, session.typed
        begins = session.marks_itself and prompting.phase in (None, "drawing")

        def over() -> bool:
            if begins:
                return prompting.phase not in (None, "drawing")
            return not typed.awaits_shell(prompting.place)

        if over() or not session.alive:
            return False
        deadline = self._host.loop.time() + self._host.settings.first_prompt_wait
        how, _ = await settle(
            session,
            over,
            deadline,
            asks=lambda state: not begins and waits_for_keys(session),
            looks_at=QUICK,
        )
        if how != "done":
            typed.give_up_waiting()
            return not begins
        return True

    async def _at_prompt(
        self,
        permit: Permit,
        session: Session,
        site: Site,
        typing: ToType,
        strokes: list[Stroke],
    ) -> tuple[bytes, bool]:
        phase = session.stream.prompting.phase
        continued = phase == "continuation"
        ours = permit.typed_last.get(session.identity.id) == session.inputs
        if typing.part_of is not None and continued and ours:
            text = typing.part_of.rstrip("\r\n")
            return typing.data, await self._pass(permit, session, site, self._line(text, site))
        at = first_that_runs(strokes)
        if at is None:
            at = len(strokes)
        head, rest = strokes[:at], strokes[at:]
        line = session.known_line
        if line is None or not is_plain(head):
            # Only the shell knows what its line will be: type what comes before Enter, and ask.
            # But bash, while it reads the rest of a command, takes the key for a syntax error.
            tells = not (continued and site.syntax == "posix")
            if tells and (head or not session.typed.is_asked(session.inputs)):
                if head:
                    permit.write(session, _bytes(head))
                await self._ask_line(session)
                return _bytes(rest), True
            line = None
        run = up_to_last_enter(rest)
        if typing.part_of is not None and line == "":
            found = self._line(typing.part_of.rstrip("\r\n"), site)
        else:
            found = self._whole(session, site, line, text_of(head), rest, run)
        if found.doubt:
            found = found._replace(data=typing.data)
        return typing.data, await self._pass(permit, session, site, found)

    def _whole(
        self,
        session: Session,
        site: Site,
        line: str | None,
        head: str,
        rest: Sequence[Stroke],
        run: Sequence[Stroke],
    ) -> Line:
        """Return all that the shell would run: earlier lines of the command, this one, more."""
        before: str | None = ""
        told = session.typed.is_asked(session.inputs)
        if session.stream.prompting.phase == "continuation" and not told:
            before = session.typed.entered  # zsh and fish tell them with the line
        shown = _shown_line(session) if line is None else line
        text = ((before or "") + shown + head + text_of(run)).rstrip("\n")
        if line is None:
            return Line(text, "the shell does not tell what its line holds")
        if before is None:
            return Line(text, "the lines before this one are not known")
        if not run or rest[0].kind == "strange" or not is_plain(run):
            return Line(text, "these keys may run something else than what was typed")
        return self._line(text, site)

    def _line(self, text: str, site: Site) -> Line:
        if site.syntax != "fish" and expands_history(text):
            return Line(text, "the shell puts older lines in the site of ! and ^")
        return Line(text)

    async def _ask_line(self, session: Session) -> None:
        """Let the shell say what its line holds, when it has read all that was typed."""
        prompting, loop = session.stream.prompting, self._host.loop
        deadline = loop.time() + self._host.settings.shell_answer_wait
        await settle(
            session,
            lambda: not _own_shell_reads(session),
            deadline,
            asks=lambda state: waits_for_keys(session),
            looks_at=QUICK,
        )
        if not _own_shell_reads(session):
            return
        line: str | None = None
        if prompting.unanswered < _TRIES and not session.in_escape:
            before, prompting.line = prompting.answers, None
            inputs = session.inputs + 1
            await ask_shell(session, deadline)
            if session.inputs != inputs:
                return  # somebody typed meanwhile: ask again
            line = prompting.line if prompting.answers > before else None
        session.typed.learn(line, session.inputs)

    async def _for_program(
        self,
        permit: Permit,
        session: Session,
        site: Site,
        typing: ToType,
        strokes: list[Stroke],
    ) -> tuple[bytes, bool]:
        program = look(session).program or "a program"
        permit.judged.tell(
            f"this went to {program}, not to a shell: the policy ({site.preset}) does not judge "
            "what is typed there, only a sandbox confines it"
        )
        first, rest = _first_entry(strokes)
        text = text_of(up_to_last_enter(strokes)).rstrip("\n")
        if not rest or (is_plain(strokes) and self._judge.line(text, site).verdict == "allow"):
            return typing.data, False
        permit.write(session, _bytes(first))
        prompting = session.stream.prompting
        await settle(
            session,
            lambda: prompting.phase == "prompt" and session.in_foreground,
            self._host.loop.time() + self._host.settings.mark_wait,
            asks=waits_for_somebody,
            looks_at=_TAKES_SOON,
        )
        return _bytes(rest), True

    # --- verdicts --------------------------------------------------------------------------

    async def _pass(self, permit: Permit, session: Session, site: Site, line: Line) -> bool:
        return await self._settle(permit, session, site, line, self._judge.line(line.text, site))

    async def _settle(
        self,
        permit: Permit,
        session: Session | None,
        site: Site,
        line: Line,
        found: "Decision",
        sandbox: str = "off",
    ) -> bool:
        """Let it pass, or ask a person; whether that took time. Raises PolicyDenied."""
        verdict, reasons = found.verdict, found.reasons
        if line.doubt and verdict == "allow" and site.preset != "open":
            verdict, reasons = "ask", (line.doubt,)
        identifier = session.identity.id if session is not None else ""
        judgement = Judgement(
            verdict,
            identifier,
            line.text,
            site.preset,
            reasons,
            found.rule,
            known=not line.doubt,
        )
        if verdict == "allow":
            permit.judged.judgements.append(judgement)
            return False
        if verdict == "deny":
            permit.judged.judgements.append(judgement)
            raise _denied(judgement)
        sandbox = sandbox if session is None else session.launch.sandbox
        profile = site.preset if sandbox == "off" else f"{site.preset}, sandbox {sandbox}"
        bound = BoundTo(identifier, line.text, line.data, site.folder, profile)
        if bound in permit.granted or self._approvals.takes_grant(bound):
            permit.granted.add(bound)
            permit.judged.judgements.append(judgement._replace(answer="once"))
            return False
        asked = await self._approvals.ask(permit.caller, bound, session, reasons, found.rule)
        permit.judged.judgements.append(judgement._replace(answer=asked.answer or "none"))
        if asked.answer in (None, "deny"):
            raise _unapproved(judgement, asked, self._host.settings.approval_lifetime)
        permit.granted.add(bound)
        return True


def _own_shell_reads(session: Session) -> bool:
    prompting = session.stream.prompting
    return prompting.phase in ("prompt", "continuation") and session.in_foreground


def _is_idle(session: Session) -> bool:
    """Return whether its own shell waits with an empty line, as far as is known."""
    return _own_shell_reads(session) and session.known_line == ""


def _reads(state: State) -> Reader:
    """Return who will read what is typed now, where the own shell's marks do not say it."""
    if state.state == "prompt" or state.unmarked:
        return "shell"
    if state.state == "needs_input":
        return "unseen" if state.asks == "multiplexer" else "program"
    return "program" if state.full_screen else "shell"  # whoever comes next may be the shell


def _shown_line(session: Session) -> str:
    """Return what stands on the screen between the prompt and the cursor."""
    return session.stream.shown_line


def _first_entry(strokes: list[Stroke]) -> tuple[list[Stroke], list[Stroke]]:
    """Part input behind its first Enter, or what ends a program's input."""
    for at, stroke in enumerate(strokes):
        if stroke.kind in ("enter", "end"):
            return strokes[: at + 1], strokes[at + 1 :]
    return strokes, []


def _bytes(strokes: list[Stroke]) -> bytes:
    return b"".join(stroke.data for stroke in strokes)


def _denied(judgement: Judgement) -> PolicyDenied:
    why = "; ".join(judgement.reasons) or "a rule forbids it"
    return PolicyDenied(
        f"the policy ({judgement.preset}) denies this, and nothing was typed: {why}",
        "do it in another way that the reason names, or let a person do it",
        **_details(judgement),
    )


def _unapproved(judgement: Judgement, asked: Asked, lifetime: float) -> PolicyDenied:
    why = "; ".join(judgement.reasons) or "a rule asks first"
    if asked.answer == "deny":
        return PolicyDenied(
            f"a person said no to this, and nothing was typed (the policy asked because: {why})",
            "do not repeat it: ask the person what to do instead",
            **_details(judgement),
            approval=asked.id,
        )
    told = "nobody answered" if asked.somebody else "nobody is there to answer"
    return PolicyDenied(
        f"this needs a person's approval ({why}); {told} within {asked.seconds:.0f} s, and "
        "nothing was typed",
        f"ask your user to approve it (on the web page, attached, or with: nacre approvals approve "
        f"{asked.id}) within {lifetime:.0f} s, and then repeat the same call",
        "use a command that the policy allows",
        **_details(judgement),
        approval=asked.id,
    )


def _details(judgement: Judgement) -> dict[str, object]:
    return {
        "verdict": judgement.verdict,
        "reasons": list(judgement.reasons),
        "rule": judgement.rule,
        "command": judgement.line,
        "policy": judgement.preset,
    }
