"""Where a process finds its own cgroup."""

from pathlib import Path

import pytest

from nacre.system.cgroups.place import CgroupPlace, CgroupRefused, find_place, group_in

MOUNTS = r"""
22 1 0:20 / /proc rw - proc proc rw
30 1 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
31 1 0:27 /user.slice /sys/fs/c\040group rw,relatime shared:9 - cgroup2 cgroup2 rw
"""


def test_mount_of_version_2_is_found_among_others(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    place = find_place(str(mounts))
    assert (place.mount, place.root) == ("/sys/fs/c group", "/user.slice")


def test_machine_without_version_2_is_told(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.replace("cgroup2", "cgroup"))
    with pytest.raises(CgroupRefused, match="version 2"):
        find_place(str(mounts))
    with pytest.raises(CgroupRefused):
        find_place(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("group", "folder"),
    [("/user.slice/a.scope", "/mnt/a.scope"), ("/user.slice", "/mnt"), ("/system.slice", None)],
)
def test_own_group_is_seen_below_the_mount_or_not_at_all(
    tmp_path: Path, group: str, folder: str | None
) -> None:
    membership = tmp_path / "cgroup"
    membership.write_text(f"8:pids:/\n0::{group}\n")
    place = CgroupPlace("/mnt", "/user.slice", str(membership))
    if folder is None:
        with pytest.raises(CgroupRefused):
            place.own()
    else:
        assert place.own() == folder


def test_membership_of_version_1_alone_is_none() -> None:
    assert group_in("8:pids:/a\n") is None
    assert group_in("0::/a:b\n") == "/a:b"
