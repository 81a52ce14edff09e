"""A session: a child process on a terminal, and the engine that reads it.

Its parts are in other files: the record, the screen, the stream from the child to the screen, the
supervisor of the child, what is typed, waits for changes, the display for people, what the next
daemon gets.

Rule 1: a session is complete when it is created: `start` it, or let it `resume` an earlier
daemon's.
Rule 2: waits are woken by events.
Rule 3: an ended session can still be read. It has ended when its exit code is known and all of its
output is on the screen.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from signal import SIGINT, SIGKILL
from typing import TYPE_CHECKING

from nacre.core.display.compose import Shown
from nacre.core.journal import records as journal
from nacre.core.operations.follow import Change, Event
from nacre.core.operations.watch import Receipt
from nacre.core.shell.entering import TypedLine
from nacre.core.shell.programs import OPAQUE
from nacre.core.shell.repl_reader import TypedRepl
from nacre.core.shell.state import State
from nacre.services.host.host import Host
from nacre.services.session.activity import Activity
from nacre.services.session.audit_trail import AuditTrail
from nacre.services.session.changes import Changes
from nacre.services.session.child import ChildProcess
from nacre.services.session.display.display import Display
from nacre.services.session.input import SessionInput
from nacre.services.session.launch import Launch
from nacre.services.session.output import OutputStream
from nacre.services.session.persistence import Persistence, take_checkpoint
from nacre.services.session.record import KeptVeil, SessionRecord
from nacre.services.session.recorder import Recorder
from nacre.services.session.screen import Beginning, LiveScreen
from nacre.services.session.supervisor import Supervisor
from nacre.services.viewers.typists import Typists
from nacre.system.processes.exits import Ending
from nacre.system.processes.foreground import TerminalFacts
from nacre.system.processes.pty import size_of
from nacre.system.processes.tree import working_directory
from nacre.system.storage.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class Session:
    def __init__(self, record: SessionRecord, begin: Beginning, ring: Ring, host: Host) -> None:
        """`record` belongs to the session from now on: nobody else changes it."""
        self.record = record
        self.identity = record.identity
        self.notice: str | None = None  # for its user, such as that the journal has stopped
        self.ended_at: float | None = None  # by the loop's clock
        self.first_input = asyncio.Lock()  # see observe/first_prompt.py
        self.watchers: list[Callable[[], None]] = []  # called at every change of the screen
        self.glanced: tuple[object, State] | None = None  # see observe/state.py
        self.settings = host.settings
        self.typed_repl: TypedRepl | None = None  # what a run was typed into last
        self._host = host
        self._ring = ring
        self._changes = Changes()
        self.screen = LiveScreen(begin, ring, host.loop, host.settings, self._shown)
        self.viewers, self.seen_screens = self.screen.viewers, self.screen.seen
        self.display = Display(self, host)
        self.typists = Typists(ring)
        folder = host.journal_of(record.identity.id)
        self.recorder = Recorder(
            host.loop, host.settings, folder, ring, self._look, self._warn, begin.offset
        )
        self.activity = Activity(host, self.recorder, self.screen, self.tell)
        self.stream = OutputStream(
            begin,
            record.nonce,
            self.screen,
            self.recorder,
            ring,
            host,
            activity=self.activity,
            changed=self.note_change,
        )
        self._persistence = Persistence(record, ring, self.recorder, self.display.keep)
        self.supervisor = Supervisor(
            host,
            record,
            ring,
            show=self.stream.take,
            full=self.recorder.flush,
            ended=self._on_exit,
        )
        self._trail = AuditTrail(record.identity, host)
        self.input = SessionInput(
            record.identity,
            self.supervisor,
            self.stream,
            self.screen,
            self.recorder,
            self._trail,
            ring,
            host,
        )
        self.recorder.hold_back = self.supervisor.hold_back

    # --- what it is ------------------------------------------------------------------------

    @property
    def launch(self) -> Launch:
        return self.record.launch

    @property
    def created(self) -> float:
        return self.record.created

    @property
    def listed(self) -> bool:
        return self.record.listed

    @property
    def alive(self) -> bool:
        return self.record.alive

    @property
    def ending(self) -> Ending | None:
        return self.record.ending

    @property
    def pid(self) -> int:
        """The process id of its child, or of the last one."""
        return self.record.pid or 0

    @property
    def leader(self) -> int:
        """The process id of its own program: of its child, or of what runs in the sandbox."""
        return self.supervisor.leader or 0

    def rename(self, name: str) -> None:
        self.identity.name, self.identity.named = name, True
        self.put_down()
        self.announce("renamed")

    def unlist(self) -> None:
        """Be known only by the id from now on: it was killed or dismissed."""
        self.record.listed = False
        self.put_down()
        self.announce("removed")

    # --- begin and end ---------------------------------------------------------------------

    def start(self) -> None:
        """Start the child at the terminal's current size.

        Raises Internal when the system has no terminal.
        """
        rows, cols = self.terminal.rows, self.terminal.cols
        self._keep_ring()
        self._host.secrets.learn_variables(self.launch.env)
        self.input.begin()
        self.supervisor.prepare()
        self.stream.begin(self.record.nonce)
        self.put_down(started=False)
        child = self.supervisor.start(rows, cols)
        self.ended_at = None
        self.put_down()
        self.recorder.note(journal.START, journal.size_payload(rows, cols), self.generation)
        self.activity.begin_anew()
        self.recorder.flush()  # the ring alone does not show that a new screen began
        self._trail.start(self.launch, child.pid)
        self.supervisor.begin(child)

    def resume(self, child: tuple[int, int] | None, veil: KeptVeil | None) -> None:
        """Continue where an earlier daemon stopped: show what it read, and read its child.

        The child is a process id and a terminal; None: it has ended.
        """
        display, shown = self.record.display, self.last_output
        self._host.secrets.learn_variables(self.launch.env)
        if child is not None:
            self.supervisor.take_over(*child)
        self.stream.absorb_again(self.supervisor.last, veil)
        if display is not None:
            self.display.restore_lease(display)
        if child is None:
            if self.alive:  # it ended while no daemon was there
                self._trail.end(Ending(None, None), self.pid)
            self.end_with(self.ending or Ending(None, None), self.record.ended)
            self.display.restore_ended()
            self.display.ended()
            return
        if (size := size_of(child[1])) != (self.terminal.rows, self.terminal.cols):
            self.set_size(*size)  # the daemon was killed before it stored the size
        if display is not None:
            self.display.restore(display)
        self.stream.expect_mark()
        self.screen.shown_again(shown)
        self.supervisor.adopt()
        self.put_down()

    def keep_ended(self, ending: Ending, ended: float) -> None:
        """Stay readable and restorable; the child ended with an earlier daemon."""
        self._keep_ring()
        self.display.restore_ended()
        self.end_with(ending, ended)

    def show_notice(self, text: str) -> None:
        """Start with an empty screen and a notice, because the old screen cannot be rebuilt."""
        data, shown = text.encode(), self.last_output
        self.screen.feed(data)
        self.screen.shown_again(shown)
        size = journal.size_payload(self.terminal.rows, self.terminal.cols)
        self.recorder.note(journal.START, size, self.generation)
        self.recorder.note(journal.NOTICE, data, self.generation)
        self.recorder.flush()

    async def end(self) -> None:
        """Hang up and then kill everything the session started; return when it is gone."""
        await self.supervisor.end()

    async def restart(self, launch: Launch | None = None) -> None:
        """Kill what runs, and start the same or the given program on an empty screen."""
        if launch is not None:
            self.record.launch = launch
        await self.supervisor.end(self._begin_anew)

    def change_launch(self, launch: Launch) -> None:
        """Start differently the next time."""
        self.record.launch = launch
        self.put_down()

    def _begin_anew(self) -> None:
        self.screen.begin_anew(
            self._host.engine.new_terminal(self.terminal.rows, self.terminal.cols)
        )
        self.display.restarted()
        self.start()
        self.note_change()
        self.announce("restarted")

    def retire(self) -> None:
        """Keep nothing for the next daemon: it was killed and can only be read for a while."""
        self.recorder.close()
        self._host.keeping.drop(f"sessions/{self.identity.id}/")
        self._ring.close()

    def close(self) -> None:
        """Free the memory and the journal; the session can no longer be read."""
        self.supervisor.stop_reading()
        self.stream.close()
        self.retire()
        self.recorder.remove()
        self.terminal.close()
        if self.launch.layer:  # it may be large
            remove = self._host.sandboxes.layer_work.remove
            self._host.loop.run_in_executor(None, remove, self.launch.layer)

    def give_up(self) -> None:
        """Undo a start that failed halfway, so that nothing of it is left."""
        if (child := self.supervisor.last) is not None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, SIGKILL)
        self.close()

    def _on_exit(self, child: ChildProcess, ending: Ending) -> None:
        self.stream.flush()
        if child is not self.supervisor.last:
            return
        self.stream.drop_unshown()  # there is some only if it was killed
        self.end_with(ending)
        self._trail.end(ending, self.pid)
        self._host.keeping.forget(child.pid)
        self.display.ended()
        self.viewers.ended(ending.exit_code, ending.signal)
        self._changes.note_end()
        self.announce("ended")
        self._host.events.tell_end()

    def end_with(self, ending: Ending, ended: float | None = None) -> None:
        """Note how the child ended, now or at a time that an earlier daemon noted."""
        now = time.time()
        at = now if ended is None else ended
        self.record.end(ending, at)
        self.ended_at = self._host.loop.time() - max(0.0, now - at)
        if ended is None and not ending.lost:
            payload = journal.ending_payload(ending.exit_code, ending.signal)
            self.recorder.note(journal.EXIT, payload, self.generation)
            self.activity.typed_ends(ending.exit_code, only_ours=True)
        self.put_down()

    # --- what outlives the daemon ----------------------------------------------------------

    def put_down(self, *, started: bool = True) -> None:
        """Store the record for the next daemon; called whenever it changes."""
        self._persistence.put_down(started=started)

    def put_down_in_memory(self) -> None:
        """Store the record only in the ring, if nothing on disk has changed."""
        self._persistence.put_down_in_memory()

    def keep_all(self) -> None:
        """Give ring and terminal to a keeper that has neither yet."""
        if self._ring.descriptor < 0:
            return
        self._keep_ring()
        child = self.supervisor.last
        if child is not None and child.reading:
            self._host.keeping.keep(f"sessions/{self.identity.id}/master", child.master)
            self._host.keeping.watch(child.pid)

    def _keep_ring(self) -> None:
        self._host.keeping.keep(f"sessions/{self.identity.id}/ring", self._ring.descriptor)

    def _look(self, at_once: bool) -> tuple[journal.Checkpoint, Callable[[], bytes]] | None:
        return take_checkpoint(self.screen, self.stream, self.recorder.offset, at_once=at_once)

    def _warn(self, text: str | None) -> None:
        self.notice = text
        self.announce("notice")

    # --- the screen ------------------------------------------------------------------------

    @property
    def terminal(self) -> "Terminal":
        return self.screen.terminal

    @property
    def generation(self) -> int:
        return self.screen.generation

    @property
    def last_output(self) -> float:
        return self.screen.last_output

    @property
    def last_active(self) -> float:
        """When something was printed or typed last: what was typed may still be answered."""
        return max(self.screen.last_output, self.input.last_input)

    @property
    def last_line(self) -> str:
        return self.screen.last_line

    @property
    def now(self) -> float:
        """The time of `last_output` and `last_input`: the loop's."""
        return self._host.loop.time()

    def hand_out(self) -> int:
        """Return the generation for a caller, which may later ask for what came after it."""
        return self.screen.hand_out()

    def _shown(self) -> Shown:
        return self.display.shown()

    def note_change(self) -> None:
        """Wake waits for a change of the screen."""
        if self.display.elements:
            self.display.note_screen()
        self._changes.note_output()
        for call in self.watchers:
            call()

    def next_change(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> Coroutine[None, None, None]:
        """Return when the child ends, at the next output if `output`, or at the time `until`.

        With `when`, only output counts after which that holds.
        """
        return self._changes.next(until, output=output, when=when)

    def tell(self, kind: str, make: Callable[[], Event]) -> None:
        """Send an event to followers of this session; it is made only if somebody wants it."""
        self._host.events.tell(kind, self, make)

    def announce(self, change: Change) -> None:
        """Send a change of this session to followers."""
        self._host.events.tell_change(self, change)

    def set_size(self, rows: int, cols: int) -> None:
        """Resize the child's screen; the display handles the whole size."""
        if cols != self.terminal.cols:
            self.stream.echoes.forget()
        self.screen.resize(rows, cols)
        rows, cols = self.terminal.rows, self.terminal.cols
        self.supervisor.set_size(rows, cols)
        self.note_change()
        self.recorder.note(journal.RESIZE, journal.size_payload(rows, cols), self.generation)
        self.recorder.flush()  # the ring does not have it
        self.announce("resized")

    # --- input and control -----------------------------------------------------------------

    def write(
        self, data: bytes, *, recorded: bytes | None = None, receipt: Receipt | None = None
    ) -> None:
        """Raises SessionExited when the child has ended, LimitReached when it does not read.

        ControlHeld when it is for a call that may not type now, and PolicyDenied for what nobody
        has judged (dispatch/permit.py).
        `recorded` goes into the journal instead, if `data` must not be seen there. `receipt` hears
        what becomes of it. What names a secret is typed with its value, and recorded with its name;
        InvalidInput when there is none. A person types what they see.
        """
        self.input.write(data, recorded, receipt)

    def with_secrets(self, text: str) -> str:
        """Return a text with the values of the secrets that it names. Raises InvalidInput."""
        return self._host.secrets.fill(text, self.identity.name)

    @property
    def inputs(self) -> int:
        """How often something was typed."""
        return self.input.inputs

    @property
    def last_input(self) -> float:
        return self.input.last_input

    @property
    def in_escape(self) -> bool:
        return self.input.in_escape

    @property
    def typed(self) -> TypedLine:
        return self.input.line

    @property
    def known_line(self) -> str | None:
        return self.input.known_line

    @property
    def in_vi_commands(self) -> bool:
        return self.input.in_vi_commands

    def drop_input_of_others(self, key: str) -> int:
        """Forget what waits for the program and somebody else has sent; return how many bytes."""
        return self.supervisor.drop_input_of_others(key)

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        child = self.require_alive()
        if number == SIGINT:
            self.input.note_interrupt()
        child.signal(number)

    def require_alive(self) -> ChildProcess:
        """Raises SessionExited."""
        return self.supervisor.require()

    # --- the child's terminal: see Supervisor ----------------------------------------------

    @property
    def marks_itself(self) -> bool:
        """Whether its own shell marks prompts and commands."""
        return self.record.secret is not None

    def read_now(self) -> None:
        self.supervisor.read_now()

    @property
    def is_behind(self) -> bool:
        """Whether its screen is about to change: something was read that is not shown yet."""
        return self.stream.is_behind

    async def catch_up(self) -> None:
        """Read what is already printed, and return when it is shown."""
        self.read_now()
        while self.is_behind:  # noqa: ASYNC110  # each turn of the loop shows a part of it
            await asyncio.sleep(0)

    def facts(self) -> TerminalFacts | None:
        return self.supervisor.facts()

    @property
    def foreground(self) -> int | None:
        return self.supervisor.foreground

    @property
    def in_foreground(self) -> bool:
        return self.supervisor.in_foreground

    @property
    def cwd(self) -> str:
        """Its folder: as its shell's marks or its process say, else where it started.

        What anybody may print (OSC 7) counts only for a program that is elsewhere itself.
        """
        if (told := self.stream.prompting.folder) is not None:
            return told
        reported = self.terminal.cwd
        if reported and (self.launch.program in OPAQUE or not self.in_foreground):
            return reported
        found = None if self.alive else reported
        if self.alive and not (self.launch.is_shell or self.in_foreground):
            # A line for /bin/sh that started a shell: who uses the session is in that one.
            found = working_directory(self.foreground or 0)
        if found is None and self.alive:
            found = working_directory(self.leader)
        # A folder's name is bytes; what is not text is replaced, because it could not be sent.
        return os.fsencode(found or self.launch.cwd).decode(errors="replace")
