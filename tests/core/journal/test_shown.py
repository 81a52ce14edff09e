"""What a session showed, and what is found in it."""

import pytest

from nacre.core.journal.records import OUTPUT, RESIZE, START, Record, size_payload
from nacre.core.journal.replay import Replay
from nacre.core.journal.shown import ShownReader, ShownText
from nacre.core.journal.shown_search import ShownHit, find_shown, text_finder
from nacre.core.text.redaction import Redaction, SecretValues, redacting

from core.journal.test_replay import Tape, checkpoint_of

T = 1_700_000_000.0


def records(*outputs: bytes, rows: int = 6, cols: int = 20, apart: float = 1.0) -> list[Record]:
    made = [Record(START, T, 1, 0, size_payload(rows, cols))]
    for number, data in enumerate(outputs, start=1):
        made.append(Record(OUTPUT, T + number * apart, number + 1, number, data))
    return made


def read(tape: list[Record]) -> ShownText:
    reader = ShownReader(None, b"", oldest=True, scrollback=100)
    for record in tape:
        reader.take(record)
    return reader.end()


def lines(shown: ShownText) -> list[str]:
    return bytes(shown.text).decode().splitlines()


def found(shown: ShownText, text: str, **how: bool) -> list[ShownHit]:
    finder = text_finder(text, regex=how.get("regex", False), exact=how.get("exact", False))
    return find_shown(shown, finder, 100).newest


def test_line_that_was_drawn_over_is_found_at_its_moment() -> None:
    shown = read(records(b"10 %", b"\r20 %", b"\rdone\r\n"))
    (hit,) = found(shown, "20 %")
    assert (hit.at.generation, hit.number, hit.text) == (3, 0, "20 %")
    (hit,) = found(shown, "%")
    assert (hit.text, hit.versions) == ("20 %", 2)


def test_full_screen_program_is_found_after_it_has_ended() -> None:
    outputs = (b"\x1b[?1049h\x1b[2J\x1b[3;4Hquarterly\x1b[4;4Hreport", b"\x1b[?1049lback\r\n")
    (hit,) = found(read(records(b"before\r\n", *outputs)), "report")
    assert (hit.at.alternate, hit.number, hit.at.generation) == (True, 3, 3)


def test_text_that_a_program_draws_piece_by_piece_is_found() -> None:
    shown = read(records(b"\x1b[?1049h\x1b[2;1Hwor\x1b[5;1Hx\x1b[2;4Hld"))
    assert [hit.text for hit in found(shown, "world")] == ["world"]


def test_line_that_scrolls_within_a_full_screen_program_is_one_hit() -> None:
    scrolled = [b"\x1b[6;1H\n" for _ in range(3)]
    shown = read(records(b"\x1b[?1049h\x1b[5;1Hmoving line", *scrolled))
    assert [hit.number for hit in found(shown, "moving")] == [4]


def test_line_being_typed_in_an_editor_is_one_hit() -> None:
    shown = read(records(b"\x1b[?1049h\x1b[1;1Hdef f", b"o", b"o():"))
    assert [(hit.text, hit.versions) for hit in found(shown, "def")] == [("def foo():", 3)]


def test_more_lines_than_the_scrollback_keeps_are_all_found() -> None:
    many = b"".join(b"line %d\r\n" % number for number in range(30_000))
    shown = read(records(many))
    assert lines(shown) == [f"line {number}" for number in range(30_000)]
    (hit,) = found(shown, "line 17")[:1]
    assert found(shown, "^line 777$", regex=True)[0].number == 777
    assert hit.text.startswith("line 17")


def test_line_that_the_width_breaks_is_one_line() -> None:
    shown = read(records(b"x" * 18 + b"needle" + b"\r\nnext\r\n" + b"z\r\n" * 20))
    (hit,) = found(shown, "needle")
    assert (hit.number, hit.start) == (0, 18)
    assert found(shown, "next")[0].number == 2


def test_screen_is_read_before_it_is_cleared() -> None:
    shown = read(records(b"gone soon\r\n\x1b[H\x1b[2Jafter\r\n"))
    assert lines(shown) == ["gone soon", "after"]


def test_same_line_after_a_clear_is_another_hit() -> None:
    shown = read(records(b"error: a\r\n", b"\x1b[H\x1b[2Jerror: b\r\n"))
    assert [hit.text for hit in found(shown, "error")] == ["error: a", "error: b"]


def test_what_nobody_could_see_costs_no_reading() -> None:
    shown = read(records(*(b"\r%d%%" % number for number in range(100)), apart=0.0001))
    assert lines(shown) == ["99%"]


def test_resize_shows_nothing_new() -> None:
    tape = records(b"one two three four five\r\n")
    tape.append(Record(RESIZE, T + 5, 9, 9, size_payload(6, 10)))
    assert lines(read(tape)) == ["one two three four five"]


@pytest.mark.parametrize("begin", range(2, 12))
def test_part_shows_only_what_came_after_its_checkpoint(begin: int) -> None:
    tape = Tape(rows=4, cols=20)
    outputs = [
        *(b"line %d\r\n" % number for number in range(6)),
        b"\x1b[?1049hfull screen",
        b"\x1b[2;1Hsecond",
        b"\x1b[?1049l",
        b"later\r\n",
        b"last\r\n",
    ]
    for data in outputs:
        tape.add(OUTPUT, data)
    whole = read(tape.records)
    replay = Replay(scrollback=100).run(tape.records[:begin])
    checkpoint, engine = checkpoint_of(replay)
    rest = ShownReader(checkpoint, engine, oldest=False, scrollback=100)
    for record in tape.records[begin:]:
        rest.take(record)
    first = read(tape.records[:begin])
    shown = rest.end()
    later = bytes(shown.text)[shown.known :].decode().splitlines()
    assert lines(first) + later == lines(whole)
    # And the numbers go on.
    everything = [(hit.number, hit.text) for hit in found(whole, "l")]
    parts = [(hit.number, hit.text) for part in (first, shown) for hit in found(part, "l")]
    assert parts == everything


def test_lines_around_a_hit_are_those_with_the_numbers_around_it() -> None:
    shown = read(records(b"a\r\nb\r\n", b"needle\r\n", b"c\r\nd\r\n"))
    (hit,) = found(shown, "needle")
    assert shown.around(hit.line, hit.begin, 2) == (["a", "b"], ["c", "d"])


def test_case_matters_only_with_a_capital() -> None:
    shown = read(records(b"Error here\r\n"))
    assert len(found(shown, "error")) == 1
    assert len(found(shown, "ERROR")) == 0
    assert len(found(shown, "error", exact=True)) == 0


def test_nothing_is_found_within_a_secret() -> None:
    key = (
        "-----BEGIN PRIVATE KEY-----\r\n"
        + "MIIEvQIBADANBgkqhkiG9w0B\r\n" * 3
        + "QABabcdefghijkl\r\n"
    )
    shown = read(records(b"token hunter2hunter2 ok\r\n", key.encode(), cols=60))
    assert len(found(shown, "hunter2")) == 1
    with redacting(Redaction(SecretValues({"hunter2hunter2": "[redacted]"}))):
        assert found(shown, "hunter2") == []
        (hit,) = found(shown, "token")
        assert "hunter2" not in hit.text
        assert hit.text.endswith(" ok")
        assert found(shown, "QABabc") == []


def test_only_the_newest_are_kept_and_all_are_counted() -> None:
    shown = read(records(*(b"hit %d\r\n" % number for number in range(10))))
    hits = find_shown(shown, text_finder("hit", regex=False, exact=False), 3)
    assert ([hit.text for hit in hits.newest], hits.total) == (["hit 7", "hit 8", "hit 9"], 10)
    hits = find_shown(shown, text_finder("hit", regex=False, exact=False), 3, T + 2, T + 3)
    assert [hit.text for hit in hits.newest] == ["hit 1", "hit 2"]


def test_screen_that_goes_within_a_frame_is_found_at_its_own_moment() -> None:
    tape = records(b"\x1b[?1049h\x1b[2;1Hshort", b"\x1b[?1049l", apart=0.001)
    (hit,) = found(read(tape), "short")
    assert (hit.at.alternate, hit.at.generation) == (True, 2)


def test_what_is_cleared_at_once_is_found_at_the_moment_that_shows_it() -> None:
    shown = read(records(b"a word", b"\x1b[H\x1b[2J\x1b[3Jnew", apart=0.005))
    (hit,) = found(shown, "word")
    assert (hit.at.time, hit.at.generation) == (T + 0.005, 2)
