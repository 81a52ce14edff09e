from pathlib import Path

import pytest

from nacre.core.policy.decide import decide, decide_argv
from nacre.errors import InvalidInput
from nacre.system.policy_files import (
    EXAMPLE,
    failing_examples,
    load_policy,
    read_rules,
    rule_files,
    shipped,
)


@pytest.mark.parametrize("name", ["open", "guarded", "tools", "foreign", "strict"])
def test_every_shipped_rule_does_what_its_examples_say(name: str) -> None:
    file = shipped(name)
    assert [problem for rule in file.rule for problem in failing_examples(rule, file)] == []
    assert [rule.title for rule in file.rule if not rule.match or not rule.not_match] == []


def test_every_shipped_refusal_says_what_to_do_instead() -> None:
    refusals = [rule for name in ("open", "guarded") for rule in shipped(name).rule]
    assert [one.title for one in refusals if one.verdict == "deny" and not one.justification] == []


def test_a_users_file_adds_to_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[[rule]]\npattern = ["deploy"]\nverdict = "allow"\nmatch = ["deploy x"]\n')
    assert decide("deploy x", load_policy("guarded"), EXAMPLE).verdict == "ask"
    assert decide("deploy x", load_policy("guarded", [str(file)]), EXAMPLE).verdict == "allow"


def test_a_file_cannot_lift_what_is_forbidden(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[[rule]]\npattern = ["rm"]\nverdict = "allow"\n')
    for preset in ("guarded", "strict"):
        policy = load_policy(preset, [str(file)])
        assert decide("rm x", policy, EXAMPLE).verdict == "deny"


FORBIDDING = """
[[rule]]
line = "make deploy"
verdict = "deny"

[[rule]]
pattern = ["git", "push"]
verdict = "deny"

[[rule]]
line = "make publish"
verdict = "ask"
"""
LIFTING = """
[[program]]
name = "git"
values = ["--no-pager", "push"]

[[rule]]
pattern = ["git", "origin"]
verdict = "allow"

[[rule]]
line = "make deploy"
verdict = "allow"

[[rule]]
line = "make publish"
verdict = "allow"

[[rule]]
pattern = ["deploy"]
verdict = "allow"
"""


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("make deploy", "deny"),
        ("git push origin", "deny"),
        ("git --no-pager push origin", "deny"),
        ("make publish", "ask"),
        ("deploy x", "allow"),
    ],
)
def test_a_project_cannot_allow_what_its_user_forbids(
    tmp_path: Path, line: str, verdict: str
) -> None:
    """Neither by a rule for exactly that line, nor by calling its words a value of an option."""
    config, project = tmp_path / ".nacre", tmp_path / "project"
    (project / ".nacre").mkdir(parents=True)
    (project / ".git").mkdir()
    config.mkdir()
    (config / "policy.toml").write_text(FORBIDDING)
    (project / ".nacre" / "policy.toml").write_text(LIFTING)
    files = rule_files(str(config), str(project))
    policy = load_policy("guarded", files, str(config))
    assert decide(line, policy, EXAMPLE).verdict == verdict
    strict = load_policy("strict", files, str(config))
    for found in (decide(line, strict, EXAMPLE), decide_argv(line.split(), policy, EXAMPLE)):
        assert (found.verdict == "allow") == (verdict == "allow")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[rule]]\npattern = ["a"]\nverdict = "deny"\nmatch = ["b"]\n', "does not match"),
        ('[[rule]]\npattern = ["a"]\nverdict = "deny"\nnot_match = ["a x"]\n', "matches 'a x'"),
        ("[[rule]\n", "cannot read"),
        ('[[rule]]\npattern = ["a"]\n', "verdict"),
    ],
)
def test_a_wrong_file_is_refused_as_a_whole(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_rules(str(file))


def test_the_users_file_and_the_projects_are_found(tmp_path: Path) -> None:
    config, project = tmp_path / "config", tmp_path / "project"
    (project / "src" / "deep").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".nacre").mkdir()
    config.mkdir()
    for file in (config / "policy.toml", project / ".nacre" / "policy.toml"):
        file.write_text("")
    outside = tmp_path / ".nacre"
    outside.mkdir()
    (outside / "policy.toml").write_text("")
    assert rule_files(str(config), str(project / "src" / "deep")) == [
        str(config / "policy.toml"),
        str(project / ".nacre" / "policy.toml"),
    ]
