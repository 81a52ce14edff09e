"""The cgroups of a daemon: what they say of themselves, with and without a branch."""

import os
from pathlib import Path

import pytest

from nacre.settings.table import Settings
from nacre.system.cgroups import scope
from nacre.system.cgroups.groups import SessionGroups, memory_bytes
from nacre.system.cgroups.place import CgroupRefused

from system.cgroups.test_branch import OURS, delegated

pytestmark = pytest.mark.anyio

SETTINGS = Settings(session_max_memory="2G", session_max_processes=300)


async def test_branch_is_claimed_once_and_described(tmp_path: Path) -> None:
    groups = SessionGroups(SETTINGS, lambda: OURS, delegated(tmp_path))
    assert groups.make("abc") == ""  # nothing before it was tried
    await groups.prepare()
    assert groups.describe() == ("processor weight 100, memory 2.0 GiB, 300 processes", "")
    assert groups.make("abc").endswith("app.scope/nacre-session-abc")
    (tmp_path / "membership").unlink()
    await groups.prepare()
    assert groups.make("def") != ""


async def test_refusal_is_said_with_its_fix(tmp_path: Path) -> None:
    groups = SessionGroups(SETTINGS, lambda: OURS, delegated(tmp_path, controllers=""))
    await groups.prepare()
    held, fix = groups.describe()
    assert held.startswith("none: its cgroup")
    assert "Delegate=yes" in fix
    assert groups.make("abc") == ""


async def test_setting_switches_them_off(tmp_path: Path) -> None:
    off = Settings(session_cgroups="off")
    groups = SessionGroups(off, lambda: OURS, delegated(tmp_path))
    await groups.prepare()
    assert "session_cgroups" in groups.describe()[0]
    assert not (tmp_path / "app.scope" / "nacre-daemon").exists()


async def test_session_that_is_in_no_group_is_not_said_to_be(tmp_path: Path) -> None:
    """The folder is there, but the kernel does not know it: what counts is what the kernel says."""
    groups = SessionGroups(SETTINGS, lambda: OURS, delegated(tmp_path))
    await groups.prepare()
    groups.make("abc")
    assert groups.limits_of("abc", os.getpid()) == ""


async def test_folder_that_is_gone_costs_the_limit_and_not_the_session(tmp_path: Path) -> None:
    groups = SessionGroups(SETTINGS, lambda: OURS, delegated(tmp_path))
    await groups.prepare()
    (tmp_path / "app.scope").rename(tmp_path / "elsewhere")
    assert groups.make("abc") == ""


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("4096", 4096), ("3K", 3072), ("2G", 2 << 30), ("1T", 1 << 40)]
)
def test_memory_is_read_with_its_unit(text: str, size: int) -> None:
    assert memory_bytes(text) == size


def test_memory_may_be_a_part_of_the_machine() -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory_bytes("50%") == machine // 2


def test_users_systemd_is_not_asked_where_it_ends_sessions_at_logout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "_ANSWERS", str(tmp_path))
    monkeypatch.setattr(scope, "_LINGERING", str(tmp_path / "nobody"))
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(CgroupRefused, match="last logout") as caught:
        scope.enter_scope([1], "/user.slice/user-4711.slice/session-3.scope")
    assert "enable-linger" in caught.value.fix


def test_scope_is_asked_for_by_what_the_bus_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, "_ANSWERS", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    asked = tmp_path / "asked"
    bus = tmp_path / "busctl"
    bus.write_text(f'#!/bin/sh\necho "$@" >{asked}\necho no such thing >&2; exit 1\n')
    bus.chmod(0o700)
    monkeypatch.setattr(scope, "_environment", lambda user: {"PATH": f"{tmp_path}:/bin:/usr/bin"})
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(CgroupRefused, match="no such thing"):
        scope.enter_scope([11, 12], "/")
    assert "StartTransientUnit" in asked.read_text()
    assert "PIDs au 2 11 12 Delegate b true" in asked.read_text()
