"""Whether the program at the other end of a connection on this machine has read what we sent.

The kernel says so of each socket (sock_diag(7)): how much of what came is not read yet. There is
no event for it. For a socket of another machine or namespace, and on other systems, nobody knows.
"""

import fcntl
import socket
import struct
import sys
from contextlib import suppress

_SIOCOUTQ = 0x5411  # linux/sockios.h: bytes that we sent and the other end has not taken

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1  # linux/netlink.h, linux/sock_diag.h
_HEAD = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_ASK = struct.Struct("=BBBxI")  # inet_diag_req_v2: family, protocol, extensions, states
_PORTS = struct.Struct(">HH16s16s")  # inet_diag_sockid: ports and addresses, in network order
_ANY = struct.Struct("=IQ")  # any interface, no cookie (INET_DIAG_NOCOOKIE)
_ALL_STATES = 0xFFFFFFFF
_QUEUE = struct.Struct("=II")  # of inet_diag_msg: expires, rqueue
_BEFORE_QUEUE = _HEAD.size + 4 + _PORTS.size + _ANY.size
_ANSWER = 4096  # bytes: one socket's, a few hundred


class Peer:
    """The other end of a connected TCP socket."""

    def __init__(self, ours: socket.socket) -> None:
        self._ours = ours
        self._asks: socket.socket | None = None
        self._question = b""
        if sys.platform == "linux" and ours.family in (socket.AF_INET, socket.AF_INET6):
            with suppress(OSError):  # a kernel without it, or a sandbox
                self._question = _question(ours)
                self._asks = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)
                self._asks.settimeout(0)  # the kernel answers while we send
                self._asks.connect((0, 0))

    def has_read(self) -> bool | None:
        """Return whether nothing of what we sent waits to be read; None: nobody knows."""
        if self._asks is None:
            return None
        try:
            if struct.unpack("i", fcntl.ioctl(self._ours, _SIOCOUTQ, b"\0" * 4))[0]:
                return False
            self._asks.send(self._question)
            answer = self._asks.recv(_ANSWER)
        except (OSError, ValueError):  # closed meanwhile
            return None
        if len(answer) < _BEFORE_QUEUE + _QUEUE.size or _HEAD.unpack_from(answer)[1] != _BY_FAMILY:
            return None  # it is not of this machine
        return not _QUEUE.unpack_from(answer, _BEFORE_QUEUE)[1]

    def close(self) -> None:
        if self._asks is not None:
            self._asks.close()
            self._asks = None


def _question(ours: socket.socket) -> bytes:
    """Return what asks for the socket whose other end is ours."""
    own, other = ours.getsockname(), ours.getpeername()
    addresses = [socket.inet_pton(ours.family, one[0]).ljust(16, b"\0") for one in (other, own)]
    body = _ASK.pack(ours.family, socket.IPPROTO_TCP, 0, _ALL_STATES)
    body += _PORTS.pack(other[1], own[1], *addresses) + _ANY.pack(0, (1 << 64) - 1)
    return _HEAD.pack(_HEAD.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body
