"""What is kept of a text that is too long."""

from nacre.core.agent.cut import (
    LONGEST_LINE,
    KnownLines,
    changed_rows,
    cut,
    cut_around,
    cut_line,
)
from nacre.core.agent.tools import ANSWER_CHARS

REST = 'read(what="run 9", search="…")'


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def test_what_fits_is_whole() -> None:
    assert cut(KnownLines([]), 100, REST) == ""
    assert cut(KnownLines(["a", "", "b"]), 100, REST) == "a\n\nb"


def test_the_cut_is_named_with_the_call_that_reads_it() -> None:
    text = cut(KnownLines(numbers(20412)), ANSWER_CHARS, REST)
    lines = text.split("\n")
    at = next(index for index, line in enumerate(lines) if line.startswith("…"))
    first, last = int(lines[at - 1]) + 1, int(lines[at + 1]) - 1
    assert lines[at] == f"… lines {first:,}–{last:,} cut: {REST} …"
    assert lines[:at] == numbers(first - 1)
    assert lines[at + 1 :] == numbers(20412)[last:]
    assert 0.9 * ANSWER_CHARS < len(text) <= ANSWER_CHARS
    head = len("\n".join(lines[:at]))
    assert 0.2 < head / len(text) < 0.3, "a quarter is the beginning"


def test_lines_that_are_not_known_count_as_cut() -> None:
    known = KnownLines(numbers(100), 1000, ["x", "y"], first=1)
    assert cut(known, 10_000, None).split("\n")[-3:] == ["… lines 101–1,100 cut …", "x", "y"]
    later = KnownLines(["a"], 1, ["b"], first=41)
    assert cut(later, 1000, REST) == f"a\n… line 42 cut: {REST} …\nb"


def test_a_long_line_is_cut_in_its_middle() -> None:
    line = "a" * 400 + "b" * 400
    short = cut_line(line)
    assert len(short) <= 500
    assert short.startswith("aaa")
    assert short.endswith("bbb")
    assert " … line cut … " in short
    assert cut(KnownLines([line]), 10_000, REST) == short
    assert cut_line("x" * 500) == "x" * 500


def test_one_line_without_room_is_shown_in_part() -> None:
    text = cut(KnownLines(["x" * 400, "y" * 400]), 300, REST)
    assert text.endswith("yyy")
    assert len(text) <= 300


def test_a_screen_is_its_changed_rows_where_that_is_shorter() -> None:
    before = [f"row {number} with some text" for number in range(24)]
    now = [*before]
    now[3] = "changed"
    assert changed_rows(None, [*now[:2], "", ""]) == "\n".join(now[:2])
    assert changed_rows(before, now) == "rows that changed:\n 4 changed"
    assert changed_rows(before, [*before]) == "(the screen is as it was)"
    other = [f"another {number}" for number in range(24)]
    assert changed_rows(before, other) == "\n".join(other)
    assert changed_rows(before[:5], now) == "\n".join(now), "it has another size"


def test_of_a_long_line_what_was_found_is_shown() -> None:
    line = "a" * 3000 + "needle" + "b" * 3000
    kept = cut_around(line, 3000, 3006)
    assert "needle" in kept
    assert len(kept) <= LONGEST_LINE + 2
    assert cut_around(line, 0, 3, 40) == "a" * 40 + "…"
    assert cut_around(line, 6000, 6006, 40) == "…" + "b" * 40
    assert cut_around("short", 0, 2, 40) == "short"
    assert cut_around(line, 0, 6006, 40) == "a" * 40 + "…"
