"""The status line says what matters, and fits."""

from typing import Any

import pytest

from nacre.core.display.statusline import StatusLine, status_line
from nacre.core.text.widths import text_width

KEYS = {"detach_key": "Ctrl+]", "control_key": "Ctrl+^"}


def text(cols: int = 80, **fields: object) -> str:
    status = StatusLine(**{"name": "dev", "state": "running", **KEYS, **fields})  # type: ignore[arg-type]
    spans = status_line(status, cols)
    assert all(span.inverse for span in spans)
    return "".join(span.text for span in spans)


def test_name_state_and_keys_are_told() -> None:
    line = text()
    assert line.startswith(" dev  running ")
    assert line.endswith("  Ctrl+^ takes over  Ctrl+] detaches ")
    assert len(line) == 80


def test_who_drives_is_told() -> None:
    assert "web page drives" in text(driver="web page")
    mine = text(driver="attach", yours=True)
    assert "you drive" in mine
    assert "Ctrl+^ gives back" in mine


def test_driver_is_told_that_an_agent_waits_and_since_when() -> None:
    waits: dict[str, Any] = {"driver": "attach", "yours": True, "waited": "13:42:05"}
    assert "you drive  an agent waits since 13:42:05  " in text(**waits)
    assert text(44, **waits).rstrip().endswith("you drive  an agent waits")
    assert "waits" not in text(driver="web page", waited="13:42:05")  # it is not this person's turn


def test_captured_keys_are_told_with_the_way_out() -> None:
    assert "keys captured: Ctrl+\\ frees" in text(captured=True)
    for name in ("dev", "a-very-long-name-of-a-session"):
        assert "keys captured: Ctrl+\\ frees" in text(40, name=name, captured=True)


@pytest.mark.parametrize("cols", [20, 24, 30, 38])
@pytest.mark.parametrize("name", ["dev", "a-very-long-name-of-a-session"])
def test_captured_keys_have_their_way_out_in_a_narrow_terminal(cols: int, name: str) -> None:
    line = text(cols, name=name, captured=True)
    assert line.startswith(f" {name[:3]}")
    assert "Ctrl+\\ frees" in line


def test_questions_others_and_who_only_looks_are_told() -> None:
    assert "asks for a password" in text(state="needs_input", asks="password")
    assert "2 more here" in text(viewers=3)
    looks = text(read_only=True)
    assert "(read-only)" in looks
    assert "takes over" not in looks


@pytest.mark.parametrize("cols", [1, 2, 5, 10, 20, 40, 60, 79, 80, 200])
@pytest.mark.parametrize("name", ["dev", "a-name-of-sixty-four-characters-" * 2, "漢字" * 8])
def test_it_fits(cols: int, name: str) -> None:
    line = text(cols, name=name, captured=True, driver="web page", viewers=9)
    assert text_width(line) <= cols


def test_forty_columns_have_the_way_out() -> None:
    assert text(40) == " dev  running           Ctrl+] detaches "


def test_a_question_of_the_policy_is_shown_with_its_key() -> None:
    shown = text(120, question="rm a\nb", approve_key="Ctrl+Y")
    assert "approve? rm a b" in shown
    assert "Ctrl+Y answers" in shown
    assert "Ctrl+Y" not in text(120, approve_key="Ctrl+Y")
    assert "…" in text(80, question="x" * 100, approve_key="Ctrl+Y")
