"""Reviews: what differs is found, what is applied stays within the workspace."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nacre.errors import LimitReached
from nacre.system.sandbox.layer_work import LayerWork
from nacre.system.sandbox.layers import make_layer, place_of
from nacre.system.sandbox.review import (
    Change,
    NotCompared,
    apply,
    compare,
    has_changes,
    text_of,
)


class Reviewed:
    """A workspace, and a layer for it of either kind. `layer` is where the program writes."""

    def __init__(self, root: Path, *, overlay: bool) -> None:
        self.root, self.overlay = root, overlay
        self.workspace = root / "project"
        (self.workspace / "src").mkdir(parents=True)
        for name in ("a", "b", "src/c"):
            (self.workspace / name).write_text(f"{name}\n")

    def begin(self) -> None:
        layers = str(self.root / "layers")
        workspace = str(self.workspace)
        work = LayerWork()
        self.folder = make_layer(layers, workspace, work, overlay=self.overlay, most=1 << 20)
        self.layer = Path(place_of(self.folder))

    def write(self, name: str, text: str) -> None:
        path = self.layer / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def delete(self, name: str) -> None:
        """As overlayfs does it: a device 0:0, which anybody may make, stands for what is gone."""
        path = self.layer / name
        if not self.overlay:
            path.unlink() if not path.is_dir() or path.is_symlink() else os.rmdir(path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() or path.is_symlink():
            path.unlink()
        os.mknod(path, stat.S_IFCHR | 0o000, os.makedev(0, 0))

    def changes(self) -> dict[str, Change]:
        return {change.path: change for change in compare(self.folder)}

    def kinds(self) -> dict[str, str]:
        return {path: change.kind for path, change in self.changes().items()}

    def apply(self) -> dict[str, str]:
        """Return what was left, with the reason."""
        return {one.path: why for one, why in apply(self.folder, compare(self.folder)).left}


@pytest.fixture(params=[False, True], ids=["copy", "overlay"])
def reviewed(request: pytest.FixtureRequest, tmp_path: Path) -> Reviewed:
    made = Reviewed(tmp_path, overlay=request.param)
    made.begin()
    return made


def test_whether_there_are_changes_is_known_in_time_or_not_at_all(reviewed: Reviewed) -> None:
    assert not has_changes(reviewed.folder, 60.0)
    reviewed.write("src/new", "new\n")
    with pytest.raises(NotCompared):
        has_changes(reviewed.folder, -1.0)
    assert has_changes(reviewed.folder, 60.0)
    (reviewed.workspace / "src/new").write_text("new\n")
    (Path(reviewed.layer) / "src/new").chmod(0o644)
    (reviewed.workspace / "src/new").chmod(0o644)
    assert not has_changes(reviewed.folder, 60.0), "both have the same"


def test_untouched_layer_has_no_changes(reviewed: Reviewed) -> None:
    assert reviewed.changes() == {}


def test_changes_are_found_shown_and_applied(reviewed: Reviewed) -> None:
    reviewed.write("a", "changed\n")
    reviewed.write("new/deep/file", "new\n")
    reviewed.delete("b")
    os.symlink("a", reviewed.layer / "link")
    assert reviewed.kinds() == {
        "a": "changed",
        "b": "deleted",
        "link": "added",
        "new": "added",
        "new/deep": "added",
        "new/deep/file": "added",
    }
    shown = text_of(reviewed.folder, reviewed.changes()["a"], 1000)
    assert shown == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+changed\n"
    assert reviewed.apply() == {}
    workspace = reviewed.workspace
    assert (workspace / "a").read_text() == "changed\n"
    assert (workspace / "new/deep/file").read_text() == "new\n"
    assert not (workspace / "b").exists()
    assert os.readlink(workspace / "link") == "a"
    assert sorted(os.listdir(workspace)) == ["a", "link", "new", "src"], "no temporary file is left"
    assert reviewed.changes() == {}, "what was applied is no change any more"


def test_folder_that_is_gone_goes_with_what_was_in_it(reviewed: Reviewed) -> None:
    if not reviewed.overlay:
        reviewed.delete("src/c")
    reviewed.delete("src")
    assert reviewed.kinds() == {"src": "deleted", "src/c": "deleted"}
    assert reviewed.apply() == {}
    assert not (reviewed.workspace / "src").exists()


def test_file_in_a_folder_s_place_and_the_other_way_round(reviewed: Reviewed) -> None:
    if not reviewed.overlay:
        reviewed.delete("src/c")
        reviewed.delete("src")
        reviewed.delete("a")
    reviewed.write("src", "a file now\n")
    reviewed.write("a/inside", "a folder now\n")
    assert reviewed.apply() == {}
    assert (reviewed.workspace / "src").read_text() == "a file now\n"
    assert (reviewed.workspace / "a/inside").read_text() == "a folder now\n"


def test_opaque_folder_hides_what_was_below_it(tmp_path: Path) -> None:
    made = Reviewed(tmp_path, overlay=True)
    made.begin()
    made.write("src/other", "x\n")
    os.setxattr(made.layer / "src", "user.overlay.opaque", b"y")
    assert made.kinds() == {"src/c": "deleted", "src/other": "added"}


def test_only_a_mode_is_a_change_and_no_setuid_bit_is_applied(reviewed: Reviewed) -> None:
    reviewed.write("a", "a\n")
    (reviewed.layer / "a").chmod(0o4755)
    assert "mode 0755" in text_of(reviewed.folder, reviewed.changes()["a"], 1000)
    assert reviewed.apply() == {}
    assert stat.S_IMODE((reviewed.workspace / "a").stat().st_mode) == 0o755


def change(path: Path) -> None:
    path.write_text("meanwhile\n")


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("meanwhile", [change, remove])
def test_file_that_was_changed_underneath_is_a_conflict(
    reviewed: Reviewed, meanwhile: Callable[[Path], None]
) -> None:
    reviewed.write("a", "changed\n")
    reviewed.write("b", "changed too\n")
    meanwhile(reviewed.workspace / "a")
    assert {path for path, one in reviewed.changes().items() if one.conflict} == {"a"}


def test_new_file_of_both_sides_is_a_conflict_unless_it_is_the_same(reviewed: Reviewed) -> None:
    for name, theirs in (("same", "x\n"), ("other", "y\n")):
        reviewed.write(name, "x\n")
        (reviewed.workspace / name).write_text(theirs)
        (reviewed.workspace / name).chmod(0o644)
        (reviewed.layer / name).chmod(0o644)
    assert reviewed.kinds() == {"other": "changed"}
    assert reviewed.changes()["other"].conflict


# --- safe against what a program may have prepared ------------------------------------------------


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "src/../../outside"])
def test_link_that_leads_out_of_the_workspace_is_never_applied(
    reviewed: Reviewed, target: str
) -> None:
    os.symlink(target, reviewed.layer / "link")
    assert "leads out" in reviewed.apply()["link"]
    assert not os.path.lexists(reviewed.workspace / "link")


def test_pipe_and_socket_are_never_applied(reviewed: Reviewed) -> None:
    os.mkfifo(reviewed.layer / "pipe")
    assert list(reviewed.apply()) == ["pipe"]
    assert not os.path.lexists(reviewed.workspace / "pipe")


def test_link_in_the_workspace_is_not_followed_when_something_is_applied(
    reviewed: Reviewed, tmp_path: Path
) -> None:
    """The program made a folder of it; on the way to the file in there the link would lead out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(outside, reviewed.workspace / "out")
    made = Reviewed.__new__(Reviewed)
    made.root, made.overlay, made.workspace = tmp_path, reviewed.overlay, reviewed.workspace
    made.begin()
    if not made.overlay:
        (made.layer / "out").unlink()
    made.write("out/file", "escaped\n")
    changes = compare(made.folder)
    # What a person saw was applied in time; then somebody put the link back.
    applied = [one for one in changes if one.path == "out/file"]
    left = apply(made.folder, applied).left
    assert [one.path for one, _ in left] == ["out/file"]
    assert os.listdir(outside) == []
    assert apply(made.folder, changes).left == []
    assert os.listdir(outside) == []
    assert (made.workspace / "out/file").read_text() == "escaped\n"


def test_link_in_the_layer_is_not_read_through(reviewed: Reviewed, tmp_path: Path) -> None:
    """It was a file when it was shown; what the link leads to must not come into the workspace."""
    secret = tmp_path / "secret"
    secret.write_text("my secret\n")
    reviewed.write("a", "changed\n")
    changes = compare(reviewed.folder)
    (reviewed.layer / "a").unlink()
    os.symlink(secret, reviewed.layer / "a")
    assert [one.path for one, _ in apply(reviewed.folder, changes).left] == ["a"]
    assert (reviewed.workspace / "a").read_text() == "a\n"
    assert "my secret" not in text_of(reviewed.folder, changes[0], 1000)


def test_name_that_is_no_text_is_applied(reviewed: Reviewed) -> None:
    reviewed.write(os.fsdecode(b"caf\xe9"), "x\n")
    assert reviewed.apply() == {}
    assert os.path.exists(os.fsencode(reviewed.workspace) + b"/caf\xe9")


# --- layers --------------------------------------------------------------------------------------


def test_a_name_writes_no_lines_of_the_diff(reviewed: Reviewed) -> None:
    """Who decides by it would be shown changes that are none, and not the one that is."""
    forged = "x\nadded link: ok -> fine"
    reviewed.write(forged, "text\n")
    os.symlink(forged, reviewed.layer / "link")
    reviewed.write("tag\U000e0041", "")
    shown = "".join(text_of(reviewed.folder, one, 1000) for one in compare(reviewed.folder))
    assert shown == (
        'added link: link -> "x\\nadded link: ok -> fine"\n'
        'added file: "tag\\U000e0041" (0 bytes)\n'
        '--- "a/x\\nadded link: ok -> fine"\n'
        '+++ "b/x\\nadded link: ok -> fine"\n'
        "@@ -0,0 +1 @@\n+text\n"
    )


def test_workspace_that_is_too_large_is_not_copied(tmp_path: Path) -> None:
    made = Reviewed(tmp_path, overlay=False)
    layers, workspace = str(tmp_path / "layers"), str(made.workspace)
    with pytest.raises(LimitReached, match="review_copy_bytes"):
        make_layer(layers, workspace, LayerWork(), overlay=False, most=3)
    assert os.listdir(layers) == []


def test_layer_with_a_folder_that_nobody_may_enter_is_removed(reviewed: Reviewed) -> None:
    """Overlayfs leaves one behind."""
    locked = Path(reviewed.folder) / "work"
    locked.mkdir(exist_ok=True)
    (locked / "work").mkdir(mode=0o000)
    LayerWork().remove(reviewed.folder)
    assert not os.path.exists(reviewed.folder)


def test_large_and_binary_files_are_named_only(reviewed: Reviewed) -> None:
    reviewed.write("a", "x" * 2000)
    (reviewed.layer / "bin").write_bytes(b"\0\1\2")
    changes = reviewed.changes()
    assert text_of(reviewed.folder, changes["a"], 1000) == "changed file: a (2000 bytes)\n"
    assert "differ" in text_of(reviewed.folder, changes["bin"], 1000)
