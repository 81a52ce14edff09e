"""The kernel says whether the other end has read what it was sent."""

import socket

import pytest

from nacre.system.peer import Peer


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_what_is_sent_counts_as_read_when_it_is(family: socket.AddressFamily, host: str) -> None:
    with (
        socket.create_server((host, 0), family=family) as listener,
        socket.create_connection(listener.getsockname()[:2]) as theirs,
    ):
        ours, _ = listener.accept()
        with ours:
            peer = Peer(ours)
            assert peer.has_read(0)
            ours.sendall(b"x" * 100)
            assert peer.has_read(100) is False
            assert len(theirs.recv(60)) == 60
            assert peer.has_read(100) is False
            assert len(theirs.recv(60)) == 40
            assert peer.has_read(100), "also before it is acknowledged"
            assert peer.has_read(101) is False, "something is still under way"
            peer.close()
            assert peer.has_read(100) is None


def test_a_socket_is_held_until_its_program_closes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
        with ours:
            peer = Peer(ours)
            assert peer.is_held()
            theirs.shutdown(socket.SHUT_WR)
            assert ours.recv(1) == b""
            assert peer.is_held(), "it sends no more, and reads on"
            theirs.close()
            assert not peer.is_held()
            peer.close()
            assert not peer.is_held(), "nobody knows"


def test_of_another_kind_of_socket_nobody_knows() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert Peer(ours).has_read(0) is None
