"""What hosts are told about nacre."""

import json
import re
import shlex
from pathlib import Path

from nacre.cli.setup.hosts import HOSTS, MEMORY, StartCommand, our_command

HOSTS_PAGE = Path(__file__).resolve().parents[3] / "docs" / "hosts.md"


def test_the_lines_for_a_memory_file_are_those_of_the_docs() -> None:
    marked = re.search(r"<!-- memory -->\n```markdown\n(.*?)\n```", HOSTS_PAGE.read_text(), re.S)
    assert marked is not None
    assert marked[1] == MEMORY


def test_a_host_s_own_variable_says_where_its_file_is() -> None:
    environ = {"CLAUDE_CONFIG_DIR": "/work/claude", "CODEX_HOME": "/work/codex"}
    assert HOSTS["claude-code"].path("/home/me", "linux", environ) == "/work/claude/.claude.json"
    assert HOSTS["codex"].path("/home/me", "linux", environ) == "/work/codex/config.toml"
    assert HOSTS["codex"].path("/home/me", "linux", {}) == "/home/me/.codex/config.toml"


def test_a_host_starts_the_daemon_of_this_nacre_home() -> None:
    assert our_command([], {"NACRE_HOME": "/mine"}).env == {"NACRE_HOME": "/mine"}
    assert not our_command([], {}).env


def test_a_host_s_own_way_can_be_pasted_into_a_shell() -> None:
    ours = StartCommand("/opt/na cre", ["mcp"], {"NACRE_HOME": "/my home"})
    words = shlex.split(HOSTS["claude-code"].own_way(ours))
    # Claude Code's --env takes every word up to the next option, the name, too.
    assert words[-6:] == ["nacre", "--env", "NACRE_HOME=/my home", "--", "/opt/na cre", "mcp"]
    told = json.loads(shlex.split(HOSTS["vscode"].own_way(ours))[-1])
    assert told == {"name": "nacre", **HOSTS["vscode"].entry(ours)}
