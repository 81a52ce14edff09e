"""What the other end of a connection on this machine does: has it read what we sent, is it held?

The kernel says so of each socket (sock_diag(7)): how much has come, and how much of that is not
read yet. There is no event for it, and what was not yet acknowledged tells nothing: that may wait
for 40 ms. For a socket of another machine or namespace, and on other systems, nobody knows.
"""

import socket
import struct
import sys
from contextlib import suppress

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1  # linux/netlink.h, linux/sock_diag.h
_HEAD = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_ASK = struct.Struct("=BBBxI")  # inet_diag_req_v2: family, protocol, extensions, states
_PORTS = struct.Struct(">HH16s16s")  # inet_diag_sockid: ports and addresses, in network order
_ANY = struct.Struct("=IQ")  # any interface, no cookie (INET_DIAG_NOCOOKIE)
_ALL_STATES = 0xFFFFFFFF
_QUEUE = struct.Struct("=IIIII")  # the rest of inet_diag_msg: expires, rqueue, wqueue, uid, inode
_QUEUE_AT = _HEAD.size + 4 + _PORTS.size + _ANY.size
_INFO = 2  # INET_DIAG_INFO: the attribute with a struct tcp_info
_ATTRIBUTE = struct.Struct("=HH")  # its length with this head, its type
_RECEIVED, _COUNT = 128, struct.Struct("=Q")  # where tcpi_bytes_received is in it
_ANSWER = 4096  # bytes: one socket's, a few hundred


class Peer:
    """The other end of a connected TCP socket."""

    def __init__(self, ours: socket.socket) -> None:
        self._asks: socket.socket | None = None
        self._question = b""
        if sys.platform == "linux" and ours.family in (socket.AF_INET, socket.AF_INET6):
            with suppress(OSError):  # a kernel without it, or a sandbox
                self._question = _question(ours)
                self._asks = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)
                self._asks.settimeout(0)  # the kernel answers while we send
                self._asks.connect((0, 0))

    def has_read(self, sent: int) -> bool | None:
        """Return whether it has read all of the bytes that we ever sent; None: nobody knows."""
        if (answer := self._ask()) is None:
            return None
        try:
            if _QUEUE.unpack_from(answer, _QUEUE_AT)[1]:
                return False
            received = _received(answer, _QUEUE_AT + _QUEUE.size)
        except struct.error:  # another kernel's
            return None
        return None if received is None else received >= sent

    def is_held(self) -> bool:
        """Return whether a program is known to have it open, whatever it still sends."""
        answer = self._ask()
        try:
            # A socket that no program has open lives on for a while, without a file.
            return answer is not None and bool(_QUEUE.unpack_from(answer, _QUEUE_AT)[4])
        except struct.error:
            return False

    def _ask(self) -> bytes | None:
        """Return what the kernel says of it; None if it knows no such socket."""
        if self._asks is None:
            return None
        try:
            self._asks.send(self._question)
            answer = self._asks.recv(_ANSWER)
            return answer if _HEAD.unpack_from(answer)[1] == _BY_FAMILY else None
        except (OSError, struct.error):  # closed meanwhile, or of another machine
            return None

    def close(self) -> None:
        if self._asks is not None:
            self._asks.close()
            self._asks = None


def _received(answer: bytes, at: int) -> int | None:
    """Return how many bytes have come to it, from the attributes that begin here."""
    while at + _ATTRIBUTE.size <= len(answer):
        length, kind = _ATTRIBUTE.unpack_from(answer, at)
        if kind == _INFO:
            return int(_COUNT.unpack_from(answer, at + _ATTRIBUTE.size + _RECEIVED)[0])
        at += max(_ATTRIBUTE.size, (length + 3) & ~3)  # aligned to four bytes
    return None


def _question(ours: socket.socket) -> bytes:
    """Return what asks for the socket whose other end is ours."""
    own, other = ours.getsockname(), ours.getpeername()
    addresses = [socket.inet_pton(ours.family, one[0]).ljust(16, b"\0") for one in (other, own)]
    body = _ASK.pack(ours.family, socket.IPPROTO_TCP, 1 << (_INFO - 1), _ALL_STATES)
    body += _PORTS.pack(other[1], own[1], *addresses) + _ANY.pack(0, (1 << 64) - 1)
    return _HEAD.pack(_HEAD.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body
