from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.screen.screen import COLOR_NAMES, Rgb, Span
from nacre.core.terminal.terminal import Terminal

from vt_streams import STREAMS, snapshot, styled_text


def first_line(data: str, cols: int = 20) -> tuple[Span, ...]:
    terminal = Terminal(4, cols)
    terminal.feed(data.encode())
    return terminal.styled_lines()[0]


@pytest.mark.parametrize(
    ("sgr", "style"),
    [
        ("1", {"bold": True}),
        ("2", {"faint": True}),
        ("3", {"italic": True}),
        ("4", {"underline": True}),
        ("5", {"blink": True}),
        ("7", {"inverse": True}),
        ("8", {"invisible": True}),
        ("9", {"strikethrough": True}),
        ("53", {"overline": True}),
        ("21", {"underline": True, "underline_style": "double"}),
        ("4:3", {"underline": True, "underline_style": "curly"}),
        ("4:4", {"underline": True, "underline_style": "dotted"}),
        ("4:5", {"underline": True, "underline_style": "dashed"}),
        ("4;58;5;99", {"underline": True, "underline_color": "color99"}),
        ("4;58;2;1;2;3", {"underline": True, "underline_color": Rgb(1, 2, 3)}),
        ("31", {"fg": "red"}),
        ("97", {"fg": "bright_white"}),
        ("44", {"bg": "blue"}),
        ("38;5;7", {"fg": "white"}),
        ("38;5;16", {"fg": "color16"}),
        ("48;5;255", {"bg": "color255"}),
        ("38;2;1;2;3", {"fg": Rgb(1, 2, 3)}),
        ("48;2;0;0;0", {"bg": Rgb(0, 0, 0)}),
        ("1;3;31;44", {"bold": True, "italic": True, "fg": "red", "bg": "blue"}),
    ],
)
def test_an_attribute_becomes_a_field_of_the_span(sgr: str, style: dict[str, Any]) -> None:
    assert first_line(f"\x1b[{sgr}mx\x1b[my") == (Span("x", **style), Span("y"))


@pytest.mark.parametrize("index", range(16))
def test_the_sixteen_colours_have_names(index: int) -> None:
    assert first_line(f"\x1b[38;5;{index}mx") == (Span("x", fg=COLOR_NAMES[index]),)


def test_trailing_blanks_of_the_default_style_are_left_out() -> None:
    assert first_line("a  \x1b[31m \x1b[m   ") == (Span("a  "), Span(" ", fg="red"))
    assert first_line("     ") == ()


def test_a_background_reaches_as_far_as_it_was_painted() -> None:
    assert first_line("\x1b[44mab\x1b[K") == (Span("ab" + " " * 18, bg="blue"),)
    assert first_line("a\x1b[48;2;1;2;3m\x1b[K") == (Span("a"), Span(" " * 19, bg=Rgb(1, 2, 3)))
    assert first_line("\x1b[48;5;20m\x1b[K\x1b[m\x1b[5Gx") == (
        Span("    ", bg="color20"),
        Span("x"),
        Span(" " * 15, bg="color20"),
    )


def test_neighbours_of_one_style_are_one_span() -> None:
    assert first_line("\x1b[31ma\x1b[m\x1b[31mb\x1b[1;22mc") == (Span("abc", fg="red"),)
    assert first_line("漢\x1b[31m字\x1b[m\x1b[31m字") == (Span("漢"), Span("字字", fg="red"))


def test_links_are_split_by_target() -> None:
    line = first_line("a\x1b]8;;http://x\x07b\x1b]8;;http://y\x07cd\x1b]8;;\x07\x1b[1me")
    assert line == (
        Span("a"),
        Span("b", link="http://x"),
        Span("cd", link="http://y"),
        Span("e", bold=True),
    )


def test_a_link_keeps_its_style_and_any_length() -> None:
    url = "http://x/" + "é" * 400
    assert first_line(f"\x1b[4m\x1b]8;;{url}\x07b\x1b]8;;\x07") == (
        Span("b", underline=True, link=url),
    )


def test_a_long_cluster_is_complete() -> None:
    zalgo = "e" + "\u0301" * 20
    assert first_line(f"a{zalgo}b") == (Span(f"a{zalgo}b"),)


def test_the_blank_before_a_wide_character_that_did_not_fit_has_its_background() -> None:
    terminal = Terminal(4, 5)
    terminal.feed("\x1b[44mabcd漢".encode())
    assert terminal.styled_lines()[:2] == [(Span("abcd ", bg="blue"),), (Span("漢", bg="blue"),)]
    terminal.feed(b"\rx")  # half of the wide character goes, and the blank is a blank now
    assert terminal.styled_lines()[0] == (Span("abcd ", bg="blue"),)


def test_clusters_and_wide_characters_have_styles() -> None:
    assert first_line("\x1b[32me\u0301漢\x1b[mx") == (Span("e\u0301漢", fg="green"), Span("x"))


# The rows that are kept


def test_only_the_changed_row_is_decoded_again() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(b"".join(b"\x1b[3%dmrow %d\x1b[m\r\n" % (n, n) for n in range(5)))
    before = terminal.styled_lines()
    terminal.feed(b"\x1b[3;1Hchanged")
    after = terminal.styled_lines()
    assert [old is new for old, new in zip(before, after, strict=True)] == [
        True,
        True,
        False,
        True,
        True,
        # The row the cursor left. The engine calls it dirty, and an empty line is one object.
        True,
    ]
    assert after[2][0].text.startswith("changed")


@pytest.mark.parametrize(
    ("text", "mark"), [("ab", "\u0301"), ("x" * 20, "\u0301"), ("☺", "\ufe0f")]
)
def test_a_mark_that_comes_after_its_character_was_read_is_seen(text: str, mark: str) -> None:
    terminal = Terminal(6, 20)
    terminal.feed(text.encode())
    before = terminal.styled_lines()
    terminal.feed(b"\x1b[c" + mark.encode())
    after = terminal.styled_lines()
    assert after[0] == (Span(text + mark),)
    assert terminal.styled_lines()[0] is after[0]
    terminal.feed((mark + "z").encode())
    assert styled_text(terminal.styled_lines()) == terminal.plain_lines()
    assert before[1:] == after[1:]


def test_a_list_that_was_handed_out_does_not_change() -> None:
    terminal = Terminal(4, 20)
    terminal.feed(b"one")
    handed = terminal.styled_lines()
    terminal.feed(b" two")
    terminal.styled_lines()
    assert handed[0] == (Span("one"),)
    handed.clear()
    assert len(terminal.styled_lines()) == 4


def test_a_scrollback_read_leaves_the_live_rows_alone() -> None:
    terminal = Terminal(6, 20)
    terminal.feed(b"".join(b"\x1b[3%dmrow %d\x1b[m\r\n" % (n % 8, n) for n in range(100)))
    before = terminal.styled_lines()
    terminal.feed(b"\x1b[2;1Hnew")
    assert len(terminal.scrollback_styled(0, 95)) == 95
    assert terminal.scrollback_styled(94, 1)[0][0].text == "row 94"
    after = terminal.styled_lines()
    same = [old is new for old, new in zip(before, after, strict=True)]
    assert same == [True, False, True, True, True, True]
    assert styled_text(after)[1] == "new 96"
    assert terminal.plain_lines() == styled_text(after)


Step = Callable[[Terminal], object]


def _feed(data: bytes) -> tuple[str, Step]:
    return f"feed {data!r}", lambda terminal: terminal.feed(data)


def _resize(size: tuple[int, int]) -> tuple[str, Step]:
    return f"resize {size}", lambda terminal: terminal.resize(*size)


FRAGMENTS = [
    *STREAMS.values(),
    *(part.encode() for part in ("e", "\u0301", "\ufe0f", "\u200d", "👩")),
    *(
        b"\n",
        b"\x1bM",
        b"\x1b[L",
        b"\x1b[2M",
        b"\x1b[S",
        b"\x1b[2T",
        b"\x1b[2J",
        b"\x1b[3J",
        b"\x1b[H",
    ),
    *(b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[5;1H", b"\x1b[41mred", b"\x1b[m", b"\r\n" * 20),
]

writes = st.one_of(
    st.sampled_from(FRAGMENTS).map(_feed),
    st.tuples(st.integers(2, 12), st.integers(1, 30)).map(_resize),
)
reads = st.sampled_from(
    [
        ("styled", Terminal.styled_lines),
        ("styled", Terminal.styled_lines),
        ("scrollback", lambda terminal: terminal.scrollback_styled(0, 5)),
        ("scrollback, far", lambda terminal: terminal.scrollback_styled(3, 500)),
        ("cursor", Terminal.cursor),
        ("compress", Terminal.compress_some),
    ]
)


@steady
@given(st.lists(st.one_of(writes, reads), max_size=25))
def test_reads_in_between_never_change_what_is_shown(steps: list[tuple[str, Step]]) -> None:
    terminal, fresh = Terminal(8, 20), Terminal(8, 20)
    for name, step in steps:
        step(terminal)
        # A scrollback read moves the viewport and back, which a reflow may remember (rows.py).
        if name.startswith(("feed", "resize", "scrollback")):
            step(fresh)
    mine, expected = snapshot(terminal), snapshot(fresh)
    # Looking at the count is what tells it where the rows are (scrollback.py, rule 3).
    del mine["scrollback"], expected["scrollback"]
    assert mine == expected
    assert styled_text(mine["styled"]) == mine["plain"]
