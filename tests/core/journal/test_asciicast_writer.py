"""Recordings: golden text, and what a strict reader of the format makes of them."""

import json
import re
from typing import Any

import pytest

from nacre.core.journal.asciicast_writer import CastAbout, write_cast
from nacre.core.journal.records import (
    EXIT,
    INPUT,
    NOTICE,
    OUTPUT,
    RESIZE,
    START,
    Record,
    ending_payload,
    mark_payload,
    size_payload,
)
from nacre.core.journal.records import MARK as MARK_KIND
from nacre.core.journal.replay import Moment, Replay
from nacre.core.terminal.terminal import Terminal

from core.display.test_repaint import MORE
from core.journal.test_replay import T, Tape, checkpoint_of, seen_of
from vt_streams import STREAMS


def record(kind: int, after: float, payload: bytes = b"", generation: int = 1) -> Record:
    return Record(kind, T + after, generation, 0, payload)


BEGIN = record(START, 0, size_payload(8, 20))


def cast(*records: Record, **options: Any) -> list[str]:
    return list(write_cast(None, b"", [BEGIN, *records], **options))


def events(lines: list[str]) -> list[list[Any]]:
    return [json.loads(line) for line in lines[1:]]


# --- a strict reader -----------------------------------------------------------------------------


def check_format(lines: list[str]) -> None:
    """Hold a recording against the format's page, sentence by sentence."""
    for line in lines:
        assert line.endswith("\n")
        assert "\n" not in line[:-1]
        line.encode()
    check_header(json.loads(lines[0]))
    for line in lines[1:]:
        check_event(json.loads(line))


def check_header(header: dict[str, Any]) -> None:
    optional = {"timestamp", "idle_time_limit", "command", "title", "env", "tags"}
    assert header.keys() - optional == {"version", "term"}
    assert header["version"] == 3
    assert header["term"].keys() <= {"cols", "rows", "type", "version", "theme"}
    for side in ("cols", "rows"):
        assert type(header["term"][side]) is int
        assert 0 < header["term"][side] < 0x10000
    assert type(header["timestamp"]) is int
    for name in ("command", "title"):
        assert isinstance(header.get(name, ""), str)
    for name, value in header.get("env", {}).items():
        assert isinstance(name, str)
        assert isinstance(value, str)
    assert all(isinstance(tag, str) for tag in header.get("tags", []))


def check_event(event: list[Any]) -> None:
    interval, code, data = event
    assert type(interval) in (int, float)
    assert interval >= 0
    assert isinstance(data, str)
    match code:
        case "o" | "i":
            assert data
        case "r":
            assert re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", data)
        case "x":
            assert re.fullmatch(r"\d{1,3}", data)
        case _:
            assert code == "m"


def play(lines: list[str]) -> Terminal:
    """Return the screen that a player ends with."""
    check_format(lines)
    header = json.loads(lines[0])
    terminal = Terminal(header["term"]["rows"], header["term"]["cols"])
    for _interval, code, data in events(lines):
        if code == "o":
            terminal.feed(data.encode())
        elif code == "r":
            cols, _, rows = data.partition("x")
            terminal.resize(int(rows), int(cols))
    return terminal


# --- whole recordings ----------------------------------------------------------------------------


def test_a_session_is_recorded_as_it_happened() -> None:
    lines = cast(
        record(OUTPUT, 0.5, b"\x1b[32m$\x1b[m "),
        record(INPUT, 1.0, b"ls\r"),
        record(OUTPUT, 1.25, 'ls\r\nnaïve "漢"\r\n'.encode()),
        record(RESIZE, 3.25, size_payload(30, 90)),
        record(NOTICE, 4.25, b"[restarted]\r\n"),
        record(EXIT, 5.0, ending_payload(3, None)),
        about=CastAbout(command="sh", title="a \x1b title", env={"SHELL": "/bin/sh"}, tags=["ci"]),
    )
    assert "".join(lines) == (
        '{"version":3,"term":{"cols":20,"rows":8,"type":"xterm-256color"},"timestamp":1700000000,'
        '"command":"sh","title":"a \\u001b title","env":{"SHELL":"/bin/sh"},"tags":["ci"]}\n'
        '[0.5,"o","\\u001b[32m$\\u001b[m "]\n'
        '[0.75,"o","ls\\r\\nnaïve \\"漢\\"\\r\\n"]\n'
        '[2.0,"r","90x30"]\n'
        '[1.0,"o","[restarted]\\r\\n"]\n'
        '[0.75,"x","3"]\n'
    )
    check_format(lines)


def test_nothing_recorded_is_a_header_alone() -> None:
    assert [json.loads(line)["term"]["cols"] for line in write_cast(None, b"", [])] == [80]


@pytest.mark.parametrize("name", STREAMS)
def test_a_player_shows_what_the_session_showed(name: str) -> None:
    stream = STREAMS[name]
    records = [record(OUTPUT, at / 100, stream[at : at + 3]) for at in range(0, len(stream), 3)]
    terminal = Terminal(8, 20)
    terminal.feed(stream)
    assert play(cast(*records)).picture() == terminal.picture()


def test_a_character_split_over_records_is_whole() -> None:
    data = "é漢👩‍👩 end".encode()
    lines = cast(*(record(OUTPUT, at, data[at : at + 1]) for at in range(len(data))))
    assert "".join(text for _, _, text in events(lines)) == data.decode()
    assert events(lines)[0] == [1.0, "o", "é"]


def test_bytes_that_are_no_text_are_replaced_and_half_a_character_at_the_end_left_out() -> None:
    lines = cast(record(OUTPUT, 1, b"a\xffb"), record(OUTPUT, 2, "漢".encode()[:2]))
    assert events(lines) == [[1.0, "o", "a\ufffdb"]]


def test_rounding_never_adds_up() -> None:
    lines = cast(*(record(OUTPUT, n * 0.0104, b"x") for n in range(10_000)))
    intervals = [interval for interval, _, _ in events(lines)]
    assert sum(intervals) == pytest.approx(9_999 * 0.0104, abs=0.001)
    position = 0.0
    for n, interval in enumerate(intervals):
        position += interval
        assert abs(position - n * 0.0104) <= 0.00051


def test_a_clock_that_was_set_back_takes_no_time() -> None:
    lines = cast(*(record(OUTPUT, after, b"x") for after in (10, 5, 6)))
    assert [interval for interval, _, _ in events(lines)] == [10.0, 0.0, 1.0]


def test_idle_time_is_capped_between_what_is_shown() -> None:
    lines = cast(
        record(OUTPUT, 1, b"a"),
        record(INPUT, 50, b"x"),
        record(OUTPUT, 100, b"b"),
        record(OUTPUT, 100.5, b"c"),
        idle_cap=2.0,
    )
    assert [interval for interval, _, _ in events(lines)] == [1.0, 2.0, 0.5]


def test_input_is_in_it_only_if_asked_for() -> None:
    records = [record(INPUT, 1, "é".encode()[:1]), record(INPUT, 2, "é".encode()[1:] + b"\r")]
    assert events(cast(*records)) == []
    assert events(cast(*records, record(INPUT, 3), typed=True)) == [[2.0, "i", "é\r"]]


def mark(letter: str, after: float, value: str = "") -> Record:
    return record(MARK_KIND, after, mark_payload(letter, "t", value))


def test_commands_are_markers_with_their_exit_codes_if_asked_for() -> None:
    records = [
        *(
            mark("A", 1),
            mark("B", 1),
            mark("C", 2),
            record(OUTPUT, 3, b"x"),
            mark("D", 4, "7;/a;b"),
        ),
        *(mark("A", 5), mark("C", 6), mark("D", 7), mark("C", 8)),
    ]
    assert events(cast(*records)) == [[3.0, "o", "x"]]
    assert [e for e in events(cast(*records, markers=True)) if e[1] == "m"] == [
        [2.0, "m", "7"],
        [3.0, "m", ""],
        [2.0, "m", ""],
    ]
    check_format(cast(*records, markers=True))


@pytest.mark.parametrize(
    ("code", "name", "status"),
    [(0, None, "0"), (3, None, "3"), (None, "SIGKILL", "137"), (None, "TERM", "143")],
)
def test_an_exit_is_told_as_shells_tell_it(code: int, name: str, status: str) -> None:
    assert events(cast(record(EXIT, 1, ending_payload(code, name)))) == [[1.0, "x", status]]


def test_an_exit_that_nobody_saw_is_not_told() -> None:
    assert events(cast(record(EXIT, 1, ending_payload(None, None)))) == []


def test_an_exit_is_the_last_event_though_output_follows() -> None:
    lines = cast(record(EXIT, 1, ending_payload(0, None)), record(OUTPUT, 2, b"late"))
    assert events(lines) == [[2.0, "o", "late"], [0.0, "x", "0"]]


def test_a_restart_clears_the_screen_and_its_exit_is_not_the_end() -> None:
    lines = cast(
        record(OUTPUT, 1, b"\x1b[31m\x1b[?1049hold\x1b]0;unfinished"),
        record(EXIT, 2, ending_payload(1, None)),
        record(START, 3, size_payload(5, 30)),
        record(OUTPUT, 4, b"new"),
    )
    assert [code for _, code, _ in events(lines)] == ["o", "r", "o", "o"]
    terminal = play(lines)
    assert (terminal.rows, terminal.cols, terminal.alternate) == (5, 30, False)
    assert terminal.plain_lines() == ["new", "", "", "", ""]
    assert terminal.styled_lines()[0][0].fg is None


# --- spans ---------------------------------------------------------------------------------------


def halves(stream: bytes) -> list[Record]:
    tape = Tape()
    tape.add(OUTPUT, stream[: len(stream) // 2])
    tape.add(OUTPUT, stream[len(stream) // 2 :])
    return tape.records


SPOKEN = {**STREAMS, **MORE}
# A repaint carries no saved cursor, and not the screen behind the alternate one.
NOT_CARRIED = {"alternate screen and back", "cursor"}


@pytest.mark.parametrize("name", sorted(SPOKEN.keys() - NOT_CARRIED))
def test_a_span_begins_with_the_exact_screen_and_goes_on_the_same(name: str) -> None:
    records = halves(SPOKEN[name])
    for after, until in ((1, 2), (2, 2), (2, 3), (3, 3)):
        lines = list(write_cast(None, b"", records, after=Moment(after), until=Moment(until)))
        shown = Replay().run(records, Moment(until)).terminal
        assert seen_of(play(lines)) == seen_of(shown), (after, until)


@pytest.mark.parametrize("name", sorted(SPOKEN.keys() - NOT_CARRIED))
def test_a_recording_from_a_checkpoint_begins_with_its_screen(name: str) -> None:
    records = halves(SPOKEN[name])
    checkpoint, engine = checkpoint_of(Replay().run(records[:2]))
    lines = list(write_cast(checkpoint, engine, records[2:]))
    assert json.loads(lines[0])["timestamp"] == int(checkpoint.time)
    assert seen_of(play(lines)) == seen_of(Replay().run(records).terminal)


def test_a_span_of_time_begins_and_ends_at_its_times() -> None:
    records = [record(OUTPUT, n, b"%d" % n, n) for n in range(1, 6)]
    lines = cast(*records, after=Moment(time=T + 2.5), until=Moment(time=T + 4))
    assert json.loads(lines[0])["timestamp"] == T + 2
    (first, *rest) = events(lines)
    assert first[:2] == [0.0, "o"]
    assert rest == [[0.5, "o", "3"], [1.0, "o", "4"]]
    assert play(lines).plain_lines()[0] == "1234"


def test_a_span_of_generations_begins_after_the_one_and_ends_with_the_other() -> None:
    records = [record(OUTPUT, n, b"%d" % n, n) for n in range(1, 6)]
    lines = cast(*records, after=Moment(2), until=Moment(4))
    assert events(lines)[1:] == [[1.0, "o", "3"], [1.0, "o", "4"]]


def test_a_span_that_begins_in_the_alternate_screen_shows_it() -> None:
    records = [record(OUTPUT, 1, b"one\x1b[?1049htwo", 2), record(OUTPUT, 2, b"\x1b[?1049l", 3)]
    assert play(cast(*records, after=Moment(2), until=Moment(2))).alternate
    assert not play(cast(*records, after=Moment(2))).alternate


def test_a_resize_to_the_same_size_is_no_event() -> None:
    assert events(cast(record(RESIZE, 1, size_payload(8, 20)))) == []
