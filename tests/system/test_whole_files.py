"""Files are read and written whole, or not at all."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from nacre.system.whole_files import (
    NotAFile,
    OtherContent,
    TooLarge,
    read_whole,
    shares_files,
    write_whole,
)


def write(path: Path, data: bytes, **given: object) -> int:
    more = {"mode": None, "umask": 0o027, "overwrite": True, "before": None, **given}
    return write_whole(str(path), data, **more)  # type: ignore[arg-type]  # a test's own


def test_new_file_gets_the_sessions_permissions(tmp_path: Path) -> None:
    assert write(tmp_path / "file", b"new") == 0o640
    found = read_whole(str(tmp_path / "file"), 100)
    assert found == (b"new", 0o640, hashlib.sha256(b"new").hexdigest())
    assert os.listdir(tmp_path) == ["file"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o700)
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o700


def test_what_is_refused_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError):
        write(tmp_path / "file", b"new", overwrite=False)
    with pytest.raises(OtherContent):
        write(tmp_path / "file", b"new", before="0" * 64)
    for name in ("pipe", "."):
        with pytest.raises(NotAFile):
            write(tmp_path / name, b"new")
    with pytest.raises(NotAFile):
        read_whole(str(tmp_path / "pipe"), 100)
    with pytest.raises(TooLarge) as large:
        read_whole(str(tmp_path / "file"), 2)
    assert large.value.size == 3
    assert (tmp_path / "file").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]
    write(tmp_path / "file", b"new", before=hashlib.sha256(b"old").hexdigest())
    assert (tmp_path / "file").read_text() == "new"


def test_own_process_shares_our_files() -> None:
    assert shares_files(os.getpid())
    assert not shares_files(2**22 + 1), "there is no such process"
