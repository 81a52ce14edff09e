"""nacre search, and the screen of a hit."""

import json

from cli.conftest import Nacre


def test_search_says_session_moment_and_line(nacre: Nacre, running: Nacre) -> None:
    command = "echo above; echo a rare thing; printf '\\033[2J\\033[Hafter\\n'; exec cat"
    running.call("create_session", name="seeker", command=command)
    running.until("seeker", "after")
    printed = nacre.ok("search", "rare thing", "--session", "seeker")
    heading, *lines = printed.splitlines()
    assert heading.startswith("seeker  ")
    assert lines[:2] == ["    above", "  > a rare thing"]
    result = json.loads(nacre.ok("search", "RARE|rare", "--regex", "--json", "--since", "-3600"))
    (hit,) = [one for one in result["hits"] if one["session"] == "seeker"]
    assert hit["text"] == "a rare thing"
    shown = nacre.ok("screen", "seeker", "--at", str(hit["generation"]))
    assert shown.splitlines() != []
    assert "after" in nacre.ok("screen", "seeker", "--at=-0.001")
    running.call("manage_session", session="seeker", action="kill")


def test_search_without_a_hit_exits_as_grep_does(nacre: Nacre, running: Nacre) -> None:
    result = nacre("search", "nothing has this text")
    assert (result.returncode, result.stdout) == (1, "")
    assert "nothing found" in result.stderr
    nacre.fails("INVALID_INPUT", 2, "search", "(", "--regex")
