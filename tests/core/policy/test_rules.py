from collections.abc import Mapping

import pytest

from nacre.core.policy.matching import has_flag
from nacre.core.policy.paths import Where
from nacre.core.policy.resolving import resolve_line
from nacre.core.policy.rulebook import RuleBook
from nacre.core.policy.rules import Rule, rules_from
from nacre.errors import InvalidInput

WHERE = Where("/w", home="/home/me", workspace="/w")


def rule_for(line: str, *rules: Mapping[str, object], **more: object) -> Rule | None:
    book = RuleBook()
    book.add(rules_from({"rule": list(rules), **more}, "test"))
    return book.for_program(resolve_line(line).programs[0], WHERE)


def matches(line: str, **rule: object) -> bool:
    return rule_for(line, {"verdict": "allow", **rule}) is not None


def test_a_pattern_is_the_beginning_of_a_command() -> None:
    assert matches("git log -5", pattern=["git", ["log", "diff"]])
    assert not matches("git push", pattern=["git", ["log", "diff"]])
    assert not matches("git", pattern=["git", "log"])
    assert not matches("git $x", pattern=["git", "log"])


def test_an_excluded_option_is_found_in_every_spelling() -> None:
    excluded = {"pattern": ["sort"], "unless": ["-o", "--output"]}
    assert matches("sort -r x", **excluded)
    for line in ("sort -o y x", "sort -ro y x", "sort --output=y x", "sort --output y x"):
        assert not matches(line, **excluded)


def test_a_word_that_is_not_known_may_be_what_is_excluded() -> None:
    excluded = {"pattern": ["find"], "unless": ["-delete"]}
    assert not matches("find $x", **excluded)
    assert not matches("find -d$x", **excluded)
    assert not matches("find *", **excluded)
    assert matches("find src/$x", **excluded)
    assert matches("find *.py", **excluded)


def test_a_rule_may_want_every_word_known() -> None:
    assert matches("curl http://x", pattern=["curl"], known=True)
    assert not matches("curl http://x/$y", pattern=["curl"], known=True)


def test_a_rule_may_name_all_the_words_it_takes() -> None:
    assert matches("mount -l", pattern=["mount"], only=["-l"])
    assert not matches("mount -l /x", pattern=["mount"], only=["-l"])


def test_options_before_the_first_word_are_passed_over() -> None:
    program = [{"name": "git", "flags": ["--no-pager"], "values": ["-C"]}]
    rule = {"verdict": "allow", "pattern": ["git", "log"]}
    for line in ("git --no-pager log", "git -C x log", "git -C x --no-pager log -1"):
        assert rule_for(line, rule, program=program)
    assert not rule_for("git -c x log", rule, program=program)


def test_a_forbidding_rule_needs_only_what_can_be_seen() -> None:
    rule = {"verdict": "deny", "pattern": ["rm"], "flags": ["r", "recursive"], "paths": ["@vital"]}
    for line in ("rm -rf /", "rm -r $x /", "rm --recursive ~", "rm --rec /usr", "rm -r /home/you"):
        assert rule_for(line, rule)
    for line in ("rm /", "rm -r x", "rm -r ~/x", "rm -r /usr/x"):
        assert not rule_for(line, rule)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-r", True),
        ("-fr", True),
        ("-f", False),
        ("--recursive", True),
        ("--rec", True),
        ("r", False),
    ],
)
def test_a_flag_in_a_group_or_shortened_counts(text: str, found: bool) -> None:
    assert has_flag(text, ("r", "recursive")) is found


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rule": [{"pattern": ["x"]}]}, "verdict"),
        ({"rule": [{"verdict": "maybe", "pattern": ["x"]}]}, "maybe"),
        ({"rule": [{"verdict": "deny", "patern": ["x"]}]}, "patern"),
        ({"rule": [{"verdict": "deny"}]}, "one of pattern"),
        ({"rule": [{"verdict": "deny", "pattern": ["x"], "tool": "y"}]}, "one of pattern"),
        ({"rule": [{"verdict": "deny", "pattern": ["x"], "check": "y"}]}, "check 'y'"),
        ({"rules": []}, "rules"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_fault(data: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        rules_from(data, "policy.toml")
