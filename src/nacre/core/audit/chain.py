"""Seal records of the audit one after the other, and read the seals again.

A record is one line of JSON. It ends with `prev`, the seal of the record before it, and `mac`, its
own: an HMAC-SHA256 (RFC 2104) over every byte of the line that stands before it.

Rule 1: a record proves itself by its mac, and its place by `seq` and `prev`. So one that was
changed, removed or inserted can be named, and the others still hold.
Rule 2: what is sealed are bytes, not values: nobody has to write a line again to check it.
Rule 3: the head says where the chain ends, under a seal of its own. Without it nobody would notice
that the last records were cut off.
"""

import hashlib
import hmac
import json
from typing import Any, NamedTuple

import msgspec

from nacre.late_pattern import late_pattern

_SEAL_BYTES = 16  # RFC 2104, section 5: at least half of the hash
_END = late_pattern(rb',"mac":"([0-9a-f]{32})"\}\Z')
_HEAD_LABEL = b"nacre audit head 1\0"  # so that no line of the log is a head

KEY_BYTES = 32  # RFC 2104, section 3: no shorter than the hash


class Link(NamedTuple):
    """Where the chain has come to."""

    seq: int
    mac: str


ORIGIN = Link(0, "0" * 2 * _SEAL_BYTES)


class SealedRecord(NamedTuple):
    """What a line says of its place, and all that it says; it is authentic."""

    link: Link
    prev: str
    fields: dict[str, Any]


class ChainHead(msgspec.Struct, frozen=True, kw_only=True):
    """Where the chain begins and ends."""

    first: int  # the oldest record that is kept
    seq: int  # the newest that was written
    mac: str
    synced: int = 0  # the newest that is known to be on the disk itself
    boot: str = ""  # of the machine, when this was written; "" where that is not known
    turn: int = 0  # how often it was written: a number that is left out shows


class Sealer:
    """The key of one log. Its hash is begun once: to begin it takes as long as a record."""

    def __init__(self, key: bytes) -> None:
        self._begun = hmac.new(key, digestmod=hashlib.sha256)

    def _seal(self, data: bytes) -> str:
        mac = self._begun.copy()
        mac.update(data)
        return mac.digest()[:_SEAL_BYTES].hex()

    def record(self, after: Link, body: bytes) -> tuple[bytes, Link]:
        """Return the line of a record, which `body` is the JSON object of, and its link."""
        seq = after.seq + 1
        line = b'{"seq":%d,%b,"prev":"%b"' % (seq, body[1:-1], after.mac.encode())
        mac = self._seal(line)
        return b'%b,"mac":"%b"}\n' % (line, mac.encode()), Link(seq, mac)

    def opened(self, line: bytes) -> SealedRecord | None:
        """Read a line; None if it is not as it was sealed."""
        line = line.removesuffix(b"\n")
        end = _END.search(line)
        if end is None:
            return None
        mac = end[1].decode()
        if not hmac.compare_digest(mac, self._seal(line[: end.start()])):
            return None
        fields = read_fields(line)
        if fields is None:
            return None
        seq, prev = fields.get("seq"), fields.get("prev")
        if not isinstance(seq, int) or not isinstance(prev, str):
            return None
        return SealedRecord(Link(seq, mac), prev, fields)

    def head(self, head: ChainHead) -> bytes:
        body = msgspec.json.encode(head)
        return body + b" " + self._seal(_HEAD_LABEL + body).encode()

    def opened_head(self, data: bytes) -> ChainHead | None:
        body, _, seal = data.strip(b"\0\n ").rpartition(b" ")
        if not hmac.compare_digest(seal, self._seal(_HEAD_LABEL + body).encode()):
            return None
        try:
            return msgspec.json.decode(body, type=ChainHead)
        except msgspec.DecodeError:
            return None


def read_fields(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, be it true or not; None for one that is no JSON object."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        found = _read_odd(line)
    return found if isinstance(found, dict) else None


def _read_odd(line: bytes) -> Any:
    """Read a line with half a character in it, as daemons wrote it before they spelled it out."""
    if b"\\ud" not in line:
        return None
    try:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode(errors="replace")
        return msgspec.json.decode(whole)
    except (ValueError, RecursionError):
        return None
