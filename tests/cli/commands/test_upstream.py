"""`nacre upstream` as people and scripts use it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Nacre
from upstreams import configs

SERVER = str(Path(configs.__file__).parent / "odd_server.py")


@pytest.fixture
def config(nacre: Nacre) -> Iterator[Path]:
    """The configuration, without a server before and after the test."""
    file = Path(nacre.paths.config_file)
    assert not file.exists()
    yield file
    file.unlink()
    nacre.ok("upstream", "reload")


def add(nacre: Nacre, name: str, *more: str, how: str = "plain") -> str:
    return nacre.ok("upstream", "add", name, *more, "--", sys.executable, SERVER, how)


def test_a_server_from_add_to_remove(nacre: Nacre, config: Path) -> None:
    assert nacre.ok("upstream", "list").startswith("no upstream servers in ")
    config.write_text("# my config\n")
    assert add(nacre, "odd", "--env", "TOKEN=$TOK").startswith("added odd (")
    assert 'env = {TOKEN = "$TOK"}' in config.read_text()
    unset = nacre("upstream", "test", "odd")
    assert unset.returncode == 1
    assert "the variable TOK of its table is not set" in unset.stderr
    tested = nacre.ok("upstream", "test", "odd", TOK="s3cret-token")
    assert tested.startswith("odd: odd 1: 3 tools")
    called = nacre.ok("upstream", "call", "odd", "echo", '{"text": "hi"}', TOK="s3cret-token")
    assert called == "hi\n"
    where = nacre.ok("upstream", "call", "odd", "where", TOK="s3cret-token")
    assert where.split()[2] == "s3cret-token"
    tools = nacre.ok("upstream", "tools", "odd")
    assert ["mcp_odd_echo", "odd", "echo", "An", "odd", "tool."] in map(
        str.split, tools.splitlines()
    )
    assert nacre.json("upstream", "tools", "odd")[0]["schema"]["type"] == "object"
    assert "my token is $TOK" in nacre.ok("upstream", "logs", "odd")
    (listed,) = nacre.json("upstream", "list")
    assert list(listed) == [
        *("name", "transport", "enabled", "state", "error"),
        *("tools", "calls", "p50_ms", "failures"),
    ]
    assert (listed["state"], listed["tools"], listed["calls"]) == ("connected", 3, 2)
    assert nacre.ok("upstream", "disable", "odd").startswith("disabled odd")
    assert nacre.json("upstream", "list")[0]["state"] == "disabled"
    assert "enabled = false" in config.read_text()
    nacre.ok("upstream", "enable", "odd")
    assert nacre.ok("upstream", "reload") == "Reconnected to MCP servers\n"
    nacre.ok("upstream", "remove", "odd")
    assert config.read_text().startswith("# my config\n")
    assert "odd" not in config.read_text()
    assert nacre("upstream", "remove", "odd").returncode == 3


@pytest.mark.usefixtures("config")
def test_what_fails_says_why_and_exits_with_1(nacre: Nacre) -> None:
    add(nacre, "bad", how="crash")
    failed = nacre("upstream", "test", "bad")
    assert failed.returncode == 1
    assert "exit code 3" in failed.stderr
    assert "cannot find the database" in failed.stderr
    assert nacre("upstream", "call", "bad", "echo").returncode == 1
    add(nacre, "good")
    wrong = nacre("upstream", "call", "good", "echo", "[1]")
    assert (wrong.returncode, "JSON object" in wrong.stderr) == (2, True)
    assert nacre("upstream", "call", "good", "echo", '{"text": 1}').returncode == 2
    died = nacre("upstream", "call", "good", "die")
    assert (died.returncode, died.stdout) == (1, "")
    assert "exit code 7" in died.stderr
    assert nacre("upstream", "add", "x").returncode == 2
    assert nacre("upstream", "add", "x", "--url", "ftp://x").returncode == 2
    assert nacre("upstream", "add", "x", "--env", "novalue", "--", "y").returncode == 2


def test_import_takes_another_hosts_servers(nacre: Nacre, config: Path) -> None:
    folder = nacre.home / "project" / ".vscode"
    folder.mkdir(parents=True)
    text = '{ // mine\n "servers": {"a": {"command": "x", "args": ["${workspaceFolder}"],'
    text += ' "env": {"T": "${input:t}"}}, "b": {}}}'
    (folder / "mcp.json").write_text(text)
    done = nacre("upstream", "import", "project/.vscode/mcp.json")
    assert done.returncode == 0
    assert done.stdout == "added a; set the variable T, which the other host asks for\n"
    assert "left out b" in done.stderr
    assert json.dumps(str(nacre.home / "project")) in config.read_text()
    assert nacre("upstream", "import", "none.json").returncode == 2
