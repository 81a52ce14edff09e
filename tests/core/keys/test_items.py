"""What an item of send_keys is."""

import pytest

from nacre.core.keys.items import TypedText, UnknownCombination, parse_item, parts_of
from nacre.core.keys.names import KEY_NAMES, KeyPress

ENTER = KeyPress("enter")


@pytest.mark.parametrize(
    ("item", "press"),
    [
        ("Enter", ENTER),
        ("PageUp", KeyPress("pageup")),
        ("F1", KeyPress("f1")),
        ("F24", KeyPress("f24")),
        ("Ctrl+C", KeyPress("c", ctrl=True)),
        ("CTRL+c", KeyPress("c", ctrl=True)),
        ("ctrl+pagedown", KeyPress("pagedown", ctrl=True)),
        ("Ctrl+Alt+Shift+F5", KeyPress("f5", ctrl=True, alt=True, shift=True)),
        ("Ctrl++", KeyPress("+", ctrl=True)),
        ("C--", KeyPress("-", ctrl=True)),
        ("C-M-Left", KeyPress("left", ctrl=True, alt=True)),
        ("M-x", KeyPress("x", alt=True)),
        ("S-Tab", KeyPress("tab", shift=True)),
    ],
)
def test_names_and_combinations_are_keys(item: str, press: KeyPress) -> None:
    assert parse_item(item) == press


@pytest.mark.parametrize(
    "item",
    [
        *("enter", "ENTER", "up", "f1", "F25", "F0", "pageup", "Page Up", "Return", "Esc", " "),
        *("c-c", "C-style", "C-", "M-", "C-up", "Meta+x", "Super+x", "Cmd+c", "A-x", "Enter "),
        *("Ctrl+C quits", "Press Ctrl+C", "a", "+", "-", "C", "<Enter>", "^C"),
    ],
)
def test_anything_else_is_text(item: str) -> None:
    assert parse_item(item) == TypedText(item)


@pytest.mark.parametrize("item", ["Ctrl+Foo", "ctrl+", "Alt+Shift+", "Shift+ab", "Ctrl+F25"])
def test_unknown_combination_is_refused(item: str) -> None:
    with pytest.raises(UnknownCombination, match="no combination"):
        parse_item(item)


def test_literal_takes_everything_as_text() -> None:
    for item in ("Enter", "Ctrl+C", "Ctrl+Foo", "C-c"):
        assert parse_item(item, literal=True) == TypedText(item)


def test_every_key_has_one_name_here() -> None:
    written = [name.capitalize() for name in KEY_NAMES if not name.startswith("page")]
    presses = [parse_item(name) for name in (*written, "PageUp", "PageDown")]
    assert {press.key for press in presses if isinstance(press, KeyPress)} == set(KEY_NAMES)


def test_line_ends_and_tabs_in_text_are_keys() -> None:
    assert parts_of("a\r\nb\rc\n\td") == ["a", ENTER, "b", ENTER, "c", ENTER, KeyPress("tab"), "d"]
    assert parts_of("") == []
