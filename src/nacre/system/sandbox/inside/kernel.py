"""The system calls by which a process gives up rights: Landlock, seccomp, capabilities, prctl.

Rule: the numbers are the kernel's, and each names the header that has it. A call that fails raises
OSError; nothing goes on with less protection than was asked for.
"""

import ctypes
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

# asm-generic/unistd.h: the same number on all machines
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPSET = {"x86_64": 126, "aarch64": 91}
# linux/prctl.h
_SET_PDEATHSIG, _CAPBSET_DROP, _SET_SUBREAPER, _NO_NEW_PRIVS = 1, 24, 36, 38
# linux/seccomp.h
_MODE_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h

# linux/landlock.h. What can be done with files, of folders and of the files in them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_SYM, _REFER = 1 << 9, 1 << 10, 1 << 12, 1 << 13
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_HANDLED = (1 << 16) - 1
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = (
    READ | WRITE_FILE | TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
) | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM | _REFER  # fmt: skip
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_NET = 3  # to bind and to connect by TCP
_SCOPED = 3  # abstract Unix sockets and signals: not beyond the own domain
_PATH_BENEATH = 1
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION


def landlock_version() -> int:
    """Return the version of the kernel's Landlock; 0 without any."""
    found: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return max(0, found)


def make_ruleset() -> int:
    """Return a ruleset that takes everything away that Landlock knows of."""
    attributes = struct.pack("=QQQ", _HANDLED, _NET, _SCOPED)
    return _called(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))


def allow(ruleset: int, path: str, rights: int) -> None:
    """Allow something with a file, or with all below a folder; a path that is gone is left out."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(f"/proc/self/fd/{place}"):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, place)
        _called(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(place)


def restrict_by(ruleset: int) -> None:
    """Apply a ruleset to this process, and to all that it starts."""
    _called(_libc.syscall(_RESTRICT_SELF, ruleset, 0))


def listen_by(program: bytes) -> int:
    """Install a filter of system calls; return the descriptor by which its notices come."""
    code = ctypes.create_string_buffer(program, len(program))
    filled = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    number = _SECCOMP[os.uname().machine]
    return _called(_libc.syscall(number, _MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, filled))


def give_up_rights() -> None:
    """Have no capability, and never get one, by whatever program."""
    for capability in range(64):
        if _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) == -1:
            break  # there is none of this number, or we may not: then we have none
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _called(_libc.syscall(_CAPSET[os.uname().machine], header, bytes(24)))
    _called(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))


def die_with_parent(number: int) -> None:
    """Get a signal when the parent ends (of the parent's threads, the one that started us)."""
    _called(_libc.prctl(_SET_PDEATHSIG, number, 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of all whose parent ends, among those that descend from us."""
    _called(_libc.prctl(_SET_SUBREAPER, 1, 0, 0, 0))


def set_times(path: bytes, times: bytes | None) -> None:
    """Call utimensat(2) with the times as a caller gave them, which may say now or leave it."""
    _called(_libc.utimensat(-100, path, times, 0))


def _called(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
