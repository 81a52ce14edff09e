"""A session: a child process on a terminal, and the engine that reads it.

Its parts have files of their own: the child's lives, the stream from the child to the screen, who
waits for a change, the screens that callers know, people's side of it, what the next daemon gets.

Rule 1: the engine never loses a byte: the child is read only as fast as the engine takes it.
Rule 2: every chunk of output raises the generation; waits are told by event.
Rule 3: an ended session stays readable; it has ended when its exit code is known and everything it
wrote before that is on the screen.
"""

import os
import time
from collections.abc import Callable, Coroutine
from signal import SIGINT
from typing import TYPE_CHECKING

from nacre.core import journal
from nacre.core.events import Change
from nacre.core.marks import Prompting
from nacre.core.state import State
from nacre.core.veil import Veil
from nacre.errors import SessionExited
from nacre.services.changes import Changes
from nacre.services.host import Host, Identity
from nacre.services.launch import Launch
from nacre.services.legacy import Legacy
from nacre.services.life import Life, Secrets
from nacre.services.lives import Lives
from nacre.services.memory import Memory
from nacre.services.recorder import Recorder
from nacre.services.stage import Stage
from nacre.services.stream import Stream
from nacre.services.viewers import Viewers
from nacre.system.exits import Ending
from nacre.system.foreground import Facts
from nacre.system.processes import working_directory
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_INTERRUPT = b"\x03"  # Ctrl+C


class Session:
    """Made without a child: `start` it, or let it `adopt` what a former daemon started."""

    def __init__(
        self, identity: Identity, launch: Launch, terminal: "Terminal", ring: Ring, host: Host
    ) -> None:
        self.identity = identity
        self.launch = launch
        self.terminal = terminal
        self.generation = 0
        self.created = time.time()
        self.listed = True
        self.notice: str | None = None  # what its user should know: the journal has stopped
        self.ending: Ending | None = None
        self.ended = 0.0  # seconds since the epoch
        self.ended_at: float | None = None  # the same, by the loop's clock
        self.former_pid = 0  # of a child that had ended before this daemon began
        self.last_output = self.last_input = host.loop.time()
        self.inputs = 0  # counts what was typed: the loop's clock is too coarse to tell before by
        self.watchers: list[Callable[[], None]] = []  # called at every change of the screen
        self.glanced: tuple[object, State] | None = None  # see states.glance
        self._compressed_at: int | None = None
        self._host = host
        self._ring = ring
        self._changes = Changes(host.loop)
        self.memory = Memory()
        self.viewers = Viewers(lambda: self.terminal, host.settings, lambda: self.stage.shown())
        self.stage = Stage(self, host, terminal.rows, terminal.cols)
        self.stream = Stream(self, ring, host)
        self._legacy = Legacy(self, ring)
        self.recorder = Recorder(
            host.loop,
            host.settings,
            host.journal_of(identity.id),
            ring,
            self._legacy.look,
            self._warn,
        )
        self.lives = Lives(
            host,
            identity.id,
            ring,
            absorb=self.stream.absorb,
            full=self.recorder.flush,
            ended=self._on_exit,
        )

    # --- life ------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        return self.ending is None

    @property
    def pid(self) -> int:
        life = self.lives.last
        return life.pid if life is not None else self.former_pid

    def start(self) -> None:
        """Start the child on the terminal as it is. Raises Internal when the system has none."""
        rows, cols = self.terminal.rows, self.terminal.cols
        self._host.keeping.keep(f"sessions/{self.identity.id}/ring", self._ring.descriptor)
        self.stream.begin(self.lives.new_keys().nonce)
        self.put_down(started=False)
        child = self.lives.start(self.launch, rows, cols)
        self.ending = self.ended_at = None
        self.put_down()
        self.recorder.note(journal.START, journal.size_payload(rows, cols), self.generation)
        self.recorder.flush()  # the ring alone does not tell that a new screen began
        self.lives.begin(child)

    def prepare(self, pid: int, master: int) -> None:
        """Take over a child that a former daemon started; it is not read before `adopt`."""
        self.lives.take_over(pid, master)

    def resume_stream(self, keys: Secrets, prompting: Prompting) -> None:
        """Read on where a former daemon stopped: with its secrets and its prompt."""
        self.lives.keys = keys
        self.stream.begin(keys.nonce, prompting)

    def adopt(self) -> None:
        self.stream.expect_mark()
        self.lives.adopt()
        self.put_down()

    def show_notice(self, text: str) -> None:
        """Begin the screen anew with a word of ours: what stood on it cannot be rebuilt."""
        data = text.encode()
        self.terminal.feed(data)
        self.generation += 1
        size = journal.size_payload(self.terminal.rows, self.terminal.cols)
        self.recorder.note(journal.START, size, self.generation)
        self.recorder.note(journal.NOTICE, data, self.generation)
        self.recorder.flush()

    async def end(self) -> None:
        """Hang up and then kill everything the session started; return when it is gone."""
        await self.lives.end()

    async def restart(self) -> None:
        """End what runs and start the same command anew on an empty screen."""
        await self.lives.end(self._begin_anew)

    def _begin_anew(self) -> None:
        rows, cols = self.terminal.rows, self.terminal.cols
        self.terminal.close()
        self.terminal = self._host.engine.new_terminal(rows, cols)
        self.generation += 1
        self.stage.restarted()
        self.start()
        self.last_output = self._host.loop.time()
        self.note_change()
        self.announce("restarted")

    @property
    def is_compressed(self) -> bool:
        return self._compressed_at == self.generation

    def compress(self) -> None:
        """Pack the scrollback, to a quarter or less; reading it unpacks what is read."""
        self.terminal.compress()
        self._compressed_at = self.generation

    def retire(self) -> None:
        """Keep nothing for a next daemon: it was killed, and is readable for a while only."""
        self.recorder.close()
        self._host.keeping.drop(f"sessions/{self.identity.id}/")
        self._ring.close()

    def close(self) -> None:
        """Free the memory and the journal; the session cannot be read any more."""
        if self.lives.last is not None:
            self.lives.last.stop_reading()
        self.retire()
        self.recorder.remove()
        self.terminal.close()

    # --- what outlives the daemon ----------------------------------------------------------

    def put_down(self, *, started: bool = True) -> None:
        """Leave what the session is for the next daemon; called whenever it changes."""
        self._legacy.put_down(started=started)

    def put_down_in_memory(self) -> None:
        """Do so in the ring alone, where nothing has changed that lies on disk."""
        self._legacy.put_down_in_memory(started=True)

    def _warn(self, text: str | None) -> None:
        self.notice = text
        self.announce("notice")
        if text is not None:
            for call in self._host.when_warned:
                call(self.identity.id, text)

    # --- output ----------------------------------------------------------------------------

    def absorb_again(self, offset: int, veil: Veil | None, veiled_from: int) -> None:
        """Show what a former daemon read from this offset on; see Stream."""
        self.stream.absorb_again(self.lives.last, offset, veil, veiled_from)

    def show(self, data: bytes) -> None:
        """Feed the engine, and tell who watches; called by the stream alone."""
        if self.memory.wanted:
            self.memory.keep(self.generation, self.terminal)
        begun = time.perf_counter()
        self.terminal.feed(data)
        cost = time.perf_counter() - begun
        if self.viewers:
            self.viewers.publish(data)
        self.generation += 1
        self.last_output = self._host.loop.time()
        self.recorder.output(data, self.generation, cost)

    @property
    def last_line(self) -> str:
        """The last line of the screen that has something in it."""
        lines = self.terminal.plain_lines()
        return next((line for line in reversed(lines) if line.strip()), "")

    def hand_out(self) -> int:
        """Return the generation for a caller, who may ask for what came after it."""
        self.memory.wanted = True
        return self.generation

    def _note_output(self) -> None:
        self.generation += 1
        self._ring.generation = self.generation
        self.last_output = self._host.loop.time()
        self.note_change()

    def note_change(self) -> None:
        """Wake who waits for a change of the screen."""
        if self.stage.elements:
            self.stage.note_screen()
        self._changes.note_output()
        for call in self.watchers:
            call()

    def _on_exit(self, life: Life, ending: Ending) -> None:
        self.stream.flush()
        if life is not self.lives.last:
            return
        self.end_with(ending)
        self._host.keeping.forget(life.pid)
        self.stage.ended()
        self.viewers.ended(ending.exit_code, ending.signal)
        self._changes.note_end()
        self.announce("ended")
        for call in self._host.when_ended:
            call()

    def end_with(self, ending: Ending, ended: float | None = None) -> None:
        """Note how the child ended: now, or at a time that a former daemon has noted."""
        now = time.time()
        self.ended = now if ended is None else ended
        self.ending = ending
        self.ended_at = self._host.loop.time() - max(0.0, now - self.ended)
        if ended is None and not ending.lost:
            payload = journal.ending_payload(ending.exit_code, ending.signal)
            self.recorder.note(journal.EXIT, payload, self.generation)
        self.put_down()

    def announce(self, change: Change) -> None:
        """Tell who follows sessions."""
        self._host.events.tell_change(self, change)

    def next_change(self, until: float, *, output: bool) -> Coroutine[None, None, None]:
        """Return when the child ends, at the next output if `output`, at the latest at `until`."""
        return self._changes.next(until, output=output)

    # --- input and control -----------------------------------------------------------------

    def write(self, data: bytes, *, recorded: bytes | None = None) -> None:
        """Raises SessionExited when the child has ended, LimitReached when it does not read.

        `recorded` stands in the journal instead, for what is not to be seen there.
        """
        life = self.require_alive()
        self.last_input = self._host.loop.time()
        self.inputs += 1
        if data == _INTERRUPT and life.input.pending:
            life.input.discard()
            if life.takes_signals:
                # The terminal is full, or nothing would be pending: it could not take the key.
                life.signal(SIGINT)
                return
        shown = data if recorded is None else recorded
        if shown:
            visible = (
                self.stream.prompting.phase in ("prompt", "continuation") and self.in_foreground
            )
            visible = visible or life.shows_input
            self.recorder.note(journal.INPUT, shown if visible else b"", self.generation)
        life.input.write(data)

    def set_size(self, rows: int, cols: int) -> None:
        """Make the child's screen this large; the whole is the stage's business."""
        self.terminal.resize(rows, cols)
        rows, cols = self.terminal.rows, self.terminal.cols
        if self.lives.last is not None:
            self.lives.last.set_size(rows, cols)
        self.viewers.refresh()
        self._note_output()
        self.recorder.note(journal.RESIZE, journal.size_payload(rows, cols), self.generation)
        self.recorder.flush()  # the ring does not tell it
        self.announce("resized")

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        self.require_alive().signal(number)

    def require_alive(self) -> Life:
        life = self.lives.last
        if self.ending is not None or life is None:
            raise SessionExited(
                f"the process of session {self.identity.name!r} has ended ({self.ending}); "
                "its screen can still be read, restart_session starts it anew",
                exit_code=self.ending.exit_code if self.ending else None,
                signal=self.ending.signal if self.ending else None,
            )
        return life

    @property
    def marks_itself(self) -> bool:
        """Whether its own shell marks prompts and commands."""
        return self.lives.keys.file is not None

    def read_now(self) -> None:
        """Read what is printed already, though the loop has not been told of it.

        A busy kernel may take its time to say that a terminal is readable; a read sees to it.
        """
        life = self.lives.last
        if life is not None and life.reading:
            life.read_now()

    def facts(self) -> Facts | None:
        """What the kernel knows of the terminal now; None when it is closed."""
        life = self.lives.last
        return life.facts() if life is not None else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        life = self.lives.last
        return life.foreground if life is not None else None

    @property
    def in_foreground(self) -> bool:
        """Whether the session's own program has the terminal, not something that it started."""
        return self.foreground == self.pid

    @property
    def foreground_busy(self) -> bool:
        """Whether a command runs: only a shell at its prompt is idle."""
        life = self.lives.last
        if not self.launch.is_shell or life is None or not life.reading:
            return self.alive
        return self.foreground not in (None, self.pid)

    @property
    def cwd(self) -> str:
        """Where it stands: as its shell reports, else its process, else where it began."""
        prompting = self.stream.prompting
        if self.terminal.cwd or prompting.folder:
            return prompting.folder or self.terminal.cwd or ""
        found = working_directory(self.pid) if self.alive else None
        # A folder's name is bytes; what is not text is shown as such, but cannot be sent.
        return os.fsencode(found or self.launch.cwd).decode(errors="replace")
