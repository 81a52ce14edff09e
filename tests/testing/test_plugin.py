"""The plugin for pytest, as pytest loads it: one run in a process of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testing.pages import write_examples

TESTS = """
import sys

import pytest
from nacre.testing import expect

CAT = ("sh", "-c", "printf 'ready > '; exec cat")


def test_passes(terminal):
    terminal.launch(*CAT, rows=10, cols=40)
    terminal.wait("ready")
    terminal.type("hello\\n")
    terminal.wait(new="hello", idle=0.05)
    expect(terminal).to_match("ready > hello$", row=0, col=0)
    expect(terminal).to_have_cursor(2, 0)
    terminal.resize(12, 50)
    assert (terminal.screen.cols, terminal.text.splitlines()[1]) == (50, "hello")


def test_two_terminals(new_terminal):
    one, two = new_terminal().launch(*CAT), new_terminal().launch("sh -c 'echo other; cat'")
    expect(two).to_have_text("other")
    expect(one).not_to_have_text("other")
    two.keys("Ctrl+D")
    expect(two).to_have_exited(0)


@pytest.mark.parametrize("word", ["golden", "gold"])
def test_golden(terminal, word):
    terminal.launch("printf", f"{word} 12:30\\n\\033[1mbold")
    masks = [r"\\d\\d:\\d\\d", {"row": 5}]
    expect(terminal).to_match_snapshot("g", masks=masks, style=True, timeout=0.3)


def test_fails(terminal):
    terminal.launch(*CAT)
    terminal.wait("ready")
    terminal.paste("x")
    expect(terminal).to_have_text("ready > x")
    expect(terminal).to_have_text("raedy >", timeout=0.2)


def test_dies(terminal):
    terminal.launch("sh -c 'echo oops; exit 3'")
    expect(terminal).to_have_text("fine", timeout=600)


def test_dies_at_the_end(terminal):
    terminal.launch("sh -c 'read x; exit 4'")
    terminal.keys("Enter")
    terminal.wait(idle=300, timeout=600)


def test_without_a_program(terminal):
    terminal.keys("a")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plugin")
    write_examples(made)
    (made / "test_words.py").write_text(TESTS)
    (made / "__screens__").mkdir()
    # The one is as it was written down, of the other the word is wrong.
    for word in ("golden", "gold"):
        stored = "golden ▒▒▒▒▒\nbold\n\n\n\n▒\n--- styles ---\n1:0 'bold' bold\n"
        (made / "__screens__" / f"test_words-test_golden-{word}-g.txt").write_text(stored)
    return made


def run(folder: Path, *arguments: str) -> str:
    """Run pytest with our plugin and no other."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "nacre.testing.plugin", "-q", *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def output(folder: Path) -> str:
    return run(folder, "--nacre-trace", "traces", "--junitxml", "all.xml", "test_words.py")


def outcomes(folder: Path) -> dict[str, str]:
    cases = ElementTree.parse(folder / "all.xml").iter("testcase")
    found: dict[str, str] = {}
    for case in cases:
        found[case.get("name") or ""] = case[0].tag if len(case) else "passed"
    return found


def test_what_passes_and_what_fails(output: str, folder: Path) -> None:
    assert outcomes(folder) == {
        "test_passes": "passed",
        "test_two_terminals": "passed",
        "test_golden[golden]": "passed",
        "test_golden[gold]": "failure",
        "test_fails": "failure",
        "test_dies": "failure",
        "test_dies_at_the_end": "error",
        "test_without_a_program": "failure",
    }, output


def test_failures_say_why_with_the_screen_and_the_tests_own_line(output: str) -> None:
    told = r"'raedy >' is not on the screen; row 0 has 'ready > x' \(after 0\.\d s\)"
    assert re.search(told, output)
    assert "│ready > x" in output
    assert '>       expect(terminal).to_have_text("raedy >", timeout=0.2)' in output
    assert "the program ended with exit code 3: 'fine' is not on the screen" in output
    assert "the program ended with exit code 4, which nothing expects" in output
    assert "-   0 │ golden ▒▒▒▒▒" in output
    assert "+   0 │ gold ▒▒▒▒▒" in output
    assert "this terminal has no program; start one with launch" in output
    assert "pilot.py:" not in output  # our own lines are nobody's business


def test_failures_leave_a_trace(output: str, folder: Path) -> None:
    page = (folder / "traces" / "test_words-test_fails.html").read_text()
    assert "paste &#x27;x&#x27;" in page or "paste 'x'" in page
    assert "traces/test_words-test_fails.html" in output


def test_the_examples_of_the_page_pass(output: str, folder: Path) -> None:
    assert output  # one after the other, for two would take as long
    assert "2 passed" in run(folder, "--nacre-update", "test_menu.py")
    golden = folder / "__screens__" / "test_menu-test_save-start.txt"
    assert golden.read_text() == "Main menu\n\n  Open\n  Save\n  Quit\n"


def test_pytest_finds_the_plugin_by_itself() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"nacre": "nacre.testing.plugin"}


def test_loading_the_plugin_loads_nothing_else_of_nacre() -> None:
    code = (
        "import sys, nacre.testing.plugin, nacre.testing\n"
        "print(sorted(name for name in sys.modules if name.startswith('nacre')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['nacre', 'nacre.testing', 'nacre.testing.plugin']\n"
