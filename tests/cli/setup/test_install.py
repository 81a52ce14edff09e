"""nacre's entry in the files of AI hosts."""

import json
import tomllib
from pathlib import Path

import pytest

from nacre.cli.setup.hosts import HOSTS, HostProgram, StartCommand
from nacre.cli.setup.install import install
from nacre.errors import InvalidInput

OURS = StartCommand("/opt/nacre", ["mcp"])
SPACED = StartCommand("/opt/na cre", ["mcp"], {"NACRE_HOME": "/my home"})
JSON_HOSTS = [host for host in HOSTS.values() if host.form == "json"]


@pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
def test_a_host_without_a_file_gets_one(host: HostProgram, tmp_path: Path) -> None:
    path = host.path(str(tmp_path), "linux", {})
    assert install(host, path, OURS)
    text = Path(path).read_text()
    data = tomllib.loads(text) if host.form == "toml" else json.loads(text)
    entry = data[host.table]["nacre"]
    assert (entry["command"], entry["args"]) == ("/opt/nacre", ["mcp"])
    assert not install(host, path, OURS)


@pytest.mark.parametrize("host", JSON_HOSTS, ids=lambda host: host.name)
def test_what_else_a_json_file_has_stays(host: HostProgram, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    before = {"theme": "dark", host.table: {"other": {"command": "x"}, "nacre": {"command": "old"}}}
    path.write_text(json.dumps(before))
    path.chmod(0o640)
    assert install(host, str(path), StartCommand("/opt/nacre", ["mcp", "--toolsets", "all"]))
    after = json.loads(path.read_text())
    assert after["theme"] == "dark"
    assert after[host.table]["other"] == {"command": "x"}
    assert after[host.table]["nacre"]["args"] == ["mcp", "--toolsets", "all"]
    assert path.stat().st_mode & 0o777 == 0o640
    assert json.loads((tmp_path / "file.json.before-nacre").read_text()) == before


def test_comments_in_a_toml_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmodel = "m" # the best\n\n[mcp_servers.other]\ncommand = "x" # why\n')
    assert install(HOSTS["codex"], str(path), OURS)
    text = path.read_text()
    assert "# mine" in text
    assert "# the best" in text
    assert "# why" in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other", "nacre"}


@pytest.mark.parametrize("text", ['{"a": 1, // mine\n}', "[]", '{"mcpServers": []}', "{"])
def test_a_file_that_is_no_plain_json_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="left alone") as refused:
        install(HOSTS["cursor"], str(path), OURS)
    assert '"command": "/opt/nacre"' in str(refused.value)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    install(HOSTS["cursor"], str(link), OURS)
    assert link.is_symlink()
    assert "nacre" in json.loads(real.read_text())["mcpServers"]


@pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
def test_what_is_printed_is_what_is_installed(host: HostProgram, tmp_path: Path) -> None:
    path = tmp_path / "file"
    install(host, str(path), SPACED)
    read = tomllib.loads if host.form == "toml" else json.loads
    assert read(host.text(SPACED)) == read(path.read_text())


@pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
def test_what_a_person_added_to_our_entry_stays(host: HostProgram, tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = {"command": "/old", "timeout": 90, "env": {"NACRE_HOME": "/old", "MINE": "1"}}
    if host.form == "toml":
        lines = ['command = "/old" # soon', "timeout = 90 # builds", 'env = { MINE = "1" } # why']
        path.write_text("\n".join([f"[{host.table}.nacre]", *lines, "[other] # last", ""]))
    else:
        path.write_text(json.dumps({host.table: {"nacre": before}}, indent="\t"))
    install(host, str(path), OURS)
    text = path.read_text()
    if host.form == "toml":
        assert text.count(" # ") == 4
        entry = tomllib.loads(text)[host.table]["nacre"]
    else:
        assert text.startswith("{\n\t"), "indented as it was"
        entry = json.loads(text)[host.table]["nacre"]
    assert (entry["timeout"], entry["env"]) == (90, {"MINE": "1"})
    assert entry["command"] == "/opt/nacre"
    assert not install(host, str(path), OURS), "a second time changes nothing"
