"""Where a run's time went: seconds and processor time by file, also of what tests started."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 120.0  # seconds
ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

# Half a second of processor in a child, which ends with the file; and of waiting.
COMPUTES = """
import subprocess, sys, pytest
BUSY = "import time\\nwhile time.process_time() < 0.6: pass"

@pytest.fixture(scope="module")
def program():
    yield
    subprocess.run([sys.executable, "-I", "-S", "-c", BUSY])

def test_one(program): pass
def test_other(program): pass
"""
WAITS = "import select\ndef test_waits(): select.select([], [], [], 0.6)\n"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_each_file_has_its_seconds_and_those_of_its_programs(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_computes.py").write_text(COMPUTES)
    (tmp_path / "test_waits.py").write_text(WAITS)
    (tmp_path / "test_quick.py").write_text("def test_quick(): pass\n")
    options = ["-p", "xdist", "-p", "tests.pace", "-n", workers, "--dist", "loadfile"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    row = r"^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+)  (.*)$"
    table = {name: times for *times, name in re.findall(row, done.stdout, re.M)}
    tests, _, used, _ = table["test_computes.py"]
    assert (tests, float(used) >= 0.5) == ("2", True), done.stdout
    tests, passed, _, _ = table["test_waits.py"]
    assert (tests, float(passed) >= 0.6) == ("1", True), done.stdout
    assert table["together"][0] == "4"
    assert sum(name.startswith("by ") for name in table) == (2 if workers == "2" else 1)
