"""Scenarios as YAML: what they mean, and what is told of wrong ones, by file and line."""

import sys
from pathlib import Path

import pytest

from nacre.errors import Failed, InvalidInput
from nacre.testing.scenarios.scenario import (
    CheckStep,
    IdleStep,
    InputStep,
    NewTextStep,
    SnapshotStep,
)
from nacre.testing.scenarios.yaml_file import parse_scenarios, read_scenarios
from nacre.testing.screens.checks import AbsenceCheck, CursorCheck, ExitCheck, TextCheck
from nacre.testing.screens.masks import PatternMask, RegionMask
from nacre.testing.screens.style import ExpectedStyle

ALL = """
name: everything
launch: {command: vim, args: [-u, NONE], rows: 10, env: {A: 1}}
cols: 40
timeout: 3
retries: 2
masks: ['\\d+', {region: {row: 1, col: 2, rows: 3, cols: 4}}, {regex: x}]
steps:
  - keys: [Down, Ctrl+C, 5]
  - type: 12
  - paste: |
      two
      lines
  - mouse: {click: OK}
  - focus: Host
  - focus: {text: Host, timeout: 2}
  - mouse: {action: drag, row: 1, col: 2, to_row: 3, to_col: 4}
  - resize: 30x100
  - wait: ready
  - wait: {new: again, timeout: 1}
  - wait: {idle: 0.2}
  - wait: {exit: true}
  - expect: [one, two]
  - expect: {text: x, style: {fg: red}, row: 1, not_text: [y], cursor: [1, 2], timeout: 2}
  - expect: {regex: 'a+', exit_code: 3}
  - snapshot: {name: end, style: true, masks: [z]}
"""


def test_every_word_means_what_the_page_says() -> None:
    [scenario] = parse_scenarios(ALL, "dir/all.yaml")
    start = scenario.start
    assert (start.command, start.args, start.rows, start.cols) == ("vim", ("-u", "NONE"), 10, 40)
    assert (start.env, start.cwd) == ((("A", "1"),), str(Path("dir").absolute()))
    assert (scenario.timeout, scenario.retries) == (3.0, 2)
    assert scenario.masks == (PatternMask(r"\d+"), RegionMask(1, 2, 3, 4), PatternMask("x"))
    red = ExpectedStyle.parse("red")
    assert [step.action for step in scenario.steps] == [
        InputStep("keys", ("Down", "Ctrl+C", "5")),
        InputStep("type", ("12",)),
        InputStep("paste", ("two\nlines\n",)),
        InputStep("mouse", named=(("action", "click"), ("text", "OK"))),
        InputStep("focus", ("Host",)),
        InputStep("focus", ("Host",), named=(("patience", 2.0),)),
        InputStep(
            "mouse",
            named=(("action", "drag"), ("row", 1), ("col", 2), ("to_row", 3), ("to_col", 4)),
        ),
        InputStep("resize", (30, 100)),
        CheckStep((TextCheck("ready"),)),
        NewTextStep("again", 1.0),
        IdleStep(0.2),
        CheckStep((ExitCheck(),)),
        CheckStep((TextCheck("one"), TextCheck("two"))),
        CheckStep(
            (TextCheck("x", style=red, row=1), AbsenceCheck("y"), CursorCheck(1, 2)), timeout=2.0
        ),
        CheckStep((TextCheck("a+", regex=True), ExitCheck(3))),
        SnapshotStep("end", (PatternMask("z"),), styled=True),
    ]
    assert (scenario.steps[0].line, scenario.steps[0].label) == (9, "keys Down Ctrl+C 5")


def test_a_line_is_split_into_words_and_documents_get_names() -> None:
    text = "launch: sh -c 'echo a b'\nsteps: [{wait: a}]\n---\nlaunch: [cat]\nsteps: [{wait: a}]"
    first, second = parse_scenarios(text, "x.test.yaml")
    assert (first.name, first.start.command, first.start.args) == ("x", "sh", ("-c", "echo a b"))
    assert (second.name, second.start.args) == ("x-2", ())


WRONG = {
    "launch: cat\nsteps:\n  - expcet: x\n": "f:3: a step has no 'expcet'; did you mean 'expect'?",
    "launch: cat\nsteps:\n  - expect: x\n    keys: a\n": "f:3: a step has one word",
    "lunch: cat\nsteps: [{wait: a}]": "f:1: a scenario has no 'lunch'; did you mean 'launch'?",
    "steps: [{wait: a}]": "f:1: launch is missing: the program to start",
    "launch: cat": "f:1: steps is missing: a list of steps",
    "launch: cat\nsteps: []": "f:2: steps is a list of steps, each after a -",
    'launch: "sh -c \'x"\nsteps: [{wait: a}]': "f:1: launch: No closing quotation",
    "launch: cat\nsteps:\n- keys: [Ctrl+Foo]": "f:3: keys: 'Ctrl+Foo' is no combination of keys",
    "launch: cat\nsteps:\n- keys: []": "f:3: keys is a key or a list of them",
    "launch: cat\nsteps:\n- expect:\n    style: red": "f:4: style needs a text",
    "launch: cat\nsteps:\n- expect: {text: a, style: rde}": "f:3: fg 'rde' is no colour",
    "launch: cat\nsteps:\n- expect: {regex: '('}": "f:3: '(' is no regular expression",
    "launch: cat\nsteps:\n- expect: {}": "f:3: expect expects nothing",
    "launch: cat\nsteps:\n- expect: {text: ''}": "f:3: text is empty, and every screen has that",
    "launch: cat\nsteps:\n- expect: {exit_code: 256}": "f:3: exit_code is a whole number from 0",
    "launch: cat\nsteps:\n- expect: {cursor: [1]}": "f:3: cursor is [row, col]",
    "launch: cat\nsteps:\n- wait: {timeout: 1}": "f:3: wait has nothing to wait for",
    "launch: cat\nsteps:\n- resize: {rows: 3}": "f:3: resize needs rows and cols",
    "launch: cat\nsteps:\n- snapshot: {style: true}": "f:3: name is missing",
    "launch: cat\nsteps:\n- mouse: {clik: OK}": "f:3: mouse has no 'clik'; did you mean 'click'?",
    "launch: cat\ntimeout: soon\nsteps: [{wait: a}]": "f:2: timeout is a number of seconds",
    "launch: cat\nlaunch: dog\nsteps: [{wait: a}]": "f:2: launch is given twice",
    "launch: [cat\nsteps: x": "f:2: this is no YAML",
    "- a": "f:1: a scenario is a map",
    "": "f has no scenario",
    "name: a\nlaunch: cat\nsteps: [{wait: a}]\n---\nname: a\nlaunch: cat\nsteps: [{wait: b}]": (
        "f: two scenarios are called 'a'"
    ),
}


@pytest.mark.parametrize(("text", "told"), WRONG.items())
def test_what_is_wrong_is_told_by_file_and_line(text: str, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_scenarios(text, "f")
    assert str(caught.value).startswith(told)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_scenarios("steps:\n- exect: a\n- wait: {}\nrows: 0\nlaunch: x", "f")
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == ["f:4", "f:2", "f:3"]


def test_without_yaml_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "a.yaml").write_text("launch: cat")
    with pytest.raises(Failed, match=r"pip install 'nacre\[test\]'"):
        read_scenarios(str(tmp_path / "a.yaml"))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        read_scenarios(str(tmp_path / "none.yaml"))
