"""Has the web page built before a wheel or an sdist is packed, where it is not there already.

Rule: an editable install never fails for it: `make run` and `make test` build the page themselves.
"""

import os
import shutil
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises RuntimeError when the page is missing and cannot be built."""
        page = os.path.join(self.root, "src", "nacre", "page", "index.html")
        if version == "editable" or os.path.exists(page):
            return
        node = "" if shutil.which("npm") else ", and Node.js, 60 MB, which stays nowhere"
        _say(f"nacre: building the web page (about 10 MB are fetched for it{node})")
        folders = [os.path.join(self.root, "web", name) for name in ("node_modules", ".venv")]
        new = [folder for folder in folders if not os.path.exists(folder)]
        script = os.path.join(self.root, "scripts", "build-web")
        done = subprocess.run(
            ["sh", script], env={**os.environ, "PYTHON": sys.executable}, check=False
        )
        for folder in new:
            shutil.rmtree(folder, ignore_errors=True)
        if done.returncode != 0:
            raise RuntimeError("the web page could not be built; scripts/build-web says why")


def _say(text: str) -> None:
    """Tell the person who waits: pip shows nothing of what a build prints, unless it fails."""
    try:
        with open("/dev/tty", "w") as terminal:
            print(text, file=terminal)
    except OSError:  # nobody is there
        sys.stdout.write(f"{text}\n")
