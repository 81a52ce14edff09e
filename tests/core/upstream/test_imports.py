"""Servers of other hosts' files, with what each of them would fill in."""

import json
from typing import Any

import pytest

from nacre.core.upstream.imports import HostName, host_of, import_servers, read_jsonc
from nacre.core.upstream.variables import expand


def imported(entry: Any, host: HostName = "claude-code", key: str = "mcpServers") -> Any:
    found = import_servers(json.dumps({key: {"s": entry}}), host, "/work", "/home/me")
    assert not found.left_out, found.left_out
    return found.servers[0]


def test_claude_desktop_takes_everything_literally() -> None:
    entry = {"command": "npx", "args": ["-y", "pkg", "$HOME"], "env": {"KEY": "a$b${c}"}}
    table = imported(entry, "claude-desktop").table
    assert table["command"] == "npx"
    assert expand(table["args"][2], {}) == "$HOME"
    assert expand(table["env"]["KEY"], {}) == "a$b${c}"


def test_claude_code_expands_braces_with_defaults() -> None:
    entry = {
        "type": "http",
        "url": "${BASE:-https://api.example.com}/mcp",
        "headers": {"Authorization": "Bearer ${KEY}", "X": "$5"},
    }
    table = imported(entry).table
    assert table["transport"] == "http"
    assert expand(table["url"], {}) == "https://api.example.com/mcp"
    assert expand(table["headers"]["Authorization"], {"KEY": "k"}) == "Bearer k"
    assert expand(table["headers"]["X"], {}) == "$5"


def test_vs_code_has_comments_inputs_and_folders() -> None:
    text = """{
      // what VS Code asks for
      "inputs": [{"id": "gh-token", "type": "promptString"}],
      "servers": {
        "github": {
          "type": "stdio", "command": "npx", /* the usual */
          "args": ["-y", "server", "${workspaceFolder}/x//y", "${userHome}"],
          "env": {"T": "${input:gh-token}", "P": "${env:PROXY}", "N": null, },
        },
      },
    }"""
    found = import_servers(text, "vscode", "/work", "/home/me")
    (server,) = found.servers
    assert server.table["args"][2:] == ["/work/x//y", "/home/me"]
    assert server.table["env"] == {"T": "${GH_TOKEN}", "P": "${PROXY}"}
    assert server.notes == ("set the variable GH_TOKEN, which the other host asks for",)


def test_cursor_and_odd_names_and_disabled_ones() -> None:
    server = imported({"url": "https://x/mcp", "disabled": True}, "cursor")
    assert server.table == {"url": "https://x/mcp", "enabled": False}
    odd = import_servers('{"mcpServers": {"My server!": {"command": "x"}}}', "cursor", "", "")
    assert odd.servers[0].name == "My-server"
    assert odd.servers[0].notes == ("it was called 'My server!'",)


def test_what_cannot_be_taken_over_is_named() -> None:
    text = json.dumps(
        {
            "mcpServers": {
                "a": {"command": "x", "args": ["${config:editor.x}"]},
                "b": {"args": []},
                "c": {"command": "x", "wobble": 1},
                "d": {"command": "x"},
            }
        }
    )
    found = import_servers(text, "vscode", "", "")
    assert [one.name for one in found.servers] == ["d"]
    assert [one.name for one in found.left_out] == ["a", "b", "c"]
    assert "has no counterpart here" in found.left_out[0].why


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": 3}', "{'a': 1}"])
def test_what_is_no_such_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        import_servers(text, "claude-code", "", "")


def test_json_with_comments_keeps_its_strings() -> None:
    text = '\ufeff{"a": "// no, /* no */ \\" ,]", "b": [1, 2,], /* , */ }'
    assert read_jsonc(text) == {"a": '// no, /* no */ " ,]', "b": [1, 2]}


def test_a_file_is_known_by_its_name() -> None:
    known = {
        "/h/Library/Application Support/Claude/claude_desktop_config.json": "claude-desktop",
        "/p/.mcp.json": "claude-code",
        "/p/.cursor/mcp.json": "cursor",
        "/p/.vscode/mcp.json": "vscode",
        "/h/.config/Code/User/mcp.json": "vscode",
    }
    assert {path: host_of(path) for path in known} == known
