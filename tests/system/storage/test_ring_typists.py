"""What the terminal took of what is typed by numbers: the ring knows, whenever the daemon dies."""

import errno
import os
import subprocess
import sys
import tty
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from nacre.system.storage import ring as layout
from nacre.system.storage.ring import Ring

from system.storage import typing_kills

ANNA, BERT = 1, 2


@pytest.fixture
def ring() -> Iterator[Ring]:
    ring = Ring()
    yield ring
    ring.close()


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A raw terminal: its master, which does not block, and the program's side."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield master, slave
    os.close(master)
    os.close(slave)


def next_daemon(ring: Ring) -> Ring:
    """The ring as the next daemon has it, from the keeper's descriptor."""
    return Ring(os.dup(ring.descriptor))


def place(ring: Ring, name: int) -> tuple[int, int]:
    typist = ring.typist(name)
    return typist.taken, typist.begun


def test_a_kill_right_after_a_write_leaves_no_doubt(ring: Ring, terminal: tuple[int, int]) -> None:
    typist = ring.typist(ANNA)
    assert typist.write(terminal[0], b"hello", 0) == 5
    assert place(ring, ANNA) == (0, 5)  # nobody has noted it
    assert place(next_daemon(ring), ANNA) == (5, 5)
    assert os.read(terminal[1], 100) == b"hello"


def test_a_kill_right_before_a_write_leaves_no_doubt(
    ring: Ring, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    typist = ring.typist(ANNA)
    typist.took(typist.write(terminal[0], b"abc", 0))

    def killed(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "sendfile", killed)
    with pytest.raises(KeyboardInterrupt):
        typist.write(terminal[0], b"defg", 3)
    assert place(next_daemon(ring), ANNA) == (3, 3)


def test_of_what_a_full_terminal_took_the_next_daemon_knows_each_byte(
    ring: Ring, terminal: tuple[int, int]
) -> None:
    typist = ring.typist(ANNA)
    data = typing_kills.typed(0, 100_000)
    at = 0
    with suppress(BlockingIOError):
        while True:
            at += typist.write(terminal[0], data[at:], at)
            assert place(next_daemon(ring), ANNA) == (at, at)
    assert 0 < at < len(data), "the terminal was to be full"
    assert place(next_daemon(ring), ANNA) == (at, at)
    found = b""
    while len(found) < at:
        found += os.read(terminal[1], len(data))
    assert found == data[:at]


def test_a_kill_between_the_two_words_of_a_note_changes_nothing(
    ring: Ring, terminal: tuple[int, int]
) -> None:
    typist = ring.typist(ANNA)
    typist.write(terminal[0], b"hello", 10)
    typist._set(layout._OF_TAKEN, 15)
    assert place(next_daemon(ring), ANNA) == (15, 15)
    assert place(next_daemon(ring), ANNA) == (15, 15)


def test_what_was_not_typed_as_it_is_stays_unsure(ring: Ring, terminal: tuple[int, int]) -> None:
    ring.typist(ANNA).begin(4)  # changed on its way: its bytes are not the ones that were typed
    typist = ring.typist(BERT)
    typist.took(typist.write(terminal[0], b"bert", 0))
    assert place(next_daemon(ring), ANNA) == (0, 4)
    assert place(next_daemon(ring), BERT) == (4, 4)
    typist.begin(9)
    assert place(next_daemon(ring), BERT) == (4, 9)


def test_where_the_kernel_cannot_send_to_terminals_bytes_are_written_and_a_kill_leaves_doubt(
    ring: Ring, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: Any) -> int:
        raise OSError(errno.EINVAL, "as Linux before 5.12 says")

    monkeypatch.setattr(os, "sendfile", cannot)
    typist = ring.typist(ANNA)
    assert typist.write(terminal[0], b"hello", 0) == 5
    assert os.read(terminal[1], 100) == b"hello"
    assert place(next_daemon(ring), ANNA) == (0, 5)
    typist.took(5)
    assert place(next_daemon(ring), ANNA) == (5, 5)


def test_processes_killed_while_they_type_leave_no_byte_out_and_none_twice() -> None:
    kills = 300
    done = subprocess.run(
        [sys.executable, typing_kills.__file__, str(kills)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    arrived, unnoted = map(int, done.stdout.split())
    print(f"{kills} kills, {unnoted} of them between a write and its word; {arrived} bytes")
    assert arrived
    assert unnoted, "no kill came at the moment that this is about"
