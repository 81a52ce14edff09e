"""A session: a child process on a terminal, the engine that reads it, and who waits for it.

Rule 1: the engine never loses a byte: the child is read only as fast as the engine takes it.
Rule 2: every chunk of output raises the generation; waits are told by event.
Rule 3: an ended session stays readable; it has ended when its exit code is known and everything it
wrote before that is on the screen.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGINT

from nacre.core.marks import Mark, MarkScanner, Prompting
from nacre.core.screen import Cursor
from nacre.core.state import State
from nacre.core.veil import Veil
from nacre.errors import Failed, LimitReached, SessionExited
from nacre.services.endings import end_trees
from nacre.services.host import Host, Identity
from nacre.services.input import InputQueue
from nacre.services.launch import Launch
from nacre.services.viewers import Viewers
from nacre.system.exits import Ending, watch_exit
from nacre.system.foreground import Facts, sample
from nacre.system.processes import COOKIE, Tree, working_directory
from nacre.system.pty import Child, foreground_group, read_available, set_size, spawn, takes_signals
from nacre.system.shells import integrate

_REMEMBERED = 16  # screens that callers may refer to by their generation

_INTERRUPT = b"\x03"  # Ctrl+C

# What a terminal may still hold when its child has ended (12 to 22 KB were measured), with room.
_LEFT_OVER = 256 * 1024


@dataclass(slots=True)
class _Running:
    """One life of a session's child."""

    child: Child
    input: InputQueue
    cookie: str
    reading: bool = True
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Session:
    def __init__(
        self, identity: Identity, launch: Launch, rows: int, cols: int, host: Host
    ) -> None:
        self.identity = identity
        self.launch = launch
        self.terminal = host.engine.new_terminal(rows, cols)
        self.viewers = Viewers(lambda: self.terminal, host.settings.max_viewer_bytes)
        self.generation = 0
        self.ending: Ending | None = None
        self.ended_at: float | None = None
        self.created = time.time()
        self.last_output = self.last_input = host.loop.time()
        self._compressed_at: int | None = None
        self._host = host
        self.taps: list[Callable[[bytes | Mark], None]] = []
        self.veil: Veil | None = None
        self.scanner: MarkScanner
        self.prompting: Prompting
        self.glanced: tuple[object, State] | None = None  # see states.glance
        self.remembered: dict[int, dict[int, str]] = {}  # generation → line number → text
        self._handed_out = False
        self._secret: str | None = None
        self._prompt_end: Cursor | None = None
        self._life = asyncio.Lock()
        self._steps: set[asyncio.Task[None]] = set()
        self._output_waiters: list[asyncio.Future[None]] = []
        self._end_waiters: list[asyncio.Future[None]] = []
        self._running: _Running | None = None
        self._start()

    # --- life ------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        return self.ending is None

    @property
    def pid(self) -> int:
        assert self._running is not None
        return self._running.child.pid

    def _start(self) -> None:
        cookie, nonce = secrets.token_hex(16), secrets.token_hex(16)
        argv = self.launch.argv
        env: Mapping[str, str]
        env = {**self.launch.env, "NACRE_SESSION": self.identity.id, COOKIE: cookie}
        host = self._host
        integrated = self.launch.integrated and host.settings.shell_integration
        if integrated and host.runtime is not None:
            started = integrate(self.launch.program, argv, env, nonce, host.runtime)
            argv, env, self._secret = started.argv, started.env, started.secret
        self.scanner = MarkScanner(nonce)
        self.prompting = Prompting()
        self.veil = None
        child = spawn(
            argv,
            cwd=self.launch.cwd,
            env=env,
            rows=self.terminal.rows,
            cols=self.terminal.cols,
            descriptor_limit=host.descriptor_limit,
        )
        queue = InputQueue(host.loop, child.master, host.settings.max_pending_input_bytes)
        running = self._running = _Running(child, queue, cookie)
        self.ending = self.ended_at = None
        host.loop.add_reader(child.master, self._on_readable, running)
        watch_exit(host.loop, child, lambda ending: self._on_exit(running, ending))

    async def end(self) -> None:
        """Hang up and then kill everything the session started; return when it is gone."""
        await self._to_its_end(self._end())

    async def _end(self) -> None:
        async with self._life:
            await self._end_child()

    async def _end_child(self) -> None:
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
        assert self._running is not None
        leader = None if self._running.gone.is_set() else self._running.child.pid
        return Tree(leader, self._running.cookie)

    async def hang_up(self) -> None:
        """Close the terminal and wait until the child is reaped: the last word of an end.

        The kernel hangs up whom we may not signal (su).
        """
        running = self._running
        assert running is not None
        self._stop_reading(running)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._host.settings.kill_grace + 1.0):
                await running.gone.wait()

    async def restart(self) -> None:
        """End what runs and start the same command anew on an empty screen.

        One at a time: a kill that comes meanwhile ends what this started.
        """
        await self._to_its_end(self._restart())

    async def _restart(self) -> None:
        async with self._life:
            await self._end_child()
            self._begin_anew()

    def _begin_anew(self) -> None:
        rows, cols = self.terminal.rows, self.terminal.cols
        self.terminal.close()
        self.terminal = self._host.engine.new_terminal(rows, cols)
        self._start()
        self._note_output()

    @property
    def is_compressed(self) -> bool:
        return self._compressed_at == self.generation

    def compress(self) -> None:
        """Pack the scrollback, to a quarter or less; reading it unpacks what is read."""
        self.terminal.compress()
        self._compressed_at = self.generation

    def close(self) -> None:
        """Free the engine's memory; the session cannot be read any more."""
        if self._running is not None:
            self._stop_reading(self._running)
        self.terminal.close()

    # --- output ----------------------------------------------------------------------------

    def _on_readable(self, running: _Running) -> None:
        data, closed = read_available(running.child.master, self._host.turns.share())
        if data:
            self._absorb(running, data)
            self._host.turns.spent(len(data))
        if closed:
            self._stop_reading(running)

    def _absorb(self, running: _Running, data: bytes) -> None:
        for piece in self.scanner.scan(data):
            if self.veil is None:
                self._show(piece)
            else:
                for seen in self.veil.pass_on(piece):
                    self._show(seen)
        if replies := self.terminal.take_replies():
            # A program that asks without ever reading the answers loses them, nobody else.
            with suppress(LimitReached):
                running.input.write(replies)
        if self._output_waiters:
            self._wake(self._output_waiters)

    def _show(self, piece: bytes | Mark) -> None:
        if isinstance(piece, Mark):
            if piece.kind in "ABCDP":
                self.prompting.note(piece)
            if piece.kind == "B":
                self._prompt_end = self.terminal.cursor()
        else:
            if self._handed_out:
                self._remember()
            self.terminal.feed(piece)
            if self.viewers:
                self.viewers.publish(piece)
            self.generation += 1
            self.last_output = self._host.loop.time()
        for tap in self.taps:
            tap(piece)

    @property
    def line_is_typed(self) -> bool:
        """Whether something stands behind the prompt already: a person began to type."""
        if self.prompting.phase != "prompt" or self._prompt_end is None:
            return False
        now = self.terminal.cursor()
        return (now.row, now.col) != (self._prompt_end.row, self._prompt_end.col)

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

    def lift_veil(self) -> None:
        """Show what was hidden: the mark that it waited for does not come."""
        if self.veil is not None:
            held = self.veil.release()
            self.veil = None
            if held:
                self._show(held)

    def _note_output(self) -> None:
        self.generation += 1
        self.last_output = self._host.loop.time()
        if self._output_waiters:
            self._wake(self._output_waiters)

    def _on_exit(self, running: _Running, ending: Ending) -> None:
        if running.reading:
            # All that the child wrote is readable now: a read flushes the kernel's queue first.
            data, closed = read_available(running.child.master, _LEFT_OVER)
            if data:
                self._absorb(running, data)
            if closed:
                self._stop_reading(running)
            # Else a process in the background still has the terminal: its output is read on.
        running.input.close()
        running.gone.set()
        if held := self.scanner.flush():
            self._show(held)
        if self._secret is not None:
            # A shell that never came to its first line left it.
            with suppress(FileNotFoundError):
                os.unlink(self._secret)
        if running is self._running:
            self.ending = ending
            self.ended_at = self._host.loop.time()
            self.viewers.ended(ending.exit_code, ending.signal)
            self._wake(self._end_waiters)
            for call in self._host.when_ended:
                call()

    def _stop_reading(self, running: _Running) -> None:
        if running.reading:
            running.reading = False
            self._host.loop.remove_reader(running.child.master)
            running.input.close()
            os.close(running.child.master)

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

    def write(self, data: bytes) -> None:
        """Raises SessionExited when the child has ended, LimitReached when it does not read."""
        running = self.require_alive()
        self.last_input = self._host.loop.time()
        if data == _INTERRUPT and running.input.pending:
            running.input.discard()
            if takes_signals(running.child.master):
                # The terminal is full, or nothing would be pending: it could not take the key.
                self.signal(SIGINT)
                return
        running.input.write(data)

    def resize(self, rows: int, cols: int) -> None:
        self.terminal.resize(rows, cols)
        if self._running is not None and self._running.reading:
            set_size(self._running.child.master, self.terminal.rows, self.terminal.cols)
        self.viewers.refresh()
        self._note_output()

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        running = self.require_alive()
        group = foreground_group(running.child.master) if running.reading else None
        try:
            os.killpg(group or running.child.pid, number)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise Failed(
                "the foreground program runs as another user and may not be signalled; "
                "send the key instead (ctrl+c), or kill the session"
            ) from error

    def require_alive(self) -> _Running:
        if self.ending is not None or self._running is None:
            raise SessionExited(
                f"the process of session {self.identity.name!r} has ended ({self.ending}); "
                "its screen can still be read, restart_session starts it anew",
                exit_code=self.ending.exit_code if self.ending else None,
                signal=self.ending.signal if self.ending else None,
            )
        return self._running

    @property
    def marks_itself(self) -> bool:
        """Whether its own shell marks prompts and commands."""
        return self._secret is not None

    def facts(self) -> Facts | None:
        """What the kernel knows of the terminal now; None when it is closed."""
        running = self._running
        return sample(running.child.master) if running is not None and running.reading else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        running = self._running
        if running is None or not running.reading:
            return None
        return foreground_group(running.child.master)

    @property
    def in_foreground(self) -> bool:
        """Whether the session's own program has the terminal, not something that it started."""
        return self.foreground == self.pid

    @property
    def foreground_busy(self) -> bool:
        """Whether a command runs: only a shell at its prompt is idle."""
        if not self.launch.is_shell or self._running is None or not self._running.reading:
            return self.alive
        return foreground_group(self._running.child.master) not in (None, self._running.child.pid)

    @property
    def cwd(self) -> str:
        """Where it stands: as its shell reports, else its process, else where it began."""
        if self.terminal.cwd or self.prompting.folder:
            return self.prompting.folder or self.terminal.cwd or ""
        found = working_directory(self.pid) if self.alive else None
        # A folder's name is bytes; what is not text is shown as such, but cannot be sent.
        return os.fsencode(found or self.launch.cwd).decode(errors="replace")


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
