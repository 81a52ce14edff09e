"""Modules that import each other, begun from both ends by two threads."""

import sys
import threading
from pathlib import Path

import pytest

from nacre.late_import import import_alone

# One waits in its middle until the other is begun, as long as nobody keeps that from beginning.
LEFT = "import sys\nsys.late_left.set()\nsys.late_right.wait(0.3)\nfrom late_b import word\n"
RIGHT = "import sys\nsys.late_right.set()\nimport late_a\nword = 1\n"


def test_two_threads_get_whole_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_a.py").write_text(LEFT)
    (tmp_path / "late_b.py").write_text(RIGHT)
    monkeypatch.syspath_prepend(str(tmp_path))
    left, right = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "late_left", left, raising=False)
    monkeypatch.setattr(sys, "late_right", right, raising=False)
    found: list[object] = []

    def load(name: str) -> None:
        try:
            found.append(import_alone(name).word)
        except ImportError as error:
            found.append(error)

    threads = [threading.Thread(target=load, args=(name,)) for name in ("late_a", "late_b")]
    threads[0].start()
    assert left.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert found == [1, 1]
