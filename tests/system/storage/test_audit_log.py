"""The audit's files: they outlive daemons, kills and full disks, and are removed when too many."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.audit.verify import Verification
from nacre.errors import InvalidInput
from nacre.system.storage import audit_log
from nacre.system.storage.audit_log import (
    AuditLog,
    RotationLimits,
    last_lines,
    read_lines,
    unverifiable_files,
    verify,
)

ROOMY = RotationLimits(1 << 20, 10, 0.0)


def write(log: AuditLog, *texts: str) -> None:
    log.write([json.dumps({"kind": "input", "text": text}).encode() for text in texts])
    log.put_head()


def kinds(found: Verification) -> list[str]:
    return [finding.kind for finding in found.findings]


def cut_off_the_last(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def test_the_chain_goes_on_in_the_next_daemon(tmp_path: Path) -> None:
    for text in ("one", "two", "three"):
        log = AuditLog(str(tmp_path), ROOMY)
        assert log.found == {}
        write(log, text)
        log.close()
    found = verify(str(tmp_path))
    assert (found.records, kinds(found)) == (3, [])
    assert found.newest is not None
    assert found.newest["text"] == "three"


def test_the_chain_goes_on_after_a_kill(tmp_path: Path) -> None:
    killed = AuditLog(str(tmp_path), ROOMY)
    write(killed, "one")
    killed.write([b'{"kind":"input"}'])  # and no head: it was killed before
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found == {}
    write(log, "three")
    found = verify(str(tmp_path))
    assert (found.records, kinds(found)) == (3, [])
    killed.close()
    log.close()


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"), ROOMY)
    write(log, "one")
    log.close()
    assert (tmp_path / "audit").stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "audit").iterdir()}
    assert modes == {"key": 0o600, "head": 0o600, "000000000001.jsonl": 0o600}


def test_a_torn_line_stays_is_noted_and_is_no_tampering(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    log.close()
    with files(tmp_path)[0].open("ab") as file:
        file.write(b'{"seq":2,"kind":"inp')
    assert kinds(verify(str(tmp_path))) == ["torn"]
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found["torn"]["bytes"] == 20
    log.write([json.dumps({"kind": "daemon", **log.found}).encode()])
    log.close()
    found = verify(str(tmp_path))
    assert (kinds(found), found.intact, found.records) == (["torn"], True, 2)


def test_a_kill_at_any_byte_of_a_record_is_no_tampering(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), RotationLimits(300, 10, 0.0))
    write(log, "one", "two", "three", "four")
    log.write([b'{"kind":"input","text":"five"}'])  # killed before the head follows
    newest = files(tmp_path)[-1]
    whole = newest.read_bytes()
    head = (tmp_path / "head").read_bytes()
    for length in range(len(whole) + 1):
        newest.write_bytes(whole[:length])
        (tmp_path / "head").write_bytes(head)
        assert verify(str(tmp_path)).intact
        next_one = AuditLog(str(tmp_path), RotationLimits(300, 10, 0.0))
        noted = json.dumps({"kind": "daemon", **next_one.found}).encode()
        next_one.close()  # killed before it noted anything
        next_one = AuditLog(str(tmp_path), ROOMY)
        assert json.dumps({"kind": "daemon", **next_one.found}).encode() == noted
        next_one.write([noted])
        next_one.close()
        found = verify(str(tmp_path))
        torn = 0 < length < len(whole) - 1
        assert (found.intact, kinds(found)) == (True, ["torn"] if torn else []), length
        for later in files(tmp_path)[2:]:
            later.unlink()


def test_a_head_that_was_deleted_is_told_after_the_next_daemon_too(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one", "two", "three")
    log.close()
    cut_off_the_last(files(tmp_path)[0])
    (tmp_path / "head").unlink()
    log = AuditLog(str(tmp_path), ROOMY)
    log.write([json.dumps({"kind": "daemon", **log.found}).encode()])
    log.close()
    found = verify(str(tmp_path))
    assert (kinds(found), found.intact) == (["unsealed"], False)


@pytest.mark.parametrize("how", ["erased", "overwritten by the older one"])
def test_a_newer_head_that_was_changed_is_told(tmp_path: Path, how: str) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    for text in ("one", "two", "three"):
        write(log, text)
    slots = [(tmp_path / "head").read_bytes()[at : at + 512] for at in (0, 512)]
    newer = max(slots, key=lambda slot: int(slot.partition(b'"turn":')[2].partition(b"}")[0]))
    (older,) = [slot for slot in slots if slot != newer]
    instead = older if how != "erased" else bytes(512)
    (tmp_path / "head").write_bytes(b"".join(instead if one == newer else one for one in slots))
    cut_off_the_last(files(tmp_path)[0])
    assert kinds(verify(str(tmp_path))) == ["unsealed"]
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found == {"head": "changed"}
    log.write([json.dumps({"kind": "daemon", **log.found}).encode()])
    log.close()
    found = verify(str(tmp_path))
    assert (kinds(found), found.intact) == (["unsealed"], False)


def test_a_forged_number_at_the_end_moves_nothing(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one", "two")
    log.close()
    (tmp_path / "head").unlink()
    with files(tmp_path)[0].open("ab") as file:
        file.write(b'{"seq":99999999999999,"kind":"input"}\n')
    log = AuditLog(str(tmp_path), ROOMY)
    log.write([json.dumps({"kind": "daemon", **log.found}).encode()])
    log.close()
    found = verify(str(tmp_path))
    assert sorted(kinds(found)) == ["inserted", "unsealed"]
    assert found.newest is not None
    assert found.newest["seq"] == 3


def test_records_that_were_cut_off_stay_missing_in_the_next_daemon(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one", "two", "three")
    log.close()
    path = files(tmp_path)[0]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    assert kinds(verify(str(tmp_path))) == ["cut"]
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found == {}
    write(log, "four")
    log.close()
    found = verify(str(tmp_path))
    assert [(one.kind, one.seq, one.last) for one in found.findings] == [("removed", 2, 3)]


def test_all_files_deleted_is_named(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one", "two")
    log.close()
    files(tmp_path)[0].unlink()
    assert [(one.kind, one.seq, one.last) for one in verify(str(tmp_path)).findings] == [
        ("cut", 1, 2)
    ]


def test_a_power_cut_is_noted_by_the_next_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    log.note_synced(log.sync())
    write(log, "two")
    path = files(tmp_path)[0]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    monkeypatch.setattr(audit_log, "boot_id", lambda: "the next")
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found == {"lost": {"first": 2, "last": 2}}
    log.write([json.dumps({"kind": "daemon", **log.found}).encode()])
    log.close()
    found = verify(str(tmp_path))
    assert ([(one.kind, one.seq) for one in found.findings], found.intact) == ([("lost", 2)], True)


def test_files_are_begun_anew_and_the_oldest_removed_without_a_gap(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), RotationLimits(300, 3, 0.0))
    for number in range(20):
        write(log, f"text {number}")
    log.close()
    assert len(files(tmp_path)) == 3
    assert files(tmp_path)[0].name != "000000000001.jsonl"
    assert kinds(verify(str(tmp_path))) == []
    texts = [json.loads(line)["text"] for line in last_lines(str(tmp_path), 4)]
    assert texts == [f"text {number}" for number in range(16, 20)]
    files(tmp_path)[0].unlink()
    assert kinds(verify(str(tmp_path))) == ["removed"]


def test_a_file_that_the_daemon_removes_meanwhile_is_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(str(tmp_path), RotationLimits(300, 2, 0.0))
    write(log, "first")
    log.put_head()
    listed = os.listdir

    def after_the_head_was_read(folder: str) -> list[str]:
        monkeypatch.undo()
        for number in range(20):
            write(log, f"text {number}")
        return listed(folder)

    monkeypatch.setattr(os, "listdir", after_the_head_was_read)
    assert kinds(verify(str(tmp_path))) == []
    assert files(tmp_path)[0].name != "000000000001.jsonl"
    log.close()


def test_files_that_are_too_old_are_removed(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), RotationLimits(300, 10, 60.0))
    for number in range(8):
        write(log, f"text {number}")
    for path in files(tmp_path)[:-1]:
        os.utime(path, (1.0, 1.0))
    while len(files(tmp_path)) > 2:
        write(log, "more")
    log.close()
    assert kinds(verify(str(tmp_path))) == []


def test_a_write_that_fails_halfway_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    really = os.write
    full: list[int] = []

    def until_full(descriptor: int, data: Any) -> int:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        full.append(1)
        return really(descriptor, bytes(data)[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", until_full)
        with pytest.raises(OSError, match="No space left"):
            write(log, "two")
    write(log, "two")
    log.close()
    found = verify(str(tmp_path))
    assert (found.records, kinds(found)) == (2, [])


def test_a_lost_key_is_said_and_its_records_are_put_aside(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    log.close()
    (tmp_path / "key").unlink()
    with pytest.raises(InvalidInput, match="there is no key"):
        verify(str(tmp_path))
    log = AuditLog(str(tmp_path), ROOMY)
    assert log.found == {"unverifiable": True}
    write(log, "two")
    log.close()
    assert kinds(verify(str(tmp_path))) == []
    assert unverifiable_files(str(tmp_path)) == ["000000000001.jsonl.unverifiable"]


def test_a_disk_that_is_full_at_the_first_start_does_not_shut_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            AuditLog(str(tmp_path), ROOMY)
    assert list(tmp_path.iterdir()) == []
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    log.close()
    assert verify(str(tmp_path)).records == 1


def test_an_empty_key_is_a_lost_one(tmp_path: Path) -> None:
    (tmp_path / "key").touch(0o600)
    log = AuditLog(str(tmp_path), ROOMY)
    write(log, "one")
    log.close()
    assert kinds(verify(str(tmp_path))) == []


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    AuditLog(str(tmp_path), ROOMY).close()
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(InvalidInput, match="other users can read"):
        AuditLog(str(tmp_path), ROOMY)


def test_a_log_whose_folder_was_deleted_begins_again_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "_LOOK", 0.0)
    folder = tmp_path / "audit"
    log = AuditLog(str(folder), ROOMY)
    write(log, "one")
    for path in folder.iterdir():
        path.unlink()
    write(log, "two")
    assert log.found == {"deleted": True}
    log.close()
    assert [json.loads(line)["seq"] for _, line in read_lines(str(folder))] == [2]
