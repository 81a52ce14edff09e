"""The keeper: start the daemon, start it again when it dies, and hold what would die with it.

It is a separate program: `python -I -S keeper.py COMMAND…`. The daemon finds one end of a socket
pair in its environment (client.py is the daemon's side). Messages, one per packet:
  daemon → keeper   KEEP key (with a descriptor) · DROP prefix · WATCH pid · FORGET pid · LOG path
                    TAKE · MORE · READY · LEAVE code
  keeper → daemon   HAVE keys (with their descriptors) … END exits · EXIT pid status · HERE

If a keeper is killed, the daemon starts another one with `--adopt DESCRIPTOR PID IGNORED` before
the command (succession.py). That one is the daemon's child, not its parent: it learns of the
daemon's end by a pidfd, and of its exit code by LEAVE. It starts the next daemon as usual.

Rule 1: it holds descriptors and exit codes and knows nothing about sessions, so it has no reason to
die, or to be replaced with the daemon.
Rule 2: it imports only small parts of the standard library, and nothing of nacre.
Rule 3: orphans of all sessions become its children (prctl(2), PR_SET_CHILD_SUBREAPER), and it reaps
them. Sessions that are older than an adopting keeper's first daemon do not: their exit codes are
lost if they end while no daemon is there, or after it was replaced.
"""

import _signal as signal  # type: ignore[import-not-found]  # small, and without stubs
import _socket as socket
import os
import select
import sys
import time

DESCRIPTOR = "NACRE_KEEPER_FD"  # in the daemon's environment: its end of the socket pair
LAST_STATUS = "NACRE_KEEPER_LAST"  # the same: how the daemon before it ended (wait status)
OPEN_FILES = "NACRE_KEEPER_OPEN_FILES"  # the same: the soft limit for sessions
REAPS = "NACRE_KEEPER_REAPS"  # the same: "1" if all orphans of its sessions become our children
UPGRADE = 75  # exit code of a daemon that must be started again at once (EX_TEMPFAIL)

_PACKET = 65536  # bytes of the longest message
_BATCH = 100  # descriptors in one message; the kernel takes 253 (SCM_MAX_FD)
_STEADY = 10.0  # seconds of serving after which a daemon counts as healthy
_QUICK = 40  # restarts per minute after kills of a healthy daemon; more are slowed down
_SLOW = 2.0  # seconds between those starts
_DELAYS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # seconds before each further attempt
_MOST_EXITS = 4096  # exit codes to remember while there is no daemon
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
# Unix packets keep a message and its descriptor together; macOS has only datagrams for that.
_KIND = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM


class Keeper:
    def __init__(self, command: "list[str]", open_files: int) -> None:
        self.command = command
        self.open_files = open_files
        self.reaps = False
        self.kept: dict[str, int] = {}
        self.watched: set[int] = set()
        self.exits: dict[int, int] = {}
        self.daemon = 0
        self.pidfd = -1  # of a daemon that is not our child
        self.farewell: int | None = None  # the wait status that such a daemon announced
        self.channel: socket.socket | None = None
        self.outbox: list[bytes] = []
        self.taking: list[str] = []
        self.was_ready = False  # at least once; if a daemon fails before that, we give up
        self.ready_at: float | None = None
        self.failures = 0
        self.starts: list[float] = []
        self.start_at: float | None = 0.0
        self.last_status: int | None = None
        self.stopping = False
        self.wake, waker = os.pipe()
        for end in (self.wake, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _noted)
        for number in _SIGNALS:
            # If a signal was ignored when we were started (nohup), it stays ignored.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _noted)

    # --- the loop --------------------------------------------------------------------------

    def run(self) -> int:
        """Return the exit code of a daemon that will not be started again."""
        while True:
            if self.start_at is not None and time.monotonic() >= self.start_at:
                try:
                    self.start()
                except OSError as error:
                    # Its program is being replaced, or the system has no process left. Try again,
                    # because of what we hold here.
                    self.log("error", f"the daemon cannot be started: {error.strerror}")
                    if (code := self.daemon_ended(127 << 8)) is not None:
                        return code
            self.wait()
            for number in self.signals():
                self.forward(number)
            ended = self.reap()
            if ended is None and self.pidfd >= 0:
                ended = self.adopted_end()
            if ended is not None and (code := self.daemon_ended(ended)) is not None:
                return code
            if self.stopping and not self.daemon:
                return 0

    def wait(self) -> None:
        poll = select.poll()
        poll.register(self.wake, select.POLLIN)
        if self.channel is not None:
            writing = select.POLLOUT if self.outbox else 0
            poll.register(self.channel.fileno(), select.POLLIN | writing)
        if self.pidfd >= 0:
            poll.register(self.pidfd, select.POLLIN)
        timeout = None
        if self.start_at is not None:
            timeout = max(0, int((self.start_at - time.monotonic()) * 1000) + 1)
        for descriptor, _events in poll.poll(timeout):
            if self.channel is not None and descriptor == self.channel.fileno():
                self.send_waiting()
                self.receive()

    def signals(self) -> bytes:
        try:
            return os.read(self.wake, 4096)
        except BlockingIOError:
            return b""

    def forward(self, number: int) -> None:
        if number in _SIGNALS:
            self.stopping = True
            if self.daemon:
                os.kill(self.daemon, number)

    # --- the daemon ------------------------------------------------------------------------

    def start(self) -> None:
        self.start_at = None
        self.starts.append(time.monotonic())
        ours, theirs = socket.socketpair(socket.AF_UNIX, _KIND)
        os.set_inheritable(theirs.fileno(), True)
        environment = {
            **os.environ,
            DESCRIPTOR: str(theirs.fileno()),
            OPEN_FILES: str(self.open_files),
            REAPS: "1" if self.reaps else "0",
        }
        if self.last_status is not None:
            environment[LAST_STATUS] = str(self.last_status)
        self.daemon = os.posix_spawn(self.command[0], self.command, environment)
        theirs.close()
        if not self.was_ready:
            self.hand_over_descriptors()
        self.channel = ours
        ours.setblocking(False)

    def adopt(self, descriptor: int, pid: int) -> None:
        """Be the keeper of a daemon that runs already, and is our parent."""
        os.set_inheritable(descriptor, False)
        self.channel = socket.socket(fileno=descriptor)
        self.channel.setblocking(False)
        self.start_at = None
        self.was_ready, self.ready_at = True, time.monotonic()
        self.daemon, self.pidfd = pid, os.pidfd_open(pid)
        if os.getppid() != pid:  # it died meanwhile: whoever has its number is another process
            self.daemon_ended(signal.SIGKILL)
        self.send(b"HERE")

    def adopted_end(self) -> "int | None":
        """Return how an adopted daemon ended; None while it runs."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if not poll.poll(0):
            return None
        self.receive()  # its farewell; without one it was killed
        return int(signal.SIGKILL) if self.farewell is None else self.farewell

    def hand_over_descriptors(self) -> None:
        """Close what only the daemon needs: the pipe for its "ready"."""
        for name in os.listdir("/dev/fd"):
            descriptor = int(name)
            try:
                if descriptor > 2 and os.get_inheritable(descriptor):
                    os.close(descriptor)
            except OSError:
                pass  # the descriptor that listed the folder

    def daemon_ended(self, status: int) -> "int | None":
        """Return an exit code if this is the end; otherwise plan the next start."""
        self.receive()  # its last messages
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        self.outbox.clear()
        self.taking.clear()
        self.daemon = 0
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        self.farewell = None
        self.last_status = status
        code = os.waitstatus_to_exitcode(status)
        if code == 0 or self.stopping or not self.was_ready:
            return code if code >= 0 else 128 - code
        now = time.monotonic()
        self.starts = [start for start in self.starts if now - start < 60]
        steady = self.ready_at is not None and now - self.ready_at >= _STEADY
        self.ready_at = None
        if steady or code in (UPGRADE, -signal.SIGKILL):
            # It was healthy: somebody killed it.
            self.failures = 0
            delay = 0.0 if len(self.starts) < _QUICK else _SLOW
        else:
            delay = _DELAYS[min(self.failures, len(_DELAYS) - 1)]
            self.failures += 1
        self.start_at = now + delay
        if code == UPGRADE:
            self.log("info", "the daemon is replaced")
        else:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            self.log("error", f"the daemon {how}; the next one starts in {delay} s")
        return None

    def reap(self) -> "int | None":
        """Reap all ended processes; return the daemon's status if it is among them."""
        ended = None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ended
            if pid == 0:
                return ended
            if pid == self.daemon:
                ended = status
                continue
            if pid not in self.watched:
                self.receive()  # the daemon's last message may be about it
            if pid in self.watched:
                self.exits[pid] = status
                self.send(f"EXIT {pid} {status}".encode())
            elif (self.ready_at is None or ended is not None) and len(self.exits) < _MOST_EXITS:
                self.exits[pid] = status  # perhaps the daemon had no time to mention it

    # --- what it says ----------------------------------------------------------------------

    def receive(self) -> None:
        size = socket.CMSG_SPACE(4 * _BATCH)
        while self.channel is not None:
            try:
                data, ancillary, _flags, _address = self.channel.recvmsg(_PACKET, size)
            except BlockingIOError:
                return
            except ConnectionResetError:
                continue  # reported once if it died with unread messages, before its last messages
            except OSError:
                data, ancillary = b"", []
            descriptors = [
                int.from_bytes(carried[at : at + 4], sys.byteorder)
                for level, kind, carried in ancillary
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS
                for at in range(0, len(carried), 4)
            ]
            if not data:
                # It closed its end, or will be reaped soon: the loop waits for that.
                self.channel.close()
                self.channel = None
                return
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)  # the next daemon will ask for it
            try:
                self.obey(data.decode(errors="surrogateescape"), descriptors)
            except (ValueError, OSError) as error:
                # Whatever a daemon sends, what we hold must outlive it.
                self.log("warning", f"a message was not obeyed: {type(error).__name__}")
            for descriptor in descriptors:
                os.close(descriptor)

    def obey(self, message: str, descriptors: "list[int]") -> None:
        """Do what a daemon says. Remove descriptors that are kept from the list."""
        word, _, rest = message.partition(" ")
        if word == "KEEP" and descriptors:
            self.drop(rest, exactly=True)
            self.kept[rest] = descriptors.pop(0)
        elif word == "DROP":
            self.drop(rest, exactly=False)
        elif word == "WATCH":
            self.watched.add(pid := int(rest))
            if pid in self.exits:  # it ended before the daemon asked to watch it
                self.send(f"EXIT {pid} {self.exits[pid]}".encode())
        elif word == "FORGET":
            self.watched.discard(int(rest))
            self.exits.pop(int(rest), None)
        elif word == "TAKE":
            self.taking = list(self.kept)
            self.hand_out()
        elif word == "MORE":
            self.hand_out()
        elif word == "READY":
            self.was_ready, self.ready_at = True, time.monotonic()
            self.exits = {pid: self.exits[pid] for pid in self.watched if pid in self.exits}
        elif word == "LEAVE":
            self.farewell = int(rest) << 8
        elif word == "LOG":
            log = os.open(rest, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.dup2(log, 2)
            os.close(log)

    def drop(self, key: str, *, exactly: bool) -> None:
        for known in list(self.kept):
            if known == key or (not exactly and known.startswith(key)):
                os.close(self.kept.pop(known))

    def hand_out(self) -> None:
        """Send the next descriptors; the daemon asks for more once it has them."""
        waiting = [key for key in self.taking if key in self.kept]
        keys, self.taking = waiting[:_BATCH], waiting[_BATCH:]
        if not keys:
            exits = " ".join(f"{pid}:{status}" for pid, status in self.exits.items())
            self.send(f"END {exits}".encode()[:_PACKET])
            return
        rights = b"".join(self.kept[key].to_bytes(4, sys.byteorder) for key in keys)
        assert self.channel is not None
        self.channel.setblocking(True)
        try:
            self.channel.sendmsg(
                ["HAVE {}".format("\n".join(keys)).encode(errors="surrogateescape")],
                [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)],
            )
        except OSError:
            pass  # it is gone: the loop will notice
        finally:
            self.channel.setblocking(False)

    def send(self, message: bytes) -> None:
        if self.channel is not None:  # else the next daemon will ask
            self.outbox.append(message)
            self.send_waiting()

    def send_waiting(self) -> None:
        while self.outbox and self.channel is not None:
            try:
                self.channel.send(self.outbox[0])
            except BlockingIOError:
                return
            except OSError:
                self.outbox.clear()
                return
            del self.outbox[0]

    def log(self, level: str, message: str) -> None:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        line = (
            f'{{"time": "{moment}", "level": "{level}", "logger": "nacre.keeper", '
            f'"message": "{message}"}}\n'
        )
        try:  # noqa: SIM105  # contextlib is not small
            os.write(2, line.encode())
        except OSError:
            pass  # nobody reads it


def _noted(number: int, frame: object) -> None:
    """Do nothing: the wake-up descriptor has woken the loop."""


def _adopt_orphans() -> bool:
    """Become the parent of orphans, if the system supports that (Linux); return whether it does."""
    done: int = -1
    if sys.platform == "linux":
        import _ctypes  # without its package ctypes, which would double our memory

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]  # None: this program
        done = _ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    return done == 0


def _raise_descriptor_limit() -> int:
    """Raise the limit for three descriptors per session; return the old limit."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 1_048_576  # fs.nr_open's default
    wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return soft


def _leave_no_core() -> None:
    """Write no memory to the disk in a crash: it has what the daemon must have again."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def main() -> int:
    command = sys.argv[1:]
    _leave_no_core()
    reaps = _adopt_orphans()
    open_files = _raise_descriptor_limit()
    if command[0] != "--adopt":
        keeper = Keeper(command, open_files)
        keeper.reaps = reaps
        return keeper.run()
    _, descriptor, pid, ignored, *command = command
    for number in ignored.split(","):
        if number:
            signal.signal(int(number), signal.SIG_IGN)
    keeper = Keeper(command, int(os.environ.pop(OPEN_FILES, open_files)))
    keeper.adopt(int(descriptor), int(pid))
    return keeper.run()


if __name__ == "__main__":
    sys.exit(main())
