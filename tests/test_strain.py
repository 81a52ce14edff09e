"""Any order of tests that is told by a number, and other work that ends with the run."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 120.0  # seconds
ROOT = Path(__file__).parents[1]
# Other plugins are most of a start's time.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(folder: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.strain", "-v", *options],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def order(output: str) -> list[str]:
    return [line.split()[0] for line in output.splitlines() if " PASSED" in line]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in "abcd":
        tests = "\n".join(f"def test_{number}(): pass" for number in range(5))
        (tmp_path / f"test_{name}.py").write_text(tests)
    return tmp_path


def test_seed_gives_an_order_and_keeps_the_tests_of_a_file_together(folder: Path) -> None:
    plain, first, again, other = (
        order(run(folder, *given))
        for given in ([], ["--shuffle", "1"], ["--shuffle", "1"], ["--shuffle", "2"])
    )
    assert plain == sorted(plain)
    assert first == again
    assert len({tuple(plain), tuple(first), tuple(other)}) == 3
    assert set(first) == set(plain)
    files = [name.split("::")[0] for name in first]
    assert files == [name for name in dict.fromkeys(files) for _ in range(5)]
    assert list(dict.fromkeys(files)) != sorted(set(files))


def test_seed_is_told(folder: Path) -> None:
    assert "strain: --shuffle 7 --busy 0" in run(folder, "--shuffle", "7")


def test_workers_agree_about_the_order(folder: Path) -> None:
    assert "20 passed" in run(folder, "--shuffle", "7", "-n", "2")


BUSY = """
import os
from pathlib import Path

def children():
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()

def test_busy():
    Path(__file__).with_name("busy").write_text(children())
    END
"""


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)"])
def test_busy_processes_end_with_the_run(tmp_path: Path, end: str) -> None:
    (tmp_path / "test_a.py").write_text(BUSY.replace("END", end))
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "tests.strain", "--busy", "2"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )
    busy = [int(pid) for pid in (tmp_path / "busy").read_text().split()]
    assert len(busy) == 2
    for pid in busy:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([descriptor], [], [], PATIENCE)
        os.close(descriptor)
        assert ended, "it outlives the run"
