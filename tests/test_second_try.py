"""A test that fails once is told as flaky, and one that is broken stays red."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("workers", ["0", "2"])
def test_flaky_test_counts_as_passed_and_is_told_with_its_trace(
    tmp_path: Path, workers: str
) -> None:
    code, output = run(tmp_path, "-n", workers, test_a=FLAKY, test_b=FINE)
    assert code == 0, output
    assert "second try, alone: test_a.py::test_flaky\n  passed: it is flaky\n" in output
    summary = output[output.index("FLAKY test_a.py::test_flaky") :]
    assert 'assert known, "not at the first time"' in summary
    assert "what it said" in summary
    assert "\nFLAKY test_a.py::test_flaky - AssertionError: not at the first time\n" in summary
    assert "1 passed, 1 flaky in" in summary.splitlines()[-1]
    assert "FAILED" not in output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_broken_test_stays_red_beside_a_flaky_one(tmp_path: Path, workers: str) -> None:
    broken = 'def test_broken(): assert 1 == 2, "always"\n'
    code, output = run(tmp_path, "-n", workers, test_a=FLAKY, test_b=broken)
    assert code == 1, output
    assert "second try, alone: test_b.py::test_broken\n  failed again\n" in output
    assert "Second try, alone" in output[output.index("= FAILURES =") :]
    assert "FAILED test_b.py::test_broken - AssertionError: always" in output
    assert "FLAKY test_a.py::test_flaky" in output
    assert "1 failed, 1 flaky in" in output.splitlines()[-1]


def test_test_that_another_spoilt_is_flaky(tmp_path: Path) -> None:
    """Alone it has the module's fixture for itself."""
    shared = """
import pytest

@pytest.fixture(scope="module")
def shared(): return []

def test_first(shared): shared.append(1)
def test_second(shared): assert shared == []
"""
    code, output = run(tmp_path, test_a=shared)
    assert code == 0, output
    assert "FLAKY test_a.py::test_second" in output


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_fixture_that_fails_once_makes_its_test_flaky(tmp_path: Path, phase: str) -> None:
    once = FLAKY.replace("def test_flaky():", "def once():")
    before, after = ("once()", "") if phase == "setup" else ("", "once()")
    fixture = f"""
import pytest

@pytest.fixture
def given():
    {before}
    yield
    {after}

def test_it(given): pass
"""
    code, output = run(tmp_path, test_a=once + fixture)
    assert code == 0, output
    assert "FLAKY test_a.py::test_it" in output
    assert "error" not in output.splitlines()[-1]


def test_test_with_an_odd_name_is_found_again(tmp_path: Path) -> None:
    odd = FLAKY.replace("def test_flaky():", "def test_flaky(name):")
    names = '["a [b]::c/d.py e", "ü", ""]'
    marked = f"import pytest\n{odd}".replace(
        "def test_flaky", f'@pytest.mark.parametrize("name", {names})\ndef test_flaky'
    )
    code, output = run(tmp_path, test_a=marked.replace('"seen"', '"seen" + str(len(name))'))
    assert code == 0, output
    assert "3 flaky in" in output.splitlines()[-1]


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


def test_skip_at_the_second_try_is_no_pass(tmp_path: Path) -> None:
    skips = FLAKY.replace(
        "assert known", "import pytest\n    if known: pytest.skip()\n    assert known"
    )
    code, output = run(tmp_path, test_a=skips)
    assert code == 1, output
    assert "FLAKY" not in output


def test_many_failures_get_no_second_try(tmp_path: Path) -> None:
    many = FLAKY + "\n".join(f"def test_{number}(): assert 0" for number in range(21))
    code, output = run(tmp_path, test_a=many)
    assert code == 1, output
    assert "22 tests failed: too many for a second try" in output
    assert "22 failed in" in output.splitlines()[-1]


def test_without_the_plugin_a_flaky_test_is_a_failure(tmp_path: Path) -> None:
    code, output = run(tmp_path, "-p", "no:tests.second_try", test_a=FLAKY)
    assert code == 1, output
