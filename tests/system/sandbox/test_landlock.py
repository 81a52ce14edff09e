"""What Landlock is told to allow, and the filter that goes with it."""

import marshal
import struct
from pathlib import Path

import pytest

from nacre.errors import BadParameter
from nacre.system.sandbox.filter import filter_program
from nacre.system.sandbox.landlock import landlock_plan, trouble_with_landlock
from nacre.system.sandbox.profiles import PROFILES
from nacre.system.sandbox.view import Mount, SandboxView


def planned(*mounts: Mount) -> tuple[list[str], list[str]]:
    plan = marshal.loads(landlock_plan(SandboxView(mounts), ("/bin/sh",), cwd="/", env={}))
    return plan["read"], plan["write"]


def test_what_is_hidden_below_a_readable_folder_is_left_out(tmp_path: Path) -> None:
    for name in ("a", "b/c", "b/d", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "b" / "c")
    root = str(tmp_path)
    readable, _ = planned(Mount("read", root, root), Mount("empty", f"{root}/b/c"))
    assert readable == [f"{root}/a", f"{root}/b/d", f"{root}/e", "/proc", "/sys"]


def test_folder_that_hides_nothing_is_one_rule(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert planned(Mount("read", root, root))[0] == [root, "/proc", "/sys"]


def test_what_is_shown_again_below_something_hidden_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "tmp" / "work").mkdir(parents=True)
    root, work = str(tmp_path), str(tmp_path / "tmp" / "work")
    found = planned(
        Mount("read", root, root), Mount("empty", f"{root}/tmp"), Mount("write", work, work)
    )
    assert found == (["/proc", "/sys"], [work])


def test_something_hidden_within_a_writable_folder_is_refused(tmp_path: Path) -> None:
    root = str(tmp_path)
    with pytest.raises(BadParameter, match="cannot hide"):
        planned(Mount("write", root, root), Mount("empty", f"{root}/own"))


def test_review_is_refused_with_the_way_to_get_it() -> None:
    trouble = trouble_with_landlock(PROFILES["review"])
    assert trouble is not None
    assert trouble.fix == "install bubblewrap"


@pytest.mark.parametrize(
    ("version", "reason"), [(0, "no Landlock"), (5, "version 5"), (6, None), (9, None)]
)
def test_kernel_that_does_not_confine_signals_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: int, reason: str | None
) -> None:
    monkeypatch.setattr("nacre.system.sandbox.landlock.landlock_version", lambda: version)
    monkeypatch.setattr("nacre.system.sandbox.landlock.filter_program", lambda *, alone: b"x")
    trouble = trouble_with_landlock(PROFILES["workspace"])
    assert (trouble is None) == (reason is None)
    assert reason is None or (trouble is not None and reason in trouble.reason)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("alone", [False, True])
def test_every_jump_of_the_filter_lands_within_it(machine: str, alone: bool) -> None:
    program = filter_program(machine, alone=alone)
    assert program is not None
    lines = list(struct.iter_unpack("=HBBI", program))
    for at, (code, yes, no, _) in enumerate(lines):
        if code & 7 == 5:  # BPF_JMP
            assert at + 1 + max(yes, no) < len(lines)
    assert lines[-1][0] == 6, "it ends with a verdict"


def test_machine_whose_numbers_nobody_knows_has_no_filter() -> None:
    assert filter_program("riscv64", alone=True) is None
