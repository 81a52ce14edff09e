"""Scenarios with real programs: one run of all of them, in parallel, over one private daemon."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.testing.scenarios.runner import RunOptions
from nacre.testing.scenarios.suite import ScenarioResult, SuiteResult, run_suite
from nacre.testing.scenarios.yaml_file import parse_scenarios

PROGRAMS = {
    "clicks.py": """
import curses

def main(screen):
    curses.mousemask(curses.ALL_MOUSE_EVENTS)
    screen.addstr(1, 4, "[ OK ]")
    while True:
        rows, cols = screen.getmaxyx()
        screen.addstr(3, 0, f"{rows} by {cols} ")
        key = screen.getch()
        if key == curses.KEY_MOUSE:
            _, col, row, _, _ = curses.getmouse()
            screen.addstr(5, 0, f"clicked at {row}, {col}")

curses.wrapper(main)
""",
}

# The programs; then how a scenario fails.
SCENARIOS = r"""
name: vim edits a file
launch: {command: vim, args: [-u, NONE, -N, --not-a-term, note.txt]}
steps:
  - wait: note.txt
  - keys: [i, hello, Enter]
  - paste: "pasted line"
  - keys: [Escape]
  - expect: {text: "hello\npasted line", row: 0, col: 0}
  - expect: {cursor: [1, 10]}
  - keys: [":wq", Enter]
  - expect: {exit_code: 0}
---
name: less pages and searches
launch: {command: less, args: [numbers.txt]}
rows: 10
steps:
  - expect: "1\n2\n3"
  - keys: [Space]
  - expect: {text: "10\n11", not_text: "\n1\n"}
  - keys: ["/19", Enter]
  - expect: {text: "19", style: inverse}
  - keys: [q]
  - expect: {exit_code: 0}
---
name: dialog asks
launch: {command: dialog, args: [--yesno, "Go on?", "8", "30"], env: {DIALOGRC: /dev/null}}
steps:
  - focus: "No"
  - expect: "Go on?"
  - keys: [Enter]
  - expect: {exit_code: 1}
---
name: curses takes clicks and sizes
launch: python3 clicks.py
steps:
  - expect: {text: 24 by 80, timeout: 30}
  - mouse: {click: OK}
  - expect: clicked at 1, 6
  - resize: 20x50
  - expect: 20 by 50
---
name: colours and words
launch:
  - sh
  - -c
  - printf '\033[1;31mred\033[m \033[48;5;200mpink\033[m \033[38;2;1;2;3mown'; cat
steps:
  - expect: {text: red, style: bold red}
  - expect: {text: pink, style: {bg: 200, fg: default}}
  - expect: {text: own, style: {fg: "#010203", bold: false}}
  - type: "new line\n"
  - wait: {new: "new line"}
  - wait: {idle: 0.05}
  - snapshot: {name: words, style: true, masks: ['red']}
---
name: second time right
retries: 1
launch: [sh, -c, "if test -e seen; then echo good; else touch seen; echo bad; fi; cat"]
timeout: 1
steps:
  - expect: good
---
name: dead at once
launch: [sh, -c, "echo oops; exit 3"]
timeout: 600
steps:
  - expect: fine
---
name: dead before keys
launch: [sh, -c, "echo oops; exit 3"]
timeout: 600
steps:
  - wait: {exit: true}
  - keys: [a]
---
name: dead and not expected
launch: [sh, -c, "read x; exit 4"]
timeout: 600
steps:
  - keys: [Enter]
  - wait: {idle: 300}
---
name: not there
launch: no-such-program-at-all
steps:
  - expect: x
---
name: wrong text
launch: [sh, -c, "echo Main menu; cat"]
timeout: 0.2
steps:
  - expect: Main menu
  - expect: {text: Main manu}
  - keys: [never]
---
name: wrong screen
launch: [sh, -c, "echo one; cat"]
timeout: 0.2
steps:
  - expect: one
  - snapshot: one
---
name: no golden screen
launch: [sh, -c, "echo one; cat"]
timeout: 20
steps:
  - snapshot: none
---
name: never quiet
launch: [sh, -c, "while :; do printf 'x\\r'; sleep 0.02; done"]
timeout: 0.3
steps:
  - expect: {not_text: y}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scenarios")
    for name, text in PROGRAMS.items():
        (made / name).write_text(text)
    (made / "numbers.txt").write_text("".join(f"{number}\n" for number in range(1, 60)))
    golden = made / "__screens__"
    golden.mkdir()
    (golden / "all-wrong-screen-one.txt").write_text("won\n")
    (golden / "all-colours-and-words-words.txt").write_text(
        "▒▒▒ pink ownnew line\nnew line\n--- styles ---\n0:0 'red' fg=red bold\n"
        "0:4 'pink' bg=color200\n0:9 'ownnew line' fg=#010203\n1:0 'new line' fg=#010203\n"
    )
    return made


@pytest.fixture(scope="module")
def suite(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SuiteResult]:
    scenarios = parse_scenarios(SCENARIOS, str(folder / "all.yaml"))
    told: list[ScenarioResult] = []
    before = set(os.listdir(folder))
    homes = tmp_path_factory.mktemp("t")
    patched = pytest.MonkeyPatch()
    patched.setattr(tempfile, "tempdir", str(homes))
    ran = run_suite(scenarios, jobs=4, retries=0, options=RunOptions(), told=told.append)
    assert sorted(one.scenario.name for one in told) == sorted(one.name for one in scenarios)
    assert [one.scenario for one in ran.results] == scenarios  # in the order of the file
    assert set(os.listdir(folder)) - before == {"seen", "note.txt"}
    assert list(homes.iterdir()) == []  # the daemon's home is gone, and so is the daemon
    yield ran
    patched.undo()


def of(suite: SuiteResult, name: str) -> ScenarioResult:
    [found] = [one for one in suite.results if one.scenario.name == name]
    return found


@pytest.mark.parametrize(
    "name",
    [
        "vim edits a file",
        "less pages and searches",
        "dialog asks",
        "curses takes clicks and sizes",
        "colours and words",
    ],
)
def test_a_real_program_passes(suite: SuiteResult, name: str) -> None:
    result = of(suite, name)
    assert (result.status, result.last.failure) == ("passed", None)
    assert len(result.last.steps) == len(result.scenario.steps)
    assert result.last.recording is None  # nobody will look at it


def test_vim_wrote_its_file(suite: SuiteResult, folder: Path) -> None:
    assert suite.results
    assert (folder / "note.txt").read_text() == "hello\npasted line\n"


def test_what_passes_the_second_time_is_flaky(suite: SuiteResult) -> None:
    result = of(suite, "second time right")
    assert result.status == "flaky"
    assert [attempt.status for attempt in result.attempts] == ["failed", "passed"]
    assert suite.count("flaky") == 1


FAILURES = {
    "dead at once": ("the program ended with exit code 3: 'fine' is not on the screen", 1, "oops"),
    "dead before keys": ("the program ended with exit code 3, and it takes no input", 2, "oops"),
    "dead and not expected": ("the program ended with exit code 4, which nothing expects", 3, ""),
    "not there": ("", 0, "no-such-program-at-all"),
    "wrong text": ("'Main manu' is not on the screen; row 0 has 'Main menu'", 2, "│Main menu"),
    "wrong screen": ("the screen is not the golden one", 2, "- "),
    "no golden screen": ("there is no golden screen", 1, "all-no-golden-screen-none.txt"),
    "never quiet": ("the screen does not come to rest", 1, ""),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_says_what_and_where(suite: SuiteResult, name: str) -> None:
    result = of(suite, name)
    begins, steps, has = FAILURES[name]
    failure = result.last.failure or ""
    assert result.status == "failed"
    assert failure.startswith(begins), failure
    assert has in failure
    assert len(result.last.steps) == steps
    if steps:
        assert result.last.steps[-1].failed
        assert result.last.line == result.last.steps[-1].line
        assert result.last.recording is not None
        assert (result.last.picture or b"").startswith(b"<svg")
