"""What a sandbox shows: nothing of nacre, no home, and where it can be written to."""

import os
from pathlib import Path

import pytest

from nacre.errors import BadParameter, InvalidInput
from nacre.system.sandbox.profiles import PROFILES
from nacre.system.sandbox.view import (
    Mount,
    SandboxView,
    Surroundings,
    check_workspace,
    find_surroundings,
    search_path,
    view_of,
)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    for name in ("nacre", "nacre/state", "home", "home/tools", "project"):
        (tmp_path / name).mkdir()
    real = os.path.realpath(tmp_path)
    hidden = (f"{real}/nacre", f"{real}/nacre/state")
    return Surroundings(hidden, (f"{real}/home",), (f"{real}/home/tools",), ("rm", "env"))


def view(around: Surroundings, profile: str, tmp_path: Path) -> SandboxView:
    return view_of(PROFILES[profile], around, os.path.realpath(tmp_path / "project"))


def written(shown: SandboxView) -> list[str]:
    return [mount.path for mount in shown.mounts if mount.kind == "write"]


@pytest.mark.parametrize("profile", PROFILES)
def test_home_and_own_folders_are_hidden_in_every_profile(
    around: Surroundings, tmp_path: Path, profile: str
) -> None:
    shown = view(around, profile, tmp_path)
    for hidden in (*around.hidden, *around.homes, f"{around.homes[0]}/.ssh", "/tmp", "/run/x"):
        assert not shown.shows(hidden), hidden
    for visible in (tmp_path / "project", tmp_path / "project/x", "/usr/bin/env"):
        assert shown.shows(str(visible)), visible
    assert shown.shows(f"{around.homes[0]}/tools/x"), "sandbox_read says so"


def test_only_the_workspace_can_be_written_to(around: Surroundings, tmp_path: Path) -> None:
    project = os.path.realpath(tmp_path / "project")
    assert written(view(around, "readonly", tmp_path)) == []
    assert written(view(around, "workspace", tmp_path)) == [project]
    assert written(view(around, "strict", tmp_path)) == [project]


def test_strict_shows_the_system_alone_and_denies(around: Surroundings, tmp_path: Path) -> None:
    shown = view(around, "strict", tmp_path)
    assert not shown.shows("/var/lib")
    assert not shown.shows("/srv")
    denied = [mount.path for mount in shown.mounts if mount.source.endswith("/denied")]
    assert [os.path.basename(path) for path in denied] == ["env", "rm"]
    assert not [m for m in view(around, "workspace", tmp_path).mounts if m.source in denied]


def test_own_folder_within_the_workspace_is_covered_after_it(
    around: Surroundings, tmp_path: Path
) -> None:
    real = os.path.realpath(tmp_path)
    shown = view_of(PROFILES["workspace"], around, real)
    assert shown.mounts[-1].path == f"{real}/nacre"
    assert not shown.shows(f"{real}/nacre/state/token")


def test_own_folder_that_the_user_made_readable_is_covered_all_the_same(
    around: Surroundings, tmp_path: Path
) -> None:
    real = os.path.realpath(tmp_path)
    careless = Surroundings(around.hidden, (), (f"{real}/nacre/state",), ())
    shown = view_of(PROFILES["workspace"], careless, f"{real}/project")
    assert not shown.shows(f"{real}/nacre/state/token")


def test_layer_takes_the_place_of_the_workspace_in_a_view_that_is_known(
    around: Surroundings, tmp_path: Path
) -> None:
    project = os.path.realpath(tmp_path / "project")
    layer = Mount("overlay", project, "/x")
    known = view_of(PROFILES["review"], around, project)
    assert known.layered(project, layer) == view_of(PROFILES["review"], around, project, layer)
    assert known.layered(f"{project}/other", layer) is None


def test_links_in_the_search_path_are_followed(around: Surroundings, tmp_path: Path) -> None:
    shown = view(around, "workspace", tmp_path)
    (tmp_path / "project/hidden").symlink_to(around.homes[0])
    path = f"hidden:/usr/bin:{around.homes[0]}:/nowhere"
    assert search_path(path, shown, str(tmp_path / "project")) == "/usr/bin:/nowhere"


def test_workspace_must_not_hold_what_is_hidden(around: Surroundings, tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    own = (around.homes[0], around.hidden[1])
    for folder in ("/", "/tmp", real, *own, "/proc/self", "/dev", "/run/user/1000", "/run/media"):
        with pytest.raises(BadParameter):
            check_workspace(folder, around)
    check_workspace(f"{real}/project", around)
    check_workspace(f"{around.homes[0]}/tools", around)
    with pytest.raises(InvalidInput, match="gone"):
        check_workspace(f"{real}/nowhere", around)
    with pytest.raises(InvalidInput, match="gone"):  # it may be one
        check_workspace("/run/media/anna/drive", around)


def test_settings_are_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    found = find_surroundings(("/a/../b",), "~/.cargo:/opt/x:", "rm  sudo")
    assert found.hidden == ("/b",)
    assert found.readable == ("/somewhere/.cargo", "/opt/x")
    assert found.denied == ("rm", "sudo")
    assert "/somewhere" in found.homes
