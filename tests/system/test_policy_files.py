from pathlib import Path

import pytest

from nacre.core.policy.decide import decide
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
