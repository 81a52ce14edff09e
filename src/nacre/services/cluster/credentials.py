"""Who asks, signed by the host whose door it came in at.

Rule 1: a credential says who the caller is, which host vouches for it, for which host it is, and
until when. Nothing of a caller is believed that the vouching host has not signed.
Rule 2: each host has a key of its own (Ed25519), made at its first start and kept below its state
folder. Others know its public half from the cluster's store, where only that host may write it.
Rule 3: until when it holds is a time of the vouching host's own clock, which its heartbeats tell.
So the clocks of two hosts need not agree, nor run without jumps.
Rule 4: what the caller's own machine alone can know or use stays there: its process, and the values
that tables of upstream servers refer to.
"""

import os
import time
from collections.abc import Awaitable, Callable
from types import MappingProxyType

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.policy.verdicts import Preset, Sandbox
from nacre.errors import Forbidden, HostUnreachable

_RENEWED = 0.2  # of its life before its end a new one is made
_CLOCKS = 0.1  # of its life: by so much a clock may be other than its host has told
# Of the environment of a caller: paths and sockets of its machine mean nothing on another.
_TRAVELS = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "COLORTERM")
_MOST = 4096  # of each kind that are remembered


class SignedCaller(msgspec.Struct, frozen=True, array_like=True):
    door: str
    scope: int
    person: bool
    client: str
    cwd: str | None
    env: dict[str, str]
    key: str
    label: str
    sessions: list[str] | None
    token: str
    token_name: str
    owner: str
    told_as: str
    alike: bool
    prefix: str
    inside: bool = False
    policy: Preset = "open"
    sandbox: Sandbox = "off"


class SignedClaims(msgspec.Struct, frozen=True, array_like=True):
    vouching: str  # the host whose door it came in at
    audience: str  # the host that it is for
    ends: float
    caller: SignedCaller


class Signed(msgspec.Struct, frozen=True, array_like=True):
    claims: bytes
    signature: bytes


def load_key(path: str) -> Ed25519PrivateKey:
    """Return this host's key; at the first start it is made. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return Ed25519PrivateKey.from_private_bytes(file.read())
    except (FileNotFoundError, ValueError):
        key = Ed25519PrivateKey.generate()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.write(key.private_bytes_raw())
        return key


class SteadyClock:
    """The time of day as it was when the daemon started, and what has passed since.

    Who sets the machine's clock does not change it.
    """

    def __init__(self) -> None:
        self._began = time.time() - _passed()

    def __call__(self) -> float:
        return self._began + _passed()


def _passed() -> float:
    """Return seconds, with those of a machine that sleeps where the system counts them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Vouching:
    """Signs for callers of this host's doors."""

    def __init__(
        self,
        host: str,
        key: Ed25519PrivateKey,
        life: float,
        policy: Preset = "open",
        sandbox: Sandbox = "off",
    ) -> None:
        """`life` is how many seconds a credential holds. Who is revoked is refused by its door.

        `policy` and `sandbox` are those of this host: its callers are under them on every other
        one, too.
        """
        self.now: Callable[[], float] = SteadyClock()
        self._sandbox = sandbox
        self._life = life
        self._policy = policy
        self._host = host
        self._key = key
        self._made: dict[tuple[SignedCallerKey, str], tuple[float, bytes]] = {}
        # By the caller's identity: a connection asks as the same one again and again.
        self._last: dict[tuple[int, str], tuple[Caller, float, bytes]] = {}

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def credential(self, caller: Caller, audience: str) -> bytes:
        """Return a caller's credential for a host; one that was made before if it still holds."""
        now = self.now()
        last = self._last.get((id(caller), audience))
        if last is not None and last[0] is caller and last[1] - _RENEWED * self._life > now:
            return last[2]
        ends, made = self._credential(caller, audience, now)
        if len(self._last) >= _MOST:
            self._last.clear()
        self._last[id(caller), audience] = (caller, ends, made)
        return made

    def _credential(self, caller: Caller, audience: str, now: float) -> tuple[float, bytes]:
        known = (_key_of(caller), audience)
        found = self._made.get(known)
        if found is not None and found[0] - _RENEWED * self._life > now:
            return found
        ends = now + self._life
        claims = msgspec.msgpack.encode(
            SignedClaims(self._host, audience, ends, _signed(caller, self._policy, self._sandbox))
        )
        made = msgspec.msgpack.encode(Signed(claims, self._key.sign(claims)))
        if len(self._made) >= _MOST:
            self._made.clear()
        self._made[known] = (ends, made)
        return ends, made


class Believing:
    """Reads what other hosts have signed."""

    def __init__(
        self,
        host: str,
        key_of: Callable[[str], Awaitable[bytes | None]],
        life: float,
        clock_of: Callable[[str], float | None],
    ) -> None:
        """`key_of` returns a host's public key; `life` is how many seconds a credential holds.

        `clock_of` returns the time by a host's own clock; None if it has not told it.
        """
        self._clock_of = clock_of
        self._life = life
        self._host = host
        self._key_of = key_of
        self._believed: dict[bytes, tuple[float, str, Caller]] = {}

    async def caller(self, credential: bytes, sender: str) -> Caller:
        """Return who asks.

        Raises Forbidden for what `sender` has not signed for this host, and HostUnreachable if its
        key cannot be had.
        """
        known = self._believed.get(credential)
        if known is None:
            known = await self._read(credential)
            if len(self._believed) >= _MOST:
                self._believed.clear()
            self._believed[credential] = known
        ends, vouching, caller = known
        if vouching != sender:
            raise Forbidden("this caller was vouched for by another host than the one that asks")
        now = self._clock_of(vouching)
        if (time.time() if now is None else now) > ends + _CLOCKS * self._life:
            raise Forbidden("what vouches for this caller is too old: compare the hosts' clocks")
        return caller

    async def _read(self, credential: bytes) -> tuple[float, str, Caller]:
        try:
            signed = msgspec.msgpack.decode(credential, type=Signed)
            claims = msgspec.msgpack.decode(signed.claims, type=SignedClaims)
            scope = Scope(claims.caller.scope)
        except (msgspec.DecodeError, ValueError) as error:
            raise Forbidden("a caller's credential cannot be read") from error
        try:
            key = await self._key_of(claims.vouching)
        except OSError as error:
            raise HostUnreachable(
                f"the cluster's servers do not tell the key of host {claims.vouching[:64]!r}, so "
                "nothing was done",
                "try again",
            ) from error
        if key is None:
            raise Forbidden(f"host {claims.vouching[:64]!r} is not known to this one")
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(signed.signature, signed.claims)
        except (InvalidSignature, ValueError) as error:
            raise Forbidden("a caller's credential was not signed by its host") from error
        if claims.audience != self._host:
            raise Forbidden("a caller's credential is for another host")
        return claims.ends, claims.vouching, _caller(claims.caller, scope, claims.vouching)


SignedCallerKey = tuple[object, ...]


def _key_of(caller: Caller) -> SignedCallerKey:
    """Return what tells two callers apart."""
    return (
        *(caller.door, caller.scope, caller.person, caller.client, caller.cwd),
        *(tuple(caller.env.items()), caller.key, caller.label, caller.sessions, caller.token),
        *(caller.token_name, caller.owner, caller.told_as, caller.alike, caller.prefix),
        caller.inside,
    )


def _signed(caller: Caller, policy: Preset, sandbox: Sandbox) -> SignedCaller:
    return SignedCaller(
        door=caller.door,
        scope=int(caller.scope),
        person=caller.person,
        client=caller.client,
        cwd=caller.cwd,
        env=dict(caller.env),
        key=caller.key,
        label=caller.label,
        sessions=None if caller.sessions is None else sorted(caller.sessions),
        token=caller.token,
        token_name=caller.token_name,
        owner=caller.owner,
        told_as=caller.told_as,
        alike=caller.alike,
        prefix=caller.prefix,
        inside=caller.inside,
        policy=policy,
        sandbox=sandbox,
    )


def _caller(signed: SignedCaller, scope: Scope, via: str) -> Caller:
    return Caller(
        door=signed.door,
        scope=scope,
        person=signed.person,
        client=signed.client,
        cwd=signed.cwd if signed.cwd and os.path.isdir(signed.cwd) else None,
        env=MappingProxyType({name: signed.env[name] for name in _TRAVELS if name in signed.env}),
        key=signed.key and f"{via}/{signed.key}",
        label=signed.label,
        sessions=None if signed.sessions is None else frozenset(signed.sessions),
        token=signed.token,
        token_name=signed.token_name,
        owner=signed.owner and f"{via}/{signed.owner}",
        told_as=signed.told_as and f"{via}/{signed.told_as}",
        alike=signed.alike,
        prefix=signed.prefix,
        inside=signed.inside,
        policy=signed.policy,
        sandbox=signed.sandbox,
        via=via,
    )
