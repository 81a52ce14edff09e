"""The system calls that a sandbox does without, as a program for the kernel (seccomp(2)).

Bubblewrap takes every right away that they need; this is the second lock on the same door. Some of
them need no right: TIOCSTI types into the own terminal, the kernel's keyrings are not part of any
namespace, and io_uring is not seen by filters. A namespace of the network does not part sockets of
all families: those of AF_VSOCK reach the machine that a virtual one runs on. A program that runs as
its owner (setuid) would carry that one's rights out of the workspace, to all users of the machine.

Where Landlock takes the place of namespaces, more is refused: what it does not know of. That are
sockets of all kinds (a Unix socket is reached by connect(2), whatever may be read), memory and
messages between processes (System V, POSIX), watches of folders, limits and priorities of other
processes, and attributes of files. What changes modes, owners and times of files is held up
(inside/notices.py).

Rule: a program of another architecture (32 bits) is ended, because its calls have other numbers.
"""

import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from nacre.system.sandbox.inside.notices import held_up

# linux/filter.h, linux/bpf_common.h
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AND = 0x54
# struct seccomp_data: the call's number, the architecture, and the low halves of three arguments
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32
# linux/seccomp.h, with the error in the low half
_ALLOW, _KILL, _ERROR, _ASK = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_EPERM, _EACCES, _ENOSYS, _EOPNOTSUPP, _EAFNOSUPPORT = 1, 13, 38, 95, 97
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: those that a namespace parts

_X32 = 0x40000000  # calls of the x32 ABI
_NEW_USER = 0x10000000  # CLONE_NEWUSER of sched.h
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # asm-generic/ioctls.h
_SETUID = 0o4000  # S_ISUID of stat.h. Not S_ISGID, which folders have and means no right there


_UNIX, _PAIRS = 1, (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET: what cannot be connected a second time
# linux/fs.h: FS_IOC_SETFLAGS in two sizes, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION
_ATTRIBUTES = (0x40086602, 0x40046602, 0x401C5820, 0x40087602)


class _Calls(NamedTuple):
    """The numbers of one machine's system calls (asm/unistd.h)."""

    audit: int  # linux/audit.h
    ioctl: int
    clone: int
    unshare: int
    socket: int
    modes: tuple[tuple[int, ...], tuple[int, ...]]  # whose second argument is a mode; whose third
    refused: tuple[int, ...]
    pair: int  # socketpair
    unreached: tuple[int, ...]  # what would reach others, where there are no namespaces
    attributes: tuple[int, ...]
    of_others: tuple[int, ...]  # whose first argument is a process; 0 is the own one
    priorities: tuple[tuple[int, int], ...]  # whose second is one; and what the first must not be


_CLONE3 = 435
# open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, io_uring_setup
_SAME_EVERYWHERE = (428, 429, 430, 431, 432, 433, 442, 425)
_MACHINES = {
    "x86_64": _Calls(
        0xC000003E,
        ioctl=16,
        clone=56,
        unshare=272,
        socket=41,
        modes=((90, 91), (268, 452)),  # chmod, fchmod; fchmodat, fchmodat2
        refused=(
            *(248, 249, 250),  # add_key, request_key, keyctl
            *(165, 166, 155, 308),  # mount, umount2, pivot_root, setns
            *(321, 298, 323, 304),  # bpf, perf_event_open, userfaultfd, open_by_handle_at
            *(246, 320, 175, 313, 176),  # kexec_load, kexec_file_load, the modules
            *(103, 163, 167, 168, 179),  # syslog, acct, swapon, swapoff, quotactl
        ),
        pair=53,
        unreached=(
            *(42, 254, 301),  # connect, inotify_add_watch, fanotify_mark
            *(29, 30, 31),  # shmget, shmat, shmctl
            *(64, 65, 66, 220),  # semget, semop, semctl, semtimedop
            *(68, 69, 70, 71),  # msgget, msgsnd, msgrcv, msgctl
            *(240, 241),  # mq_open, mq_unlink
        ),
        attributes=(188, 189, 190, 197, 198, 199),  # setxattr, removexattr and their kin
        # prlimit64, sched_setaffinity, sched_setparam, sched_setscheduler, sched_setattr
        of_others=(302, 203, 142, 144, 314),
        priorities=((141, 2), (251, 3)),  # setpriority (PRIO_USER), ioprio_set (IOPRIO_WHO_USER)
    ),
    "aarch64": _Calls(
        0xC00000B7,
        ioctl=29,
        clone=220,
        unshare=97,
        socket=198,
        modes=((52,), (53, 452)),
        refused=(
            *(217, 218, 219),
            *(40, 39, 41, 268),
            *(280, 241, 282, 265),
            *(104, 294, 105, 273, 106),
            *(116, 89, 224, 225, 60),
        ),
        pair=199,
        unreached=(
            *(203, 27, 263),
            *(194, 196, 195),
            *(190, 193, 191, 192),
            *(186, 189, 188, 187),
            *(180, 181),
        ),
        attributes=(5, 6, 7, 14, 15, 16),
        of_others=(261, 122, 118, 119, 274),
        priorities=((140, 2), (30, 3)),
    ),
}


_NEW_ATTRIBUTES = (463, 466)  # setxattrat, removexattrat
_SET_FILE = 469  # file_setattr

_Lines = list[tuple[int, int, str, str]]  # code, value, where to go if so, and if not


def filter_program(machine: str | None = None, *, alone: bool = False) -> bytes | None:
    """Return the program; None for a machine whose numbers we do not know.

    `alone`: there are no namespaces around it, and Landlock decides about files.
    """
    machine = machine or os.uname().machine
    calls = _MACHINES.get(machine)
    if calls is None:
        return None
    more = _more(calls, held_up(machine)) if alone else _modes(calls)
    lines: _Lines = [
        (_LOAD, _ARCHITECTURE, "", ""),
        (_JUMP_EQUAL, calls.audit, "", "kill"),
        (_LOAD, _NUMBER, "", ""),
        (_JUMP_AT_LEAST, _X32, "refuse", ""),
        *((_JUMP_EQUAL, number, "refuse", "") for number in calls.refused + _SAME_EVERYWHERE),
        # Its arguments lie in memory, where no filter looks; callers fall back to clone.
        (_JUMP_EQUAL, _CLONE3, "unknown", ""),
        *more,
        (_JUMP_EQUAL, calls.ioctl, "ioctl", ""),
        (_JUMP_EQUAL, calls.socket, "family", ""),
        (_JUMP_EQUAL, calls.clone, "flags", ""),
        (_JUMP_EQUAL, calls.unshare, "flags", "allow"),
    ]
    ends = {"flags": len(lines)}
    lines += [(_LOAD, _FIRST, "", ""), (_JUMP_ANY_BIT, _NEW_USER, "refuse", "allow")]
    ends["ioctl"] = len(lines)
    lines += [
        (_LOAD, _SECOND, "", ""),
        (_JUMP_EQUAL, _TIOCSTI, "refuse", ""),
        *((_JUMP_EQUAL, number, "refuse", "") for number in (_ATTRIBUTES if alone else ())),
        (_JUMP_EQUAL, _TIOCLINUX, "refuse", "allow"),
    ]
    ends["family"] = len(lines)
    lines += [
        (_LOAD, _FIRST, "", ""),
        *((_JUMP_EQUAL, family, "allow", "") for family in (() if alone else _FAMILIES)),
        (_RETURN, _ERROR | (_EACCES if alone else _EAFNOSUPPORT), "", ""),
    ]
    for name, argument in (("mode2", _SECOND), ("mode3", _THIRD)):
        ends[name] = len(lines)
        lines += [(_LOAD, argument, "", ""), (_JUMP_ANY_BIT, _SETUID, "refuse", "allow")]
    if alone:
        _add_blocks(lines, ends, calls)
    for name, value in (
        ("refuse", _ERROR | _EPERM),
        ("unknown", _ERROR | _ENOSYS),
        ("unreached", _ERROR | _EACCES),
        ("unsupported", _ERROR | _EOPNOTSUPP),
        ("ask", _ASK),
        ("kill", _KILL),
        ("allow", _ALLOW),
    ):
        ends[name] = len(lines)
        lines.append((_RETURN, value, "", ""))

    def over(at: int, label: str) -> int:
        return ends[label] - at - 1 if label else 0

    return b"".join(
        struct.pack("=HBBI", code, over(at, yes), over(at, no), value)
        for at, (code, value, yes, no) in enumerate(lines)
    )


def _modes(calls: _Calls) -> _Lines:
    second, third = calls.modes
    return [
        *((_JUMP_EQUAL, number, "mode2", "") for number in second),
        *((_JUMP_EQUAL, number, "mode3", "") for number in third),
    ]


def _more(calls: _Calls, asked: Sequence[int]) -> _Lines:
    return [
        *((_JUMP_EQUAL, number, "ask", "") for number in asked),
        *((_JUMP_EQUAL, number, "unreached", "") for number in calls.unreached),
        *((_JUMP_EQUAL, number, "unsupported", "") for number in calls.attributes),
        *((_JUMP_EQUAL, number, "unsupported", "") for number in _NEW_ATTRIBUTES),
        (_JUMP_EQUAL, _SET_FILE, "unknown", ""),
        (_JUMP_EQUAL, calls.pair, "pair", ""),
        *((_JUMP_EQUAL, number, "own", "") for number in calls.of_others),
        *((_JUMP_EQUAL, number, f"priority{user}", "") for number, user in calls.priorities),
    ]


def _add_blocks(lines: _Lines, ends: dict[str, int], calls: _Calls) -> None:
    """Add what looks at the arguments of calls that are refused only `alone`."""
    ends["pair"] = len(lines)
    lines += [
        (_LOAD, _FIRST, "", ""),
        (_JUMP_EQUAL, _UNIX, "", "unreached"),
        (_LOAD, _SECOND, "", ""),
        (_AND, 0xF, "", ""),  # without SOCK_CLOEXEC and SOCK_NONBLOCK
        *((_JUMP_EQUAL, kind, "allow", "") for kind in _PAIRS),
        (_RETURN, _ERROR | _EACCES, "", ""),
    ]
    ends["own"] = len(lines)
    lines += [(_LOAD, _FIRST, "", ""), (_JUMP_EQUAL, 0, "allow", "refuse")]
    for _, user in calls.priorities:
        ends[f"priority{user}"] = len(lines)
        lines += [
            (_LOAD, _FIRST, "", ""),
            (_JUMP_EQUAL, user, "refuse", ""),
            (_LOAD, _SECOND, "", ""),
            (_JUMP_EQUAL, 0, "allow", "refuse"),
        ]
