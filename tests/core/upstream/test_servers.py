"""A server's table has the documented keys and defaults; a wrong one says where and what."""

import tomllib

import pytest

from nacre.core.upstream.servers import (
    ServerTable,
    WrongTable,
    line_of,
    read_servers,
    without_password,
)
from nacre.core.upstream.variables import UnsetVariables

DOCUMENT = """
# Filesystem access (local subprocess)
[mcp_servers.filesystem]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/Users/shammah/code"]
transport = "stdio"
enabled = true

[mcp_servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env = { GITHUB_TOKEN = "$GITHUB_TOKEN" }  # Reads from environment

[mcp_servers.postgres]
url = "http://localhost:3000/mcp"
transport = "sse"
enabled = false

[mcp_servers.remote]
url = "https://example.org/mcp?key=${KEY:-none}"
headers = { Authorization = "Bearer $REMOTE" }
"""


def table(text: str) -> ServerTable:
    (found,) = read_servers(text, "config.toml").values()
    assert isinstance(found, ServerTable), found
    return found


def test_the_documents_servers_are_read_with_its_defaults() -> None:
    found = read_servers(DOCUMENT, "config.toml")
    github, postgres, remote = (found[name] for name in ("github", "postgres", "remote"))
    assert isinstance(github, ServerTable)
    assert isinstance(postgres, ServerTable)
    assert isinstance(remote, ServerTable)
    assert (github.transport, github.enabled, github.cwd) == ("stdio", True, "")
    assert github.target == "npx -y @modelcontextprotocol/server-github"
    assert (postgres.transport, postgres.enabled) == ("sse", False)
    assert (remote.transport, remote.variables) == ("http", {"KEY", "REMOTE"})
    assert table('[mcp_servers.a]\ncommand = "x"').args == ()


def test_values_are_put_in_for_one_caller_and_never_shown() -> None:
    found = table(
        '[mcp_servers.a]\ncommand = "x"\nargs = ["--key", "$K"]\ncwd = "~/$D"\n'
        'env = { T = "$K", N = 3, B = true }'
    )
    resolved = found.resolve({"K": "s3cret", "D": "work"}, "/home/me")
    assert resolved.args == ("--key", "s3cret")
    assert resolved.cwd == "/home/me/work"
    assert dict(resolved.env) == {"T": "s3cret", "N": "3", "B": "true"}
    assert "s3cret" not in repr(resolved)
    assert "s3cret" not in repr(found)
    assert found.resolve({"K": "s3cret", "D": "work"}, "/home/me") == resolved
    assert found.resolve({"K": "other", "D": "work"}, "/home/me") != resolved
    with pytest.raises(UnsetVariables) as caught:
        found.resolve({}, "/home/me")
    assert set(caught.value.names) == {"K", "D"}


WRONG = {
    'comand = "x"': (3, "did you mean command?"),
    'url = "https://a"\ncommand = "x"\nargs = []\ntransport = "stdio"': (3, "not both"),
    'command = "x"\ntransport = "http"': (3, "takes no command"),
    'args = ["x"]': (2, "there is no command to run"),
    'transport = "sse"': (3, "there is no url"),
    'command = "x"\nargs = "y"': (4, "must be a list of texts"),
    'command = "x"\nenv = { A = [] }': (4, "env.A must be a text"),
    'command = "x"\nenabled = "yes"': (4, "must be true or false"),
    'command = "x"\nstart_timeout = 0': (4, "seconds"),
    'command = "x"\nargs = ["${A"]': (4, "$$ for a dollar"),
    'url = "ftp://x"': (3, "https://"),
    'command = "x"\ntransport = "pigeon"': (4, "stdio, sse, http"),
}


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_table_names_file_line_and_fix_and_fails_alone(body: str) -> None:
    text = f'port = 0\n[mcp_servers.bad]\n{body}\n[mcp_servers.good]\ncommand = "true"\n'
    found = read_servers(text, "/c/config.toml")
    assert isinstance(found["good"], ServerTable)
    wrong = found["bad"]
    assert isinstance(wrong, WrongTable)
    line, words = WRONG[body]
    assert (wrong.file, wrong.line) == ("/c/config.toml", line)
    assert words in str(wrong)
    assert str(wrong).startswith(f"/c/config.toml, line {line}: ")


def test_names_that_are_none_are_refused() -> None:
    found = read_servers('[mcp_servers."a b"]\ncommand = "x"\n[mcp_servers._x]\ncommand="x"', "c")
    assert all(isinstance(one, WrongTable) for one in found.values())
    assert isinstance(read_servers("mcp_servers = 3", "c")["mcp_servers"], WrongTable)
    with pytest.raises(tomllib.TOMLDecodeError):
        read_servers("[mcp_servers", "c")


def test_lines_are_found_in_every_way_to_write_a_table() -> None:
    text = '[mcp_servers]\na = { command = 3 }\n[mcp_servers."b"]\n[mcp_servers.b.env]\nX = 1\n'
    assert line_of(text, "a", "command") == 2
    assert line_of(text, "b", "") == 3
    assert line_of(text, "b", "env") == 4
    assert line_of("", "b", "env") == 1


def test_filters_are_patterns_and_what_is_disabled_wins() -> None:
    found = table(
        '[mcp_servers.a]\ncommand = "x"\nenabled_tools = ["read_*", "list"]\n'
        'disabled_tools = ["read_secret"]'
    )
    names = ("read_file", "list", "write", "read_secret")
    assert [name for name in names if found.offers(name)] == ["read_file", "list"]


def test_a_fingerprint_is_of_what_is_run_or_connected_to() -> None:
    one = table('[mcp_servers.a]\ncommand = "x"\nargs = ["$A"]')
    assert one.fingerprint == table('[mcp_servers.b]\ncommand = "x"\nargs=["$A"]').fingerprint
    assert one.fingerprint != table('[mcp_servers.a]\ncommand = "x"\nargs=["$B"]').fingerprint


def test_passwords_in_addresses_are_left_out() -> None:
    assert without_password("https://me:pw@host/x@y") == "https://me:pw@host/x@y"
    assert without_password("https://me:pw@host/x") == "https://host/x"
    assert without_password("https://host/x") == "https://host/x"
