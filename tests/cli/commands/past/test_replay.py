"""`nacre replay`: with a clock handed in, and as a process on a real terminal."""

import json
import os
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.cli.commands.past.replay import Interrupted, Player
from nacre.cli.parser import run
from nacre.core.journal.asciicast_reader import CastEvent
from nacre.core.terminal.terminal import Terminal

from cli.conftest import Nacre, make_nacre

PATIENCE = 60.0  # seconds


class Room:
    """A terminal and a clock: a wait takes as long as it says, unless a key comes before."""

    def __init__(self, *keys: tuple[float, bytes]) -> None:
        self.now = 100.0
        self.keys = [(100.0 + at, typed) for at, typed in keys]
        self.shown: list[tuple[float, bytes]] = []
        self.screen = Terminal(8, 20)

    def write(self, data: bytes) -> None:
        self.shown.append((round(self.now - 100, 6), data))
        self.screen.feed(data)

    def wait(self, seconds: float | None) -> bytes:
        if self.keys and (seconds is None or self.keys[0][0] <= self.now + seconds):
            at, typed = self.keys.pop(0)
            self.now = max(self.now, at)
            return typed
        assert seconds is not None, "it waits for ever"
        self.now += seconds
        return b""

    def play(
        self, *events: CastEvent, speed: float = 1.0, idle_cap: float | None = None
    ) -> list[tuple[float, bytes]]:
        """Return what was shown and when, without what comes before and after it."""
        Player(self.write, self.wait, lambda: self.now).play(events, speed=speed, idle_cap=idle_cap)
        return self.shown[1:-1]


def out(delay: float, text: str) -> CastEvent:
    return CastEvent(delay, "o", text)


# Time


def test_output_comes_when_it_came() -> None:
    assert Room().play(out(1, "a"), out(0.5, "b")) == [(1.0, b"a"), (1.5, b"b")]


def test_speed_divides_the_time() -> None:
    assert Room().play(out(1, "a"), out(0.5, "b"), speed=2) == [(0.5, b"a"), (0.75, b"b")]


def test_long_pauses_are_capped_whatever_events_are_in_them() -> None:
    events = (
        out(1, "a"),
        CastEvent(30, "i", "x"),
        CastEvent(30, "m", ""),
        out(30, "b"),
        out(0.5, "c"),
    )
    assert Room().play(*events, idle_cap=2) == [(1.0, b"a"), (3.0, b"b"), (3.5, b"c")]


def test_a_slow_terminal_catches_up() -> None:
    room = Room()
    slow = room.write

    def write(data: bytes) -> None:
        slow(data)
        room.now += 5 * (data == b"a")

    Player(write, room.wait, lambda: room.now).play([out(1, "a"), out(1, "b"), out(5, "c")])
    assert room.shown[1:-1] == [(1.0, b"a"), (6.0, b"b"), (7.0, b"c")]


# Keys


def test_a_space_pauses_and_another_goes_on() -> None:
    room = Room((0.5, b" "), (10.5, b"x"), (20.5, b" "))
    assert room.play(out(1, "a"), out(1, "b")) == [(21.0, b"a"), (22.0, b"b")]


def test_q_ends_it_also_in_a_pause_and_in_a_flood() -> None:
    assert Room((0.5, b"q")).play(out(1, "a")) == []
    assert Room((0.5, b" "), (9, b"q")).play(out(1, "a")) == []
    assert Room((0, b"q")).play(*(out(0, "a") for _ in range(3))) == []


def test_ctrl_c_interrupts_and_gives_the_terminal_back() -> None:
    room = Room((1.5, b"\x03"))
    with pytest.raises(Interrupted) as raised:
        room.play(out(1, "\x1b[?1049hvim"), out(1, "b"))
    assert raised.value.code == 130
    assert not room.screen.alternate


def test_arrows_and_answers_are_no_keys() -> None:
    room = Room((0.2, b"\x1b[C"), (0.4, b"\x1bP1$r2 q\x1b\\"))
    assert room.play(out(1, "a")) == [(1.0, b"a")]


# The terminal


def test_the_terminal_is_given_back_and_the_output_stays() -> None:
    room = Room()
    text = "one\r\n\x1b[31;1m\x1b[?25l\x1b[2;5r\x1b(0\x1b[?7l\x1b[4;3Hred\x1b[5 q"
    room.play(out(0, text))
    room.screen.feed(b"$ lqk")
    assert room.screen.plain_lines()[4] == "$ lqk"
    assert room.screen.styled_lines()[4][0].fg is None
    assert room.screen.cursor().visible
    assert room.screen.cursor().shape == "block"


def test_the_alternate_screen_is_left_only_if_it_is_shown() -> None:
    assert b"\x1b[?1049l" not in b"".join(data for _, data in _all(out(0, "a")))
    assert _all(out(0, "\x1b[?1049ha"))[-1][1].startswith(b"\x1b[?1049l")
    assert not _all(out(0, "\x1b[?1049ha\x1b[?1049l"))[-1][1].startswith(b"\x1b[?1049l")


def _all(*events: CastEvent) -> list[tuple[float, bytes]]:
    room = Room()
    room.play(*events)
    return room.shown


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[c\x1b[6n\x1b[?1$p\x1bP$qm\x1b\\",  # questions
        "\x1b]52;c;aGk=\x07\x1b]4;1;red\x07\x1b[3J",  # clipboard, palette, scrollback
        "\x1b[?1002;1006h\x1b[?1004h\x1b[?2004h\x1b[?1h\x1b=",  # mouse, focus, paste, keys
        "\x1b[>1u\x1b[>4;2m",  # other keyboards
        "\x1b[?40h\x1b[?3h",  # 132 columns
    ],
)
def test_nothing_but_the_screen_is_driven(text: str) -> None:
    assert Room().play(*(out(0, char) for char in text), out(0, "x")) == [(0.0, b"x")]
    assert Room().play(out(0, text + "x")) == [(0.0, b"x")]


def test_a_mode_beside_one_that_is_left_out_is_set() -> None:
    assert Room().play(out(0, "\x1b[?1049;1002h")) == [(0.0, b"\x1b[?1049h")]


def test_a_reset_leaves_the_scrollback() -> None:
    [(_, shown)] = Room().play(out(0, "\x1bcnew"))
    assert b"\x1bc" not in shown
    assert shown.endswith(b"\x1b[H\x1b[2Jnew")


# The command


def write_cast(path: Path, *events: tuple[float, str, str]) -> str:
    lines = [{"version": 3, "term": {"cols": 80, "rows": 24}}, *events]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.fixture
def alone(tmp_path: Path) -> Nacre:
    """The command in a home where no daemon runs, nor is needed."""
    return make_nacre(tmp_path)


def test_without_a_terminal_the_output_is_written_at_once(alone: Nacre, tmp_path: Path) -> None:
    cast = write_cast(tmp_path / "a.cast", (99, "o", "\x1b[31mré"), (99, "i", "x"), (99, "o", "d"))
    assert alone.ok("replay", cast) == "\x1b[31mréd"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["broken.cast"], 2, "line 2 is no event"),
        (["bytes.cast"], 2, "cannot be played"),
        (["none.cast"], 2, "there is no file 'none.cast'"),
        (["broken.cast", "--speed", "0"], 2, "'0' is not a number above 0"),
        (["broken.cast", "--idle-cap", "nan"], 2, "'nan' is not a number above 0"),
        (["dev"], 7, "no daemon"),
    ],
)
def test_what_cannot_be_played_is_said(
    arguments: list[str], code: int, said: str, alone: Nacre, tmp_path: Path
) -> None:
    (tmp_path / "broken.cast").write_text('{"version": 3}\n[1]\n')
    (tmp_path / "bytes.cast").write_bytes(b"\xff\xfe")
    done = alone("replay", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_session_is_played_from_what_the_daemon_exports(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    class Daemon:
        def __enter__(self) -> "Daemon":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def call(self, operation: str, **params: object) -> dict[str, str]:
            asked.append((operation, params))
            return {"recording": '{"version": 3}\n[1, "o", "hi"]\n'}

    monkeypatch.setattr("nacre.cli.commands.past.replay.Client.open", lambda **_: Daemon())
    assert run(["replay", "dev"]) == 0
    assert asked == [("export_recording", {"session": "dev"})]
    assert capfdbinary.readouterr().out == b"hi"


class Seat:
    """Somebody at a terminal in which `nacre replay` runs."""

    def __init__(self, nacre: Nacre, *arguments: str) -> None:
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (24, 80))
        self.before = termios.tcgetattr(self.slave)
        self.screen = Terminal(24, 80)
        self.screen.feed(b"before\r\n")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nacre", "replay", *arguments],
            env=nacre.env,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
        )

    def sees(self, text: str) -> None:
        while text not in "\n".join(self.screen.plain_lines()):
            ready, _, _ = select.select([self.master], [], [], PATIENCE)
            assert ready, self.screen.plain_lines()
            self.screen.feed(os.read(self.master, 65536))

    def leaves(self) -> int:
        code = self.process.wait(PATIENCE)
        while select.select([self.master], [], [], 0)[0]:
            self.screen.feed(os.read(self.master, 65536))
        assert termios.tcgetattr(self.slave) == self.before
        return code


@pytest.fixture
def seats(alone: Nacre) -> Iterator[list[Seat]]:
    taken: list[Seat] = []
    yield taken
    for seat in taken:
        if seat.process.poll() is None:
            seat.process.kill()
            seat.process.wait()
        os.close(seat.master)
        os.close(seat.slave)


def test_a_recording_is_played_on_an_empty_screen(
    alone: Nacre, tmp_path: Path, seats: list[Seat]
) -> None:
    cast = write_cast(tmp_path / "a.cast", (5, "o", "one\r\n"), (500, "o", "\x1b[2;1Htwo"))
    seat = Seat(alone, cast, "--speed", "10000", "--idle-cap", "60")
    seats.append(seat)
    assert seat.leaves() == 0
    assert seat.screen.plain_lines()[:3] == ["one", "two", ""]
    assert "before" in seat.screen.scrollback_plain(0, 99)


@pytest.mark.parametrize(("key", "code"), [(b"q", 0), (b"\x03", 130)])
def test_a_key_ends_it_and_the_terminal_is_as_before(
    key: bytes, code: int, alone: Nacre, tmp_path: Path, seats: list[Seat]
) -> None:
    cast = write_cast(tmp_path / "a.cast", (0, "o", "\x1b[?1049hhello"), (9999, "o", "never"))
    seat = Seat(alone, cast)
    seats.append(seat)
    seat.sees("hello")
    os.write(seat.master, key)
    assert seat.leaves() == code
    assert not seat.screen.alternate


def test_a_signal_ends_it_and_the_terminal_is_as_before(
    alone: Nacre, tmp_path: Path, seats: list[Seat]
) -> None:
    cast = write_cast(tmp_path / "a.cast", (0, "o", "hello"), (9999, "o", "never"))
    seat = Seat(alone, cast)
    seats.append(seat)
    seat.sees("hello")
    seat.process.send_signal(signal.SIGTERM)
    assert seat.leaves() == 143
