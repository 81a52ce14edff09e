"""What was printed becomes what a person read, in one piece or in parts."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.terminal.transcript import Redrawn, render, trimmed


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"\r\n\r\nx\r\n\r\n", ["", "", "x"]),
        (b"  x  \r\n", ["  x"]),
        (b"a\tb\r\n", ["a       b"]),
        ("grüße 世界\r\n".encode(), ["grüße 世界"]),
        (b"a\xffb\r\n", ["a\ufffdb"]),
        (b"10%\r50%\r100%\r\n", ["100%"]),
        (b"long text\r\x1b[Kok\r\n", ["ok"]),
        (b"\x1b[31mred\x1b[0m\r\n", ["red"]),
        (b"abd\x08c\r\n", ["abc"]),
        (b"one\r\ntwo\r\n\x1b[2Auno\x1b[2B\r\n", ["uno", "two"]),
        (b"a\x1b[?1049hinside\x1b[?1049lb\r\n", ["ab"]),
        (b"x" * 200 + b"\r\n", ["x" * 200]),
        (b"\x1b[m" + b"x" * 200 + b"\r\n", ["x" * 200]),
    ],
)
def test_lines_as_read(data: bytes, lines: list[str]) -> None:
    assert render(data, 80) == lines


def render_stream(chunks: Iterable[bytes], cols: int) -> Iterator[list[str]]:
    redrawn = Redrawn(cols)
    for chunk in chunks:
        if final := redrawn.feed(chunk):
            yield final
    yield trimmed(redrawn.rest())
    redrawn.close()


TEXT = st.text(alphabet="ab \té世\n", max_size=100)


@steady
@given(TEXT)
def test_the_short_way_reads_as_the_engine_does(text: str) -> None:
    plain = text.replace("\n", "\r\n").encode()
    # A colour that changes nothing forces the engine.
    assert render(plain, 200) == render(b"\x1b[m" + plain, 200)


def test_a_stream_in_parts_is_the_same_text() -> None:
    lines = [f"line {number} \x1b[1mbold\x1b[m" for number in range(50_000)]
    data = "\r\n".join(lines).encode() + b"\r\n"
    chunks = [data[at : at + 10_000] for at in range(0, len(data), 10_000)]
    parts = list(render_stream(chunks, 80))
    assert len(parts) > 1
    assert [line for part in parts for line in part] == [
        f"line {number} bold" for number in range(50_000)
    ]


@pytest.mark.parametrize("size", [8000, 1 << 22])
def test_lines_of_several_rows_are_whole_wherever_they_are_taken_out(size: int) -> None:
    lines = [f"{number:06d} {'x y' * 64}." for number in range(20_000)]
    data = "\r\n".join(lines).encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert [line for part in render_stream(chunks, 80) for line in part] == lines


def test_no_line_is_lost_in_a_large_chunk_of_short_ones() -> None:
    data = "\r\n".join(str(number) for number in range(200_000)).encode()
    got = [line for part in render_stream([data], 80) for line in part]
    assert got == [str(number) for number in range(200_000)]


def test_one_endless_line_is_all_there() -> None:
    data = b"0123456789" * 400_000
    got = [line for part in render_stream([data], 80) for line in part]
    assert "".join(got).encode() == data


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_character_may_be_split_between_chunks(size: int) -> None:
    data = "grüße 世界 \x1b[32m🎉\x1b[m\r\nend\r\n".encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert [line for part in render_stream(chunks, 80) for line in part] == ["grüße 世界 🎉", "end"]


def test_nothing_printed_is_no_line() -> None:
    assert [line for part in render_stream([], 80) for line in part] == []
