"""Tools are found by what they are called and what they say of themselves."""

from nacre.core.upstream.search import search_tools

TOOLS = [
    ("mcp_github_create_issue", "github", "Create a new issue in a repository."),
    ("mcp_github_list_issues", "github", "List issues."),
    ("mcp_files_read_file", "files", "Read a file from disk."),
    ("mcp_files_write_file", "files", "Write a file."),
]


def test_the_best_fit_is_first() -> None:
    assert search_tools("create issue", TOOLS, 10)[0] == "mcp_github_create_issue"
    assert search_tools("read file", TOOLS, 1) == ["mcp_files_read_file"]


def test_a_servers_name_finds_all_of_its_tools() -> None:
    assert set(search_tools("github", TOOLS, 10)) == {
        "mcp_github_create_issue",
        "mcp_github_list_issues",
    }
    assert search_tools("teleport", TOOLS, 10) == []
