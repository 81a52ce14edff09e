"""What viewers type by numbers: each byte once, and what nobody knows of is not typed again."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from nacre.core.keys.sequences import PASTE_BEGIN
from nacre.core.operations.watch import Dropped, Numbered, Printed, Snapshot, Taken, Typing
from nacre.errors import ControlHeld
from nacre.services.session.session import Session
from nacre.services.viewers.typists import TypingConnection, Typists
from nacre.system.storage.ring import Ring

from services.living import reads, shows, start, start_python, text_of, until
from services.people import ANNA, BERT, Told, house

NAME = "00000000000000a1"


@pytest.fixture
def ring() -> Iterator[Ring]:
    ring = Ring()
    yield ring
    ring.close()


class Viewer:
    """A viewer's connection, and what it was told."""

    def __init__(self, typists: Typists, name: str = NAME) -> None:
        self.told: list[Typing | Taken | Dropped] = []
        self._stack = ExitStack()
        self.connection: TypingConnection = self._stack.enter_context(
            typists.connection(name, self.told.append)
        )

    def leave(self) -> None:
        self._stack.close()

    def types(self, data: bytes, number: int, **more: bool) -> bytes:
        """Type; the terminal takes all of it. Return what that was."""
        accepted = self.connection.accept(data, Numbered(number, **more))
        if accepted is None:
            return b""
        new, receipt = accepted
        receipt.begin()
        receipt.settle()
        return new


def test_what_is_sent_again_is_typed_once(ring: Ring) -> None:
    viewer = Viewer(Typists(ring))
    assert viewer.types(b"abc", 0) == b"abc"
    assert viewer.types(b"abcde", 0) == b"de"
    assert viewer.types(b"de", 3) == b""
    assert viewer.types(b"xyz", 10) == b"xyz"  # the viewer has dropped what lies between
    assert viewer.told == [Typing(0, 0), Taken(3), Taken(5), Taken(10), Taken(13)]


def test_the_next_daemon_knows_what_the_terminal_took(ring: Ring) -> None:
    viewer = Viewer(Typists(ring))
    viewer.types(b"abc", 0)
    accepted = viewer.connection.accept(b"defgh", Numbered(3))
    assert accepted is not None
    accepted[1].begin()
    accepted[1].wrote(2)  # and the rest waits
    assert viewer.told[-1] == Taken(5)
    again = Viewer(Typists(ring))
    assert again.told == [Typing(5, 5)]
    assert again.types(b"fgh", 5) == b"fgh"


def test_what_was_being_written_when_the_daemon_died_is_unsure(ring: Ring) -> None:
    viewer = Viewer(Typists(ring))
    viewer.types(b"abc", 0)
    accepted = viewer.connection.accept(b"de", Numbered(3))
    assert accepted is not None
    accepted[1].begin()
    again = Viewer(Typists(ring))
    assert again.told == [Typing(3, 5, unsure=True)]
    assert again.types(b"fgh", 5) == b""  # the rest of that line
    assert again.types(b"next", 8, go_on=True) == b"next"


def test_a_part_of_what_was_changed_on_its_way_is_unsure(ring: Ring) -> None:
    viewer = Viewer(Typists(ring))
    accepted = viewer.connection.accept(b"abcd", Numbered(0))
    assert accepted is not None
    receipt = accepted[1]
    receipt.exact = False
    receipt.begin()
    receipt.wrote(0)  # the terminal is full
    assert Viewer(Typists(ring)).told == [Typing(0, 0)]
    receipt.begin()
    receipt.wrote(2)
    assert Viewer(Typists(ring)).told == [Typing(0, 4, unsure=True)]


def test_what_is_late_is_dropped_and_so_is_what_follows_it(ring: Ring) -> None:
    typists = Typists(ring)
    viewer = Viewer(typists)
    viewer.types(b"ech", 0)
    assert viewer.types(b"o rm", 3, late=True) == b""
    assert viewer.types(b" -r\r", 7) == b""
    assert [type(one) for one in viewer.told[2:]] == [Dropped, Dropped]
    # One that comes back is told, too, and that none of it was taken.
    again = Viewer(typists)
    assert again.told == [Typing(3, 11, dropped=True)]
    assert again.types(b"ls\r", 11, go_on=True) == b"ls\r"
    assert again.told[1:] == [Taken(14)]


def test_only_the_newest_connection_of_a_viewer_types(ring: Ring) -> None:
    typists = Typists(ring)
    old, new = Viewer(typists), Viewer(typists)
    assert old.types(b"abc", 0) == b""
    assert new.types(b"abc", 0) == b"abc"
    old.leave()
    assert new.types(b"de", 3) == b"de"
    assert new.told[-1] == Taken(5)


def test_what_waited_when_its_connection_closed_is_sent_again(ring: Ring) -> None:
    typists = Typists(ring)
    viewer = Viewer(typists)
    accepted = viewer.connection.accept(b"abc", Numbered(0))
    assert accepted is not None
    viewer.connection.forget(accepted[1])
    viewer.leave()
    assert Viewer(typists).told == [Typing(0, 0)]


def test_viewers_are_told_apart_and_the_longest_gone_makes_way(ring: Ring) -> None:
    typists = Typists(ring)
    names = [f"{number:016x}" for number in range(1, 201)]
    for name in names:
        viewer = Viewer(typists, name)
        viewer.types(b"x" * int(name, 16), 0)
        viewer.leave()
    next_daemon = Typists(ring)
    assert Viewer(next_daemon, names[-1]).told == [Typing(200, 200)]
    assert Viewer(next_daemon, names[150]).told == [Typing(151, 151)]
    assert Viewer(next_daemon, names[0]).told == [Typing(0, 0)]


def events_of(watch: Any) -> Told:
    """What is told at a screen, one event after the other."""
    return Told(watch)


@pytest.mark.anyio
async def test_keys_are_confirmed_with_their_echo_or_soon_after_it() -> None:
    async with house() as ask:
        session = await start(ask.services, "stty raw -echo; echo ready; exec cat")
        await shows(session, "ready")
        async with ask.watch(ANNA, session, typing=NAME) as watch:
            told = events_of(watch)
            assert await told.next() == Typing(0, 0)
            await told.of(Snapshot)
            await watch.type(b"abc", Numbered(0))
            assert await told.next() == Taken(3)
            assert (await told.next()).data == b"abc"
            await watch.type(b"abcde", Numbered(0))
            await told.of(Taken, number=5)
        # Where nothing is echoed, the receipt comes alone.
        silent = await start(ask.services, "stty -echo; echo ready; exec cat > /dev/null")
        await shows(silent, "ready")
        async with ask.watch(ANNA, silent, typing=NAME) as watch:
            told = events_of(watch)
            await told.of(Snapshot)
            await watch.type(b"secret", Numbered(0))
            await told.of(Taken, number=6)
            assert not [one for one in told.seen if isinstance(one, Printed)]


@pytest.mark.anyio
async def test_what_an_agent_captures_is_confirmed_and_what_is_refused_too() -> None:
    async with house() as ask:
        session = await start(ask.services, "stty raw -echo; echo ready; exec cat")
        await shows(session, "ready")
        async with ask.watch(ANNA, session, typing=NAME) as watch:
            told = events_of(watch)
            await ask("input_mode", session=session.identity.id, mode="capture")
            await watch.type(b"abc", Numbered(0))
            await told.of(Taken, number=3)
            await ask("input_mode", session=session.identity.id, mode="release")
            async with ask.watch(BERT, session):
                await ask("control", BERT, session=session.identity.id, action="take")
                with pytest.raises(ControlHeld):
                    await watch.type(b"def", Numbered(3))
                await told.of(Taken, number=6)
            await watch.type(b"\r\nghi\r\n", Numbered(6))
            await told.of(Taken, number=13)
            await shows(session, "ghi")
            assert text_of(session).split() == ["ready", "ghi"]


# --- half a line -------------------------------------------------------------------------------

READER = """
import os, tty
tty.setraw(0)
os.write(1, b"ready")
while True:
    os.write(1, b"<%s>" % os.read(0, 100).hex().encode())
"""


async def half_a_line(watch: Any, told: Told, half: bytes) -> int:
    """Type half a line, of which the rest comes late and is dropped. Return the next number."""
    await told.of(Snapshot)
    await watch.type(half, Numbered(0))
    await told.of(Taken, number=len(half))
    await watch.type(b" rest", Numbered(len(half), late=True))
    await told.of(Dropped)
    return len(half) + 5


def has_row(session: Session, row: str) -> bool:
    return row in [found.strip() for found in text_of(session).splitlines()]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("command", "half", "line", "answer"),
    [
        ("bash --norc", b"echo ha", b"echo $((41+1))\r", "42"),
        ("bash --norc", b"\x1b[200~echo ha", b"echo $((41+1))\r", "42"),
        ("cat", b"ha", b"a whole line\r", "a whole line"),
        ("stty kill ^X; exec cat", b"ha", b"a line\r", "a line"),
        ("python3 -q -i", b"print('ha", b"41 + 1\r", "42"),
    ],
)
async def test_half_a_line_is_erased_when_its_person_goes_on(
    command: str, half: bytes, line: bytes, answer: str
) -> None:
    async with house() as ask:
        session = await start(ask.services, command)
        await reads(session)
        async with ask.watch(ANNA, session, typing=NAME) as watch:
            at = await half_a_line(watch, events_of(watch), half)
            if not half.startswith(PASTE_BEGIN):  # readline shows a paste when it is over
                await until(session, lambda: half.decode() in text_of(session))
            await watch.type(b"", Numbered(at, go_on=True))
            await watch.type(line, Numbered(at))
            await until(session, lambda: has_row(session, answer))
        assert half.removeprefix(PASTE_BEGIN).decode() not in text_of(session)


@pytest.mark.anyio
async def test_a_program_that_reads_keys_gets_none_that_erase() -> None:
    async with house() as ask:
        session = await start_python(ask.services, READER)
        await until(session, lambda: "ready" in text_of(session))
        async with ask.watch(ANNA, session, typing=NAME) as watch:
            at = await half_a_line(watch, events_of(watch), b"ha")
            await until(session, lambda: "<6861>" in text_of(session))
            await watch.type(b"", Numbered(at, go_on=True))
            await watch.type(b"x", Numbered(at))
            await until(session, lambda: has_row(session, "ready<6861><78>"))


@pytest.mark.anyio
async def test_nothing_is_erased_where_the_line_before_had_ended() -> None:
    async with house() as ask:
        session = await start(ask.services, "bash --norc")
        await reads(session)
        async with ask.watch(ANNA, session, typing=NAME) as watch:
            at = await half_a_line(watch, events_of(watch), b"echo one 'line'\r")
            await until(session, lambda: has_row(session, "one line"))
            await ask("send_input", session=session.identity.id, input="echo 'by")
            await until(session, lambda: "echo 'by" in text_of(session))
            await watch.type(b"", Numbered(at, go_on=True))
            await watch.type(b" two'\r", Numbered(at))
            await until(session, lambda: has_row(session, "by two"))
