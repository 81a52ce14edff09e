"""What is found on the screens of real programs, and what is not.

A file NAME.seen beside a recording says what is found on it, a line for each element. Write it anew
with `python -m core.seeing.test_snapshot` (in tests/), and read the difference.
"""

from pathlib import Path

import pytest

from nacre.core.journal.asciicast_screen import cells_of_cast
from nacre.core.seeing.elements import Element
from nacre.core.seeing.snapshot import find_elements, find_highlights

SCREENS = Path(__file__).with_name("screens")
NAMES = sorted(path.stem for path in SCREENS.glob("*.cast"))

# Screens of texts and shells: nothing there can be selected, and no button pressed by a click.
PLAIN = ["vim", "vim-split", "vim-search", "less", "nano", "shell", "sql"]


def elements_of(name: str) -> list[Element]:
    return find_elements(cells_of_cast((SCREENS / f"{name}.cast").read_text("utf-8")))


def told(one: Element) -> str:
    states = [state for state in ("selected", "focused") if getattr(one, state)]
    states += [] if one.checked is None else ["checked" if one.checked else "not checked"]
    more = [f"{name}={getattr(one, name)}" for name in ("key", "label", "inside", "columns")]
    more = [text for text in more if not text.endswith("=None")]
    size = f"{one.row},{one.col} {one.width}x{one.height}"
    return " | ".join([one.ref, one.text, size, *states, *more, one.evidence])


def seen(name: str) -> str:
    return "".join(f"{told(one)}\n" for one in elements_of(name))


def test_there_are_recordings() -> None:
    assert len(NAMES) > 15


@pytest.mark.parametrize("name", NAMES)
def test_elements_of_a_recorded_screen(name: str) -> None:
    assert seen(name) == (SCREENS / f"{name}.seen").read_text("utf-8")


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_is_selected_in_a_text(name: str) -> None:
    assert [one for one in elements_of(name) if one.selected or one.role in ("item", "tab")] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("menu", "beta"),
        ("dialog-menu", "2 Banana"),
        ("whiptail-menu", "2 Banana"),
        ("fzf", "alpha.txt"),
        ("mc", "beta.md 2 Nov 14 2023"),
        ("textual", "beta"),
        ("ink", "Second"),
    ],
)
def test_selected_entry(name: str, text: str) -> None:
    assert [one.text for one in elements_of(name) if one.role == "item" and one.selected] == [text]


def test_what_stands_out_is_told_without_a_meaning() -> None:
    found = find_highlights(cells_of_cast((SCREENS / "less.cast").read_text("utf-8")))
    assert [(one.text, one.inverse) for one in found] == [("(END)", True)]


if __name__ == "__main__":
    for each in NAMES:
        (SCREENS / f"{each}.seen").write_text(seen(each), "utf-8")
