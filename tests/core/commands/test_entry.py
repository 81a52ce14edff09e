"""Entries of the catalog: what is shipped is complete and true, and what is wrong is told."""

import shlex
from typing import Any

import pytest

from nacre.core.commands.arguments import argv_of, bind
from nacre.core.commands.checks import BLACKLIST
from nacre.core.commands.entry import CommandEntry, entries_from
from nacre.errors import InvalidInput
from nacre.system.command_files import shipped_commands

SHIPPED = shipped_commands()
RUNNABLE = [entry for entry in SHIPPED if not entry.refused]


def entry(**fields: Any) -> CommandEntry:
    [found] = entries_from([{"name": "x", "description": "X", **fields}], "test")
    return found


def test_at_least_sixty_commands_may_run() -> None:
    assert len(RUNNABLE) >= 60
    assert {one.group for one in RUNNABLE} == {"session", "files", "system", "assistant"}


def test_the_whole_blacklist_is_listed_and_refused_but_for_jobs() -> None:
    refused = {one.name for one in SHIPPED if one.refused}
    assert refused == set(BLACKLIST) - {"kill"}
    assert len(BLACKLIST) == 13


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("list_files", "ls"),
        ("view_file", "cat"),
        ("copy_file", "cp"),
        ("move_file", "mv"),
        ("delete_file", "myrm"),
        ("create_file", "touch"),
        ("make_directory", "mkdir"),
        ("remove_directory", "rmdir"),
        ("myls", "ls"),
        ("mycat", "cat"),
        ("mycp", "cp"),
        ("mymv", "mv"),
        ("mytouch", "touch"),
        ("mymkdir", "mkdir"),
        ("myrmdir", "rmdir"),
        ("mystat", "stat"),
        ("dir", "ls"),
        ("myfd", "find"),
    ],
)
def test_the_documents_names_stand_for_their_commands(alias: str, name: str) -> None:
    [found] = [one for one in SHIPPED if alias in one.aliases]
    assert found.name == name


@pytest.mark.parametrize("one", RUNNABLE, ids=lambda one: one.name)
def test_each_command_says_what_it_does_and_its_examples_come_out(one: CommandEntry) -> None:
    assert one.description
    assert one.examples
    assert all(argument.description for argument in one.args)
    for example in one.examples:
        assert shlex.join(argv_of(one, bind(one, example.args))) == example.line


def test_names_and_aliases_are_each_used_once() -> None:
    names = [name for one in SHIPPED for name in (one.name, *one.aliases)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("one", RUNNABLE, ids=lambda one: one.name)
def test_no_command_offers_a_way_to_run_another(one: CommandEntry) -> None:
    offered = {argument.option for argument in one.args}
    offered |= {word for argument in one.args for word in argument.words.values()}
    assert not offered & {"-exec", "-execdir", "-ok", "-delete", "-fprint", "-c", "-e"} or (
        one.program in ("head", "tail", "wc", "uniq", "grep", "touch", "cut", "ps")
    )
    assert not any("checkpoint" in option or "program" in option for option in offered)
    if one.program == "sed":
        assert one.fixed == ("--sandbox",)
    if one.program == "git":
        assert one.confined == "repository"
        assert not one.fixed_for
    if one.program == "awk":
        assert one.confined == "files"
        assert one.fixed_for == {"gawk": ("--sandbox",)}


def test_names_alone_are_required_arguments_in_their_order() -> None:
    found = entry(name="grep", args=["pattern", "file"])
    assert found.program == "grep"
    assert [(one.name, one.type, one.required) for one in found.args] == [
        ("pattern", "pattern", True),
        ("file", "path", True),
    ]
    assert argv_of(found, bind(found, {"file": "a", "pattern": "p"})) == ["grep", "p", "a"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "a b"}, "cannot be a name"),
        ({"args": ["context"]}, "cannot be named context"),
        ({"args": ["a", "a"]}, "two arguments"),
        ({"args": [{"name": "s", "type": "switch"}]}, "needs its option"),
        ({"args": [{"name": "c", "type": "choice"}]}, "a choice has its words"),
        ({"group": "session"}, "program is missing"),
        ({"nonsense": 1}, "nonsense"),
        (
            {"separator": True, "args": ["p", {"name": "o", "type": "switch", "option": "-o"}]},
            "behind a positional",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_told(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        entry(**fields)


@pytest.mark.parametrize("data", [3, "x", [3], {"command": 1}])
def test_what_is_no_list_of_commands_is_told(data: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^t: "):
        entries_from(data, "t")
