"""What another host says of a caller is believed only if that host has signed it for us."""

from pathlib import Path

import msgspec
import pytest

from nacre.core.catalog.caller import Caller, Scope
from nacre.errors import Forbidden, HostUnreachable
from nacre.services.cluster.credentials import (
    Believing,
    Signed,
    SignedClaims,
    Vouching,
    load_key,
)

pytestmark = pytest.mark.anyio

LIFE = 300.0
AGENT = Caller(door="mcp", scope=Scope.OBSERVE, sessions=frozenset({"dev"}), key="k", pid=7)


@pytest.fixture
def door(tmp_path: Path) -> Vouching:
    return Vouching("door", load_key(str(tmp_path / "key")), LIFE)


@pytest.fixture
def owner(door: Vouching) -> Believing:
    async def key_of(host: str) -> bytes | None:
        return door.public_key if host == "door" else None

    return Believing("owner", key_of, LIFE, lambda _: None)


async def test_a_caller_arrives_with_its_scope_and_its_host(
    door: Vouching, owner: Believing
) -> None:
    came = await owner.caller(door.credential(AGENT, "owner"), "door")
    assert (came.scope, came.sessions, came.via) == (Scope.OBSERVE, frozenset({"dev"}), "door")
    assert (came.key, came.pid) == ("door/k", None)


async def test_a_changed_scope_is_refused(door: Vouching, owner: Believing) -> None:
    signed = msgspec.msgpack.decode(door.credential(AGENT, "owner"), type=Signed)
    claims = msgspec.msgpack.decode(signed.claims, type=SignedClaims)
    caller = msgspec.structs.replace(claims.caller, scope=int(Scope.ADMIN))
    forged = msgspec.msgpack.encode(msgspec.structs.replace(claims, caller=caller))
    with pytest.raises(Forbidden, match="not signed"):
        await owner.caller(msgspec.msgpack.encode(Signed(forged, signed.signature)), "door")


@pytest.mark.parametrize(
    ("audience", "sender", "why"),
    [("other", "door", "for another host"), ("owner", "thief", "another host than")],
)
async def test_a_credential_is_for_one_host_from_one_host(
    door: Vouching, owner: Believing, audience: str, sender: str, why: str
) -> None:
    with pytest.raises(Forbidden, match=why):
        await owner.caller(door.credential(AGENT, audience), sender)


async def test_an_unknown_host_and_nonsense_are_refused(tmp_path: Path, owner: Believing) -> None:
    stranger = Vouching("stranger", load_key(str(tmp_path / "other")), LIFE)
    with pytest.raises(Forbidden, match="not known"):
        await owner.caller(stranger.credential(AGENT, "owner"), "stranger")
    with pytest.raises(Forbidden, match="cannot be read"):
        await owner.caller(b"nonsense", "door")


def test_a_key_is_kept_and_private(tmp_path: Path) -> None:
    path = tmp_path / "key"
    made = load_key(str(path)).private_bytes_raw()
    assert load_key(str(path)).private_bytes_raw() == made
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_is_too_old_is_refused(tmp_path: Path) -> None:
    door = Vouching("door", load_key(str(tmp_path / "key")), -1000.0)  # it ended long ago

    async def key_of(_: str) -> bytes:
        return door.public_key

    with pytest.raises(Forbidden, match="too old"):
        await Believing("owner", key_of, LIFE, lambda _: None).caller(
            door.credential(AGENT, "owner"), "door"
        )


@pytest.mark.parametrize("hours", [-3, 3])
async def test_a_credential_holds_by_the_clock_of_the_host_that_signed_it(
    tmp_path: Path, hours: float
) -> None:
    door, apart = Vouching("door", load_key(str(tmp_path / "key")), LIFE), hours * 3600
    steady, passed = door.now, 0.0

    def clock() -> float:
        return steady() + apart + passed

    async def key_of(_: str) -> bytes:
        return door.public_key

    door.now = clock
    owner = Believing("owner", key_of, LIFE, lambda _: clock())
    made = door.credential(AGENT, "owner")
    assert (await owner.caller(made, "door")).via == "door"
    passed = 2 * LIFE
    with pytest.raises(Forbidden, match="too old"):
        await owner.caller(made, "door")
    assert (await owner.caller(door.credential(AGENT, "owner"), "door")).via == "door"


async def test_who_cannot_be_judged_for_want_of_a_key_is_told_to_try_again(door: Vouching) -> None:
    async def key_of(_: str) -> bytes | None:
        raise OSError

    owner = Believing("owner", key_of, LIFE, lambda _: None)
    with pytest.raises(HostUnreachable, match="nothing was done"):
        await owner.caller(door.credential(AGENT, "owner"), "door")
