"""A daemon whose folders, socket and files are deleted under it makes them again."""

import asyncio
import errno
import fcntl
import os
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.client.lock import acquire, is_free, is_lock_of
from nacre.client.start import connect
from nacre.errors import DaemonUnreachable
from nacre.settings.paths import Paths, make_private
from nacre.system.endpoints import listen_local, load_token, take_lock, write_state
from nacre.system.keeper.client import Keeping
from nacre.system.presence import Presence

PATIENCE = 60.0  # seconds until an event that does not come fails the test
TOKEN = "a-token-of-this-test"

pytestmark = pytest.mark.anyio


class Served:
    """Whatever a listener gets is greeted, and every new listener is an event."""

    def __init__(self) -> None:
        self.listeners: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, listener: socket.socket) -> asyncio.Server:
        self.listeners.put_nowait(listener.getsockname())
        return await asyncio.start_unix_server(self._greet, sock=listener)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        await writer.drain()
        writer.close()

    async def next(self) -> str:
        async with asyncio.timeout(PATIENCE):
            return await self.listeners.get()


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(str(tmp_path), str(tmp_path / "state"), str(tmp_path / "user" / "nacre"))


Begin = Callable[[Paths], Awaitable[tuple[Presence, Served]]]


@pytest.fixture
def begin() -> Any:
    begun: list[Presence] = []

    async def start(paths: Paths) -> tuple[Presence, Served]:
        make_private(paths.runtime)
        make_private(paths.state)
        lock, listener, served = take_lock(paths, patience=0), listen_local(paths.socket), Served()
        state = {"pid": os.getpid(), "port": 1, "socket": paths.socket}
        write_state(paths, state)
        presence = Presence(
            *(paths, Keeping(None), listener, lock, state, TOKEN, served), check_every=3600
        )
        await presence.begin()
        await served.next()
        begun.append(presence)
        return presence, served

    yield start
    for presence in begun:
        presence.end()
        os.close(presence.lock)


async def hello(paths: Paths) -> bytes:
    """Return what a client hears that looks for the daemon as clients do."""
    reader, writer = await asyncio.open_unix_connection(sock=connect(paths))
    async with asyncio.timeout(PATIENCE):
        line = await reader.readline()
    writer.close()
    return line


def files(paths: Paths) -> list[bool]:
    return [os.path.exists(path) for path in (paths.socket, paths.state_file, paths.token_file)]


async def test_deleted_socket_is_made_again(paths: Paths, begin: Begin) -> None:
    _, served = await begin(paths)
    os.unlink(paths.socket)
    assert await served.next() == paths.socket
    assert await hello(paths) == b"hello\n"


@pytest.mark.parametrize("deleted", ["runtime", "state", "config"])
async def test_deleted_folder_is_made_again(paths: Paths, begin: Begin, deleted: str) -> None:
    presence, served = await begin(paths)
    shutil.rmtree(getattr(paths, deleted))
    if deleted != "state":
        assert await served.next() == paths.socket
    async with asyncio.timeout(PATIENCE):
        while not all(files(paths)):  # noqa: ASYNC110  # nothing else tells of the last file
            await asyncio.sleep(0)
    assert is_lock_of(paths, presence.lock)
    assert not is_free(paths), "a second daemon would be refused"
    assert await hello(paths) == b"hello\n"
    for folder in (paths.state, paths.runtime):
        assert os.stat(folder).st_mode & 0o777 == 0o700
    assert load_token(paths.token_file, None) == TOKEN


def put_in_place_of(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("kept")
    else:
        path.unlink()
        path.mkdir()
        (path / "kept").touch()


@pytest.mark.parametrize("where", ["socket", "runtime"])
async def test_what_stands_in_its_place_is_put_aside(
    paths: Paths, begin: Begin, where: str
) -> None:
    _, served = await begin(paths)
    path = Path(getattr(paths, where))
    put_in_place_of(path)
    while await served.next() != paths.socket:
        pass
    assert await hello(paths) == b"hello\n"
    (aside,) = path.parent.glob(f"{path.name}.aside-*")
    assert aside.is_dir() == (where == "socket"), "it may be somebody's"


async def test_socket_is_in_the_state_folder_while_the_runtime_folder_cannot_be_made(
    paths: Paths, begin: Begin
) -> None:
    """As after a logout: /run/user/1000 is gone, and only root can make it again."""
    _, served = await begin(paths)
    user = Path(paths.runtime).parent
    shutil.rmtree(user)
    user.touch()  # in a file nobody can make a folder, not even root
    assert await served.next() == os.path.join(paths.state, "run", "nacre.sock")
    assert await hello(paths) == b"hello\n", "the state file says where it is"
    user.unlink()
    user.mkdir()  # the next login
    assert await served.next() == paths.socket
    assert await hello(paths) == b"hello\n"
    assert os.listdir(os.path.join(paths.state, "run")) == []


async def test_end_leaves_nothing_behind(paths: Paths, begin: Begin) -> None:
    presence, _ = await begin(paths)
    presence.end()
    assert files(paths) == [False, False, False]
    with pytest.raises(DaemonUnreachable):
        connect(paths)


async def test_a_lock_that_cannot_be_had_closes_nothing_twice(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on NFS, which locks only files that are open for writing; and that file cannot be made.
    def no_folders(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_folders)
    os.makedirs(paths.lock_file)
    with pytest.raises(IsADirectoryError):
        acquire(paths)


async def test_state_folder_that_another_daemon_took_is_not_taken_from_it(
    paths: Paths, begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    presence, served = await begin(paths)
    os.rename(paths.state, f"{paths.state}.old")
    make_private(paths.state)
    other = acquire(paths)
    assert other is not None
    os.unlink(paths.socket)
    assert await served.next() == paths.socket
    assert "another daemon has taken it" in str([vars(record) for record in caplog.records])
    assert not is_lock_of(paths, presence.lock)
    os.close(other)
