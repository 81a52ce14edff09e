"""nacre policy: it needs no daemon, and a verdict is no failure."""

import json
import os
import subprocess
from pathlib import Path

from cli.conftest import Nacre


def test_lines_on_standard_input_end_with_a_nul(own_nacre: Nacre) -> None:
    lines = ("ls -la", "rm x", "git push", "echo 'a\nb'")
    printed = own_nacre.ok("policy", "check", "--json", stdin="\0".join(lines) + "\0")
    found = [json.loads(line) for line in printed.splitlines()]
    assert [one["line"] for one in found] == list(lines)
    assert [one["verdict"] for one in found] == ["allow", "deny", "ask", "allow"]
    assert set(found[0]) == {"verdict", "line", "reasons", "commands", "rule"}
    assert not Path(own_nacre.paths.socket).exists()


def test_the_last_line_may_go_without_its_end_and_an_empty_one_is_judged(own_nacre: Nacre) -> None:
    printed = own_nacre.ok("policy", "check", "--json", stdin="ls\0\0pwd")
    assert [json.loads(line)["line"] for line in printed.splitlines()] == ["ls", "", "pwd"]


def test_bytes_that_are_no_text_are_judged_as_such_and_spelled_out(own_nacre: Nacre) -> None:
    checking = own_nacre.start(
        "policy", "check", "--json", stdin=subprocess.PIPE, text=True, errors="surrogateescape"
    )
    printed, _ = checking.communicate(os.fsdecode(b"echo \xff\0echo \xc3\xa4\0"))
    found = [json.loads(line) for line in printed.splitlines()]
    assert [(one["verdict"], one["line"]) for one in found] == [
        ("ask", r"echo \xff"),
        ("allow", "echo ä"),
    ]


def test_a_preset_and_a_shell_can_be_named(own_nacre: Nacre) -> None:
    def verdict(*arguments: str) -> str:
        found = own_nacre.ok("policy", "check", "--json", *arguments)
        return str(json.loads(found)["verdict"])

    assert verdict("rm x") == "deny"
    assert verdict("--preset", "open", "rm x") == "allow"
    assert verdict("--preset", "strict", "make") == "deny"
    assert verdict("--shell", "zsh", "ls # x") == "ask"


def test_explain_shows_what_would_run_and_why(own_nacre: Nacre) -> None:
    printed = own_nacre.ok("policy", "explain", "--", "find . -exec rm {} +")
    assert printed.splitlines()[0] == "deny   find . -exec rm {} +"
    assert "runs     rm {}" in printed
    assert "because  rm (behind find)" in printed


def test_rules_of_the_users_own_count_and_are_tested(own_nacre: Nacre) -> None:
    rules = Path(own_nacre.paths.config) / "policy.toml"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text('[[rule]]\npattern = ["deploy"]\nverdict = "allow"\nmatch = ["deploy x"]\n')
    assert own_nacre.ok("policy", "test").startswith(f"ok  {rules}: 1 rules, 1 examples")
    found = own_nacre.ok("policy", "check", "--json", "deploy x")
    assert json.loads(found)["verdict"] == "allow"
    rules.write_text('[[rule]]\npattern = ["deploy"]\nverdict = "allow"\nmatch = ["other x"]\n')
    assert "does not match its example" in own_nacre.fails("INVALID_INPUT", 2, "policy", "test")


def test_a_link_into_a_folder_of_the_systems_asks(own_nacre: Nacre) -> None:
    (own_nacre.home / "link").symlink_to("/etc")
    found = own_nacre.ok("policy", "check", "--json", "cat link/hosts")
    assert json.loads(found)["verdict"] == "ask"
