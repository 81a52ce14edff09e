import gc
import weakref
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.keys.names import KeyPress
from nacre.core.screen.screen import Cursor, Modes
from nacre.core.terminal.terminal import MIN_ROWS, Terminal, TerminalClosed

from vt_streams import STREAMS, snapshot, styled_text


def fed(data: bytes | str, rows: int = 8, cols: int = 20) -> Terminal:
    terminal = Terminal(rows, cols)
    terminal.feed(data.encode() if isinstance(data, str) else data)
    return terminal


def whole(stream: bytes) -> dict[str, object]:
    return snapshot(fed(stream))


# Splitting


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_split_anywhere_shows_the_same(name: str) -> None:
    stream = STREAMS[name]
    expected = whole(stream)
    for at in range(1, len(stream)):
        terminal = fed(stream[:at])
        terminal.feed(stream[at:])
        assert snapshot(terminal) == expected, at


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_byte_by_byte_shows_and_answers_the_same(name: str) -> None:
    stream = STREAMS[name]
    terminal = Terminal(8, 20)
    for at in range(len(stream)):
        terminal.feed(stream[at : at + 1])
    assert snapshot(terminal) == whole(stream)
    assert terminal.take_replies() == fed(stream).take_replies()


@steady
@given(
    st.lists(st.sampled_from(sorted(STREAMS.values())), min_size=1, max_size=6).map(b"".join),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_streams_in_a_row_split_at_random_show_the_same(stream: bytes, cuts: list[int]) -> None:
    terminal = Terminal(8, 20)
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    for start, end in pairwise(edges):
        terminal.feed(stream[start:end])
    assert snapshot(terminal) == whole(stream)


@steady
@given(st.binary(max_size=300), st.integers(0, 300))
def test_noise_split_at_random_shows_the_same(noise: bytes, cut: int) -> None:
    terminal = fed(noise[:cut])
    terminal.feed(noise[cut:])
    assert snapshot(terminal) == whole(noise)


# Plain and styled text


@pytest.mark.parametrize("name", STREAMS)
def test_plain_and_styled_text_agree(name: str) -> None:
    terminal = fed(STREAMS[name])
    total = terminal.scrollback_total
    assert styled_text(terminal.styled_lines()) == terminal.plain_lines()
    assert styled_text(terminal.scrollback_styled(0, total)) == terminal.scrollback_plain(0, total)


@steady
@given(st.lists(st.sampled_from(sorted(STREAMS.values())), max_size=6).map(b"".join), st.text())
def test_plain_and_styled_text_agree_after_any_streams(stream: bytes, text: str) -> None:
    terminal = fed(stream + text.encode(errors="replace"))
    assert styled_text(terminal.styled_lines()) == terminal.plain_lines()


def test_there_are_as_many_lines_as_rows() -> None:
    terminal = Terminal(5, 10)
    assert terminal.plain_lines() == [""] * 5
    assert terminal.styled_lines() == [()] * 5


def test_a_wide_character_appears_once() -> None:
    assert fed("a漢b").plain_lines()[0] == "a漢b"
    assert fed("a漢b").cursor().col == 4


def test_a_wide_character_that_does_not_fit_goes_to_the_next_row() -> None:
    assert fed("x" * 19 + "漢").plain_lines()[:2] == ["x" * 19, "漢"]


def test_combining_marks_stay_with_their_character() -> None:
    assert fed("e\u0301a\u0308\u0304").plain_lines()[0] == "e\u0301a\u0308\u0304"


# Size


def test_one_row_is_raised_to_two() -> None:
    assert Terminal(1, 10).rows == MIN_ROWS == 2
    terminal = Terminal(10, 10)
    terminal.resize(1, 10)
    terminal.feed(b"a\r\nb\r\nc\r\n" * 50)
    assert (terminal.rows, terminal.cols) == (2, 10)


def test_a_resize_reflows_and_keeps_the_text() -> None:
    terminal = fed("the quick brown fox jumps\r\nover the lazy dog")
    terminal.resize(8, 10)
    assert terminal.plain_lines()[:5] == [
        "the quick",
        "brown fox",
        "jumps",
        "over the l",
        "azy dog",
    ]
    terminal.resize(8, 40)
    assert terminal.plain_lines()[:2] == ["the quick brown fox jumps", "over the lazy dog"]
    assert styled_text(terminal.styled_lines()) == terminal.plain_lines()


def test_output_can_change_the_width() -> None:
    terminal = Terminal(24, 80)
    terminal.feed(b"\x1b[?40h\x1b[?3h")  # allow DECCOLM, then 132 columns
    assert terminal.cols == 132
    assert terminal.evicted == 0
    terminal.feed(b"x" * 132 + b"y")
    assert terminal.plain_lines()[:2] == ["x" * 132, "y"]
    assert styled_text(terminal.styled_lines()) == terminal.plain_lines()


@pytest.mark.parametrize("cols", [0, -1, 70_000])
def test_an_impossible_width_is_refused_and_changes_nothing(cols: int) -> None:
    terminal = fed("kept")
    with pytest.raises(ValueError, match="columns"):
        terminal.resize(8, cols)
    assert terminal.plain_lines()[0] == "kept"
    with pytest.raises(ValueError, match="columns"):
        Terminal(8, cols)


# Cursor, modes, title


def test_the_cursor_says_where_it_is_and_how_it_looks() -> None:
    assert Terminal().cursor() == Cursor(0, 0)
    assert fed("\x1b[3;5H").cursor() == Cursor(2, 4)
    assert fed("\x1b[?25l").cursor() == Cursor(0, 0, visible=False)
    assert fed("\x1b[5 q").cursor() == Cursor(0, 0, shape="bar", blinking=True)
    assert fed("\x1b[4 q").cursor() == Cursor(0, 0, shape="underline", blinking=False)
    assert fed("\x1b[1 q").cursor() == Cursor(0, 0, shape="block", blinking=True)


def test_asking_for_the_cursor_loses_no_changed_row() -> None:
    terminal = fed("one")
    assert terminal.styled_lines()[0][0].text == "one"
    terminal.feed(b"\r\ntwo")
    terminal.cursor()
    terminal.feed(b"\r\nthree")
    terminal.cursor()
    assert styled_text(terminal.styled_lines())[:3] == ["one", "two", "three"]


def test_modes_are_those_the_program_set() -> None:
    assert Terminal().modes() == Modes()
    assert fed("\x1b[?1;66;1000;1004;2004h\x1b[>5u\x1b[?1049h\x1b[>3u").modes() == Modes(
        alternate_screen=True,
        application_cursor_keys=True,
        application_keypad=True,
        bracketed_paste=True,
        mouse_tracking=True,
        focus_events=True,
        kitty_keyboard=3,
    )


def test_the_alternate_screen_is_left_as_it_was_entered() -> None:
    terminal = fed("one\r\n\x1b[31mtwo")
    before = snapshot(terminal)
    terminal.feed(b"\x1b[?1049h\x1b[2J\x1b[Hvim\r\n" + b"~\r\n" * 50)
    assert (terminal.alternate, terminal.scrollback_total) == (True, 0)
    assert terminal.scrollback_styled(0, 10) == []
    terminal.feed(b"\x1b[?1049l")
    assert (terminal.alternate, terminal.scrollback_total) == (False, 0)
    assert snapshot(terminal) == before


def test_title_and_directory_are_what_was_reported() -> None:
    terminal = Terminal()
    assert (terminal.title, terminal.cwd) == ("", None)
    terminal.feed("\x1b]2;naïve\x07".encode())
    assert terminal.title == "naïve"


@pytest.mark.parametrize(
    ("reported", "path"),
    [
        (b"file:///tmp/a%20b", "/tmp/a b"),
        (b"file://elsewhere/home/me", "/home/me"),
        (b"file://h/caf%C3%A9%3F", "/café?"),
        (b"kitty-shell-cwd://h/tmp/100%25", "/tmp/100%25"),
        (b"/plain/path", "/plain/path"),
        (b"", None),
        (b"nonsense", None),
        (b"file://[bad", None),
    ],
)
def test_a_reported_directory_is_decoded(reported: bytes, path: str | None) -> None:
    assert fed(b"\x1b]7;" + reported + b"\x07").cwd == path


# Replies


@pytest.mark.parametrize(
    ("query", "reply"),
    [
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[3;4H\x1b[6n", b"\x1b[3;4R"),
        (b"\x1b[?2004$p", b"\x1b[?2004;2$y"),
        (b"\x1b[?2004h\x1b[?2004$p", b"\x1b[?2004;1$y"),
        (b"\x1b[4$p", b"\x1b[4;2$y"),
        (b"\x1b[18t", b"\x1b[8;8;20t"),
        (b"\x1b]11;?\x07", b"\x1b]11;rgb:0000/0000/0000\x07"),
        (b"\x1b[?u", b"\x1b[?0u"),
    ],
)
def test_a_query_is_answered_once(query: bytes, reply: bytes) -> None:
    terminal = fed(query)
    assert terminal.take_replies() == reply
    assert terminal.take_replies() == b""


@pytest.mark.parametrize(
    "query",
    [
        b"\x1b]52;c;?\x07",
        b"\x1b]52;p;?\x1b\\",
        b"\x1b]52;c;c2VjcmV0\x07\x1b]52;c;?\x07",
        b"\x1b]2;rm -rf /\x07\x1b[21t",
        b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
        b"\x05",
    ],
)
def test_what_could_leak_or_inject_is_not_answered(query: bytes) -> None:
    assert fed(query).take_replies() == b""


def test_a_read_of_kittys_clipboard_is_denied() -> None:
    replies = fed(b"\x1b]5522;type=read\x1b\\").take_replies()
    assert replies == b"\x1b]5522;type=read:status=EPERM\x1b\\"


# Closing


def test_a_closed_terminal_says_so() -> None:
    terminal = fed("x")
    terminal.close()
    terminal.close()
    calls: list[Callable[[], object]] = [
        lambda: terminal.feed(b"x"),
        terminal.take_replies,
        lambda: terminal.resize(5, 5),
        terminal.plain_lines,
        terminal.styled_lines,
        terminal.cursor,
        terminal.modes,
        lambda: terminal.rows,
        lambda: terminal.cols,
        lambda: terminal.alternate,
        lambda: terminal.title,
        lambda: terminal.cwd,
        lambda: terminal.scrollback_total,
        lambda: terminal.evicted,
        lambda: terminal.scrollback_plain(0, 1),
        lambda: terminal.scrollback_styled(0, 1),
        lambda: terminal.encode_key(KeyPress("a")),
        lambda: terminal.encode_paste("a"),
        terminal.compress_some,
    ]
    for call in calls:
        with pytest.raises(TerminalClosed):
            call()


def test_a_forgotten_terminal_is_freed_at_once() -> None:
    gc.disable()  # no cycle may need the collector
    try:
        terminal = fed("x")
        gone = weakref.ref(terminal)
        del terminal
        assert gone() is None
    finally:
        gc.enable()


def test_terminals_do_not_share_anything() -> None:
    one, two = fed("\x1b[31mone"), fed("two\x1b[c")
    assert one.plain_lines()[0] == "one"
    assert one.take_replies() == b""
    assert two.styled_lines()[0][0].fg is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\r\ntwo", ["\n"]),
        ("abcdefghijklm", [""]),
        ("abcdef" + " " * 6 + "x", ["    "]),
        ("abcdefghij\r\nabcdefghij", ["\n"]),
        ("漢字漢字a漢字", [""]),
        ("abc\r\n\r\nabcdefghijklm\r\n", ["\n", "\n", "", "\n"]),
    ],
    ids=["lines", "one line", "blanks at the edge", "full rows", "wide", "blank rows"],
)
def test_what_stands_between_rows(text: str, found: list[str]) -> None:
    terminal = Terminal(8, 10)
    terminal.feed(text.encode())
    lines = terminal.plain_lines()[: len(found) + 1]
    assert terminal.separators(0, lines) == found
