"""`make help` names what can be made, and the lists of tests name what is there."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()


def listed(name: str) -> list[str]:
    """Return the words of a variable."""
    found = re.search(rf"^{name} := ((?:.*\\\n)*.*)", MAKEFILE, re.M)
    assert found, name
    return found[1].replace("\\\n", " ").split()


def test_help_names_every_target() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    [targets] = re.findall(r"^\.PHONY: (.*)", MAKEFILE, re.M)
    assert set(re.findall(r"^make ([\w-]+)", shown, re.M)) == set(targets.split()) - {"help"}
    assert set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M)) == set(targets.split())


def test_lists_of_tests_name_what_is_there() -> None:
    named = [*listed("UNITS"), *listed("DOORS")]
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_door_is_passed_on_another_python() -> None:
    doors = {path.name for path in (ROOT / "src" / "nacre" / "doors").iterdir() if path.is_dir()}
    passed = {Path(path).parent.name for path in listed("DOORS")}
    inside = {"http", "page", "__pycache__"}  # below the others; in the browser's tests
    assert doors - inside <= passed
    assert {"commands", "attach", "web"} <= passed


def test_a_python_that_is_too_old_is_told(tmp_path: Path) -> None:
    old = tmp_path / "python3"  # no machine has one for sure: this one is one to Make
    old.write_text('#!/bin/sh\ncase $1 in --version) echo "Python 3.10.13";; *) exit 1;; esac\n')
    old.chmod(0o755)
    made = subprocess.run(
        ["make", "run", f"PYTHON={old}", f"VENV={tmp_path}/venv"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode != 0
    assert "nacre needs Python 3.11 or newer" in made.stderr
    assert "Python 3.10.13. Name another one: make run PYTHON=/path/to/python3.12" in made.stderr
    assert not (tmp_path / "venv").exists()


def test_a_newer_python_beside_an_old_one_is_taken(tmp_path: Path) -> None:
    for name, new_enough in (("python3", 1), ("python3.12", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {new_enough}\n")
        (tmp_path / name).chmod(0o755)
    shown = subprocess.run(
        ["make", "-n", "run", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "python3.12 -m venv" in shown
