"""A session: a child process on a terminal, the engine that reads it, and who waits for it.

Rule 1: the engine never loses a byte: the child is read only as fast as the engine takes it.
Rule 2: every chunk of output raises the generation; waits are told by event.
Rule 3: an ended session stays readable; it has ended when its exit code is known and everything it
wrote before that is on the screen.
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from signal import SIGINT
from typing import TYPE_CHECKING

from nacre.core import journal
from nacre.core.events import Change
from nacre.core.journal import Checkpoint
from nacre.core.marks import Prompting
from nacre.core.state import State
from nacre.core.veil import Veil
from nacre.errors import SessionExited
from nacre.services.endings import end_trees
from nacre.services.host import Host, Identity
from nacre.services.kept import Long, about, pack
from nacre.services.launch import Launch
from nacre.services.life import Life, Secrets, new_secrets, start_child
from nacre.services.recorder import Recorder
from nacre.services.stage import Stage
from nacre.services.stream import Stream
from nacre.services.viewers import Viewers
from nacre.system.exits import Ending, watch_adopted, watch_exit
from nacre.system.foreground import Facts
from nacre.system.processes import Tree, working_directory
from nacre.system.ring import Ring

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal

_REMEMBERED = 16  # screens that callers may refer to by their generation

_INTERRUPT = b"\x03"  # Ctrl+C


class Session:
    """Made without a child: `start` it, or let it `adopt` what a former daemon started."""

    def __init__(
        self, identity: Identity, launch: Launch, terminal: "Terminal", ring: Ring, host: Host
    ) -> None:
        self.identity = identity
        self.launch = launch
        self.terminal = terminal
        self.viewers = Viewers(
            lambda: self.terminal, host.settings.max_viewer_bytes, lambda: self.stage.shown()
        )
        self.stage = Stage(self, host, terminal.rows, terminal.cols)
        self.watchers: list[Callable[[], None]] = []  # called at every change of the screen
        self.generation = 0
        self.ending: Ending | None = None
        self.ended_at: float | None = None
        self._ended = 0.0  # the same, in seconds since the epoch
        self.former_pid = 0  # of a child that had ended before this daemon began
        self.created = time.time()
        self.listed = True
        self.notice: str | None = None  # what its user should know: the journal has stopped
        self.last_output = self.last_input = host.loop.time()
        self.inputs = (
            0  # counts what was typed: the loop's clock is too coarse to tell before by it
        )
        self._compressed_at: int | None = None
        self._host = host
        self._ring = ring
        self._keys = Secrets("", "")
        self.stream = Stream(self, ring, host)
        self.glanced: tuple[object, State] | None = None  # see states.glance
        self.remembered: dict[int, dict[int, str]] = {}  # generation → line number → text
        self._handed_out = False
        self._life_lock = asyncio.Lock()
        self._steps: set[asyncio.Task[None]] = set()
        self._output_waiters: list[asyncio.Future[None]] = []
        self._end_waiters: list[asyncio.Future[None]] = []
        self._life: Life | None = None
        self.recorder = Recorder(
            host.loop,
            host.settings,
            host.journal_of(identity.id),
            ring,
            self._look,
            self._warn,
        )

    # --- life ------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        return self.ending is None

    @property
    def pid(self) -> int:
        return self._life.pid if self._life is not None else self.former_pid

    def start(self) -> None:
        """Start the child on the terminal as it is. Raises Internal when the system has none."""
        host, terminal = self._host, self.terminal
        host.keeping.keep(f"sessions/{self.identity.id}/ring", self._ring.descriptor)
        self._keys = new_secrets()
        self.stream.begin(self._keys.nonce)
        self.put_down(started=False)
        rows, cols = terminal.rows, terminal.cols
        child, self._keys = start_child(host, self.identity.id, self.launch, self._keys, rows, cols)
        self.ending = self.ended_at = None
        life = self._new_life(child.pid, child.master)
        self.put_down()
        self.recorder.note(journal.START, journal.size_payload(rows, cols), self.generation)
        self.recorder.flush()  # the ring alone does not tell that a new screen began
        life.begin()
        watch_exit(host.loop, child, life.on_exit)

    def prepare(self, pid: int, master: int) -> None:
        """Take over a child that a former daemon started; it is not read before `adopt`."""
        self._new_life(pid, master)

    def adopt(self) -> None:
        life = self._life
        assert life is not None
        life.begin()
        self.stream.expect_mark()
        watch_adopted(self._host.loop, life.pid, self._host.keeping, life.on_exit)
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

    def _new_life(self, pid: int, master: int) -> Life:
        self._life = Life(
            self._host,
            self._keys,
            pid,
            master,
            self._ring,
            self.stream.absorb,
            self.recorder.flush,
            self._on_exit,
        )
        return self._life

    def resume_stream(self, keys: Secrets, prompting: Prompting) -> None:
        """Read on where a former daemon stopped: with its secrets and its prompt."""
        self._keys = keys
        self.stream.begin(keys.nonce, prompting)

    async def end(self) -> None:
        """Hang up and then kill everything the session started; return when it is gone."""
        await self._to_its_end(self._end())

    async def _end(self) -> None:
        async with self._life_lock:
            await self._end_child()

    async def _end_child(self) -> None:
        if self._life is not None:
            await end_trees(lambda: [self.tree], self._host.settings.kill_grace)
            await self.hang_up()

    async def _to_its_end(self, steps: Coroutine[None, None, None]) -> None:
        """A kill that was begun goes on when its caller gives up: half of one leaves orphans."""
        task = self._host.loop.create_task(steps)
        self._steps.add(task)
        task.add_done_callback(self._steps.discard)
        await asyncio.shield(task)

    @property
    def tree(self) -> Tree:
        return self._life.tree if self._life is not None else Tree(None, self._keys.cookie)

    async def hang_up(self) -> None:
        """Close the terminal and wait until the child is reaped: the last word of an end.

        The kernel hangs up whom we may not signal (su).
        """
        life = self._life
        if life is None:
            return
        life.stop_reading()
        self._host.keeping.drop(f"sessions/{self.identity.id}/master")
        with suppress(TimeoutError):
            async with asyncio.timeout(self._host.settings.kill_grace + 1.0):
                await life.gone.wait()

    async def restart(self) -> None:
        """End what runs and start the same command anew on an empty screen.

        One at a time: a kill that comes meanwhile ends what this started.
        """
        await self._to_its_end(self._restart())

    async def _restart(self) -> None:
        async with self._life_lock:
            await self._end_child()
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
        if self._life is not None:
            self._life.stop_reading()
        self.retire()
        self.recorder.remove()
        self.terminal.close()

    # --- what outlives the daemon ----------------------------------------------------------

    def put_down(self, *, started: bool = True) -> None:
        """Write down what the session is, in the ring for the next daemon and beside the journal.

        Called whenever it changes; before its child is there, not `started`.
        """
        ended = self.put_down_in_memory(started=started)
        if self.listed:
            told = about(self.identity, self.launch, self.created, ended, self.ending)
            self.recorder.write_about(told)
        else:
            self.recorder.remove_about()  # nobody will want it restored

    def put_down_in_memory(self, *, started: bool = True) -> float | None:
        """Do so in the ring alone; return when the child ended."""
        ending = self.ending
        lost = ending is not None and ending.lost
        ended = self._ended if ending is not None and not lost else None
        self._ring.long = pack(
            Long(
                identity=self.identity,
                launch=self.launch,
                created=self.created,
                cookie=self._keys.cookie,
                nonce=self._keys.nonce,
                secret=self._keys.file,
                pid=self.pid if started else None,
                listed=self.listed,
                ended=ended,
                exit_code=ending.exit_code if ending else None,
                signal=ending.signal if ending else None,
                lost=lost,
                stage=self.stage.keep(),
            )
        )
        return ended

    def _look(self) -> tuple[Checkpoint, bytes] | None:
        """The screen for a checkpoint; None in the middle of a very long sequence."""
        from nacre.core.snapshot import WithinSequence

        prompting = self.stream.prompting
        try:
            screen = self.terminal.snapshot()
        except WithinSequence:
            return None
        return (
            Checkpoint(
                time=time.time(),
                generation=self.generation,
                offset=self.recorder.offset,
                evicted=self.terminal.evicted,
                phase=prompting.phase,
                ended=prompting.ended,
                exit_code=prompting.exit_code,
                folder=self.stream.folder,
                prompt_end=self.stream.prompt_end,
            ),
            screen,
        )

    def _warn(self, text: str | None) -> None:
        self.notice = text
        self.announce("notice")
        if text is not None:
            for call in self._host.when_warned:
                call(self.identity.id, text)

    # --- output ----------------------------------------------------------------------------

    def absorb_again(self, offset: int, veil: Veil | None, veiled_from: int) -> None:
        """Show what a former daemon read from this offset on; see Stream."""
        self.stream.absorb_again(self._life, offset, veil, veiled_from)

    def show(self, data: bytes) -> None:
        """Feed the engine, and tell who watches; called by the stream alone."""
        if self._handed_out:
            self._remember()
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
        self._handed_out = True
        return self.generation

    def _remember(self) -> None:
        """Keep the screen of a generation that somebody knows, before it changes."""
        self._handed_out = False
        terminal = self.terminal
        if terminal.alternate:
            return
        top = terminal.evicted + terminal.scrollback_total
        self.remembered[self.generation] = dict(enumerate(terminal.plain_lines(), top))
        while len(self.remembered) > _REMEMBERED:
            del self.remembered[next(iter(self.remembered))]

    def _note_output(self) -> None:
        self.generation += 1
        self._ring.generation = self.generation
        self.last_output = self._host.loop.time()
        self.note_change()

    def note_change(self) -> None:
        """Wake who waits for a change of the screen."""
        if self.stage.elements:
            self.stage.note_screen()
        if self._output_waiters:
            self._wake(self._output_waiters)
        for call in self.watchers:
            call()

    def _on_exit(self, life: Life, ending: Ending) -> None:
        self.stream.flush()
        if life is not self._life:
            return
        self.end_with(ending)
        self._host.keeping.forget(life.pid)
        self.stage.ended()
        self.viewers.ended(ending.exit_code, ending.signal)
        self._wake(self._end_waiters)
        self.announce("ended")
        for call in self._host.when_ended:
            call()

    def end_with(self, ending: Ending, ended: float | None = None) -> None:
        """Note how the child ended: now, or at a time that a former daemon has noted."""
        now = time.time()
        self._ended = now if ended is None else ended
        self.ending = ending
        self.ended_at = self._host.loop.time() - max(0.0, now - self._ended)
        if ended is None and not ending.lost:
            payload = journal.ending_payload(ending.exit_code, ending.signal)
            self.recorder.note(journal.EXIT, payload, self.generation)
        self.put_down()

    def announce(self, change: Change) -> None:
        """Tell who follows sessions."""
        self._host.events.tell_change(self, change)

    # --- waiting ---------------------------------------------------------------------------

    def _wake(self, waiting: list[asyncio.Future[None]]) -> None:
        for future in waiting:
            _settle(future)
        waiting.clear()

    async def next_change(self, until: float, *, output: bool) -> None:
        """Return when the child ends, at the next output if `output`, at the latest at `until`."""
        future = self._host.loop.create_future()
        waiting = self._output_waiters if output else self._end_waiters
        waiting.append(future)
        if output:
            self._end_waiters.append(future)
        timer = self._host.loop.call_at(until, _settle, future)
        try:
            await future
        finally:
            timer.cancel()
            for waiters in (self._output_waiters, self._end_waiters):
                if future in waiters:
                    waiters.remove(future)

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
        if self._life is not None:
            self._life.set_size(rows, cols)
        self.viewers.refresh()
        self._note_output()
        self.recorder.note(journal.RESIZE, journal.size_payload(rows, cols), self.generation)
        self.recorder.flush()  # the ring does not tell it
        self.announce("resized")

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        self.require_alive().signal(number)

    def require_alive(self) -> Life:
        if self.ending is not None or self._life is None:
            raise SessionExited(
                f"the process of session {self.identity.name!r} has ended ({self.ending}); "
                "its screen can still be read, restart_session starts it anew",
                exit_code=self.ending.exit_code if self.ending else None,
                signal=self.ending.signal if self.ending else None,
            )
        return self._life

    @property
    def marks_itself(self) -> bool:
        """Whether its own shell marks prompts and commands."""
        return self._keys.file is not None

    def read_now(self) -> None:
        """Read what is printed already, though the loop has not been told of it.

        A busy kernel may take its time to say that a terminal is readable; a read sees to it.
        """
        if self._life is not None and self._life.reading:
            self._life.read_now()

    def facts(self) -> Facts | None:
        """What the kernel knows of the terminal now; None when it is closed."""
        return self._life.facts() if self._life is not None else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        return self._life.foreground if self._life is not None else None

    @property
    def in_foreground(self) -> bool:
        """Whether the session's own program has the terminal, not something that it started."""
        return self.foreground == self.pid

    @property
    def foreground_busy(self) -> bool:
        """Whether a command runs: only a shell at its prompt is idle."""
        if not self.launch.is_shell or self._life is None or not self._life.reading:
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


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
