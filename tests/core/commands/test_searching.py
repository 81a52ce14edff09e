"""Search: the best first, typos forgiven."""

import pytest

from nacre.core.commands.book import CommandBook
from nacre.core.commands.searching import ManualPage, search
from nacre.system.command_files import parse_manual, shipped_commands

BOOK = CommandBook(shipped_commands())
PAGES = parse_manual("xz (1) - compress files\nls (1) - list directory contents\nnonsense\n")


def names(query: str) -> list[str]:
    return [one.name for one in search(query, BOOK, PAGES, 10)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("list files", "ls"),
        ("grep", "grep"),
        ("delete file", "myrm"),
        ("view file", "cat"),
        ("count lines", "wc"),
        ("disk usage", "du"),
        ("memory", "free"),
        ("checksum", "sha256sum"),
        ("hexdump", "od"),
    ],
)
def test_the_best_comes_first(query: str, best: str) -> None:
    assert names(query)[0] == best


@pytest.mark.parametrize(
    ("query", "among"), [("direcotry", "mkdir"), ("proceses", "ps"), ("comprss", "gzip")]
)
def test_typos_are_forgiven(query: str, among: str) -> None:
    assert among in names(query)


def test_manual_pages_stand_below_the_catalog_and_are_not_told_twice() -> None:
    assert [
        ManualPage("xz", "compress files"),
        ManualPage("ls", "list directory contents"),
    ] == PAGES
    found = search("compress", BOOK, PAGES, 20)
    by_name = {one.name: one for one in found}
    assert by_name["xz"].source == "manual"
    assert by_name["gzip"].score > by_name["xz"].score
    assert [one.name for one in found].count("ls") <= 1


@pytest.mark.parametrize("query", ["", "   ", "!!!", "qqqqqqq"])
def test_what_nothing_fits_finds_nothing(query: str) -> None:
    assert names(query) == []


def test_a_long_query_is_answered_soon() -> None:
    assert len(search("directory " * 200_000, BOOK, PAGES, 3)) == 3
