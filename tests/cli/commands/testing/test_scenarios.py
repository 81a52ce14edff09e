"""`nacre test`: its output, files and exit codes, through main() in this process."""

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nacre.cli.parser import run
from testing.pages import write_examples

FAILING = """
name: fails
launch: [sh, -c, "echo Main menu; cat"]
timeout: 0.2
steps:
  - expect: Main menu
  - expect: Main manu
---
name: flaky
launch: [sh, -c, "if test -e seen; then echo good; else touch seen; echo bad; fi; cat"]
timeout: 0.5
steps:
  - expect: good
---
name: golden
launch: [sh, -c, "printf 'Menu\\n  Open\\n'; cat"]
steps:
  - expect: Open
  - snapshot: {name: start, timeout: 0.2}
---
name: passes
launch: [echo, fine]
steps:
  - expect: fine
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nacre(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["test", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_examples_of_the_page_pass(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = nacre(capsys, "menu.yaml", "--update", "--gif", "g", "--svg", "s")
    assert (code, err) == (0, ""), out
    golden = here / "__screens__" / "menu-saves-and-quits-start.txt"
    assert golden.read_text() == "Main menu\n\n  Open\n  Save\n  Quit\n"
    assert f"wrote {golden}" in out
    assert "2 passed in" in out
    assert (here / "g" / "menu-saves-and-quits.gif").read_bytes().startswith(b"GIF89a")
    assert b"Main menu" in (here / "s" / "menu-saves-and-quits.svg").read_bytes()


def test_failures_are_told_traced_and_reported(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "more").mkdir()
    (here / "more" / "bad.yml").write_text(FAILING)
    golden = here / "more" / "__screens__"
    golden.mkdir()
    (golden / "bad-golden-start.txt").write_text("Menu\n  Opened\n")
    code, out, err = nacre(capsys, "more", "--retries", "1", "--junit", "out/j.xml")
    assert (code, err) == (1, "")
    assert "FAIL  more/bad.yml: fails" in out
    assert 'more/bad.yml:7: step 2 of 2, expect "Main manu"' in out
    assert "'Main manu' is not on the screen; row 0 has 'Main menu'" in out
    assert "FLAKY more/bad.yml: flaky" in out
    assert "-   1 │   Opened\n      +   1 │   Open\n            │       ^^" in out
    assert "ok    more/bad.yml: passes" in out
    assert "1 passed, 2 failed, 1 flaky in" in out
    traces = sorted(os.listdir(here / "nacre-traces"))
    failed = ["bad-fails-try2.html", "bad-fails.html", "bad-flaky.html"]
    assert traces == [*failed, "bad-golden-try2.html", "bad-golden.html"]
    assert "trace: nacre-traces/bad-fails.html" in out
    xml = ElementTree.parse(here / "out" / "j.xml").getroot()
    assert (xml.get("tests"), xml.get("failures")) == ("4", "2")


def test_json_has_everything(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.yaml").write_text(FAILING)
    code, out, _ = nacre(capsys, "bad.yaml", "--json", "-k", "passes", "--jobs", "1")
    told = json.loads(out)
    assert (code, told["passed"], told["failed"], told["flaky"]) == (0, 1, 0, 0)
    [scenario] = told["scenarios"]
    assert scenario["name"] == "passes"
    assert (scenario["status"], scenario["tries"], scenario["failures"]) == ("passed", 1, [])


def test_wrong_files_are_told_all_at_once_before_anything_runs(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.yaml").write_text("launch: cat\nsteps:\n  - expcet: x\n")
    (here / "b.yaml").write_text("launch: [\n")
    code, out, err = nacre(capsys, "a.yaml", "menu.yaml", "b.yaml")
    assert (code, out) == (2, "")
    assert "a.yaml:3: a step has no 'expcet'; did you mean 'expect'?" in err
    assert "b.yaml:2: this is no YAML" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.yaml"], "none.yaml cannot be read"),
        (["menu.yaml", "-k", "nothing"], "none has 'nothing'"),
        (["menu.yaml", "--jobs", "0"], "is no number from 1 on"),
        (["menu.yaml", "--timeout", "soon"], "is no number of seconds"),
    ],
)
def test_wrong_arguments(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    code, _, err = nacre(capsys, *arguments)
    assert code == 2
    assert told in err


def test_without_the_extra_it_says_what_to_install(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    code, _, err = nacre(capsys, "menu.yaml")
    assert code == 1
    assert "PyYAML is not installed; pip install 'nacre[test]'" in err
