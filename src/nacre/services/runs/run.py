"""One run: a command from the moment it was sent until its exit code.

Its parts are the request (request.py), its state (run_state.py) and its output
(outputs/run_output.py). This file follows the session.

Rule: three facts can end it: a mark, a prompt that is back, a shell that is gone. They are noted
here and judged in ending.py.
"""

import asyncio
from collections.abc import Callable
from signal import SIGINT, SIGQUIT
from typing import Literal

from msgspec.structs import replace

from nacre.core.operations.results import RunOutcome
from nacre.core.operations.steps import read_whole_run
from nacre.core.operations.terminal import MOST_LINES
from nacre.core.shell.dialects import dialect_of
from nacre.core.shell.marks import Mark
from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.state import State
from nacre.core.shell.typed import is_empty
from nacre.core.text.budget import json_size
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.runs.ending import (
    BACK_AT_PROMPT,
    LEFT,
    EndedBy,
    RunEnd,
    answers_elsewhere,
    answers_in_place,
    end_by_mark,
)
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.runs.request import RunRequest
from nacre.services.runs.run_state import RunState
from nacre.services.session.screen import Lost
from nacre.services.session.session import Session
from nacre.system.processes.tree import folder_now, is_folder_of
from nacre.wording import Hint, also

_BY_KEYS = (128 + SIGINT, 128 + SIGQUIT)  # codes that say themselves how it ended
_CUT_SHORT = "it was interrupted, and its shell does not tell for sure how it ended"


class TrackedRun:
    def __init__(self, session: Session, request: RunRequest, output: RunOutput) -> None:
        self.session = session
        self.request = request
        self.state = RunState()
        self.output = output
        self.when_changed: Callable[[], None] = _nothing
        self.when_done: Callable[[], None] = _nothing

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def done(self) -> bool:
        return self.state.end is not None

    @property
    def in_own_shell(self) -> bool:
        """Whether the session's own shell runs it, not one that was started there."""
        return self.request.context == "native" or self.request.pid == self.session.leader

    @property
    def was_started(self) -> bool:
        """Whether its shell said that it started it; a line that is typed needs no such word."""
        typed = self.request.context != "wrapped" and not self.request.starts_by_wrapper
        return typed or self.state.started_by_mark

    @property
    def may_be_unsent(self) -> bool:
        """Whether the daemon that was to send it died, and nothing tells that it did."""
        begun = self.state.started_by_mark or self.request.context == "repl"
        return self.state.restored and not begun

    @property
    def ended_by(self) -> EndedBy | None:
        return self.state.end.by if self.state.end is not None else None

    @property
    def exit_code(self) -> int | None:
        return self.state.end.exit_code if self.state.end is not None else None

    @property
    def what_is_unknown(self) -> str | None:
        """Why it has no exit code, where an interrupt may be the reason."""
        return _CUT_SHORT if self.state.cut_short else None

    @property
    def duration_ms(self) -> int:
        """How long it took, or has taken up to now."""
        now = self.state.ended
        if now is None:
            now = self.session.now
        return round((now - self.request.started) * 1000)

    # --- the end ---------------------------------------------------------------------------

    def prompt_is_back(self) -> None:
        """Note that the prompt at which it was sent is back, and no mark will come."""
        if self.output.cut is not None:
            self.output.cut.at_prompt = True
        self._end(BACK_AT_PROMPT)

    def wrapper_has_ended(self) -> None:
        """Note that its own mark told its end, and the prompt's will not come."""
        self._end(RunEnd("mark", self.state.own_code))

    def was_refused(self) -> None:
        """A syntax error: the shell ran nothing, and said why below the echo of the line."""
        end = self.state.unstarted_end
        if end is not None and not self.done:
            if end.exit_code == 0 and not is_empty(self.request.command or ""):
                end = end._replace(exit_code=None)  # it was another line: an error is no success
            self.output.record_echo()
            self._end(end)

    def shell_is_gone(self, exit_code: int | None, at: float | None = None) -> None:
        """Note that the session's child has ended, now or at this time, and the run with it."""
        self._end(RunEnd("exit", exit_code), at)

    def reopen(self, journaled: int, lost: Lost | None = None) -> None:
        """Forget what came after this generation, because it will be seen once more.

        But for what is lost: that is known from what the earlier daemon saw alone.
        """
        state, repl = self.state, self.request.context == "repl"
        if lost is not None and (state.started_by_mark or repl):
            self.output.lose(lost, state.begun, state.over)
        if state.last is not None and state.last > journaled:
            if lost is not None and 0 <= state.over < lost.end:
                return
            state.reopen()
            self.output.recording = True
        if state.first > journaled and not repl:
            if lost is not None and 0 <= state.begun < lost.end:
                return
            self.output.recording = state.started_by_mark = False

    def settle_again(self) -> None:
        """End it as it was known to have ended, if its end was not seen again."""
        if self.state.known_end is not None:
            self._end(self.state.known_end)
            self.state.known_end = None

    def end_as_its_last_line(self) -> None:
        """All of its lines are through, and the shell marks no end for the last one."""
        self._end(self.state.part_end or BACK_AT_PROMPT)

    def leave(self) -> None:
        """Record no more: what was typed is answered as far as anybody can tell."""
        self._end(LEFT)

    def let_go(self) -> None:
        """Nothing more can happen to it: whoever held it by these would stay, and it with them.

        Such circles wait for a look at all garbage, which holds the loop: 200 ms for 8,000 runs.
        """
        self.when_changed = self.when_done = _nothing
        self.output.on_overflow = None

    def _end(self, end: RunEnd, at: float | None = None) -> None:
        if self.done:
            return
        if self._may_be_cut_short(end):
            self.state.cut_short = True
            end = end._replace(exit_code=None)
        if self.request.more_lines and self.request.context == "repl" and self.session.alive:
            return  # a line of several in a shell whose prompt has no marks
        if self.request.more_lines and end.by in ("mark", "prompt"):
            self.state.end_part(end)
            self.output.end_part()
            return
        self.state.over = self.session.recorder.offset
        self.state.close(
            end,
            at=self.session.now if at is None else at,
            generation=self.session.generation,
            inputs=self.session.inputs,
        )
        self.output.close()
        if self.request.context == "repl" and self.session.typed_repl is not None:
            self.session.typed_repl.runs = False
        self.when_changed()
        self.when_done()

    def _may_be_cut_short(self, end: RunEnd) -> bool:
        """Whether an interrupt may have ended a builtin of a shell that tells another code then.

        A wrapper that came to its own end mark was not cut short, nor was a shell whose program had
        the terminal. Where that mark did not come, a signal of others may be the reason, too.
        """
        request, typed = self.request, self.session.input
        if request.context == "repl" or end.exit_code in (None, *_BY_KEYS):
            return False
        if request.context == "wrapped":
            return end.by == "prompt" and request.dialect.forgets_interrupts
        if typed.interrupts == self.state.interrupts or self.state.own_code is not None:
            return False
        forgets = dialect_of(self.session.launch.program).forgets_interrupts
        ended = end.by in ("mark", "prompt")
        return ended and forgets and typed.interrupted == self.session.leader

    # --- following the session -------------------------------------------------------------

    def tap(self, piece: bytes | Mark) -> None:
        """Follow the session's output; one of the stream's taps.

        It stays there after the end, until another run begins: what is typed meanwhile is no part
        of this one.
        """
        if self.done:
            return
        if isinstance(piece, Mark):
            self._note_mark(piece)
        elif self.output.recording:
            self.output.record(piece)
        elif not self.state.started_by_mark:
            self.output.note_echo(piece)

    def _note_mark(self, mark: Mark) -> None:
        native = self.request.context == "native"
        if (end := end_by_mark(self.request, self.state.start, mark)) is not None:
            unstarted = native and end.by == "mark" and not self.state.started_by_mark
            if unstarted and self.request.tells_start and not self.done:
                self.state.unstarted_end = end
                self.output.end_echo()
                self.when_changed()
                return
            if unstarted and not self.done:
                self.output.record_echo()
            self._end(end)
        elif mark.nonce == self.request.nonce:
            self._note_own(mark)
        elif native and mark.kind == "C" and not self.request.starts_by_wrapper:
            if mark.value == "late" and self.state.unstarted_end is not None:
                self.state.early_end = self.state.unstarted_end
                self.output.record_before_start(self.request.command or "")
            self._start()
        elif native and mark.kind == "A" and self.state.early_end is not None:
            self._end(self.state.early_end)
        elif native and mark.kind == "O" and self.output.recording:
            self.output.printed_all()

    def _note_own(self, mark: Mark) -> None:
        if mark.kind == "S" and mark.value == "read":
            self.state.reads_parts = True
        elif mark.kind == "S":
            self.state.shell_id = mark.value
            self._start()
        elif mark.kind == "E" and self.request.context == "native":
            self.state.own_code = mark.exit_code
            self.output.recording = False  # the prompt's own mark follows, with the folder
        elif mark.kind == "E" and self.request.context == "wrapped":
            self.state.elsewhere = answers_elsewhere(self.state.shell_id, mark)
            self.state.replaced = self.state.replaced or answers_in_place(mark)

    def expect_shells_own(self) -> None:
        """Leave out what its shell prints itself when it starts a line that was typed."""
        if self.request.context == "native" and not self.request.starts_by_wrapper:
            self.output.leave_out(dialect_of(self.session.launch.program).after_start)

    def _start(self) -> None:
        self.state.unstarted_end = None
        self.state.started_by_mark = self.output.recording = True
        self.expect_shells_own()
        if not self.state.parts:
            self.state.first = self.session.generation
            self.state.begun = self.session.recorder.offset
        self.when_changed()

    # --- the answer ------------------------------------------------------------------------

    async def prepare(self, free: asyncio.Semaphore) -> None:
        """Render the output for the answer, in a thread; `free` is how many may do so at once."""
        if not _is_followed():
            await self.output.prepare(free)

    def outcome(
        self,
        status: Literal["completed", "timeout"],
        budget: int,
        state: State | None = None,
        *,
        ended_by: Literal["needs_input", "deadline"] | None = None,
        hint: str | None = None,
    ) -> RunOutcome:
        """Return the answer; the output has the room that the other fields leave to it."""
        request = self.request
        if (missing := self.output.missing) is not None:
            hint = also(hint, missing)
        folder, host = self._place()
        facts = RunOutcome(
            status=status,
            exit_code=self.exit_code,
            run_id=self.id,
            cwd=folder,
            host=host,
            duration_ms=self.duration_ms,
            context=request.context,
            ended_by=ended_by or self.ended_by,
            state=state,
            hint=hint,
            output="",
        )
        if _is_followed():
            return facts
        rendered = self.output.rendered()
        output, omitted = rendered.within(budget - json_size(facts))
        if omitted:
            more = also(hint, self.what_is_left_out(omitted))
            noted = replace(facts, omitted_lines=omitted, hint=more)
            output, omitted = rendered.within(budget - json_size(noted))
            more = also(hint, self.what_is_left_out(omitted))
            facts = replace(noted, omitted_lines=omitted, hint=more)
        if self.ended_by == "prompt" and request.prompt and request.context != "repl":
            # Back at the prompt without an end mark: the prompt is not output.
            output = output.removesuffix(request.prompt.rstrip()).rstrip("\n")
        return replace(facts, output=output)

    def _place(self) -> tuple[str | None, str | None]:
        """Return the folder, and the host of a shell that is not the session's own.

        Where that shell is, only it can tell, at the end: until then nothing is known.
        """
        end = self.state.end
        request = self.request
        if end is not None and end.folder:
            local = request.pid is not None and is_folder_of(request.pid, end.folder)
            return end.folder, None if local else end.host
        local = self.in_own_shell or (request.context == "repl" and request.program not in OPAQUE)
        if not local:
            return None, None
        told = self.session.cwd
        if request.context == "wrapped" and request.pid is not None:
            told = folder_now(request.pid, told)  # its own mark, if one comes, is still on its way
        return told, None

    def what_is_left_out(self, omitted: int) -> Hint:
        rows, characters = self.output.size
        name, rows = self.session.identity.name, min(rows, MOST_LINES)
        lines = "1 line is" if omitted == 1 else f"{omitted} lines are"
        whole = read_whole_run(self.id, name, rows, characters)
        return Hint(f"{lines} left out of the middle", whole)


def _is_followed() -> bool:
    """Whether this call's caller reads the output elsewhere, as it is printed (follow_run)."""
    relay = relay_of_call()
    return relay is not None and relay.follows


def _nothing() -> None:
    return None
