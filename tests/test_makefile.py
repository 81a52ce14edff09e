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
