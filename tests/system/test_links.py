"""A path leads where its links lead, but never through /proc."""

import os
from pathlib import Path

from nacre.system.links import lead


def test_links_are_followed_one_by_one(tmp_path: Path) -> None:
    here = Path(os.path.realpath(tmp_path))
    (here / "a").mkdir()
    (here / "b").symlink_to("a")
    (here / "c").symlink_to(here / "b")
    (here / "a" / "up").symlink_to("../x")
    assert lead(f"{here}/c/f") == f"{here}/a/f"
    assert lead(f"{here}/c//./up/y") == f"{here}/x/y"
    assert lead(f"{here}/none/../b") == f"{here}/a"
    assert lead("/") == "/"
    (here / "loop").symlink_to("loop")
    assert lead(f"{here}/loop/x").startswith(str(here))


def test_what_another_process_has_is_not_looked_up_in_ours(tmp_path: Path) -> None:
    here = Path(os.path.realpath(tmp_path))
    (here / "cwd").symlink_to("/proc/self/cwd")
    assert lead("/proc/self/cwd/etc") == "/proc/self/cwd/etc"
    assert lead(f"{here}/cwd/etc") == "/proc/self/cwd/etc"
    assert lead("/dev/fd/3") == "/proc/self/fd/3"
    assert lead("/dev/stdin") == "/dev/stdin"
