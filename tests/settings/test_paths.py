"""Where files lie, and sockets however deep that is."""

import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest

from nacre.settings.paths import Paths, SocketAddress, find_paths, make_private
from nacre.system.endpoints import listen_local


def test_nacre_home_holds_everything(tmp_path: Path) -> None:
    paths = find_paths(
        {"NACRE_HOME": str(tmp_path), "XDG_CONFIG_HOME": "/x", "XDG_RUNTIME_DIR": "/y"}
    )
    assert paths == (str(tmp_path), str(tmp_path / "state"), str(tmp_path / "run"))
    assert paths.config_file == str(tmp_path / "config.toml")
    assert paths.token_file == str(tmp_path / "state/token")
    assert paths.log_file == str(tmp_path / "state/daemon.log")
    assert paths.socket == str(tmp_path / "run/nacre.sock")


def test_relative_nacre_home_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert find_paths({"NACRE_HOME": "here"}).config == str(tmp_path / "here")
    assert find_paths({"NACRE_HOME": "~/there"}).config == str(tmp_path / "me/there")


def test_xdg_folders_are_used_where_they_are_set(tmp_path: Path) -> None:
    runtime = str(tmp_path)
    paths = find_paths(
        {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": runtime}
    )
    assert paths == ("/c/nacre", "/s/nacre", f"{runtime}/nacre")


def test_runtime_folder_that_logind_removed_is_not_used(tmp_path: Path) -> None:
    gone = str(tmp_path / "1000")
    paths = find_paths({"XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": gone})
    assert paths.runtime == paths.other_runtime == "/s/nacre/run"


@pytest.mark.parametrize("umask", [0, 0o022, 0o777])
def test_every_folder_that_is_made_is_private_whatever_the_umask(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        make_private(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")]
    assert modes == [0o700, 0o700]


def test_link_to_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="is a link to a folder that does not exist"):
        make_private(str(tmp_path / "link"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link to another user")
def test_link_that_another_user_planted_is_refused(tmp_path: Path) -> None:
    link, ours = tmp_path / "link", tmp_path / "ours"
    ours.mkdir(mode=0o755)
    link.symlink_to(ours)
    make_private(str(link))  # our own link is fine
    os.chown(link, 1, 1, follow_symlinks=False)
    with pytest.raises(PermissionError, match="belongs to another user"):
        make_private(str(link))


def test_home_is_used_where_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert find_paths({}) == (
        "/home/me/.config/nacre",
        "/home/me/.local/state/nacre",
        "/home/me/.local/state/nacre/run",
    )
    assert find_paths({"NACRE_HOME": "", "XDG_CONFIG_HOME": ""}) == find_paths({})


def test_private_folder_is_nobody_else_s(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_private(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    make_private(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = Path("/")  # root's: another user's, unless we are root ourselves
    if os.getuid() == 0:
        folder = tmp_path / "theirs"
        folder.mkdir(mode=0o700)
        os.chown(folder, 1, 1)
    with pytest.raises(PermissionError, match="belongs to another user; set NACRE_HOME"):
        make_private(str(folder))


@pytest.mark.parametrize("length", [1, 90, 107, 108, 109, 200, 1000])
def test_socket_can_be_bound_and_reached_however_deep_it_lies(length: int, tmp_path: Path) -> None:
    folder = str(tmp_path)
    while len(folder) + len("/nacre.sock") < length:
        room = length - len(folder) - len("/nacre.sock") - 1
        folder = os.path.join(folder, "x" * max(1, min(room, 100)))
    make_private(folder)
    path = os.path.join(folder, "nacre.sock")
    before = os.listdir("/proc/self/fd")
    with closing(listen_local(path)) as listener, closing(socket.socket(socket.AF_UNIX)) as client:
        with SocketAddress(path) as address:
            assert len(os.fsencode(address)) <= 107
            client.connect(address)
        listener.setblocking(True)
        accepted, _ = listener.accept()
        accepted.sendall(b"hello")
        assert client.recv(5) == b"hello"
        accepted.close()
    assert os.path.exists(path)
    # Whoever listens deep keeps the folder open; who connects keeps nothing.
    kept = set(os.listdir("/proc/self/fd")) - set(before)
    assert len(kept) == (len(os.fsencode(path)) > 107)
    for descriptor in kept:
        os.close(int(descriptor))


def test_paths_are_a_value() -> None:
    assert Paths("a", "b", "c") == Paths("a", "b", "c")


@pytest.mark.parametrize("by_link", [False, True])
def test_a_folder_that_all_users_share_is_refused_and_stays_theirs(
    tmp_path: Path, *, by_link: bool
) -> None:
    shared, link = tmp_path / "shared", tmp_path / "link"
    shared.mkdir()
    shared.chmod(0o1777)  # like /tmp, which belongs to root: who runs as root must not shut it
    link.symlink_to(shared)
    with pytest.raises(PermissionError, match="for all users of this machine; set NACRE_HOME"):
        make_private(str(link if by_link else shared))
    assert shared.stat().st_mode & 0o7777 == 0o1777
    with pytest.raises(PermissionError, match="for all users"):
        make_private("/")
