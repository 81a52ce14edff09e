"""Lock, socket, port, token and state file: what only one daemon can hold."""

import multiprocessing
import os
import resource
import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import DaemonRunning, Internal, InvalidInput
from nacre.settings.paths import Paths, find_paths, make_private
from nacre.settings.table import Settings
from nacre.system.endpoints import (
    listen_beyond,
    listen_local,
    listen_loopback,
    listen_ndjson,
    load_tls,
    load_token,
    read_state,
    remove_state,
    take_lock,
    write_state,
)

PATIENCE = 60.0  # seconds until an event that does not come fails the test


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = find_paths({"NACRE_HOME": str(tmp_path)})
    make_private(found.runtime)
    make_private(found.state)
    return found


@contextmanager
def taken_port() -> Iterator[int]:
    """A port with a listener, whose neighbour below is free."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_second_holder_is_told_who_has_the_lock(paths: Paths) -> None:
    write_state(paths, {"pid": 4711, "port": 19998})
    lock = take_lock(paths, patience=0)
    try:
        with pytest.raises(DaemonRunning, match=r"pid 4711, port 19998.*nacre stop"):
            take_lock(paths, patience=0)
    finally:
        os.close(lock)
    os.close(take_lock(paths, patience=0))


def _hold(paths: Paths, orders: Connection) -> None:
    lock = take_lock(paths, patience=0)
    orders.send("locked")
    orders.recv()
    os.close(lock)


def test_patient_holder_gets_the_lock_when_the_other_goes(paths: Paths) -> None:
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("spawn").Process(target=_hold, args=(paths, theirs))
    other.start()
    assert ours.poll(PATIENCE)
    ours.recv()
    with pytest.raises(DaemonRunning):
        take_lock(paths, patience=0.01)
    ours.send("go")
    os.close(take_lock(paths, patience=PATIENCE))
    other.join(PATIENCE)
    ours.close()
    theirs.close()


def test_left_over_socket_is_replaced_and_private(paths: Paths) -> None:
    listen_local(paths.socket).close()
    with closing(listen_local(paths.socket)), closing(socket.socket(socket.AF_UNIX)) as client:
        assert stat.S_IMODE(os.stat(paths.socket).st_mode) == 0o600
        client.connect(paths.socket)


def test_taken_port_falls_back_to_the_next_below() -> None:
    with taken_port() as port, closing(listen_loopback(port)) as listener:
        address, found = listener.getsockname()
        assert address == "127.0.0.1"
        assert port - 100 < found < port


def test_port_zero_is_any_free_one() -> None:
    with closing(listen_loopback(0)) as one, closing(listen_loopback(0)) as other:
        assert one.getsockname()[1] != other.getsockname()[1]


def test_no_free_port_is_an_error_that_names_the_setting() -> None:
    with pytest.raises(Internal, match="NACRE_PORT"):
        listen_loopback(1023)  # ports below 1024 are not tried


def test_token_is_made_once_and_kept_private(paths: Paths) -> None:
    token = load_token(paths.token_file, None)
    assert len(token) >= 40
    assert load_token(paths.token_file, None) == token
    assert stat.S_IMODE(os.stat(paths.token_file).st_mode) == 0o600


def test_given_token_stands_above_the_file_s(paths: Paths) -> None:
    load_token(paths.token_file, None)
    assert load_token(paths.token_file, "given-by-the-user") == "given-by-the-user"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_token_file_that_others_may_open_is_refused(paths: Paths, mode: int) -> None:
    load_token(paths.token_file, None)
    os.chmod(paths.token_file, mode)
    with pytest.raises(InvalidInput, match="delete it, and a new token is created"):
        load_token(paths.token_file, None)


def test_empty_token_file_is_refused(paths: Paths) -> None:
    Path(paths.token_file).touch(mode=0o600)
    with pytest.raises(InvalidInput, match="is empty"):
        load_token(paths.token_file, None)


def test_state_is_read_back_and_removed(paths: Paths) -> None:
    write_state(paths, {"pid": 1, "port": 2})
    assert read_state(paths) == {"pid": 1, "port": 2}
    assert os.listdir(paths.state) == ["daemon.json"], "the temporary file is gone"
    remove_state(paths)
    remove_state(paths)
    assert read_state(paths) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
def test_broken_state_file_is_no_state(paths: Paths, text: str) -> None:
    Path(paths.state_file).write_text(text)
    assert read_state(paths) is None


# --- the token file ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n  \n", "is empty"),
        (b"short\n", "holds no token"),
        (bytes(range(128, 192)), "holds no token"),
        (b"two words of a token that is long\n", "holds no token"),
        (b"x" * 5000, "holds no token"),
    ],
)
def test_file_without_a_token_is_a_clear_error(paths: Paths, content: bytes, problem: str) -> None:
    path = Path(paths.token_file)
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=f"{problem}.*delete it, and a new token is created"):
        load_token(paths.token_file, None)


def test_folder_in_place_of_the_token_is_a_clear_error(paths: Paths) -> None:
    os.mkdir(paths.token_file)
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory; delete it"):
        load_token(paths.token_file, None)


def test_token_that_cannot_be_stored_is_used_and_leaves_no_half(paths: Paths) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))  # the disk is full
    try:
        assert len(load_token(paths.token_file, None)) > 40
        assert not write_state(paths, {"pid": 1, "socket": "/somewhere"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert os.listdir(paths.state) == []


# --- beyond loopback ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "any_token", "reason"),
    [
        ({}, True, "set tls_cert and tls_key"),
        ({"tls_cert": "/none/cert"}, True, "set tls_cert and tls_key"),
        ({"tls_cert": "/none/cert", "tls_key": "/none/key"}, False, "make a token first"),
        ({"tls_cert": "/none/cert", "tls_key": "/none/key"}, True, "/none/cert .*No such file"),
        ({"tls_cert": __file__, "tls_key": "/none/key"}, True, "/none/key .*No such file"),
    ],
)
def test_nothing_is_served_beyond_loopback_without_tls_and_a_token(
    settings: dict[str, Any], any_token: bool, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        load_tls(Settings(host="0.0.0.0", **settings), any_token=any_token)


def test_a_key_of_the_certificate_that_others_can_read_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("x")
    key.chmod(0o644)
    settings = Settings(host="0.0.0.0", tls_cert=str(key), tls_key=str(key))
    with pytest.raises(InvalidInput, match="other users can read"):
        load_tls(settings, any_token=True)
    key.chmod(0o600)
    with pytest.raises(InvalidInput, match="cannot be used"):
        load_tls(settings, any_token=True)


def test_a_key_with_a_passphrase_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    """Nobody would be there when the daemon starts again after a crash."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    line = "openssl req -x509 -newkey rsa:2048 -passout pass:word -days 2 -subj /CN=box"
    made = [*line.split(), "-keyout", str(key), "-out", str(cert)]
    subprocess.run(made, check=True, capture_output=True)
    key.chmod(0o600)
    settings = Settings(host="0.0.0.0", tls_cert=str(cert), tls_key=str(key))
    with pytest.raises(InvalidInput, match="passphrase"):
        load_tls(settings, any_token=True)


@pytest.mark.parametrize(
    ("host", "reason"),
    [("example.org", "no address"), ("127.0.0.1", "other machines"), ("::1", "other machines")],
)
def test_what_is_beyond_loopback_is_an_address_that_is_not_loopback(host: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        listen_beyond(host, 0)


def test_the_ndjson_door_is_on_loopback_alone_and_sends_at_once() -> None:
    listeners = listen_ndjson(0)
    try:
        addresses = [one.getsockname()[:2] for one in listeners]
        port = addresses[0][1]
        assert addresses in ([("127.0.0.1", port), ("::1", port)], [("127.0.0.1", port)])
        for listener in listeners:
            assert listener.proto == socket.IPPROTO_TCP
            assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with pytest.raises(Internal, match="NACRE_NDJSON_PORT"):
            listen_ndjson(port)
    finally:
        for listener in listeners:
            listener.close()
