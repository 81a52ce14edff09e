"""The engine's declarations, as they are kept: those of the pyghostty that is installed."""

import subprocess
import sys
from pathlib import Path

from nacre.core.terminal import ghostty_types

SCRIPT = Path(__file__).parents[3] / "scripts" / "engine_types.py"


def test_kept_declarations_are_those_of_the_library() -> None:
    program = f"import runpy; print(runpy.run_path({str(SCRIPT)!r})['render']())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(Path(ghostty_types.__file__).read_text(encoding="ascii") + "\n"), (
        f"run {SCRIPT.name}"
    )


def test_terminal_is_made_without_parsing_declarations() -> None:
    program = (
        "import sys; from nacre.core.terminal.terminal import Terminal; Terminal(2, 20).close(); "
        "print({'pyghostty', 'cffi', 'pycparser'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
