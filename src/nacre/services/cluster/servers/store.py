"""What all hosts know: names, sessions and keys, in a bucket that the cluster's servers keep.

Rule 1: while the servers choose who of them leads, nobody answers. That is waited for
(cluster_call_time): a server of several that dies fails no call. An answer that dies with it never
comes, so each try has but a part of that time.
Rule 2: a deleted key leaves a mark, which goes by itself: else the store would grow with every
session that there ever was.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from nats.aio.client import Client
from nats.errors import ConnectionClosedError, NoRespondersError
from nats.errors import Error as NatsError
from nats.js.errors import (
    APIError,
    BadRequestError,
    BucketNotFoundError,
    KeyDeletedError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
    NoStreamResponseError,
    ServiceUnavailableError,
)
from nats.js.kv import KeyValue

from nacre.services.host.wait import bounded
from nacre.settings.table import Settings

_BUCKET = "nacre"
_MARKED = 60.0  # seconds that the mark of a deleted key stays
_AGAIN = 0.1  # seconds between two tries
_TRY = 0.4  # of cluster_call_time, that one try has: three of them fit in
# Codes of JetStream's answers.
_WRONG_REVISION = (10071, 10164)
_MARKS_STAY = (10165, 10166)  # the bucket was made without a life for single messages
_FULL = (10023, 10047, 10077, 10122)  # resources, storage, bytes, bytes of the account
_NO_LEADER = (10008, 10009, None)  # not available, not the leader, nobody answered


class KeyTaken(Exception):
    """A key exists already, or was changed since it was read."""


async def open_store(client: Client, settings: Settings) -> "Store":
    """Return the store; the first host makes it. Raises OSError."""
    try:
        bucket = await _tried(lambda: _bucket(client, settings), settings.cluster_call_time)
    except OSError as error:
        if not isinstance(error.__cause__, TimeoutError):
            raise
        raise OSError(
            "the servers' store does not answer: has this host the rights of docs/cluster.md?"
        ) from error
    return Store(client, bucket, settings)


async def _bucket(client: Client, settings: Settings) -> KeyValue:
    stream = client.jetstream(timeout=_TRY * settings.cluster_call_time)
    try:
        return await stream.key_value(_BUCKET)
    except (ServiceUnavailableError, NoRespondersError) as error:
        raise OSError(
            "the servers keep nothing: enable JetStream in their configuration"
        ) from error
    except BucketNotFoundError:
        with suppress(BadRequestError):  # another host was quicker
            return await stream.create_key_value(
                bucket=_BUCKET, history=1, replicas=settings.cluster_replicas
            )
        return await stream.key_value(_BUCKET)


class Store:
    """All of it raises OSError when the servers do not answer, or refuse."""

    def __init__(self, client: Client, bucket: KeyValue, settings: Settings) -> None:
        self._bucket = bucket
        self._client = client
        self._call_time = settings.cluster_call_time
        self._marks_go = True

    async def create(self, key: str, value: bytes) -> None:
        """Raises KeyTaken; also if a try before was written, of which no answer came."""
        await self._write(lambda: self._bucket.create(key, value))

    async def put(self, key: str, value: bytes) -> None:
        await self._write(lambda: self._bucket.put(key, value))

    async def replace(self, key: str, value: bytes, revision: int) -> None:
        """Raises KeyTaken if somebody wrote it since that revision."""
        await self._write(lambda: self._bucket.update(key, value, last=revision))

    async def get(self, key: str) -> tuple[bytes, int] | None:
        """Return a value and its revision."""
        try:
            entry = await _tried(lambda: self._bucket.get(key), self._call_time)
        except (KeyNotFoundError, KeyDeletedError):
            return None
        return None if entry.value is None else (entry.value, entry.revision or 0)

    async def delete(self, key: str, revision: int | None = None) -> None:
        """Raises KeyTaken if somebody wrote it since that revision."""
        headers = {"KV-Operation": "PURGE", "Nats-Rollup": "sub"}
        if revision is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(revision)

        async def mark() -> None:
            life = _MARKED if self._marks_go else None
            stream = self._client.jetstream(timeout=_TRY * self._call_time)
            subject = f"$KV.{_BUCKET}.{key}"
            try:
                await stream.publish(subject, headers=dict(headers), msg_ttl=life)
            except APIError as error:
                if error.err_code in _FULL:  # there is no room for a mark either
                    last = None if revision is None else revision + 1
                    await stream.purge_stream(f"KV_{_BUCKET}", seq=last, subject=subject)
                elif life is None or error.err_code not in _MARKS_STAY:
                    raise
                else:
                    self._marks_go = False
                    await stream.publish(subject, headers=dict(headers))

        await self._write(mark)

    async def find(self, pattern: str) -> list[tuple[str, bytes]]:
        """Return the keys that match a pattern of subjects, and their values."""
        found = []
        watcher = await _tried(
            lambda: self._bucket.watch(pattern, ignore_deletes=True), self._call_time
        )
        try:
            async with bounded(self._call_time):
                async for entry in watcher:
                    if entry is None:  # that was all there is now
                        break
                    found.append((entry.key, entry.value or b""))
        except TimeoutError as error:
            raise OSError("the cluster's servers do not answer") from error
        finally:
            with suppress(NatsError):  # the connection is gone, and the watcher with it
                await watcher.stop()
        return found

    async def _write(self, make: Callable[[], Awaitable[Any]]) -> None:
        try:
            await _tried(make, self._call_time)
        except KeyWrongLastSequenceError as error:
            raise KeyTaken from error


async def _tried(make: Callable[[], Awaitable[Any]], patience: float) -> Any:
    """Do it, again for so many seconds while nobody answers. Raises OSError."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + patience
    while True:
        try:
            return await make()
        except (KeyNotFoundError, KeyDeletedError, KeyWrongLastSequenceError):
            raise
        except (NatsError, TimeoutError) as error:
            if isinstance(error, APIError) and error.err_code in _WRONG_REVISION:
                raise KeyWrongLastSequenceError(description=error.description) from error
            if not _may_pass(error) or loop.time() > ends:
                raise OSError(_why(error)) from error
        await asyncio.sleep(_AGAIN)  # no event tells that the servers have a leader again


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ServiceUnavailableError):
        return error.err_code in _NO_LEADER
    return isinstance(error, NoRespondersError | NoStreamResponseError | TimeoutError) and (
        not isinstance(error, ConnectionClosedError)
    )


def _why(error: Exception) -> str:
    if isinstance(error, APIError) and error.err_code in _FULL:
        return "the store of the cluster's servers is full: raise its limit, or end sessions"
    if isinstance(error, APIError) and error.description:
        return f"the cluster's store refuses: {error.description}"
    return f"the cluster's servers do not answer: {str(error) or 'too late'}"
