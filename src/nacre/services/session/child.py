"""A session's child: its process, its terminal, and the input that waits for it.

A restart creates a new one.

Rule 1: output is read only as fast as it can be handled, and goes into the ring first.
Rule 2: a child that an earlier daemon started works like our own; the keeper knows its exit code.
"""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from signal import SIGINT

from nacre.errors import Failed
from nacre.services.host.host import Host
from nacre.services.session.input_queue import InputQueue, TerminalAnswers
from nacre.services.session.launch import Launch
from nacre.services.session.record import Secrets, SessionRecord
from nacre.system.processes.exits import Ending
from nacre.system.processes.foreground import TerminalFacts, sample
from nacre.system.processes.integration import integrate
from nacre.system.processes.pty import (
    Child,
    SessionLimits,
    foreground_group,
    leader_of,
    set_size,
    shortage,
    shows_input,
    spawn,
    takes_signals,
    unread,
)
from nacre.system.processes.tree import COOKIE, Tree
from nacre.system.sandbox.sandboxes import Enclosed
from nacre.system.storage.ring import Ring

# What a terminal may still hold when its child has ended (we measured 12 to 22 KB), and some more.
_LEFT_OVER = 256 * 1024

_INTERRUPT = b"\x03"  # Ctrl+C
_PATH = "/usr/bin:/bin"  # for what makes a sandbox
# Shows new bytes, and what is left of former ones, until a time; returns whether some are left.
Show = Callable[["ChildProcess", bytes, float], bool]


class ChildProcess:
    def __init__(
        self,
        host: Host,
        keys: Secrets,
        pid: int,
        master: int,
        ring: Ring,
        show: "Show",
        full: Callable[[], None],
        ended: Callable[["ChildProcess", Ending], None],
        *,
        confined: bool = False,
    ) -> None:
        """`show` gets output, `full` is called to empty the ring, `ended` at the end.

        `confined`: the process holds a sandbox, and the program runs in there.
        """
        self.pid = pid
        self.confined = confined
        self._leader: int | None = None if confined else pid
        self._cgroup: str | None = None  # what it limits, once somebody asked
        self.since = 0  # when it was started; see Tree
        self.master = master
        self.keys = keys
        self.reading = True
        self.gone = asyncio.Event()
        self.input = InputQueue(host.loop, master, host.settings.max_pending_input_bytes)
        most_unread = host.settings.max_unread_answer_bytes
        self.answers = TerminalAnswers(
            self.input, most_unread, host.loop.time, partial(unread, master)
        )
        self._host = host
        self._ring = ring
        self._show = show
        self._full = full
        self._ended = ended
        self.reaped = asyncio.Event()  # its process is gone; what it printed may not be shown yet
        self._ending: Ending | None = None  # how; its last output is not shown yet
        self._left_over = 0

    def begin(self) -> None:
        self._host.loop.add_reader(self.master, self._host.read_share.ready, self)

    # --- output ----------------------------------------------------------------------------

    def listen(self, *, on: bool) -> None:
        """Let the loop tell when there is output, or not: while it would not be read anyway."""
        if self.reading and on:
            self.begin()
        elif self.reading:
            self._host.loop.remove_reader(self.master)

    def hold_back(self, *, held: bool) -> None:
        """Read nothing for a while; the kernel holds the program back."""
        if held:
            self._host.read_share.pause(self)
        else:
            self._host.read_share.resume(self)

    @property
    def is_held_back(self) -> bool:
        return self._host.read_share.is_paused(self)

    def read_now(self) -> None:
        """Read what is available, if anything, as far as there is time to show it."""
        self._host.read_share.at_once(self)

    def take_turn(self, until: float) -> bool:
        """Read and show output until a time of the turn's clock; return whether some is left.

        No more is read before everything is shown, so the kernel holds the program back.
        """
        if self._show(self, b"", until) or self.is_held_back:
            return True
        size, left = self._read(until)
        if self._ending is None:
            return left
        while size and not left:
            if time.perf_counter() >= until or self.is_held_back:
                return True
            size, left = self._read(until)
        if not left:
            self._finish(self._ending)
        return left

    def _read(self, until: float) -> tuple[int, bool]:
        """Read once; return how much it was, and whether some of it is left to show."""
        if not self.reading or (self._ending is not None and self._left_over <= 0):
            return 0, False
        if self._ring.full:
            self._full()
        shared = self._host.read_share
        data, closed = self._ring.read(self.master, shared.share())
        left = False
        if data:
            shared.spent(len(data))
            left = self._show(self, data, until)
            self._left_over -= len(data)
        if closed:
            self.stop_reading()
        return len(data), left

    def on_exit(self, ending: Ending) -> None:
        """Read the rest of the output, all of which is available now: a read flushes the queue.

        A background process may still have the terminal: then reading continues after that.
        """
        self.reaped.set()
        self._ending, self._left_over = ending, _LEFT_OVER
        self.read_now()

    def finish(self) -> None:
        """End now, although not all is shown that was read."""
        if self._ending is not None:
            self._finish(self._ending)

    def _finish(self, ending: Ending) -> None:
        self._ending = None
        self.hold_back(held=False)
        self.input.close()
        self.gone.set()
        self._ended(self, ending)

    def stop_reading(self) -> None:
        if self.reading:
            self.reading = False
            self._host.loop.remove_reader(self.master)
            self._host.read_share.forget(self)
            self.input.close()
            os.close(self.master)

    # --- control ---------------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        leader = None if self.reaped.is_set() else self.pid
        reaper = self._host.keeping.reaper
        return Tree(leader, self.keys.cookie, self.since, self.confined, reaper)

    @property
    def leader(self) -> int | None:
        """The session's own program: the child, or what runs in its sandbox; None: not yet."""
        if self._leader is None and self.reading:
            self._leader = leader_of(self.master)
        return self._leader

    def cgroup(self, identifier: str) -> str:
        """Return what limits it with all that it starts."""
        if self._cgroup is None and not self.reaped.is_set():
            self._cgroup = self._host.groups.limits_of(identifier, self.pid) or "none"
        return self._cgroup or "none"

    def set_size(self, rows: int, cols: int) -> None:
        if self.reading:
            set_size(self.master, rows, cols)

    def signal(self, number: int) -> None:
        """Send a signal to the foreground process group, else to the child's own."""
        try:
            os.killpg(self.foreground or self.leader or self.pid, number)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise Failed(
                "the foreground program runs as another user, so nacre may not signal it",
                "send the key instead (ctrl+c)",
                "kill the session",
            ) from error

    def interrupted_by(self, data: bytes) -> bool:
        """If this is Ctrl+C and input is waiting, drop that and send the signal instead of the key.

        The terminal is full then, and could not take the key. Return whether the signal was sent.
        """
        if data != _INTERRUPT or not self.input.pending:
            return False
        self.input.discard()
        if not takes_signals(self.master):
            return False
        self.signal(SIGINT)
        return True

    @property
    def shows_input(self) -> bool:
        """Whether the terminal itself echoes what is typed."""
        return self.reading and shows_input(self.master)

    def facts(self) -> TerminalFacts | None:
        """What the kernel knows about the terminal now; None if it is closed."""
        return sample(self.master) if self.reading else None

    @property
    def foreground(self) -> int | None:
        """The process group that has the terminal."""
        return foreground_group(self.master) if self.reading else None


def new_secrets() -> Secrets:
    return Secrets(secrets.token_hex(16), secrets.token_hex(16))


def start_child(host: Host, record: SessionRecord, rows: int, cols: int) -> tuple[Child, Secrets]:
    """Start a session's program. Raises LimitReached and Internal, as spawn does.

    For a sandbox also what `Sandboxes.enclose` raises. Returns the secrets, which now say whether
    the program marks its prompts.
    """
    identifier, launch, keys = record.identity.id, record.launch, record.secrets
    argv = launch.argv
    env: Mapping[str, str]
    env = {**launch.env, "NACRE_SESSION": identifier, COOKIE: keys.cookie}
    if host.askpass is not None and not launch.confined:
        env = {**_asking(host.settings.askpass, *host.askpass, env), **env}
    pipes: tuple[int, ...] = ()
    if launch.integrated and host.settings.shell_integration and host.runtime is not None:
        try:
            started = integrate(launch.program, argv, env, keys.nonce)
        except OSError as error:
            raise shortage("cannot open a pipe", error) from error
        argv, env, pipes = started.argv, started.env, (started.pipe,)
        keys = Secrets(keys.cookie, keys.nonce, integrated=True)
    cwd = launch.cwd
    try:
        if launch.confined:
            enclosed = _enclose(host, launch, argv, env)
            argv, pipes = tuple(enclosed.argv), (*pipes, *enclosed.descriptors)
            # What a caller gave may tell a program to load something (LD_PRELOAD): not out here.
            env = {"PATH": _PATH, "NACRE_SESSION": identifier, COOKIE: keys.cookie}
            cwd = "/"
        child = spawn(
            argv,
            cwd=cwd,
            env=env,
            rows=rows,
            cols=cols,
            limits=_limits(host, identifier),
            confined=launch.confined,
            opened=lambda master: host.keeping.keep(f"sessions/{identifier}/master", master),
            pass_on=pipes,
            umask=host.umask,
        )
    finally:
        for pipe in pipes:
            os.close(pipe)
    host.keeping.watch(child.pid)
    return child, keys


def _limits(host: Host, identifier: str) -> SessionLimits:
    settings = host.settings
    return SessionLimits(
        host.descriptor_limit,
        settings.session_max_open_files,
        settings.session_core_bytes,
        settings.session_max_file_bytes,
        host.groups.make(identifier),
        settings.session_oom_score_adj,
    )


def _asking(how: str, program: str, socket: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which sudo and ssh ask a person; a session's own come before them.

    Not in a sandbox: nothing there may reach a socket of ours, and sudo gains no rights there.
    """
    if how == "off":
        return {}
    # Without a display ssh takes `prefer` for nothing (OpenSSH, readpass.c).
    shows = env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    prefer = {"SSH_ASKPASS_REQUIRE": "prefer" if shows else "force"} if how == "prefer" else {}
    return {
        "SUDO_ASKPASS": program,
        "SSH_ASKPASS": program,
        "NACRE_ASKPASS_SOCKET": socket,
        **prefer,
    }


def _enclose(host: Host, launch: Launch, argv: tuple[str, ...], env: Mapping[str, str]) -> Enclosed:
    try:
        return host.sandboxes.enclose(
            launch.sandbox,
            argv,
            workspace=launch.workspace,
            layer=launch.layer,
            cwd=launch.cwd,
            env=env,
        )
    except OSError as error:
        raise shortage("cannot make a sandbox", error) from error
