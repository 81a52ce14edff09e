"""Look through the lines of an audit log, and name what was changed, removed or inserted.

Rule 1: what a crash leaves is no tampering, and is told apart: a torn line at the end, and records
that were lost with the machine. The daemon that came next has noted both, under its seal.
Rule 2: where tampering and an accident look the same, both are said.
Rule 3: lines are fed one by one: a log may be larger than memory.
"""

import hashlib
from typing import Any, Literal, NamedTuple

from nacre.core.audit.chain import ORIGIN, ChainHead, Link, SealedRecord, Sealer, read_fields

FindingKind = Literal["changed", "removed", "inserted", "cut", "unsealed", "torn", "lost"]

_ACCIDENTS = ("torn", "lost")


class LinePlace(NamedTuple):
    file: str
    line: int  # from 1 on


class AuditFinding(NamedTuple):
    """Something about the log that is not as it was written; `seq` to `last` are record numbers."""

    kind: FindingKind
    text: str
    seq: int | None = None
    last: int | None = None
    place: LinePlace | None = None

    @property
    def is_accident(self) -> bool:
        return self.kind in _ACCIDENTS


class _Bad(NamedTuple):
    """A line that is no record of this chain."""

    place: LinePlace
    claims: int | None  # the number that it gives itself
    size: int
    digest: str
    is_torn: bool  # it has no end


class Verification:
    """One look through a log, from its oldest line to its newest."""

    def __init__(
        self, sealer: Sealer, head: ChainHead | None, boot: str, *, doubted: bool = False
    ) -> None:
        """`boot` is the present one, "" if unknown; `doubted`: a newer head may be gone."""
        self.findings: list[AuditFinding] = []
        self.records = 0
        self.first: dict[str, Any] | None = None
        self.newest: dict[str, Any] | None = None
        self._sealer = sealer
        self._head = head
        self._boot = boot
        self._link: Link | None = None
        self._bad: list[_Bad] = []
        if head is None:
            text = (
                "the head, which says where the log ends, is missing or was changed: records that "
                "were cut off at the end would not be noticed"
            )
            self.findings.append(AuditFinding("unsealed", text))
        elif doubted:
            text = (
                "the newer copy of the head, which says where the log ends, was changed: records "
                f"after {head.seq} that were cut off at the end would not be noticed"
            )
            self.findings.append(AuditFinding("unsealed", text))

    @property
    def intact(self) -> bool:
        return all(finding.is_accident for finding in self.findings)

    def feed(self, place: LinePlace, line: bytes) -> None:
        record = self._sealer.opened(line)
        if record is None:
            self._bad.append(_described(place, line))
            return
        if self._link is not None and record.link.seq <= self._link.seq:
            seq = record.link.seq
            text = f"a copy of record {seq} was inserted, or record {seq} was moved there"
            self.findings.append(AuditFinding("inserted", text, seq, seq, place))
            return
        self._join(record, place)
        self.records += 1
        self.first = self.first or record.fields
        self.newest = record.fields
        self._link = record.link

    def finish(self) -> None:
        """Compare the end of the lines with the head."""
        link = self._link or ORIGIN
        torn = bool(self._bad) and self._bad[-1].is_torn
        end = max(self._head.seq if self._head else 0, link.seq)
        if self._link is None and self._head is not None:
            link = Link(self._head.first - 1, "")
        missing = range(link.seq + 1, end + 1)
        if torn and not missing:
            self._note_torn(self._bad.pop())
        left = self._match(missing)
        if left and self._head is not None:
            self._note_end(left, link, self._head)

    # --- between two records -----------------------------------------------------------------

    def _join(self, record: SealedRecord, place: LinePlace) -> None:
        before = self._link
        self._take_headless(record, place)
        if before is None:
            first = self._head.first if self._head else record.link.seq
            before = Link(min(first, record.link.seq) - 1, record.prev)
        self._take_torn(record)
        missing = range(before.seq + 1, record.link.seq)
        if not missing and record.prev != before.mac:
            text = (
                f"record {record.link.seq} does not follow the one before it: "
                "an older copy of the log was put here, and written on"
            )
            self.findings.append(
                AuditFinding("changed", text, record.link.seq, record.link.seq, place)
            )
        left = self._match(missing)
        if left and _admits(record, left):
            text = f"{_records(left)} lost when the machine went down before they were on the disk"
            self.findings.append(AuditFinding("lost", text, left[0], left[-1], place))
        elif left:
            text = f"{_records(left)} removed before this line"
            self.findings.append(AuditFinding("removed", text, left[0], left[-1], place))

    def _take_headless(self, record: SealedRecord, place: LinePlace) -> None:
        """Say that a daemon found no head to go on from: nobody knows what stood before this."""
        noted = _noted(record, "head")
        if noted is not None:
            text = (
                f"the head of the log was {noted} when the daemon that wrote this started: records "
                "that were cut off before this line would not be noticed"
            )
            self.findings.append(AuditFinding("unsealed", text, place=place))

    def _take_torn(self, record: SealedRecord) -> None:
        """Take a line that the daemon found torn when it started, as this record says."""
        noted = _noted(record, "torn")
        if not isinstance(noted, dict):
            return
        for bad in self._bad:
            if (bad.size, bad.digest) == (noted.get("bytes"), noted.get("sha256")):
                self._bad.remove(bad)
                self._note_torn(bad)
                return

    def _match(self, missing: range) -> list[int]:
        """Take lines that are no records for those that are missing; return the other numbers."""
        left = list(missing)
        unclaimed = []
        for bad in self._bad:
            if bad.claims in left:
                left.remove(bad.claims)
                self._note_changed(bad, bad.claims)
            else:
                unclaimed.append(bad)
        # A line that says another number, or none, may be what became of one that is missing.
        for bad in unclaimed:
            if left:
                self._note_changed(bad, left.pop(0))
            else:
                self.findings.append(
                    AuditFinding(
                        "inserted", "a line that is no record was inserted", place=bad.place
                    )
                )
        self._bad = []
        return left

    def _note_changed(self, bad: _Bad, seq: int) -> None:
        self.findings.append(
            AuditFinding("changed", f"record {seq} was changed", seq, seq, bad.place)
        )

    def _note_torn(self, bad: _Bad) -> None:
        text = "the line is torn: the daemon was killed, or the disk was full, while it was written"
        self.findings.append(AuditFinding("torn", text, place=bad.place))

    def _note_end(self, left: list[int], link: Link, head: ChainHead) -> None:
        other_boot = head.boot == "" or self._boot == "" or head.boot != self._boot
        if other_boot and link.seq >= head.synced:
            text = (
                f"{_records(left)} lost when the machine went down before they were on the disk, "
                "or cut off at the end of the log; nobody can tell which"
            )
            self.findings.append(AuditFinding("lost", text, left[0], left[-1]))
        else:
            text = f"the log was cut off at its end: {_records(left)} removed"
            self.findings.append(AuditFinding("cut", text, left[0], left[-1]))


def _records(numbers: list[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"record {first} was" if first == last else f"records {first} to {last} were"


def _described(place: LinePlace, line: bytes) -> _Bad:
    whole = line.removesuffix(b"\n")
    claims = (read_fields(whole) or {}).get("seq")
    return _Bad(
        place,
        claims if isinstance(claims, int) else None,
        len(whole),
        hashlib.sha256(whole).hexdigest(),
        is_torn=not line.endswith(b"\n"),
    )


def _noted(record: SealedRecord, name: str) -> Any:
    """Return what a daemon says of the log that it found when it started."""
    return record.fields.get(name) if record.fields.get("kind") == "daemon" else None


def _admits(record: SealedRecord, numbers: list[int]) -> bool:
    """Whether the daemon noted, when it started, that these were lost with the machine."""
    lost = _noted(record, "lost")
    if not isinstance(lost, dict):
        return False
    return bool(lost.get("first") == numbers[0] and lost.get("last") == numbers[-1])
