"""Tools of servers have names that every host takes, whatever order servers come in."""

import re

from nacre.core.upstream.names import tool_name

FITTING = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_a_plain_name_is_server_and_tool() -> None:
    assert tool_name("github", "create_issue", ["github"]) == "mcp_github_create_issue"
    assert tool_name("github", "x", ["github"], "wsh_") == "wsh_mcp_github_x"


def test_a_clash_is_decided_by_configured_names_alone() -> None:
    servers = ["a", "a_b"]
    longer = tool_name("a_b", "c", servers)
    shorter = tool_name("a", "b_c", servers)
    assert longer == "mcp_a_b_c"
    assert shorter.startswith("mcp_a_b_c_")
    assert shorter != longer
    assert tool_name("a", "b_c", list(reversed(servers))) == shorter
    assert tool_name("a", "b_c", ["a"]) == "mcp_a_b_c"
    # Also while the other server has no such tool: its list may come later.
    assert tool_name("a", "b_d", servers) != "mcp_a_b_d"
    assert tool_name("a", "c", servers) == "mcp_a_c"


def test_names_that_hosts_refuse_are_changed_and_never_meet() -> None:
    odd = ["weird.name", "weird name", "weird_name", "ü" * 5, "", "x" * 200, "x" * 199]
    names = [tool_name("s", tool, ["s"]) for tool in odd]
    assert len(set(names)) == len(odd)
    assert all(FITTING.fullmatch(name) for name in names)


def test_64_characters_include_the_prefix() -> None:
    tool = "t" * (64 - len("mcp_s_"))
    assert tool_name("s", tool, ["s"]) == f"mcp_s_{tool}"
    prefixed = tool_name("s", tool, ["s"], "p_")
    assert len(prefixed) == 64
    assert prefixed.startswith("p_mcp_s_ttt")
    assert len(tool_name("s" * 40, "t" * 100, [], "p" * 32)) == 64
