"""The record of a session: whole in the ring, its public part on disk, and readable for ever."""

import json
from typing import Any

import pytest
from msgspec.structs import fields, replace

from nacre.core.display.layers import KeptElements
from nacre.services.session.identity import Identity
from nacre.services.session.launch import Launch
from nacre.services.session.record import (
    DiskRecord,
    KeptDisplay,
    SessionRecord,
    pack,
    pack_for_disk,
    unpack,
    unpack_from_disk,
)
from nacre.system.processes.exits import Ending

LAUNCH = {
    "argv": ["/bin/bash"],
    "command": "/bin/bash",
    "program": "bash",
    "is_shell": True,
    "integrated": True,
    "cwd": "/srv",
    "sandbox": "off",
    "workspace": "",
    "layer": "",
}
IDENTITY = {
    "name": "dev",
    "id": "a1b2c3d4",
    "port": 20001,
    "named": True,
    "keep": True,
    "tags": ["t1"],
}
# As daemons before this one have written them.
IN_RING: dict[str, Any] = {
    "identity": IDENTITY,
    "launch": {**LAUNCH, "env": {"HOME": "/root"}},
    "policy": None,
    "created": 1.5,
    "cookie": "c00c1e",
    "nonce": "0ce",
    "secret": "/run/secret",
    "pid": 42,
    "listed": True,
    "ended": None,
    "exit_code": None,
    "signal": None,
    "lost": False,
    "stage": {
        "rows": 30,
        "cols": 90,
        "elements": {"overlays": [], "panels": [], "layer": False, "made": 2, "fitted": {}},
    },
}
ON_DISK: dict[str, Any] = {
    **IDENTITY,
    **LAUNCH,
    "policy": None,
    "created": 1.5,
    "ended": 2.5,
    "exit_code": 7,
    "signal": None,
    "own_size": None,
}


def a_record(**more: Any) -> SessionRecord:
    return SessionRecord(
        identity=Identity("dev", "a1b2c3d4", 20001, True, True, ("t1",)),
        launch=Launch(("/bin/bash",), "/bin/bash", "bash", True, True, "/srv", {"HOME": "/root"}),
        created=1.5,
        cookie="c00c1e",
        nonce="0ce",
        secret="/run/secret",
        pid=42,
        display=KeptDisplay(rows=30, cols=90, elements=KeptElements(made=2)),
        **more,
    )


def test_ring_has_what_it_always_had() -> None:
    assert json.loads(pack(a_record())) == {**IN_RING, "since": 0, "own_size": None}
    assert unpack(json.dumps(IN_RING).encode()) == a_record()


def test_disk_has_what_it_always_had() -> None:
    record = a_record(ended=2.5, exit_code=7)
    assert json.loads(pack_for_disk(record)) == ON_DISK
    found = unpack_from_disk(json.dumps(ON_DISK).encode())
    assert found.identity == record.identity
    assert found.launch == replace(record.launch, env={})
    assert (found.created, found.ended, found.exit_code, found.signal) == (1.5, 2.5, 7, None)


def test_record_of_a_version_that_knew_less_is_read() -> None:
    known = {key: IN_RING[key] for key in ("identity", "launch", "created", "cookie", "nonce")}
    record = unpack(json.dumps({**known, "secret": None}).encode())
    assert (record.pid, record.listed, record.alive, record.display) == (None, True, True, None)
    before = {key: LAUNCH[key] for key in ("argv", "command", "program", "is_shell", "integrated")}
    known["launch"] = {**before, "cwd": "/srv", "env": {}}
    assert not unpack(json.dumps({**known, "secret": None}).encode()).launch.confined


def test_record_of_a_version_that_knew_more_is_read() -> None:
    assert unpack(json.dumps({**IN_RING, "later": 1}).encode()) == a_record()
    assert unpack_from_disk(json.dumps({**ON_DISK, "later": 1}).encode()).ended == 2.5


def test_fields_that_lie_flat_on_disk_have_names_of_their_own() -> None:
    names = [field.name for kind in (Identity, Launch) for field in fields(kind)]
    names += [name for name in DiskRecord.__struct_fields__ if name not in ("identity", "launch")]
    assert len(names) == len(set(names))


def test_only_the_public_part_is_read_from_disk() -> None:
    found = unpack_from_disk(json.dumps({**ON_DISK, "cookie": "x", "listed": False}).encode())
    assert (found.cookie, found.listed) == ("", True)


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"{}", b'{"name": "dev"}'])
def test_what_is_no_record_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(data)
    with pytest.raises(ValueError, match=r"."):
        unpack_from_disk(data)


def test_folder_that_is_no_text_is_kept() -> None:
    record = a_record()
    record.launch = Launch(("sh",), "sh", "sh", True, False, "/srv/\udcff", {"A": "\udcfe"})
    assert unpack(pack(record)).launch == record.launch
    assert unpack_from_disk(pack_for_disk(record)).launch.cwd == "/srv/\udcff"


def test_end_of_a_lost_session_has_no_time() -> None:
    record = a_record()
    assert (record.alive, record.ending) == (True, None)
    record.end(Ending(7, None), 3.0)
    assert (record.alive, record.ending, record.ended) == (False, Ending(7, None), 3.0)
    record.end(Ending(None, None, lost=True), 4.0)
    assert (record.alive, record.ended) == (False, None)
    assert record.ending == Ending(None, None, lost=True)
    record.begin()
    assert record == a_record()
