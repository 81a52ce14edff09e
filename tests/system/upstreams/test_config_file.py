"""The config is read when it has changed, and written with its comments kept."""

import os
import tomllib
from pathlib import Path

import pytest

from nacre.core.upstream.servers import ServerTable
from nacre.errors import InvalidInput, UpstreamNotFound
from nacre.system.upstreams.config_file import ServerFile

BEFORE = """# my settings
port = 0 # any

# the one for files
[mcp_servers.files]
command = "npx"   # from npm
args = [
  "-y",  # yes
  "pkg",
]

[other]
x = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> ServerFile:
    (tmp_path / "config.toml").write_text(BEFORE)
    return ServerFile(str(tmp_path / "config.toml"))


def text(file: ServerFile) -> str:
    return Path(file.path).read_text()


def test_what_is_written_is_read_and_nothing_else_changes(file: ServerFile) -> None:
    table = {"command": "uvx", "args": ["srv", "$KEY"], "env": {"T": "$TOKEN"}}
    file.put("git", table)
    after = text(file)
    for line in BEFORE.splitlines():
        assert line in after.splitlines()
    assert tomllib.loads(after)["mcp_servers"]["git"] == table
    found = file.read()
    assert list(found) == ["files", "git"]
    assert isinstance(found["git"], ServerTable)
    file.remove("git")
    assert tomllib.loads(text(file)) == tomllib.loads(BEFORE)
    assert "# the one for files" in text(file)


def test_enable_and_disable_change_one_key(file: ServerFile) -> None:
    file.enable("files", enabled=False)
    assert tomllib.loads(text(file))["mcp_servers"]["files"]["enabled"] is False
    assert "# from npm" in text(file)
    file.enable("files", enabled=True)
    assert tomllib.loads(text(file))["mcp_servers"]["files"]["enabled"] is True
    with pytest.raises(UpstreamNotFound):
        file.enable("none", enabled=True)
    with pytest.raises(UpstreamNotFound):
        file.remove("none")


def test_a_wrong_server_and_a_taken_name_are_not_written(file: ServerFile) -> None:
    with pytest.raises(InvalidInput, match="did you mean"):
        file.put("x", {"comand": "a"})
    with pytest.raises(InvalidInput, match="already"):
        file.put("files", {"command": "a"})
    assert text(file) == BEFORE
    file.put("files", {"command": "a"}, replace=True)
    assert tomllib.loads(text(file))["mcp_servers"]["files"] == {"command": "a"}


def test_a_server_that_is_replaced_keeps_its_place_and_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "# mine\n[mcp_servers.a]  # first\n"
        'command = "x"  # the old one\nargs = ["1"]  # kept\ncwd = "/"\n\n'
        "# another\n[mcp_servers.b]\nurl = 'https://b'\n"
    )
    ServerFile(str(path)).put(
        "a", {"command": "y", "args": ["1"], "env": {"K": "$V"}}, replace=True
    )
    written = path.read_text()
    assert written.startswith("# mine\n[mcp_servers.a]  # first\n")
    assert 'args = ["1"]  # kept' in written
    assert "# another\n[mcp_servers.b]" in written
    tables = tomllib.loads(written)["mcp_servers"]
    assert list(tables) == ["a", "b"]
    assert tables["a"] == {"command": "y", "args": ["1"], "env": {"K": "$V"}}


def test_a_new_file_is_the_users_alone_and_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    link.symlink_to(real)
    file = ServerFile(str(link))
    assert file.read() == {}
    file.put("a", {"url": "https://x"})
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    real.chmod(0o640)
    file.put("b", {"url": "https://x", "headers": {"A": "b"}})
    assert real.stat().st_mode & 0o777 == 0o640
    assert list(file.read()) == ["a", "b"]


def test_a_file_that_is_no_toml_takes_no_server_away(file: ServerFile) -> None:
    known = file.read()
    assert file.read() is known
    Path(file.path).write_text("[mcp_servers.files\n")
    assert file.read() is known
    assert "cannot read" in file.problem
    with pytest.raises(InvalidInput, match="cannot read"):
        file.put("a", {"url": "https://x"})
    Path(file.path).write_text(BEFORE.replace("files", "other_files"))
    assert list(file.read()) == ["other_files"]
    assert file.problem == ""
    os.unlink(file.path)
    assert file.read() == {}
