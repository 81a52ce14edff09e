"""What is refused before a command runs, with the document's sentences."""

from pathlib import Path
from typing import Any

import pytest

from nacre.core.commands.arguments import bind
from nacre.core.commands.book import CommandBook
from nacre.core.commands.checks import BLACKLIST, METACHARACTERS, Checks
from nacre.core.commands.entry import entries_from
from nacre.core.policy.decide import Policy
from nacre.core.policy.paths import Where
from nacre.core.policy.rulebook import RuleBook
from nacre.errors import Forbidden
from nacre.system.command_files import shipped_commands
from nacre.system.policy_files import failing_examples, shipped

BOOK = CommandBook(shipped_commands())
RULES = shipped("commands")


def check(name: str, given: dict[str, Any], where: Where, **settings: Any) -> None:
    checks = Checks(RULES, private=where.private, **settings)
    entry = BOOK.get(name)
    checks.check_name(entry, name)
    checks.check_given(entry, given)
    checks.check_values(entry, bind(entry, given), where)


def refusal(name: str, given: dict[str, Any], where: Where, **settings: Any) -> str:
    with pytest.raises(Forbidden) as refused:
        check(name, given, where, **settings)
    return refused.value.message


@pytest.fixture
def where(tmp_path: Path) -> Where:
    import os

    (tmp_path / "nacre").mkdir()
    own = (str(tmp_path / "nacre"),)
    return Where(str(tmp_path), home=str(tmp_path / "home"), private=own, real=os.path.realpath)


@pytest.mark.parametrize("name", [one for one in BLACKLIST if one != "kill"])
def test_the_blacklist_is_refused_in_the_documents_words(name: str, where: Where) -> None:
    assert refusal(name, {}, where) == f"Command '{name}' is blacklisted for security reasons"


def test_the_metacharacters_are_the_documents() -> None:
    assert len(METACHARACTERS) == 18


@pytest.mark.parametrize("sign", [*sorted(METACHARACTERS), "\n", "\r", "\0"])
@pytest.mark.parametrize(("name", "argument"), [("echo", "text"), ("cat", "path"), ("ps", "user")])
def test_a_metacharacter_is_refused_in_the_documents_words(
    sign: str, name: str, argument: str, where: Where
) -> None:
    told = refusal(name, {argument: f"a{sign}b"}, where)
    assert told.startswith("Invalid characters in argument")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("head", {"lines": "5;id"}),
        ("head", {"lines": "5\n"}),
        ("sleep", {"seconds": "1|2"}),
        ("ls", {"all": "true&"}),
        ("ls", {"sort": "size$"}),
    ],
)
def test_a_metacharacter_is_refused_where_no_text_is_wanted_too(
    name: str, given: dict[str, Any], where: Where
) -> None:
    assert refusal(name, given, where).startswith("Invalid characters in argument")


def test_patterns_may_have_them_by_a_setting_alone(where: Where) -> None:
    given = {"pattern": "a.*b", "file": "x"}
    assert refusal("grep", given, where).startswith("Invalid characters in argument")
    check("grep", given, where, allow_patterns=True)
    assert refusal("grep", {**given, "file": "x*"}, where, allow_patterns=True)
    assert refusal("grep", {**given, "pattern": "a\nb"}, where, allow_patterns=True)


@pytest.mark.parametrize(
    "path",
    [
        *("..", "a/../b", "/etc", "/etc/passwd", "/sys/x", "/proc/1/environ", "/root", "/boot/x"),
        *("/./etc/passwd", "//etc/passwd", "/etc/", "nacre/state/token", "nacre"),
    ],
)
def test_a_dangerous_path_is_refused_in_the_documents_words(path: str, where: Where) -> None:
    assert refusal("cat", {"path": path}, where).startswith("Path contains dangerous pattern")


@pytest.mark.parametrize("path", ["etc", "/etcetera", "a..b", "...", "/var/etc", "x/proc"])
def test_paths_that_only_look_like_one_pass(path: str, where: Where) -> None:
    check("cat", {"path": path}, where)


def test_a_link_into_a_blocked_folder_is_caught(where: Where, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "chain").symlink_to("link")
    for path in ("link", "link/passwd", "chain/passwd", str(tmp_path / "chain")):
        assert refusal("cat", {"path": path}, where).startswith("Path contains dangerous pattern")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("find", {"path": "/"}),
        ("du", {"path": "/"}),
        ("tree", {"path": "/"}),
        ("grep", {"pattern": "x", "recursive": True, "file": "/"}),
        ("grep", {"pattern": "x", "recursive": True}),
        ("find", {}),
        ("cp", {"recursive": True, "source": ".", "dest": "/tmp/x"}),
        ("myrm", {"recursive": True, "path": "/"}),
        ("ls", {"recursive": True}),
        ("tar", {"action": "create", "file": "x.tar", "path": "."}),
    ],
)
def test_what_goes_into_folders_is_refused_above_a_blocked_one(
    name: str, given: dict[str, Any], where: Where
) -> None:
    assert refusal(name, given, where).startswith("Path contains dangerous pattern")


def test_the_same_without_recursion_passes(where: Where) -> None:
    check("ls", {"path": "/"}, where)
    check("ls", {}, where)


def test_the_whitelist_leaves_out_all_others(where: Where) -> None:
    chosen = frozenset(("ls", "view_file"))
    check("list_files", {}, where, whitelist=chosen)
    check("cat", {"path": "a"}, where, whitelist=chosen)
    assert refusal("pwd", {}, where, whitelist=chosen) == "Command 'pwd' is not in the whitelist"
    assert "blacklisted" in refusal("rm", {}, where, whitelist=frozenset(("rm",)))


def test_the_rule_of_the_blacklist_has_examples_that_hold() -> None:
    for rule in RULES.rule:
        assert list(failing_examples(rule, RULES)) == []
        assert set(BLACKLIST) == set(rule.pattern[0])


def test_a_users_entry_does_not_lift_the_blacklist() -> None:
    users = entries_from(
        [
            {"name": "rm", "description": "by name"},
            {"name": "erase", "description": "by program", "program": "/bin/rm"},
            {"name": "wipe", "description": "by alias", "aliases": ["sudo"]},
            {"name": "rg", "description": "harmless", "args": ["pattern"]},
        ],
        "t",
    )
    book = CommandBook(shipped_commands(), users)
    assert book.get("rm").refused
    assert book.find("erase") is None
    assert book.find("wipe") is None
    assert book.get("rg").program == "rg"
    assert len(book.warnings) == 3


@pytest.mark.parametrize(
    "argv", [["env", "rm", "x"], ["xargs", "rm"], ["sh", "-c", "rm x"], ["nice", "kill", "1"]]
)
def test_a_program_behind_another_is_found(argv: list[str], where: Where) -> None:
    book = RuleBook()
    book.add(RULES)
    with pytest.raises(Forbidden, match="Command 'mine' is blacklisted"):
        Checks(RULES).check_program("mine", argv, Policy("open", book), where)


def test_an_unknown_command_names_the_nearest() -> None:
    from nacre.errors import CommandNotFound

    with pytest.raises(CommandNotFound, match=r"no command 'grpe'; did you mean grep"):
        BOOK.get("grpe")
