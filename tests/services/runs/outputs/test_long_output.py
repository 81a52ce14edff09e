"""An output on disk: each line of it is what an engine would show, wherever one begins to read."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.terminal.transcript import Redrawn, trimmed
from nacre.core.text.pattern import LineFinder
from nacre.services.runs.outputs import long_output
from nacre.services.runs.outputs.finding import Search, search_lines
from nacre.services.runs.outputs.long_output import LongOutput

COLS = 40


def drawn(data: bytes, cols: int = COLS) -> list[str]:
    """Return what an engine shows that is given all of it."""
    redrawn = Redrawn(cols)
    lines = redrawn.feed(data) + redrawn.rest(last=True)
    redrawn.close()
    return trimmed(lines)


Opened = Callable[[bytes], LongOutput]


@pytest.fixture
def write(tmp_path: Path) -> Opened:
    def write(data: bytes) -> LongOutput:
        path = tmp_path / "output"
        path.write_bytes(data)
        return LongOutput(str(path), COLS, 1 << 20)

    return write


def whole(output: LongOutput, data: bytes) -> list[str]:
    return output.page(0, output.advance(len(data), finished=True))


PLAIN = [
    "one",
    "",
    "  two  ",
    "a\tb",
    "grüße 世界",
    "x" * 95,
    "\x1b[1;31mred\x1b[m",
    "\x1b[32m",
    "c\r",
]
LOCAL = ["10%\r20%\r99%", "abd\x08c", "\x1b[Kx", "x\x1b[10Gy", "\x1b]0;title\x07t", "é\tö"]
LOCAL += ["\x1b[?25lhidden\x1b[?25h", "z" * 40 + "\x1b[K", "y" * 50 + "\r\x1b[Kend", "\x1b(B\x0fq"]
MOVES = ["\x1b[Aup", "\x1b[3A\x1b[2Kthree up", "\x1b[H\x1b[2Jcleared", "\x1b[2J\x1b[3J", "\x1bMr"]
MOVES += [
    "\x1b[5;5Hat",
    "\x1b[2Btwo down",
    "\x1b[2L",
    "\x1b[M",
    "a\x0bb",
    "\x1b[3T",
    "\x1b[S",
    "\x1b[J",
]
LASTS = ["\x1b7\x1b[5Asaved\x1b8", "\x1b[5;10r", "\x1b[?1049hfull\x1b[?1049l", "\x1b(0lqk\x1b(B"]
LASTS += ["\x1b[4hinsert", "\x1b[?7lno wrap", "\x1b[?6h"]


def lines_of(*kinds: list[str]) -> st.SearchStrategy[bytes]:
    one = st.sampled_from([text for kind in kinds for text in kind])
    some = st.tuples(one, st.sampled_from([1, 1, 1, 2, 30, 80]))
    return st.lists(some, max_size=12).map(
        lambda parts: b"".join(f"{text}\r\n".encode() * count for text, count in parts)
    )


@steady
@given(
    st.one_of(
        lines_of(PLAIN),
        lines_of(PLAIN, LOCAL),
        lines_of(PLAIN, LOCAL, MOVES),
        lines_of(PLAIN, MOVES),
        lines_of(PLAIN, LOCAL, MOVES, LASTS),
    ),
    st.sampled_from([b"", b"$ ", b"unended \x1b[1mline", b"\x1b[A"]),
    st.sampled_from([300, 1000, 1 << 17]),
    st.lists(st.integers(0, 4000), max_size=4),
)
def test_all_lines_are_what_an_engine_shows(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    end: bytes,
    block: int,
    looks: list[int],
) -> None:
    """In blocks of any size, and however often it is read while it is written."""
    data += end
    path = tmp_path_factory.mktemp("o") / "output"
    path.write_bytes(data)
    output = LongOutput(str(path), COLS, 1 << 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_output, "_BLOCK", block)
        for look in sorted(looks):
            output.advance(min(look, len(data)), finished=False)
        total = output.advance(len(data), finished=True)
        lines = output.page(0, total)
    expected = drawn(data)
    assert lines == expected
    assert total == len(expected)
    for offset in range(0, total, max(1, total // 7)):
        assert output.page(offset, 3) == expected[offset : offset + 3]


@steady
@given(lines_of(PLAIN, LOCAL, MOVES), st.integers(0, 3000))
def test_what_is_printed_up_to_now_is_there_too(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int
) -> None:
    data = data[: data.rfind(b"\n", 0, cut) + 1]
    path = tmp_path_factory.mktemp("o") / "output"
    path.write_bytes(data)
    output = LongOutput(str(path), COLS, 1 << 20)
    total = output.advance(len(data), finished=False)
    assert trimmed(output.page(0, total)) == drawn(data)


def test_an_endless_line_is_all_there(write: Opened) -> None:
    data = b"0123456789" * 40_000
    assert "".join(whole(write(data), data)).encode() == data


def test_most_of_an_output_is_never_drawn(write: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    feed = Redrawn.feed

    def counted(self: Redrawn, data: bytes) -> list[str]:
        fed.append(len(data))
        return feed(self, data)

    monkeypatch.setattr(Redrawn, "feed", counted)
    before = b"".join(b"\x1b[31m%06d\x1b[m text\r\n" % number for number in range(20_000))
    data = before + b"\x1b[2Aup\x1b[2B\r\n" + before
    lines = whole(write(data), data)
    assert 0 < sum(fed) < 5000
    assert lines[19_997:20_002] == ["019997 text", "up9998 text", "019999 text", "", "000000 text"]
    assert len(lines) == 40_001


def test_what_is_drawn_has_a_bound_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "output"
    data = b"\x1b[?6h" + b"x\x1b[900b\r\n" * 40_000
    path.write_bytes(data)
    output = LongOutput(str(path), COLS, 100_000)
    assert output.advance(len(data), finished=True) > 0
    assert output.undrawn > 0
    assert os.path.getsize(f"{path}.txt") < 20_000_000
    output.remove()
    assert os.listdir(tmp_path) == ["output"]


# --- finding -------------------------------------------------------------------------------


def found(lines: list[str], wanted: str, offset: int = 0, **more: object) -> list[int]:
    settings = {"context": 0, "most": 1000, "budget": 1 << 20, "seconds": 60.0, **more}
    regex = bool(settings.pop("regex", False))
    search = Search(LineFinder(wanted, regex=regex), **settings)  # type: ignore[arg-type]
    return [one.line for one in search_lines(search, lines, offset).lines]


LINES = ["alpha", "", "beta 世界", "alphabet", "x" * 3000 + "needle" + "y" * 3000, "Alpha"]


@pytest.mark.parametrize(
    ("wanted", "regex", "lines"),
    [
        ("alpha", False, [0, 3]),
        ("a.p", False, []),
        ("世", False, [2]),
        ("^alpha$", True, [0]),
        ("(?i)^alpha$", True, [0, 5]),
        ("^$", True, [1]),
        (r"a\s", True, [2]),  # not over the end of a line
        (r"\Aalpha", True, [0, 3]),
        (r"t\z", True, [3]),
        ("[^q]*", True, [0, 1, 2, 3, 4, 5]),
        ("界$", True, [2]),
    ],
)
def test_lines_are_found_by_text_and_by_expression(
    wanted: str, regex: bool, lines: list[int]
) -> None:
    assert found(LINES, wanted, regex=regex) == lines
    assert found(LINES, wanted, 3, regex=regex) == [line for line in lines if line >= 3]


@pytest.mark.parametrize("wanted", ["error|FAIL", "needle", "a b", "gr.+ße", "done", "over$"])
def test_parts_that_are_passed_over_hold_nothing_that_is_sought(write: Opened, wanted: str) -> None:
    kinds = [
        b"line %d\r\n",
        b"FA\x1b[1mI\x1b[0mL in colours %d\r\n",
        b"abcdefa\tb %d\r\n",
        "grüße %d\r\n".encode(),
        b"nXXdle %d\rnee\r\n",
        b"%d\x1b[32m of 9\x1b[0m\rdone\r\n",
        b"over %d\rover  \r\n",
    ]
    data = b"".join(
        b"".join(kind % number for number in range(9000)) + b"".join(one % 7 for one in kinds)
        for kind in kinds
    )
    output = write(data)
    total = output.advance(len(data), finished=True)
    finder = LineFinder(wanted, regex=True)
    assert finder.needles is not None
    search = Search(finder, 0, 100_000, 1 << 30, 60.0)
    some = search.run(output.texts(0, finder.needles), output.page, total)
    assert some == search.run(output.texts(0), output.page, total)
    assert some.lines
    empty = [text for _, _, text in output.texts(0, finder.needles) if not text]
    assert empty, "some are passed over"


def test_a_long_line_is_shown_around_what_was_found() -> None:
    search = Search(LineFinder("needle", regex=False), 1, 10, 1 << 20, 60.0)
    (one,) = search_lines(search, LINES, 0).lines
    assert len(one.text) < 1000
    assert "xneedley" in one.text
    assert (one.before, one.after) == (("alphabet",), ("Alpha",))


@pytest.mark.parametrize("limits", [(3, 1 << 20, 60.0), (1000, 200, 60.0), (1000, 1 << 20, 0.0)])
def test_a_search_is_gone_on_with_where_it_stopped(
    write: Opened, limits: tuple[int, int, float]
) -> None:
    data = b"".join(b"line %d\r\n" % number for number in range(100_000))
    output = write(data)
    total = output.advance(len(data), finished=True)
    most, budget, seconds = limits
    search = Search(LineFinder("line 4?9999$", regex=True), 1, most, budget, seconds)
    got: list[int] = []
    offset: int | None = 0
    rounds = 0
    while offset is not None:
        some = search.run(output.texts(offset), output.page, total)
        got += [one.line for one in some.lines]
        assert some.next_offset is None or some.next_offset > offset
        offset = some.next_offset
        rounds += 1
    assert got == [9999, 49999]
    assert rounds >= (1 if seconds else 2)
