import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_terminal.py")
# NACRE_FUZZ_SEEDS=100000 is a night's work.
SEEDS = int(os.environ.get("NACRE_FUZZ_SEEDS", "40"))


@pytest.mark.timeout(max(120, 4 * SEEDS))
def test_no_output_crashes_the_engine_or_makes_the_reads_disagree() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"}
    fuzz = subprocess.run(
        [sys.executable, str(SCRIPT), "0", str(SEEDS)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    last = fuzz.stdout.splitlines()[-1:]
    assert fuzz.returncode == 0, f"{last}, exit {fuzz.returncode}\n{fuzz.stderr[-4000:]}"
    assert last == [f"seed {SEEDS - 1}"]
