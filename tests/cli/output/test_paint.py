"""Spans become the SGR sequences that a terminal would show them by."""

from typing import Any

import pytest

from nacre.cli.output.paint import paint_line


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize(
    ("style", "codes"),
    [
        ({"bold": True, "italic": True}, "1;3"),
        ({"fg": "red", "bg": "white"}, "31;47"),
        ({"fg": "bright_black", "bg": "bright_white"}, "90;107"),
        ({"fg": "color16", "bg": "color255"}, "38;5;16;48;5;255"),
        ({"fg": {"r": 1, "g": 2, "b": 3}}, "38;2;1;2;3"),
        ({"underline": True}, "4"),
        ({"underline": True, "underline_style": "curly", "underline_color": "red"}, "4:3;58;5;1"),
        ({"inverse": True, "strikethrough": True, "overline": True}, "7;9;53"),
    ],
)
def test_a_style_becomes_its_codes(style: dict[str, Any], codes: str) -> None:
    assert paint_line([{"text": "x", **style}]) == f"\x1b[{codes}mx\x1b[0m"


def test_plain_text_stays_plain_and_links_are_left_out() -> None:
    assert paint_line([{"text": "a"}, {"text": "b", "link": "http://x/"}]) == "ab"
