"""What the programs under test need: to be installed, and surroundings that are always the same."""

import os
import shutil
import sys
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds until an event that does not come fails the test
MENU = str(Path(__file__).with_name("menu.py"))


def program(name: str) -> str:
    """Return where a program lies. One that is missing fails the test: a skip would hide it."""
    found = sys.executable if name == "python" else shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is not installed; 'make test' installs it", pytrace=False)
    return found


def surroundings(home: Path) -> dict[str, str]:
    """An environment with nothing of the user's in it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/sh",
        "LESS": "",
        "NODE_REPL_HISTORY": "",
        "PYTHONSTARTUP": "",
    }
