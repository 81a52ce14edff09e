"""What takes long with layers ends with the daemon, and the next one finishes it."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nacre.system.sandbox.layer_work import LayerWork


def make_tree(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name / "deeper").mkdir(parents=True)
        (folder / name / "deeper/file").write_text("x")
        (folder / name / "link").symlink_to("/")


def test_what_is_not_removed_before_the_end_is_removed_by_the_next_daemon(tmp_path: Path) -> None:
    make_tree(tmp_path / "one")
    make_tree(tmp_path / "two")
    ending = LayerWork()
    ending.remove(str(tmp_path / "one"))
    ending.end()
    ending.remove(str(tmp_path / "two"))
    assert os.listdir(tmp_path) == ["two.gone"], "nobody takes it for a layer any more"
    assert (tmp_path / "two.gone/a/deeper/file").exists()
    make_tree(tmp_path / "three")
    LayerWork().remove_rubbish(str(tmp_path))
    assert os.listdir(tmp_path) == ["three"]
    LayerWork().remove_rubbish(str(tmp_path / "missing"))


def test_a_copy_is_ended_with_the_daemon_and_none_begins_after_that(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    work = LayerWork()
    assert work.copy(["sh", "-c", "echo no >&2; exit 3"]) == (3, b"no\n")
    with ThreadPoolExecutor() as threads:
        copying = threads.submit(work.copy, ["sh", "-c", f"echo begun >{fifo}; exec sleep 1000"])
        assert fifo.read_text() == "begun\n"
        work.end()
        assert copying.result() == (-9, b"")
    assert work.copy(["true"])[0] != 0
