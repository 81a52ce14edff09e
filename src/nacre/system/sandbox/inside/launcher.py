"""Start a program that Landlock and seccomp confine, and stay until all that it started is gone.

Rule 1: this process is outside: it keeps no right of root's, but it can see, change and signal what
its user can. It does so by ids and places that the kernel gave it, and reads no name.
Rule 2: it is the parent of all whose parent ends. So when the program ends, or the shell that
started us, nothing of it is left, also what has left its session and cleared its environment.
Rule 3: whatever fails on the way to the program ends the start; nothing runs with less protection.
Rule 4: before the program runs, only small modules are loaded: json, socket, signal and typing took
most of the start's time. What is needed beside the program is loaded beside it.
"""

import _signal as signal  # type: ignore[import-not-found]  # small, and without stubs
import _socket as socket
import fcntl
import marshal
import os
import select
import struct
import termios

from nacre.system.sandbox.inside import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from nacre.system.sandbox.inside.notices import Notices

_BOX, _TMP = "nacre-box-", "tmp"
_FOLDER = "/tmp"  # noqa: S108  what is made there has a name that nobody knows, and mode 0700
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_FAILED, _NOT_RUN, _NOT_FOUND = 125, 126, 127  # as shells have it
_DESCRIPTOR = struct.Struct("i")
_TOLD = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class suppress:  # as contextlib's, which loads five modules
    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


class PrivateHome:
    """Folders of its own, in place of the home and of /tmp; they go with the program."""

    def __init__(self, denied: str, names: list[str]) -> None:
        _sweep()
        name = f"{_BOX}{os.getpid()}-{os.urandom(6).hex()}"
        self.path = os.path.join(os.path.realpath(_FOLDER), name)
        os.mkdir(self.path, 0o700)
        for name in ("home", _TMP, "bin"):
            os.mkdir(os.path.join(self.path, name), 0o700)
        for name in names:
            _copy(denied, os.path.join(self.path, "bin", name))

    def environment(self, env: dict[str, str]) -> dict[str, str]:
        found = {**env, "HOME": f"{self.path}/home", "TMPDIR": f"{self.path}/{_TMP}"}
        if os.listdir(f"{self.path}/bin"):
            found["PATH"] = f"{self.path}/bin:{env.get('PATH', os.defpath)}"
        return found

    def writable(self) -> list[str]:
        return [f"{self.path}/home", f"{self.path}/{_TMP}"]

    def remove(self) -> None:
        _remove(self.path)


def _sweep() -> None:
    """Remove the boxes of launchers that were killed."""
    for name in os.listdir(_FOLDER):
        pid = name.removeprefix(_BOX).partition("-")[0] if name.startswith(_BOX) else ""
        path = os.path.join(_FOLDER, name)
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                if os.lstat(path).st_uid == os.getuid():
                    _remove(path)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as file:
        program = file.read()
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as copy:
        copy.write(program)


def _remove(path: str) -> None:
    import shutil  # at the end nobody waits for it

    for folder, _, _ in os.walk(path):
        with suppress(OSError):  # its program may have shut them; links are not walked
            os.chmod(folder, 0o700)
    shutil.rmtree(path, ignore_errors=True)


def main(descriptor: int) -> "NoReturn":
    """Read what to do from a file in memory, and do it."""
    with os.fdopen(descriptor, "rb") as file:
        plan: dict[str, Any] = marshal.load(file)  # noqa: S302  the daemon wrote it
    parent = os.getppid()
    woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (*_TOLD, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    kernel.die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(_FAILED)
    kernel.adopt_orphans()
    box = PrivateHome(plan["denied"], plan["denies"])
    try:
        code = _run(plan, box, woken)
    except OSError as error:
        _say(f"nacre: no sandbox: {error}")
        code = _FAILED
    finally:
        _end_all()
        box.remove()
    os._exit(code)


def _run(plan: "dict[str, Any]", box: PrivateHome, woken: int) -> int:
    """Run the program; return its exit code, 128 and more for a signal."""
    kernel.give_up_rights()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _become(plan, box, theirs)
    theirs.close()
    from nacre.system.sandbox.inside.notices import Notices

    _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(_DESCRIPTOR.size))
    ours.close()
    descriptors = _DESCRIPTOR.unpack(ancillary[0][2]) if ancillary else ()
    if not descriptors:  # it has said why
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    writable = [*box.writable(), *plan["write"]]
    status = _attend(Notices(descriptors[0], writable), child, woken)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _attend(notices: "Notices", child: int, woken: int) -> int:
    """Answer until the program ends, or until we are told to end; return its status."""
    waiting = select.poll()
    waiting.register(woken, select.POLLIN)
    waiting.register(notices.listener, select.POLLIN)
    while True:
        for descriptor, event in waiting.poll():
            if descriptor == notices.listener:
                if event & select.POLLIN:
                    notices.answer()
                else:  # nobody is left that it could be about
                    waiting.unregister(descriptor)
                continue
            if set(os.read(woken, 256)) & set(_TOLD):
                return int(signal.SIGKILL)
            if (status := _reap(child)) is not None:
                return status


def _reap(child: int) -> int | None:
    """Collect all that have ended; return the status of the program if it is among them."""
    found = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                found = ended[1]
    return found


def _end_all() -> None:
    """Kill what descends from us, until nothing does: all orphans become our children."""
    with suppress(ChildProcessError):
        while True:
            for pid in _descendants():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found: list[int] = []
    todo = [os.getpid()]
    while todo:
        more = children.get(todo.pop(), [])
        found += more
        todo += more
    return found


# --- inside -------------------------------------------------------------------------------------


def _become(plan: "dict[str, Any]", box: PrivateHome, channel: socket.socket) -> "NoReturn":
    """Give up all rights, and become the program."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        if plan["trial"] is not None:  # soon its file cannot be read
            from nacre.system.sandbox.inside.trial import complaints
        if plan["terminal"]:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.set_wakeup_fd(-1)
        for number in (*_TOLD, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        kernel.restrict_by(_ruleset(plan, box))
        listener = kernel.listen_by(bytes.fromhex(plan["filter"]))
        passed = (socket.SOL_SOCKET, socket.SCM_RIGHTS, _DESCRIPTOR.pack(listener))
        channel.sendmsg([b"x"], [passed])
        os.close(listener)
        channel.close()
        if plan["trial"] is not None:
            said = [*complaints(plan["trial"], box.writable()), "done", ""]
            os.write(1, "\n".join(said).encode())
            os._exit(0)
        _execute(plan, box)
    except OSError as error:
        _say(f"nacre: no sandbox: {error}")
    os._exit(_FAILED)


def _execute(plan: "dict[str, Any]", box: PrivateHome) -> None:
    try:
        os.chdir(plan["cwd"])
        env = box.environment(plan["env"])
        os.execve(plan["argv"][0], plan["argv"], env)  # noqa: S606  no shell is wanted
    except FileNotFoundError as error:
        _say(f"nacre: {error}")
        os._exit(_NOT_FOUND)
    except PermissionError as error:
        _say(f"nacre: {error}")
        os._exit(_NOT_RUN)


def _say(words: str) -> None:
    os.write(2, f"{words}\n".encode(errors="replace"))


def _ruleset(plan: "dict[str, Any]", box: PrivateHome) -> int:
    ruleset = kernel.make_ruleset()
    for path in plan["read"]:
        kernel.allow(ruleset, path, kernel.READ)
    for path in (*plan["write"], *box.writable()):
        kernel.allow(ruleset, path, kernel.WRITE)
    kernel.allow(ruleset, f"{box.path}/bin", kernel.READ)
    for name in _DEVICES:
        kernel.allow(ruleset, f"/dev/{name}", kernel.DEVICE)
    if plan["terminal"]:
        kernel.allow(ruleset, os.ttyname(0), kernel.DEVICE)
    return ruleset
