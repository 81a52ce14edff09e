"""The engine is loaded beside the first answer, not before it."""

import subprocess
import sys


def test_what_answers_the_first_client_does_not_load_the_engine() -> None:
    program = (
        "import sys, nacre.doors.local.socket, nacre.doors.mcp.library.door; "
        "import nacre.services.wiring; "
        "print('nacre.core.terminal.ghostty' in sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "False"
