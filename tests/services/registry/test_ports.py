"""Session ports: a claimed one listens, a taken one is skipped, a released one is free."""

import errno
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from conftest import PATIENCE
from nacre.errors import InvalidInput, LimitReached
from nacre.services.registry.ports import PortPool
from nacre.system.keeper.client import Keeping
from ranges import own_ports


def listen(port: int) -> socket.socket:
    """Listen as another program would."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    found.listen()
    return found


@pytest.fixture
def first() -> int:
    return own_ports()


@pytest.fixture
def pool(first: int) -> Iterator[PortPool]:
    made = PortPool(first)
    yield made
    made.close()


class Served:
    """Records what it is told to serve."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def open(self, listener: socket.socket) -> None:
        self.told.append(("open", listener.getsockname()[1]))

    def close(self, port: int) -> None:
        self.told.append(("close", port))


def test_claimed_port_listens_on_loopback_alone(pool: PortPool) -> None:
    port = pool.claim()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        assert connection.getpeername() == ("127.0.0.1", port)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=PATIENCE)


def test_ports_count_up_and_skip_those_that_are_taken(pool: PortPool, first: int) -> None:
    with closing(listen(first)):
        claimed = [pool.claim() for _ in range(3)]
    assert first not in claimed
    assert claimed == sorted(set(claimed))


def test_port_that_somebody_has_on_all_addresses_is_skipped(pool: PortPool, first: int) -> None:
    with closing(socket.socket()) as other:
        other.bind(("0.0.0.0", first))
        other.listen()
        assert pool.claim() > first


def test_asked_for_port_is_given_when_it_is_free(pool: PortPool, first: int) -> None:
    assert pool.claim(first + 5) == first + 5
    assert pool.claim() == first


def test_asked_for_port_that_is_taken_is_refused(pool: PortPool, first: int) -> None:
    with closing(listen(first)), pytest.raises(InvalidInput, match=f"port {first} is taken"):
        pool.claim(first)
    assert pool.claim(first) == first
    with pytest.raises(InvalidInput, match="is taken"):
        pool.claim(first)


@pytest.mark.parametrize("port", [-1, 0, 1, 1023, 65_536, 10**9])
def test_asked_for_port_that_is_out_of_range_is_refused(pool: PortPool, port: int) -> None:
    with pytest.raises(InvalidInput, match=r"port must be \d+ to 65535"):
        pool.claim(port)


def test_released_port_is_free_for_anybody(pool: PortPool) -> None:
    port = pool.claim()
    pool.release(port)
    with closing(listen(port)):
        pass
    assert pool.claim(port) == port


def test_released_port_is_free_although_the_keeper_has_yet_to_hear_of_it(first: int) -> None:
    ours, keepers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with closing(ours), closing(keepers), closing(PortPool(first, Keeping(ours))) as pool:
        port = pool.claim()  # its duplicate lies in the channel, and listens
        pool.release(port)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        with closing(listen(port)):
            pass


def test_release_of_what_was_not_claimed_does_nothing(pool: PortPool, first: int) -> None:
    pool.release(first)


def test_server_is_told_of_ports_that_were_open_before_it_came(pool: PortPool) -> None:
    early = pool.claim()
    served = Served()
    pool.serve_with(served)
    late = pool.claim()
    pool.release(early)
    pool.close()
    assert served.told == [("open", early), ("open", late), ("close", early), ("close", late)]


def test_no_port_above_the_last_is_given() -> None:
    with closing(PortPool(65_535)) as pool:
        assert pool.claim() == 65_535
        with pytest.raises(LimitReached, match="no free port"):
            pool.claim()


def test_without_descriptors_the_limit_is_said(
    pool: PortPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("nacre.services.registry.ports.socket.socket", none_left)
    with pytest.raises(LimitReached, match="Too many open files"):
        pool.claim()
