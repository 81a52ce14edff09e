"""The system calls that a sandbox does without, as a program for the kernel (seccomp(2)).

Bubblewrap takes every right away that they need; this is the second lock on the same door. Some of
them need no right: TIOCSTI types into the own terminal, the kernel's keyrings are not part of any
namespace, and io_uring is not seen by filters. A namespace of the network does not part sockets of
all families: those of AF_VSOCK reach the machine that a virtual one runs on.

Rule: a program of another architecture (32 bits) is ended, because its calls have other numbers.
"""

import os
import struct
from typing import NamedTuple

# linux/filter.h, linux/bpf_common.h
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# struct seccomp_data: the call's number, the architecture, and the low halves of two arguments
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
# linux/seccomp.h, with the error in the low half
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: those that a namespace parts

_X32 = 0x40000000  # calls of the x32 ABI
_NEW_USER = 0x10000000  # CLONE_NEWUSER of sched.h
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # asm-generic/ioctls.h


class _Calls(NamedTuple):
    """The numbers of one machine's system calls (asm/unistd.h)."""

    audit: int  # linux/audit.h
    ioctl: int
    clone: int
    unshare: int
    socket: int
    refused: tuple[int, ...]


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
        refused=(
            *(248, 249, 250),  # add_key, request_key, keyctl
            *(165, 166, 155, 308),  # mount, umount2, pivot_root, setns
            *(321, 298, 323, 304),  # bpf, perf_event_open, userfaultfd, open_by_handle_at
            *(246, 320, 175, 313, 176),  # kexec_load, kexec_file_load, the modules
            *(103, 163, 167, 168, 179),  # syslog, acct, swapon, swapoff, quotactl
        ),
    ),
    "aarch64": _Calls(
        0xC00000B7,
        ioctl=29,
        clone=220,
        unshare=97,
        socket=198,
        refused=(
            *(217, 218, 219),
            *(40, 39, 41, 268),
            *(280, 241, 282, 265),
            *(104, 294, 105, 273, 106),
            *(116, 89, 224, 225, 60),
        ),
    ),
}


def filter_program(machine: str | None = None) -> bytes | None:
    """Return the program for bubblewrap; None for a machine whose numbers we do not know."""
    calls = _MACHINES.get(machine or os.uname().machine)
    if calls is None:
        return None
    lines: list[tuple[int, int, str, str]] = [  # code, value, where to go if so, and if not
        (_LOAD, _ARCHITECTURE, "", ""),
        (_JUMP_EQUAL, calls.audit, "", "kill"),
        (_LOAD, _NUMBER, "", ""),
        (_JUMP_AT_LEAST, _X32, "refuse", ""),
        *((_JUMP_EQUAL, number, "refuse", "") for number in calls.refused + _SAME_EVERYWHERE),
        # Its arguments lie in memory, where no filter looks; callers fall back to clone.
        (_JUMP_EQUAL, _CLONE3, "unknown", ""),
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
        (_JUMP_EQUAL, _TIOCLINUX, "refuse", "allow"),
    ]
    ends["family"] = len(lines)
    lines += [
        (_LOAD, _FIRST, "", ""),
        *((_JUMP_EQUAL, family, "allow", "") for family in _FAMILIES),
        (_RETURN, _ERROR | _EAFNOSUPPORT, "", ""),
    ]
    for name, value in (
        ("refuse", _ERROR | _EPERM),
        ("unknown", _ERROR | _ENOSYS),
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
