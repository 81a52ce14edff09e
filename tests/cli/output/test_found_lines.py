"""Lines that were found, as grep prints them."""

import pytest

from nacre.cli.output.found_lines import FoundLines


def test_lines_are_counted_from_one(capsys: pytest.CaptureFixture[str]) -> None:
    FoundLines().show([{"line": 0, "text": "a"}, {"line": 7, "text": "\x1b[2J"}])
    assert capsys.readouterr().out == "1:a\n8:\\x1b[2J\n"


def test_a_line_is_printed_once_and_groups_are_parted(capsys: pytest.CaptureFixture[str]) -> None:
    printed = FoundLines()
    printed.show(
        [
            {"line": 1, "text": "b", "before": ["a"], "after": ["c"]},
            {"line": 2, "text": "c", "before": ["b"], "after": ["d"]},
            {"line": 5, "text": "f", "before": ["e"], "after": []},
        ]
    )
    assert capsys.readouterr().out.split() == ["1-a", "2:b", "3:c", "4-d", "5-e", "6:f"]
    printed.show([{"line": 9, "text": "j", "before": ["i"], "after": []}])
    assert capsys.readouterr().out.split() == ["--", "9-i", "10:j"]
