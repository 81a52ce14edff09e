"""The branch of cgroups over a folder that looks like a delegated one.

What the kernel does with the files is not seen here: nothing is really limited.
"""

import os
from pathlib import Path

import pytest

from nacre.system.cgroups.branch import CgroupLimits, claim, group_name
from nacre.system.cgroups.place import CgroupPlace, CgroupRefused

LIMITS = CgroupLimits(memory_bytes=1 << 30, processes=500, cpu_weight=50)
OURS = (101, 102)


def delegated(
    root: Path, *, controllers: str = "cpu io memory pids", inside: str = "101\n102\n"
) -> CgroupPlace:
    """Return a hierarchy in which we are in the group /app.scope, which is ours."""
    own = root / "app.scope"
    own.mkdir()
    (own / "cgroup.controllers").write_text(controllers + "\n")
    (own / "cgroup.subtree_control").write_text("\n")
    (own / "cgroup.procs").write_text(inside)
    (root / "membership").write_text("1:name=systemd:/x\n0::/app.scope\n")
    return CgroupPlace(str(root), "/", str(root / "membership"))


def test_branch_hands_its_controllers_down_and_leaves_its_own_processes_in_a_leaf(
    tmp_path: Path,
) -> None:
    branch = claim(delegated(tmp_path), LIMITS, OURS)
    own = tmp_path / "app.scope"
    assert branch.folder == str(own)
    assert (own / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    assert (own / "nacre-daemon" / "cgroup.procs").read_text() == "102"  # the last that was written
    assert branch.limited == ("cpu.weight", "memory.max", "pids.max")


def test_group_of_a_session_has_its_limits(tmp_path: Path) -> None:
    folder = Path(claim(delegated(tmp_path), LIMITS, OURS).make("abc"))
    assert folder.name == group_name("abc")
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert written == {"memory.max": str(1 << 30), "pids.max": "500", "cpu.weight": "50"}


def test_limits_that_are_switched_off_are_not_written(tmp_path: Path) -> None:
    branch = claim(delegated(tmp_path), CgroupLimits(0, 7, 100), OURS)
    assert sorted(os.listdir(branch.make("abc"))) == ["cpu.weight", "pids.max"]


def test_controller_that_is_not_delegated_is_named_as_missing(tmp_path: Path) -> None:
    branch = claim(delegated(tmp_path, controllers="memory pids"), LIMITS, OURS)
    assert (branch.limited, branch.missing) == (("memory.max", "pids.max"), ["cpu"])


def test_next_daemon_finds_the_branch_from_its_leaf(tmp_path: Path) -> None:
    place = delegated(tmp_path)
    claim(place, LIMITS, OURS)
    (tmp_path / "membership").write_text("0::/app.scope/nacre-daemon\n")
    (tmp_path / "app.scope" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (tmp_path / "app.scope" / "cgroup.procs").write_text("")
    assert claim(place, LIMITS, (201, 102)).folder == str(tmp_path / "app.scope")


def test_group_with_processes_of_others_is_left_alone(tmp_path: Path) -> None:
    place = delegated(tmp_path, inside=f"101\n102\n{os.getppid()}\n")
    with pytest.raises(CgroupRefused, match="other programs") as caught:
        claim(place, LIMITS, OURS)
    assert "Delegate=yes" in caught.value.fix
    assert not (tmp_path / "app.scope" / "nacre-daemon").exists()
    assert (tmp_path / "app.scope" / "cgroup.subtree_control").read_text() == "\n"


def test_what_the_daemon_started_is_moved_with_it(tmp_path: Path) -> None:
    ours = (os.getppid(),)
    claim(delegated(tmp_path, inside=f"{os.getpid()}\n"), LIMITS, ours)
    moved = (tmp_path / "app.scope" / "nacre-daemon" / "cgroup.procs").read_text()
    assert moved == str(os.getpid())


def test_hierarchy_without_the_controllers_is_refused(tmp_path: Path) -> None:
    """As where version 1 has them."""
    with pytest.raises(CgroupRefused, match="no controllers"):
        claim(delegated(tmp_path, controllers="hugetlb"), LIMITS, OURS)


def test_limit_that_the_kernel_changes_is_no_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.system.cgroups.branch._write", lambda path, value: None)
    place = delegated(tmp_path)
    (tmp_path / "app.scope" / "nacre-daemon").mkdir()
    probe = tmp_path / "app.scope" / "nacre-probe"
    probe.mkdir()
    for name in ("cpu.weight", "memory.max", "pids.max"):
        (probe / name).write_text("max\n")
    with pytest.raises(CgroupRefused, match="cannot be made"):
        claim(place, LIMITS, OURS)


def test_groups_that_are_empty_are_swept(tmp_path: Path) -> None:
    branch = claim(delegated(tmp_path), LIMITS, OURS)
    old = tmp_path / "app.scope" / group_name("old")
    old.mkdir()
    branch.sweep()
    assert not old.exists()
    branch.remove("never there")
