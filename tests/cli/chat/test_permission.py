"""What a person's answer covers, and what it must not."""

import pytest

from nacre.cli.chat.permission import Permissions, matches, suggested, written


@pytest.mark.parametrize(
    ("pattern", "name", "arguments", "covered"),
    [
        ("run: git *", "run", {"command": "git status"}, True),
        ("run: git *", "run", {"command": "git log --oneline"}, True),
        ("run: git *", "run", {"command": "git"}, False),
        ("run: git *", "run", {"command": "gitk x"}, False),
        ("run: git *", "run", {"command": "git status; rm -rf x"}, False),
        ("run: git *", "run", {"command": "git status && rm x"}, False),
        ("run: git *", "run", {"command": "git status | sh"}, False),
        ("run: git *", "run", {"command": "git log\nrm x"}, False),
        ("run: git *", "run", {"command": "git log `rm x`"}, False),
        ("run: git *", "run", {"command": "git log $(rm x)"}, False),
        ("run: git *", "run", {"command": "git log > /etc/x"}, False),
        ("run: git *", "type", {"text": "git status"}, False),
        ("mcp_github_*", "mcp_github_create_issue", {"title": "a; b | c"}, True),
        ("mcp_github_*", "mcp_gitlab_create_issue", {}, False),
        ("mcp_github_list", "mcp_github_list_all", {}, False),
        ("run", "run", {"command": "anything; at all"}, True),
        ("run: [a-z]", "run", {"command": "a"}, False),
    ],
)
def test_a_pattern_covers_what_it_says(
    pattern: str, name: str, arguments: dict[str, str], covered: bool
) -> None:
    assert matches(pattern, name, written(name, arguments)) is covered


def test_an_exact_answer_covers_the_same_arguments_alone() -> None:
    permissions = Permissions()
    permissions.allow_exactly("run", {"command": "make", "session": "a"})
    assert permissions.allows("run", {"session": "a", "command": "make"})
    assert not permissions.allows("run", {"command": "make", "session": "b"})
    assert not permissions.allows("run", {"command": "make"})


def test_patterns_count_their_matches_and_can_be_taken_back() -> None:
    permissions = Permissions()
    permissions.allow("run: make *")
    assert permissions.allows("run", {"command": "make test"})
    assert permissions.allows("run", {"command": "make lint"})
    assert permissions.counts == {"run: make *": 2}
    assert permissions.remove("run: make *")
    assert not permissions.remove("run: make *")
    assert not permissions.allows("run", {"command": "make test"})


def test_the_offered_pattern_covers_the_call_that_asked() -> None:
    for name, arguments in (
        ("run", {"command": "npm install left-pad"}),
        ("run", {"command": "ls"}),
        ("mcp_github_create_issue", {"title": "x"}),
    ):
        pattern = suggested(name, arguments)
        assert matches(pattern, name, written(name, arguments)), pattern
