"""Recipes: each query gets its line, and a query that no recipe covers gets none."""

import shlex

import pytest

from nacre.core.commands.arguments import argv_of, bind
from nacre.core.commands.book import CommandBook
from nacre.core.commands.recipes import Recipe, RecipeTry, recipes_from, suggest
from nacre.errors import InvalidInput
from nacre.system.command_files import shipped_commands, shipped_recipes

RECIPES = shipped_recipes()
BOOK = CommandBook(shipped_commands())
TRIES = [(recipe, one) for recipe in RECIPES for one in recipe.tries]


def test_there_are_at_least_150_recipes_and_each_is_tried() -> None:
    assert len(RECIPES) >= 150
    assert all(recipe.tries for recipe in RECIPES)


@pytest.mark.parametrize(("recipe", "one"), TRIES, ids=[one.query for _, one in TRIES])
def test_each_query_gets_its_line(recipe: Recipe, one: RecipeTry) -> None:
    found = suggest(one.query, RECIPES)
    assert found is not None
    assert found.command == one.command
    assert found.explanation
    assert shlex.split(found.command), "a line that a shell can read"
    if found.tool:
        entry = BOOK.get(found.tool)
        assert not entry.refused
        argv_of(entry, bind(entry, found.args))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "???",
        "find " * 100_000,
        "x" * 1_000_000,
        "show file a.b " * 30,
        "paint me a horse",
        "make me a sandwich",
        "solve world hunger",
        "-rf / now",
        "the",
        # A word that could be anything is no name where the phrase's own words are missing.
        "rotate all .tmp files",
        "list python wheels",
        "disk usage of everything",
        "delete files recursively",
        "compare folders a and b",  # a is no name here, and folders is none either
        "move all txt files to docs",
        "which python",
        "delete python",
        # Words that other phrases have are not misspelt.
        "compare two files",
        "encode base64 file notes.txt",
        "unstaged diff",
        "resolve python files",
    ],
)
def test_what_no_recipe_covers_has_no_line(query: str) -> None:
    assert suggest(query, RECIPES) is None


@pytest.mark.parametrize(
    ("query", "command"),
    [
        ("find all Pyhton files", None),  # no kind of files that is known
        ("serach for error in app.log", "grep error app.log"),
        ("Show me the first 3 lines of notes.txt, please?", "head -n 3 notes.txt"),
        ("how many lines are in 'my file.txt'", "wc -l 'my file.txt'"),
        ("cat $(reboot)", "cat '$(reboot)'"),
        ("search for a;b in app.log", "grep 'a;b' app.log"),
        ("decompress file notes.gz", "gunzip notes.gz"),  # not a typo of compress
    ],
)
def test_typos_are_forgiven_and_words_are_quoted(query: str, command: str | None) -> None:
    found = suggest(query, RECIPES)
    assert (found and found.command) == command


def test_a_recipe_whose_phrase_lacks_a_slot_is_refused() -> None:
    wrong = {"phrases": ["show {a}"], "command": "cat {b}", "explanation": "x"}
    with pytest.raises(InvalidInput, match="has no slot b"):
        recipes_from({"recipe": [wrong]}, "t")
