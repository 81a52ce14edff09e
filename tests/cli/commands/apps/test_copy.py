"""cp, both ways."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Nacre

DATA = bytes(range(256)) * 100


@pytest.fixture
def shell(running: Nacre, tmp_path: Path) -> Iterator[Path]:
    """A session called work, with a shell at its prompt in the folder that is returned."""
    folder = tmp_path / "work"
    folder.mkdir()
    running.call("create_session", name="work", command="bash", cwd=str(folder))
    running.call("wait_for", session="work", state=["prompt"])
    yield folder
    running.call("manage_session", session="work", action="kill")


def test_file_is_copied_with_its_permissions(nacre: Nacre, shell: Path, tmp_path: Path) -> None:
    source = tmp_path / "data.bin"
    source.write_bytes(DATA)
    source.chmod(0o750)
    assert nacre.ok("cp", str(source), "work:") == ""
    assert (shell / "data.bin").read_bytes() == DATA
    assert stat.S_IMODE((shell / "data.bin").stat().st_mode) == 0o750
    back = tmp_path / "back"
    back.mkdir()
    answer = nacre.json("cp", "work:data.bin", str(back))
    assert answer["file"] == str(back / "data.bin")
    assert (back / "data.bin").read_bytes() == DATA
    assert stat.S_IMODE((back / "data.bin").stat().st_mode) == 0o750
    assert os.listdir(back) == ["data.bin"]


def test_a_dash_is_standard_input_or_output(nacre: Nacre, shell: Path) -> None:
    done = nacre("cp", "-", "work:note", stdin="one\ntwo")
    assert (done.returncode, (shell / "note").read_text()) == (0, "one\ntwo")
    assert nacre.ok("cp", "work:note", "-") == "one\ntwo"
    nacre.fails("INVALID_INPUT", 2, "cp", "-", "work:")


def test_what_cannot_be_copied(nacre: Nacre, shell: Path, tmp_path: Path) -> None:
    nacre.fails("INVALID_INPUT", 2, "cp", "here", "there")
    nacre.fails("INVALID_INPUT", 2, "cp", "work:here", "work:there")
    nacre.fails("FAILED", 1, "cp", str(tmp_path / "missing"), "work:x")
    nacre.fails("FAILED", 1, "cp", "work:missing", str(tmp_path / "x"))
    nacre.fails("SESSION_NOT_FOUND", 3, "cp", "nobody:missing", str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()
