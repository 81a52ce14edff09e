"""Where clients come from: registries, by name and version, into a scratch folder.

Rule: a client that cannot be installed is told of with the reason and is no failure: registries
differ.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_NODE = "node@22.23.3"  # what the newest Inspector and the conformance suite need


class CannotInstall(Exception):
    pass


class Scratch:
    """A folder with an environment for each client. What is there already is used again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def python(self, name: str, *packages: str) -> Path:
        """Return the interpreter of an environment with these packages."""
        place = self.folder / name
        python = place / "bin" / "python"
        if self._is_there(place, packages):
            return python
        self._run([sys.executable, "-m", "venv", str(place)])
        self._run([str(python), "-m", "pip", "install", "--quiet", *packages])
        self._note(place, packages)
        return python

    def node(self) -> Path:
        """Return a Node that runs every client."""
        return self.npm("node", _NODE) / "node_modules" / ".bin" / "node"

    def npm(self, name: str, *packages: str) -> Path:
        """Return a folder with these packages, and with this folder's scripts beside them."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        for script in _HERE.glob("*.mjs"):  # Node finds packages from where the script is
            shutil.copy(script, place)
        if self._is_there(place, packages):
            return place
        (place / "package.json").write_text('{"private": true}')
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        path = os.environ["PATH"]
        if name != "node":
            path = f"{self.node().parent}:{path}"
        self._run(["npm", "install", *quiet, *packages], cwd=place, path=path)
        self._note(place, packages)
        return place

    def _is_there(self, place: Path, packages: tuple[str, ...]) -> bool:
        noted = place / "installed"
        return noted.exists() and noted.read_text() == "\n".join(packages)

    def _note(self, place: Path, packages: tuple[str, ...]) -> None:
        (place / "installed").write_text("\n".join(packages))

    def _run(self, argv: list[str], cwd: Path | None = None, path: str | None = None) -> None:
        env = {**os.environ, **({"PATH": path} if path else {})}
        try:
            done = subprocess.run(
                argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotInstall(str(error)) from error
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "ERR" in line.upper()]
            raise CannotInstall("; ".join((said or [done.stderr or "no reason given"])[:2])[:200])
