"""Try to get out of a sandbox, in every way that is known; print what came of each.

It runs inside, so it uses the standard library only. Each attack returns what it got hold of, or
raises OSError when it was kept from it.
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import socket
import subprocess
import sys
import termios
from contextlib import suppress
from typing import Any

Facts = dict[str, Any]

_libc = ctypes.CDLL(None, use_errno=True)
_REMOUNT, _BIND = 32, 4096  # MS_REMOUNT, MS_BIND of sys/mount.h
_NEW_USER, _NEW_NS = 0x10000000, 0x20000  # CLONE_NEWUSER, CLONE_NEWNS of sched.h
_ATTACH = 16  # PTRACE_ATTACH of sys/ptrace.h
_KEYCTL = {"x86_64": 250, "aarch64": 219}


def call(function: Any, *arguments: Any) -> int:
    """Call the C library; raise what it sets errno to."""
    result: int = function(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read_token(facts: Facts) -> object:
    with open(facts["token"]) as file:
        return file.read()


def list_own_folders(facts: Facts) -> object:
    found = [name for folder in facts["folders"] for name in os.listdir(folder)]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "nothing is there")
    return found


def connect_to_the_socket(facts: Facts) -> object:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(facts["socket"])
        return "connected"


def connect_to_the_daemon_port(facts: Facts) -> object:
    with socket.create_connection(("127.0.0.1", facts["port"]), timeout=5):
        return "connected"


def connect_to_another_session(facts: Facts) -> object:
    with socket.create_connection(("127.0.0.1", facts["session_port"]), timeout=5):
        return "connected"


def see_an_interface(facts: Facts) -> object:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not names:
        raise FileNotFoundError(errno.ENOENT, "only loopback")
    return names


def remount_the_root(facts: Facts) -> object:
    call(_libc.mount, b"none", b"/", None, _REMOUNT, None)
    return "remounted"


def remount_etc(facts: Facts) -> object:
    call(_libc.mount, b"none", b"/etc", None, _REMOUNT | _BIND, None)
    return "remounted"


def make_a_user_namespace(facts: Facts) -> object:
    call(_libc.unshare, _NEW_USER | _NEW_NS)
    return "made"


def uncover(facts: Facts) -> object:
    """Take away what covers nacre's folder."""
    call(_libc.umount2, facts["folders"][0].encode(), 2)
    return "uncovered"


def trace_the_daemon(facts: Facts) -> object:
    call(_libc.ptrace, _ATTACH, facts["daemon"], None, None)
    return "traced"


def signal_the_daemon(facts: Facts) -> object:
    os.kill(facts["daemon"], 0)
    return "there"


def read_the_daemon(facts: Facts) -> object:
    with open(f"/proc/{facts['daemon']}/environ", "rb") as file:
        return file.read().decode(errors="replace")[:80]


def type_into_the_terminal(facts: Facts) -> object:
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    return "typed"


def read_keys(facts: Facts) -> object:
    call(_libc.syscall, _KEYCTL[platform.machine()], 0, -3, 0)  # the session's keyring
    return "has a keyring"


def open_a_socket_to_the_host(facts: Facts) -> object:
    """No namespace parts these: AF_VSOCK reaches the host of a virtual machine."""
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return "has a socket"


def write_through_a_link(facts: Facts) -> object:
    """A link out of the workspace, in a folder that can be written to.

    The folder that it leads to may be there, as one of the sandbox: who is outside sees.
    """
    link = "/tmp/nacre-escape"
    os.symlink(facts["outside"], link)
    try:
        with open(link, "w") as file:
            file.write("escaped")
    finally:
        os.unlink(link)
    raise PermissionError(errno.EPERM, "look outside")


def write_to_etc(facts: Facts) -> object:
    with open("/etc/nacre-escape", "w") as file:
        file.write("escaped")
    return "written"


def change_the_kernel(facts: Facts) -> object:
    """What is opened for writing is not written: it would run as root at the next crash."""
    for name in ("kernel/core_pattern", "kernel/hostname", "vm/drop_caches"):
        try:
            os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
        except OSError as error:
            kept = error
        else:
            return name
    raise kept


def read_the_home(facts: Facts) -> object:
    with open(facts["secret"]) as file:
        return file.read()


def open_another_terminal(facts: Facts) -> object:
    with open(facts["terminal"], "wb", buffering=0) as file:
        file.write(b"escaped")
    return "written"


def gain_rights(facts: Facts) -> object:
    """A program that runs as its owner (setuid)."""
    done = subprocess.run(
        ["/usr/bin/su", "-c", "id"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    # Only root can empty the bounding set, and nobody gets anything of it without new privileges.
    none = not any(int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
    if done.returncode and none and int(status["NoNewPrivs"]):
        raise PermissionError(errno.EPERM, "no rights to gain")
    return "has rights"


def leave_a_setuid_program(facts: Facts) -> object:
    """A program that whoever runs it outside runs as us: by each call that changes modes."""
    home = os.environ["HOME"]
    name = f"program-{os.getpid()}"
    program = os.path.join(home, name)
    folder = os.open(home, os.O_RDONLY)
    with open(program, "wb") as file:
        file.write(b"#!/bin/sh\n")
        ways = (
            lambda: os.chmod(program, 0o4755),
            lambda: os.chmod(file.fileno(), 0o6755),
            lambda: os.chmod(name, 0o4711, dir_fd=folder),
            lambda: call(_libc.syscall, 452, -100, program.encode(), 0o4755, 0),  # fchmodat2
        )
        for change in ways:
            with suppress(OSError):
                change()
                return oct(os.stat(program).st_mode)
    raise PermissionError(errno.EPERM, "no setuid")


def fill_the_memory(facts: Facts) -> object:
    """Write to files in memory without a limit: the kernel knows no process to kill for them."""
    with open("/proc/self/mountinfo") as file:
        mounts = [line.split(" - ") for line in file]
    for place, kind in mounts:
        folder = place.split()[4]
        probe = os.path.join(folder, f"probe-{os.getpid()}")
        try:
            if kind.split()[0] != "tmpfs":
                continue
            os.close(os.open(probe, os.O_CREAT | os.O_WRONLY))
            os.unlink(probe)
        except OSError:
            continue
        found = os.statvfs(folder)
        if found.f_blocks * found.f_frsize > 1 << 30:  # sandbox_tmp_bytes
            return folder
    raise OSError(errno.ENOSPC, "all have a limit")


ATTACKS = (
    fill_the_memory,
    open_a_socket_to_the_host,
    *(read_token, list_own_folders, connect_to_the_socket, connect_to_the_daemon_port),
    *(connect_to_another_session, see_an_interface, remount_the_root, remount_etc),
    *(make_a_user_namespace, uncover, trace_the_daemon, signal_the_daemon, read_the_daemon),
    *(type_into_the_terminal, read_keys, write_through_a_link, write_to_etc),
    *(change_the_kernel, read_the_home, open_another_terminal, gain_rights),
    leave_a_setuid_program,
)


def main() -> None:
    with open(sys.argv[1]) as file:
        facts = json.load(file)
    for attack in ATTACKS:
        if sys.argv[2:] and attack.__name__ not in sys.argv[2:]:
            continue
        try:
            print(attack.__name__, "ESCAPED", repr(attack(facts)), flush=True)
        except OSError as error:
            print(attack.__name__, "held", errno.errorcode.get(error.errno or 0, error), flush=True)
    print("all tried")


if __name__ == "__main__":
    main()
