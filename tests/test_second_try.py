"""A test that fails once is told as flaky, and one that is broken stays red."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 120.0  # seconds
ROOT = Path(__file__).parents[1]

# Passes from its second run on, whoever runs it.
FLAKY = """
from pathlib import Path

def test_flaky():
    seen = Path(__file__).with_name("seen")
    known = seen.exists()
    seen.touch()
    print("what it said")
    assert known, "not at the first time"
"""
FINE = "def test_fine(): pass\n"


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """Return the exit code and the output of a run of these files with the plugin."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.second_try", *options],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # most of a start's time
            "COLUMNS": "80",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# Alone it has the module's fixture for itself.
SPOILT = """
import pytest

@pytest.fixture(scope="module")
def shared(): return []

def test_first(shared): shared.append(1)
def test_second(shared): assert shared == []
"""
ODD = (
    FLAKY.replace(
        "def test_flaky():",
        'import pytest\n@pytest.mark.parametrize("name", ["a [b]::c/d.py e", "ü"])\n'
        "def test_flaky(name):",
    )
).replace('"seen"', '"odd" + str(len(name))')
BROKEN = 'def test_broken(): assert 1 == 2, "always"\n'
SKIPS = FLAKY.replace(
    "assert known", "import pytest\n    if known: pytest.skip()\n    assert known"
).replace('"seen"', '"skipped"')


def fails_once(phase: str) -> str:
    """Return a test whose fixture fails at its first setup or teardown."""
    once = FLAKY.replace("def test_flaky():", "def once():").replace('"seen"', f'"{phase}"')
    before, after = ("once()", "") if phase == "setup" else ("", "once()")
    return f"""{once}
import pytest

@pytest.fixture
def given():
    {before}
    yield
    {after}

def test_it(given): pass
"""


# Each second try is a process, so all that may happen in one run shares it.
def test_flaky_tests_count_as_passed_and_are_told_with_their_trace(tmp_path: Path) -> None:
    code, output = run(
        tmp_path,
        test_a=FLAKY,
        test_b=FINE,
        test_c=SPOILT,
        test_d=fails_once("setup"),
        test_e=fails_once("teardown"),
        test_f=ODD,
    )
    assert code == 0, output
    assert "second try, alone: test_a.py::test_flaky\n  passed: it is flaky\n" in output
    summary = output[output.index("FLAKY test_a.py::test_flaky") :]
    assert 'assert known, "not at the first time"' in summary
    assert "what it said" in summary
    assert "\nFLAKY test_a.py::test_flaky - AssertionError: not at the first time\n" in summary
    for other in ("test_c.py::test_second", "test_d.py::test_it", "test_e.py::test_it"):
        assert f"FLAKY {other}" in output
    # Of a test whose teardown failed, the call has passed.
    assert "3 passed, 6 flaky in" in summary.splitlines()[-1]
    assert "FAILED" not in output


def test_broken_test_stays_red_beside_a_flaky_one_with_workers(tmp_path: Path) -> None:
    code, output = run(tmp_path, "-n", "2", test_a=FLAKY, test_b=BROKEN, test_c=SKIPS)
    assert code == 1, output
    assert "second try, alone: test_b.py::test_broken\n  failed again\n" in output
    assert "Second try, alone" in output[output.index("= FAILURES =") :]
    assert "FAILED test_b.py::test_broken - AssertionError: always" in output
    assert "FLAKY test_a.py::test_flaky" in output
    assert "FLAKY test_c.py" not in output, "a skip at the second try is no pass"
    assert "2 failed, 1 flaky in" in output.splitlines()[-1]


def test_crashed_worker_stays_red(tmp_path: Path) -> None:
    crash = FLAKY.replace(
        "assert known", "import os\n    if not known: os._exit(1)\n    assert known"
    )
    code, output = run(tmp_path, "-n", "2", test_a=crash, test_b=FINE)
    assert code == 1, output
    assert "second try" not in output
    assert "crashed while running 'test_a.py::test_flaky'" in output
    assert "FAILED test_a.py::test_flaky" in output


def test_file_that_cannot_be_read_stays_red(tmp_path: Path) -> None:
    broken = FLAKY.replace("def test_flaky():", "if True:")
    code, output = run(tmp_path, test_a=broken, test_b=FINE)
    assert code == 2, output
    assert "second try" not in output


def test_many_failures_get_no_second_try(tmp_path: Path) -> None:
    many = FLAKY + "\n".join(f"def test_{number}(): assert 0" for number in range(21))
    code, output = run(tmp_path, test_a=many)
    assert code == 1, output
    assert "22 tests failed: too many for a second try" in output
    assert "22 failed in" in output.splitlines()[-1]
