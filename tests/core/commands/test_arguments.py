"""Arguments: what is given becomes a program's words, and never an option."""

from typing import Any

import pytest

from nacre.core.commands.arguments import argv_of, bind, from_words
from nacre.core.commands.book import CommandBook
from nacre.errors import InvalidInput
from nacre.system.command_files import shipped_commands

BOOK = CommandBook(shipped_commands())


def argv(name: str, **given: Any) -> list[str]:
    entry = BOOK.get(name)
    return argv_of(entry, bind(entry, given))


def test_arguments_become_words_in_the_order_of_the_entry() -> None:
    assert argv("grep", file="f", pattern="p", line_number=True, ignore_case=True) == [
        *("grep", "--color=never", "-i", "-n", "--", "p", "f")
    ]


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("cd", {"directory": "a"}, ["cd", "a"]),
        ("ls", {"directory": "a"}, ["ls", "--", "a"]),
        ("mkdir", {"directory": "a"}, ["mkdir", "--", "a"]),
        ("cat", {"file": "a"}, ["cat", "--", "a"]),
        ("myrm", {"file": "a"}, ["rm", "--", "a"]),
        ("cp", {"source": "a", "dest": "b"}, ["cp", "--", "a", "b"]),
        ("mymv", {"source": "a", "dest": "b"}, ["mv", "--", "a", "b"]),
        ("myfd", {"pattern": "a", "directory": "b"}, ["find", "b", "-name", "a"]),
        ("sed", {"script": "p", "file": "b"}, ["sed", "--sandbox", "--", "p", "b"]),
        ("echo", {"text": "-n"}, ["echo", "-n"]),
        ("sleep", {"seconds": 0.5}, ["sleep", "--", "0.5"]),
        ("sleep", {"seconds": 4321.125}, ["sleep", "--", "4321.125"]),
        ("sleep", {"seconds": "2.0"}, ["sleep", "--", "2"]),
        ("ls", {"path": ["a", "b"]}, ["ls", "--", "a", "b"]),
        ("find", {"kind": "file"}, ["find", ".", "-type", "f"]),
        ("ls", {"all": False, "long": "true"}, ["ls", "-l", "--", "."]),
        ("head", {"lines": "3", "path": None}, ["head", "-n", "3"]),
        ("head", {"lines": 3.0}, ["head", "-n", "3"]),
    ],
)
def test_names_that_callers_know_are_taken(
    name: str, given: dict[str, Any], words: list[str]
) -> None:
    assert argv(name, **given) == words


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("cat", {"path": "-n"}),
        ("cat", {"path": "-"}),
        ("find", {"path": "-delete"}),
        ("ls", {"path": "--help"}),
        ("sed", {"script": "p", "file": "-i"}),
        ("awk", {"program": "-f", "file": "-x"}),
        ("grep", {"pattern": "-f", "file": "-r"}),
        ("tar", {"action": "list", "file": "-x"}),
    ],
)
def test_a_value_that_begins_with_a_dash_is_no_option(name: str, given: dict[str, Any]) -> None:
    words = argv(name, **given)
    before = words[: words.index("--")] if "--" in words else words
    for value in given.values():
        assert value not in before or value == "list"


def test_a_path_is_no_variable_to_awk() -> None:
    words = argv("awk", program="/x/", file=["FS=y", "a/b=c", "plain"])
    assert words == ["awk", "--", "/x/", "./FS=y", "a/b=c", "plain"]


def test_a_positional_with_a_dash_is_refused_where_the_program_has_no_separator() -> None:
    from nacre.core.commands.entry import entries_from

    [entry] = entries_from([{"name": "x", "description": "X", "args": ["word"]}], "t")
    with pytest.raises(InvalidInput, match="cannot begin with '-'"):
        argv_of(entry, bind(entry, {"word": "-x"}))


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("ls", {"nonsense": 1}, "ls has no argument 'nonsense'; it takes: all, long"),
        ("grep", {"pattern": "a", "fils": "b"}, "; did you mean file? it takes: ignore_case, "),
        ("grep", {"file": "a"}, "grep needs the argument 'pattern'"),
        ("cat", {"path": "a", "file": "b"}, "which is given too"),
        ("ls", {"all": "yes"}, "all of ls is true or false"),
        ("head", {"lines": "many"}, "lines of head is an integer"),
        ("head", {"lines": -1}, "at least 0"),
        ("head", {"lines": True}, "an integer"),
        ("head", {"lines": 1.5}, "an integer"),
        ("head", {"lines": float("inf")}, "an integer"),
        ("sleep", {"seconds": "nan"}, "a number"),
        ("sleep", {"seconds": 1e9}, "at most 86400"),
        ("cat", {"path": {"a": 1}}, "is a text"),
        ("cat", {"path": ""}, "cannot be empty"),
        ("cp", {"source": ["a"], "dest": "b"}, "one value"),
        ("tar", {"action": "burn", "file": "a"}, "one of list, create, extract"),
        ("pwd", {"path": "a"}, "it takes no arguments"),
    ],
)
def test_what_does_not_fit_is_told(name: str, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        argv(name, **given)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["ls", "-la", "src"], {"long": True, "all": True, "path": ["src"]}),
        (["grep", "-n", "p", "a", "b"], {"line_number": True, "pattern": "p", "file": ["a", "b"]}),
        (["grep", "-C3", "p"], {"context_lines": "3", "pattern": "p"}),
        (["head", "-n", "3"], {"lines": "3"}),
        (["head", "-n3"], {"lines": "3"}),
        (["find", "src", "-name", "x", "-type", "f"], {"path": "src", "name": "x", "kind": "file"}),
        (["sed", "p", "b"], {"script": "p", "file": ["b"]}),
        (["seq", "5"], {"last": "5"}),
        (["seq", "2", "5"], {"first": "2", "last": "5"}),
        (["du", "--max-depth=1"], {"depth": "1"}),
        (["echo", "-n", "a"], {"text": ["-n", "a"]}),
        (["cat", "--", "-x"], {"path": ["-x"]}),
        (["cp", "a", "b"], {"path": "a", "dest": "b"}),
    ],
)
def test_words_are_the_arguments_that_they_stand_for(
    words: list[str], given: dict[str, Any]
) -> None:
    assert from_words(BOOK.get(words[0]), words[1:]) == given


@pytest.mark.parametrize(
    "words", [["find", ".", "-delete"], ["ls", "--foo"], ["cp", "a", "b", "c"]]
)
def test_words_that_the_command_does_not_have_are_refused(words: list[str]) -> None:
    with pytest.raises(InvalidInput):
        from_words(BOOK.get(words[0]), words[1:])
