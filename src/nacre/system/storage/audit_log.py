"""The audit log on disk: a folder of files, the key of their seals, and the head.

  000000000001.jsonl  records, one a line; a file is named after its first record
  head                where the chain begins and ends (audit_head.py)
  key                 of the seals, mode 0600

Rule 1: one process writes, which is the daemon that holds the lock. Anybody may read meanwhile.
Rule 2: the head moves after the lines are written. So a kill leaves a log that is longer than the
head says, never a shorter one.
Rule 3: a write that fails takes nothing with it: what was half written is cut off again.
Rule 4: what a crash left is noted in the first record of the next daemon, and never mended
silently: a torn line stays where it is.
"""

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, NamedTuple

from nacre.core.audit.chain import KEY_BYTES, ORIGIN, ChainHead, Link, SealedRecord, Sealer
from nacre.core.audit.verify import LinePlace, Verification
from nacre.errors import InvalidInput
from nacre.settings.paths import make_private
from nacre.system.private_files import private
from nacre.system.storage.audit_head import HeadFile, StoredHead, read_head

_log = logging.getLogger("nacre.audit")

_SUFFIX = ".jsonl"
_ORPHAN = ".unverifiable"  # what is added to the names of files whose key is gone
_TAIL = 1 << 20  # bytes to look for the last line in; then the whole file is read
_LOOK = 1.0  # seconds between two looks whether the folder was deleted


class RotationLimits(NamedTuple):
    file_bytes: int
    files: int
    age: float  # seconds; 0: no limit


class AuditLog:
    """The log that the daemon writes to."""

    def __init__(self, folder: str, limits: RotationLimits) -> None:
        """Raises OSError when the folder cannot be written to."""
        self._folder = folder
        self._limits = limits
        self._boot = boot_id()
        self._file = -1
        self._head: HeadFile | None = None
        self._open()

    def _open(self) -> None:
        make_private(self._folder)
        self.found: dict[str, Any] = {}  # what an earlier daemon left, for the first record
        self._sealer = Sealer(self._key())
        self._path = ""
        self._size = 0
        self._owed = b""  # the end of a torn line: it comes with the record that notes it
        self._looked = time.monotonic()
        self._link, self._first, self._synced = ORIGIN, 1, 0
        self._head = HeadFile(os.path.join(self._folder, "head"), self._sealer)
        self._continue(self._head.found)

    def close(self) -> None:
        """Close, with everything on the disk."""
        if self._file >= 0:
            self.put_head()
            with suppress(OSError):
                self.note_synced(self.sync())
            self._drop_files()

    def _drop_files(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        if self._head is not None:
            self._head.close()
        self._file, self._head = -1, None

    # --- begin -----------------------------------------------------------------------------

    def _key(self) -> bytes:
        path = os.path.join(self._folder, "key")
        try:
            return _stored_key(path)
        except FileNotFoundError:
            pass
        for name in _files(self._folder):
            orphan = os.path.join(self._folder, name)
            os.rename(orphan, orphan + _ORPHAN)
            self.found["unverifiable"] = True
        if self.found:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder, "head"))
            _log.error("the key of the audit log is gone: older records cannot be verified")
        key = secrets.token_bytes(KEY_BYTES)
        new = path + ".new"
        try:
            with open(new, "wb", opener=private) as file:
                file.write(key.hex().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.rename(new, path)
        except OSError:  # a full disk: half a key would keep the log shut when there is room again
            with suppress(OSError):
                os.unlink(new)
            raise
        return key

    def _continue(self, stored: StoredHead) -> None:
        """Go on where an earlier daemon stopped."""
        names, head = _files(self._folder), stored.head
        if head is not None:
            self._first, self._synced = head.first, head.synced
        if stored.doubted:
            self.found["head"] = "changed"
            _log.error("the head of the audit log was changed: 'nacre audit verify'")
        if not names:
            if head is not None:
                self._go_on_from(head, ORIGIN)
            self._begin_file()
            return
        if head is None:
            self._first = int(names[0].removesuffix(_SUFFIX))
            self.found["head"] = "missing"
            _log.error("the head of the audit log is missing or was changed: 'nacre audit verify'")
        last = self._reopen(os.path.join(self._folder, names[-1]))
        if head is not None and (last is None or last.seq < head.seq):
            self._go_on_from(head, last)
        elif last is not None:
            self._link = last
        else:
            _log.error("the end of the audit log was changed: 'nacre audit verify' names it")
            self._link = self._last_authentic()

    def _last_authentic(self) -> Link:
        """Return the last record that holds: any other line may give itself any number."""
        found = ORIGIN
        for _, line in read_lines(self._folder):
            record = self._sealer.opened(line)
            if record is not None and record.link.seq > found.seq:
                found = record.link
        return found

    def _go_on_from(self, head: ChainHead, last: Link | None) -> None:
        """The log is shorter than its head says: go on after the head, so that the gap is seen."""
        self._link = Link(head.seq, head.mac)
        known = 0 if last is None else last.seq
        other_boot = head.boot == "" or self._boot == "" or head.boot != self._boot
        if other_boot and known >= head.synced:
            self.found["lost"] = {"first": max(known + 1, head.first), "last": head.seq}
            _log.warning("records of the audit log were lost with the machine", extra=self.found)
        else:
            _log.error("records are missing from the audit log: 'nacre audit verify' names them")

    def _reopen(self, path: str) -> Link | None:
        """Open the newest file; return the link of its last record, None if that was changed."""
        self._file = _open_to_append(path)
        self._path = path
        self._size = os.fstat(self._file).st_size
        whole, torn = _last_line(path)
        if not whole:  # a file that was just begun: the one before it has the last record
            before = _files(self._folder)[:-1]
            whole = _last_line(os.path.join(self._folder, before[-1]))[0] if before else b""
        record = self._sealer.opened(whole)
        last = None if record is None else record.link
        if torn:
            digest = hashlib.sha256(torn).hexdigest()
            self.found["torn"] = {"bytes": len(torn), "sha256": digest}
            _log.warning("the last line of the audit log is torn", extra={"file": path})
            self._owed = b"\n"
            # A kill may have left all of a record but its end.
            record = self._sealer.opened(torn)
            if record is not None and _follows(record, last):
                last = record.link
        return last

    # --- write -----------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        return self._link.seq

    def write(self, bodies: list[bytes]) -> None:
        """Append records, each given as the bytes of a JSON object. Raises OSError; none is then.

        A part of them may be written, if a file is full in between: `seq` tells.
        """
        self._look_after_folder()
        if self._size >= self._limits.file_bytes:
            self._rotate()
        lines, link = [], self._link
        for body in bodies:
            line, link = self._sealer.record(link, body)
            lines.append(line)
        self._append(self._owed + b"".join(lines))
        self._link, self._owed = link, b""

    def _append(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, memoryview(data)[written:])
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)

    def put_head(self) -> None:
        """Move the head to the end of what is written; where it cannot be, the log is longer."""
        head = ChainHead(
            first=self._first,
            seq=self._link.seq,
            mac=self._link.mac,
            synced=self._synced,
            boot=self._boot,
        )
        assert self._head is not None
        with suppress(OSError):
            self._head.put(head)

    def sync(self) -> int:
        """Wait until all that is written is on the disk; return up to which record. In a thread."""
        seq = self._link.seq
        os.fdatasync(self._file) if hasattr(os, "fdatasync") else os.fsync(self._file)
        return seq

    def note_synced(self, seq: int) -> None:
        self._synced = max(self._synced, seq)
        self.put_head()

    # --- files -----------------------------------------------------------------------------

    def _begin_file(self) -> None:
        path = os.path.join(self._folder, f"{self._link.seq + 1:012d}{_SUFFIX}")
        opened = _open_to_append(path)
        if self._file >= 0:
            os.close(self._file)
        self._file, self._path, self._size = opened, path, os.fstat(opened).st_size
        self._owed = b""  # a torn line ends where its file does
        self.put_head()

    def _rotate(self) -> None:
        """Begin the next file, and remove those that are too many or too old."""
        self._begin_file()
        names = _files(self._folder)
        oldest = time.time() - self._limits.age if self._limits.age else 0.0
        gone = 0
        while gone < len(names) - 1:
            path = os.path.join(self._folder, names[gone])
            if len(names) - gone <= self._limits.files and os.stat(path).st_mtime >= oldest:
                break
            gone += 1
        if gone:
            # First the head: if we are killed in between, what is older than it says is no gap.
            self._first = int(names[gone].removesuffix(_SUFFIX))
            self.put_head()
        for name in names[:gone]:
            os.unlink(os.path.join(self._folder, name))

    def _look_after_folder(self) -> None:
        """Begin again if somebody has deleted the folder: nobody would find what is written."""
        now = time.monotonic()
        if now < self._looked + _LOOK:
            return
        self._looked = now
        if os.fstat(self._file).st_nlink:
            return
        _log.error("the audit log was deleted; it begins again", extra={"folder": self._folder})
        link, found = self._link, {"deleted": True}
        self._drop_files()
        self._open()
        self.found |= found
        if self._link.seq < link.seq:  # the numbers go on, so that the gap is seen
            self._link = link
            self._begin_file()


# --- reading -----------------------------------------------------------------------------------


def read_lines(folder: str) -> Iterator[tuple[LinePlace, bytes]]:
    """Yield all lines, the oldest first, with where they stand."""
    for name in _files(folder):
        path = os.path.join(folder, name)
        # The daemon may remove the oldest file meanwhile.
        with suppress(FileNotFoundError), open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                yield LinePlace(path, number), line


def last_lines(folder: str, count: int) -> list[bytes]:
    """Return the last lines that are whole, the oldest first."""
    found: list[bytes] = []
    for name in reversed(_files(folder)):
        with suppress(FileNotFoundError), open(os.path.join(folder, name), "rb") as file:
            lines = [line for line in file if line.endswith(b"\n")]
            found = [*lines[-(count - len(found)) :], *found]
        if len(found) >= count:
            break
    return found


def verify(folder: str) -> Verification:
    """Look through the whole log. Raises InvalidInput without a key that is ours alone."""
    try:
        key = _stored_key(os.path.join(folder, "key"))
    except FileNotFoundError:
        raise InvalidInput(
            f"there is no key in {folder}, so nothing can be verified; a daemon makes one with its "
            "first record"
        ) from None
    sealer = Sealer(key)
    with ExitStack() as stack:
        stored, opened = _open_all(folder, sealer, stack)
        found = Verification(sealer, stored.head, boot_id(), doubted=stored.doubted)
        for file in opened:
            for number, line in enumerate(file, 1):
                found.feed(LinePlace(file.name, number), line)
        found.finish()
    return found


def _open_all(folder: str, sealer: Sealer, stack: ExitStack) -> tuple[StoredHead, list[BinaryIO]]:
    """Return the head and all files, the oldest first, as they were at one moment.

    A daemon that writes meanwhile adds lines, which is no harm. If it removes the oldest file, that
    would be a gap behind the head that was read before.
    """
    while True:
        stored = read_head(os.path.join(folder, "head"), sealer)
        opened: list[BinaryIO] = []
        with suppress(FileNotFoundError):
            for name in _files(folder):
                opened.append(stack.enter_context(open(os.path.join(folder, name), "rb")))  # noqa: SIM115  # the stack closes it
            now = read_head(os.path.join(folder, "head"), sealer)
            if (stored.head and stored.head.first) == (now.head and now.head.first):
                return stored, opened


def unverifiable_files(folder: str) -> list[str]:
    """Return the files whose key is gone."""
    with suppress(FileNotFoundError):
        return sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX + _ORPHAN))
    return []


def boot_id() -> str:
    """Return what differs from one start of the machine to the next; "" where it is not known."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(
        name for name in names if name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX).isdigit()
    )


def _stored_key(path: str) -> bytes:
    """Raises InvalidInput when others can read the key, or it is none, and FileNotFoundError.

    An empty file has lost its key, as in a power cut.
    """
    with open(path, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        text = file.read(1024).strip()
    if mode & 0o077:
        raise InvalidInput(
            f"other users can read {path}, so records may be forged; delete it to begin a new log"
        )
    if not text:
        raise FileNotFoundError(path)
    try:
        key = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InvalidInput(f"{path} holds no key; delete it to begin a new log")
    return key


def _follows(record: SealedRecord, last: Link | None) -> bool:
    return record.prev == (last or ORIGIN).mac and record.link.seq == (last or ORIGIN).seq + 1


def _open_to_append(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _last_line(path: str) -> tuple[bytes, bytes]:
    """Return the last whole line of a file, and what stands behind it without an end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        for span in (_TAIL, size):
            start = max(0, size - span)
            file.seek(start)
            whole, end, torn = file.read(size - start).rpartition(b"\n")
            if b"\n" in whole:
                break
    return (whole.rpartition(b"\n")[2] + b"\n" if end else b""), torn
