"""The head of the audit log on disk: where the chain begins and ends, twice.

Rule 1: each turn goes to the other slot than the one before it, so a kill tears the older of two.
Rule 2: the two slots are always two turns that follow each other. If they are not, somebody erased
the newer one or put an older one in its place, and the end of the log is not certain.
"""

import os
from typing import NamedTuple

from msgspec.structs import replace

from nacre.core.audit.chain import ChainHead, Sealer

_SLOT = 512  # bytes for a head: numbers of 20 digits fit
_LOOKS = 5  # a daemon may write while somebody reads


class StoredHead(NamedTuple):
    """The newest head; None if there is none. `doubted`: a newer one may be gone."""

    head: ChainHead | None
    slot: int = 0
    doubted: bool = False


def read_head(path: str, sealer: Sealer) -> StoredHead:
    """Return the head as it is on the disk, while a daemon may write it."""
    found = StoredHead(None)
    for _ in range(_LOOKS):
        try:
            with open(path, "rb") as file:
                found = _newest(file.read(2 * _SLOT), sealer)
        except FileNotFoundError:
            return StoredHead(None)
        if found.head is not None and not found.doubted:
            break
    return found


class HeadFile:
    """The head that the daemon writes."""

    def __init__(self, path: str, sealer: Sealer) -> None:
        """Raises OSError."""
        self._sealer = sealer
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.found = _newest(os.pread(self._file, 2 * _SLOT, 0), sealer)
        self._slot = self.found.slot
        self._turn = 0 if self.found.head is None else self.found.head.turn

    def put(self, head: ChainHead) -> None:
        """Raises OSError; the head from before then stays."""
        sealed = self._sealer.head(replace(head, turn=self._turn + 1))
        slot = _SLOT - self._slot
        os.pwrite(self._file, sealed.ljust(_SLOT), slot)
        self._slot, self._turn = slot, self._turn + 1

    def close(self) -> None:
        os.close(self._file)


def _newest(data: bytes, sealer: Sealer) -> StoredHead:
    slots = [data[at : at + _SLOT] for at in (0, _SLOT)]
    heads = [sealer.opened_head(slot) for slot in slots]
    order = [(-1, 0, 0, 0) if one is None else _order(one) for one in heads]
    newest = order.index(max(order))
    head, other = heads[newest], heads[1 - newest]
    if head is None:
        return StoredHead(None)
    if other is None:
        doubted = head.turn != 1 or bool(slots[1 - newest].strip(b"\0"))
    else:
        # Versions before there were turns wrote 0.
        doubted = other.turn > 0 and head.turn != other.turn + 1
    return StoredHead(head, newest * _SLOT, doubted)


def _order(head: ChainHead) -> tuple[int, int, int, int]:
    return head.turn, head.seq, head.first, head.synced
