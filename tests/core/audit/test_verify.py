"""The chain of the audit: what was changed, removed or inserted is named; a crash is none of it."""

import hashlib

import msgspec
import pytest

from nacre.core.audit.chain import ORIGIN, ChainHead, Link, Sealer, read_fields
from nacre.core.audit.verify import AuditFinding, LinePlace, Verification

SEALER = Sealer(b"k" * 32)


def chain(count: int, after: Link = ORIGIN) -> tuple[list[bytes], Link]:
    lines, link = [], after
    for number in range(count):
        line, link = SEALER.record(link, msgspec.json.encode({"kind": "input", "n": number}))
        lines.append(line)
    return lines, link


def head_at(link: Link, **more: object) -> ChainHead:
    return msgspec.convert({"first": 1, "seq": link.seq, "mac": link.mac, **more}, ChainHead)


def findings(lines: list[bytes], head: ChainHead | None, boot: str = "b") -> list[AuditFinding]:
    verification = Verification(SEALER, head, boot)
    for number, line in enumerate(lines, 1):
        verification.feed(LinePlace("log", number), line)
    verification.finish()
    return verification.findings


def told(lines: list[bytes], head: ChainHead | None, boot: str = "b") -> list[tuple[object, ...]]:
    return [
        (found.kind, found.seq, found.last, found.place and found.place.line)
        for found in findings(lines, head, boot)
    ]


def test_a_log_as_it_was_written_is_intact() -> None:
    lines, link = chain(5)
    assert told(lines, head_at(link)) == []


def test_a_record_with_half_a_character_is_no_changed_one() -> None:
    odd, link = SEALER.record(ORIGIN, rb'{"kind":"input","text":"x\udcff \ud83d\ude00"}')
    more, link = chain(1, link)
    assert told([odd, *more], head_at(link)) == []
    assert (read_fields(odd) or {})["text"] == "x? \U0001f600"
    assert read_fields(rb'{"text": "\udcff"') is None


def test_lines_that_the_head_does_not_know_yet_are_no_finding() -> None:
    lines, link = chain(3)
    more, _ = chain(2, link)
    assert told([*lines, *more], head_at(link)) == []


@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_changed_record_is_named_and_no_other(at: int) -> None:
    lines, link = chain(5)
    lines[at] = lines[at].replace(b'"kind":"input"', b'"kind":"exit!"')
    assert told(lines, head_at(link)) == [("changed", at + 1, at + 1, at + 1)]


@pytest.mark.parametrize("field", [b'"mac":"', b'"prev":"', b'{"seq":'])
def test_a_changed_seal_or_number_is_a_changed_record(field: bytes) -> None:
    lines, link = chain(5)
    start = lines[2].index(field) + len(field)
    other = b"7" if lines[2][start : start + 1] != b"7" else b"8"
    lines[2] = lines[2][:start] + other + lines[2][start + 1 :]
    assert told(lines, head_at(link)) == [("changed", 3, 3, 3)]


def test_a_line_that_became_rubbish_is_a_changed_record() -> None:
    lines, link = chain(5)
    lines[2] = b"rubbish\n"
    assert told(lines, head_at(link)) == [("changed", 3, 3, 3)]


def test_removed_records_are_named() -> None:
    lines, link = chain(6)
    assert told([*lines[:2], *lines[4:]], head_at(link)) == [("removed", 3, 4, 3)]
    assert told(lines[1:], head_at(link)) == [("removed", 1, 1, 1)]


def test_an_inserted_line_and_an_inserted_copy_are_named() -> None:
    lines, link = chain(4)
    forged = lines[1].replace(b'"n":1', b'"n":9')
    assert told([*lines[:2], forged, *lines[2:]], head_at(link)) == [("inserted", None, None, 3)]
    assert told([*lines[:3], lines[1], lines[3]], head_at(link)) == [("inserted", 2, 2, 4)]


def test_two_records_that_changed_places_are_named() -> None:
    lines, link = chain(4)
    swapped = [lines[0], lines[2], lines[1], lines[3]]
    assert told(swapped, head_at(link)) == [("removed", 2, 2, 2), ("inserted", 2, 2, 3)]


def test_records_that_were_cut_off_at_the_end_are_named() -> None:
    lines, link = chain(5)
    assert told(lines[:3], head_at(link, boot="b")) == [("cut", 4, 5, None)]
    assert told([], head_at(link, boot="b")) == [("cut", 1, 5, None)]


def test_half_of_a_last_line_that_was_whole_is_a_changed_or_cut_record() -> None:
    lines, link = chain(5)
    halved = [*lines[:4], lines[4][:30]]
    assert told(halved, head_at(link, boot="b")) == [("changed", 5, 5, 5)]


def test_a_torn_last_line_is_said_and_is_no_tampering() -> None:
    lines, link = chain(3)
    more, _ = chain(1, link)
    found = findings([*lines, more[0][:40]], head_at(link))
    assert [one.kind for one in found] == ["torn"]
    assert found[0].is_accident


def test_a_torn_line_that_the_next_daemon_noted_is_no_tampering() -> None:
    lines, link = chain(3)
    torn = b'{"seq":4,"kind":"inp'
    noted = {"torn": {"bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()}}
    line, link = SEALER.record(link, msgspec.json.encode({"kind": "daemon", **noted}))
    assert told([*lines, torn + b"\n", line], head_at(link)) == [("torn", None, None, 4)]
    other = b'{"seq":4,"kind":"out'
    assert told([*lines, other + b"\n", line], head_at(link)) == [("inserted", None, None, 4)]


def test_what_a_power_cut_lost_is_told_from_what_was_cut_off() -> None:
    lines, link = chain(5)
    unsynced = head_at(link, boot="before", synced=2)
    assert [one[0] for one in told(lines[:3], unsynced, "now")] == ["lost"]
    assert [one[0] for one in told(lines[:3], unsynced, "before")] == ["cut"]
    assert [one[0] for one in told(lines[:1], unsynced, "now")] == ["cut"]


def test_a_gap_that_the_next_daemon_noted_is_no_tampering() -> None:
    lines, link = chain(5)
    noted = {"kind": "daemon", "lost": {"first": 4, "last": 5}}
    line, link = SEALER.record(link, msgspec.json.encode(noted))
    assert told([*lines[:3], line], head_at(link)) == [("lost", 4, 5, 4)]
    assert told([*lines[:2], line], head_at(link)) == [("removed", 3, 5, 3)]


def test_without_a_head_the_log_is_not_intact() -> None:
    lines, _ = chain(2)
    verification = Verification(SEALER, None, "b")
    for number, line in enumerate(lines, 1):
        verification.feed(LinePlace("log", number), line)
    verification.finish()
    assert [found.kind for found in verification.findings] == ["unsealed"]
    assert not verification.intact


def test_a_head_is_believed_only_under_its_seal() -> None:
    head = head_at(Link(7, "ab" * 16))
    sealed = SEALER.head(head)
    assert SEALER.opened_head(sealed.ljust(512)) == head
    assert SEALER.opened_head(sealed.replace(b'"seq":7', b'"seq":6')) is None
    assert Sealer(b"o" * 32).opened_head(sealed) is None
    assert SEALER.opened_head(b"") is None
