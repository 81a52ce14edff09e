"""Judge keys under guarded and strict: what line they make, and who will read it.

Rule 1: at a prompt of the session's own shell the line is what was typed since the prompt came; as
soon as a key has changed it otherwise (history, completion), what the shell itself says it is.
Rule 2: a line that nobody knows asks.
Rule 3: what goes to a program that reads the terminal (a REPL, an editor) is not judged; the answer
says so. Several lines at once may outlive the program: they are typed one by one then, and each is
judged by who reads it. While a program has not read what came before, nobody knows who that is.
"""

from collections.abc import Sequence

from nacre.core.shell.entering import (
    Stroke,
    ends_input,
    expands_history,
    first_that_runs,
    is_plain,
    text_of,
    up_to_last_enter,
)
from nacre.services.dispatch.permit import Permit, ToType
from nacre.services.host.host import Host
from nacre.services.observe.settle import settle, waits_for_somebody
from nacre.services.observe.state import look
from nacre.services.observe.unread import UnreadInput
from nacre.services.policy.judge import Judge, Site
from nacre.services.policy.reader import (
    bytes_of,
    first_entry,
    own_shell_reads,
    reader_of,
    shown_line,
)
from nacre.services.policy.verdicts import Line, Verdicts
from nacre.services.runs.ask_shell import QUICK, ask_shell, waits_for_keys
from nacre.services.session.session import Session

_TAKES_SOON = (0.005, 0.01, 0.03, 0.2, 1.0)  # seconds: who waits for a line gets it soon
_TRIES = 3  # without an answer: somebody has taken the key away


class TypedLines:
    def __init__(self, judge: Judge, verdicts: Verdicts, host: Host) -> None:
        self._judge = judge
        self._verdicts = verdicts
        self._host = host
        self._unread = UnreadInput()

    async def typed(
        self,
        permit: Permit,
        session: Session,
        site: Site,
        typing: ToType,
        strokes: list[Stroke],
    ) -> tuple[bytes, bool]:
        if own_shell_reads(session) and first_that_runs(strokes) is None:
            return typing.data, False  # a line editor runs nothing for Ctrl+D
        if await self._until_read(session):
            return typing.data, True
        left = self._unread.is_left(session)  # before the look: it may read, and end, in between
        reader = "own" if own_shell_reads(session) else reader_of(look(session))
        if reader == "own":
            return await self._at_prompt(permit, session, site, typing, strokes)
        unread = reader == "program" and left
        if unread and await self._until_it_has_read(session):
            return typing.data, True
        if reader == "program" and not unread:
            return await self._for_program(permit, session, site, typing, strokes)
        if strokes[0].data == b"\x04" and len(strokes) == 1 and not session.typed.partial:
            return typing.data, False  # it ends a shell, with nothing in its line
        run = strokes if ends_input(strokes) else up_to_last_enter(strokes)
        text = text_of(run).rstrip("\n")
        doubt = ""
        ours = permit.typed_last.get(session.identity.id) == session.inputs
        if unread:
            doubt = "the program has not read yet what was typed before"
        elif reader == "unseen":
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
        return typing.data, await self._verdicts.judge(permit, session, site, line)

    async def _until_it_has_read(self, session: Session) -> bool:
        """Wait until a program has read what came before, or is gone; return whether it has."""
        prompting = session.stream.prompting
        deadline = self._host.loop.time() + self._host.settings.first_prompt_wait
        await settle(
            session,
            lambda: prompting.phase == "prompt" and session.in_foreground,
            deadline,
            asks=lambda state: waits_for_somebody(state) and not self._unread.is_left(session),
            looks_at=_TAKES_SOON,
        )
        return not self._unread.is_left(session)

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
            return typing.data, await self._verdicts.judge(
                permit, session, site, self._line(text, site)
            )
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
                    permit.write(session, bytes_of(head))
                await self._ask_line(session)
                return bytes_of(rest), True
            line = None
        run = up_to_last_enter(rest)
        if typing.part_of is not None and line == "":
            found = self._line(typing.part_of.rstrip("\r\n"), site)
        else:
            found = self._whole(session, site, line, text_of(head), rest, run)
        if found.doubt:
            found = found._replace(data=typing.data)
        return typing.data, await self._verdicts.judge(permit, session, site, found)

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
        shown = shown_line(session) if line is None else line
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
            lambda: not own_shell_reads(session),
            deadline,
            asks=lambda state: waits_for_keys(session),
            looks_at=QUICK,
        )
        if not own_shell_reads(session):
            return
        line: str | None = None
        if prompting.unanswered < _TRIES and not session.in_escape:
            before, prompting.line = prompting.answers, None
            inputs = session.inputs + 1
            await ask_shell(session, deadline)
            if session.inputs > inputs:
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
        first, rest = first_entry(strokes)
        text = text_of(up_to_last_enter(strokes)).rstrip("\n")
        if not rest or (is_plain(strokes) and self._judge.line(text, site).verdict == "allow"):
            self._unread.note(session)
            return typing.data, False
        self._unread.note(session)
        permit.write(session, bytes_of(first))
        prompting = session.stream.prompting
        await settle(
            session,
            lambda: prompting.phase == "prompt" and session.in_foreground,
            self._host.loop.time() + self._host.settings.mark_wait,
            asks=lambda state: waits_for_somebody(state) and not self._unread.is_left(session),
            looks_at=_TAKES_SOON,
        )
        return bytes_of(rest), True
