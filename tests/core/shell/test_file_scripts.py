"""The scripts that read and write files, run by real shells."""

import base64
import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from nacre.core.shell.file_scripts import (
    FarFile,
    append,
    begin_writing,
    drop,
    far_file,
    finish_writing,
    last_words,
    look_at,
    read_part,
)

# The shell at the prompt, which takes the command line; sh runs the script.
SHELLS = [["sh"], ["bash", "--norc"], ["zsh", "-f"], ["fish", "--no-config"], ["busybox", "sh"]]
DATA = bytes(range(256)) * 5
SUM = hashlib.sha256(DATA).hexdigest()
TOKEN = "0a1b2c"


def run(line: str, folder: Path, shell: list[str] | None = None) -> list[str]:
    argv = [*(shell or ["sh"]), "-c", line]
    if shutil.which(argv[0]) is None:
        pytest.fail(f"{argv[0]} is not installed; 'make test' installs it", pytrace=False)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return last_words(done.stdout)


def write(path: str, folder: Path, shell: list[str] | None = None, mode: str | None = None) -> None:
    assert run(begin_writing(path, TOKEN, overwrite=True), folder, shell) == ["begun"]
    for part in (DATA[:700], DATA[700:]):
        encoded = base64.b64encode(part).decode()
        assert run(append(path, TOKEN, encoded), folder, shell) == ["added"]
    done = run(finish_writing(path, TOKEN, mode, len(DATA), SUM, None), folder, shell)
    assert (done[0], done[2]) == ("done", SUM)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: str(shell[0]))
def test_file_is_written_and_read_back(tmp_path: Path, shell: list[str]) -> None:
    path = 'it\'s a "file" $HOME.bin'
    write(path, tmp_path, shell, mode="640")
    assert (tmp_path / path).read_bytes() == DATA
    assert list(tmp_path.glob(".nacre-*")) == []
    assert far_file(run(look_at(path), tmp_path, shell)) == FarFile(len(DATA), "640", SUM)
    line = read_part(path, 5, 300)
    argv = [*shell, "-c", line]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True)
    assert base64.b64decode(done.stdout) == DATA[5:305]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o751)
    (tmp_path / "link").symlink_to("real")
    write("~/link", tmp_path)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == DATA
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o751


@pytest.mark.parametrize(
    ("size", "checksum", "before", "told"),
    [
        (len(DATA) + 1, SUM, None, "short"),
        (len(DATA), "0" * 64, None, "changed"),
        (len(DATA), SUM, "0" * 64, "other"),
    ],
)
def test_what_did_not_arrive_replaces_nothing(
    tmp_path: Path, size: int, checksum: str, before: str | None, told: str
) -> None:
    (tmp_path / "file").write_text("old")
    run(begin_writing("file", TOKEN, overwrite=True), tmp_path)
    run(append("file", TOKEN, base64.b64encode(DATA).decode()), tmp_path)
    line = finish_writing("file", TOKEN, None, size, checksum, before)
    assert run(line, tmp_path)[0] == told
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    assert [run(look_at(name), tmp_path) for name in ("folder", "pipe", "missing")] == [
        ["folder"],
        ["special"],
        ["none"],
    ]
    assert far_file(["folder"]) is None
    for name, told in (("folder", "folder"), ("pipe", "special"), ("no/file", "nowhere")):
        assert run(begin_writing(name, TOKEN, overwrite=True), tmp_path) == [told]
    assert run(begin_writing("file", TOKEN, overwrite=False), tmp_path) == ["exists"]
    assert run(begin_writing("new", TOKEN, overwrite=False), tmp_path) == ["begun"]
    assert run(drop("new", TOKEN), tmp_path) == ["dropped"]
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "pipe"]
