"""The tools for models: what a context is, which command there is, which line does what.

Rule 1: they run nothing, and their output is one JSON object.
Rule 2: a line comes from a recipe, else from the client's own model where it offers that; `source`
says which. From nowhere: `command` is null then.
"""

import asyncio
from collections.abc import Callable, Mapping
from shlex import split
from typing import Any

import msgspec

from nacre.core.commands.arguments import from_words
from nacre.core.commands.book import CommandBook
from nacre.core.commands.checks import METACHARACTERS
from nacre.core.commands.recipes import Recipe, suggest
from nacre.core.commands.sampled import SYSTEM, read_sampled
from nacre.core.commands.searching import ManualPage, search
from nacre.errors import InvalidInput
from nacre.services.catalog.contexts import CommandContext, describe
from nacre.services.dispatch.sampling import ModelPrompt, Sampling, sampling_of_call
from nacre.system.command_files import manual_pages, shipped_recipes

Runs = Callable[[str, Mapping[str, Any]], bool]

_RESULTS = 10  # of a search, as many as fit on a screen
_HISTORY = 50  # lines of it that a model is told
_MOST_ASKED = 1000  # characters of a request that a client's model is asked with
_TOKENS = 400  # of its answer: a line and a sentence


class Assistant:
    def __init__(self, sampling_wait: float) -> None:
        """`sampling_wait` are the seconds that a client's model has for its answer."""
        self._sampling_wait = sampling_wait
        self._pages: tuple[ManualPage, ...] | None = None

    async def answer(
        self,
        name: str,
        given: Mapping[str, Any],
        context: CommandContext,
        environment: Mapping[str, str],
        book: CommandBook,
        runs: Runs,
    ) -> str:
        """`runs` tells whether a command would pass the checks with these arguments."""
        if name == "get_shell_context":
            told: Any = describe(context, environment, _HISTORY)
        elif name == "search_commands":
            told = await self._search(given, book)
        else:
            recipes = await asyncio.to_thread(shipped_recipes)
            query = str(given["query"])
            told = suggested(query, recipes, book, runs)
            if told["command"] is None and (sampling := sampling_of_call()) is not None:
                told = await self._sample(query, sampling, book, runs)
        return msgspec.json.encode(told).decode() + "\n"

    async def _sample(
        self, query: str, sampling: Sampling, book: CommandBook, runs: Runs
    ) -> dict[str, Any]:
        """Ask the client's own model, which may take a person's consent there."""
        prompt = ModelPrompt(SYSTEM, query[:_MOST_ASKED], _TOKENS)
        asking = asyncio.ensure_future(sampling(prompt))
        try:
            await asyncio.wait((asking,), timeout=self._sampling_wait)
            if not asking.done():
                return {**_unknown(query), "explanation": "your model did not answer in time"}
            if asking.cancelled():
                # In the 2026 revision the client asks it by itself, and calls again.
                return _unknown(query)
            said = asking.result()
        finally:
            asking.cancel()
        line = read_sampled(said.text) if said is not None else None
        if said is None or line is None:
            return {**_unknown(query), "explanation": "no recipe covers this, nor does your model"}
        told = {
            "query": query,
            "command": line.command,
            "explanation": line.explanation,
            "source": "sampling",
            "model": said.model,
        }
        return {**told, **_runs_with(line.command, book, runs)}

    async def _search(self, given: Mapping[str, Any], book: CommandBook) -> dict[str, Any]:
        if self._pages is None:
            self._pages = await asyncio.to_thread(manual_pages)
        query = str(given["query"])
        most = int(given.get("limit", _RESULTS))
        found = await asyncio.to_thread(search, query, list(book), self._pages, most)
        return {"query": query, "results": [_shown(one._asdict()) for one in found]}


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    return found if found["refused"] else {k: v for k, v in found.items() if k != "refused"}


def suggested(
    query: str, recipes: tuple[Recipe, ...], book: CommandBook, runs: Runs
) -> dict[str, Any]:
    found = suggest(query, recipes)
    if found is None:
        return _unknown(query)
    told: dict[str, Any] = {
        "query": query,
        "command": found.command,
        "explanation": found.explanation,
        "source": "recipes",
    }
    entry = book.find(found.tool) if found.tool else None
    if entry is not None and runs(entry.name, found.args):
        return {**told, "tool": entry.name, "args": found.args}
    return {**told, **_IN_A_SESSION}


_IN_A_SESSION = {"tool": None, "run_with": "a session: run or run_command takes this line"}


def _unknown(query: str) -> dict[str, Any]:
    return {
        "query": query,
        "command": None,
        "explanation": "no recipe covers this; search_commands finds commands by keyword",
        "source": None,
    }


def _runs_with(line: str, book: CommandBook, runs: Runs) -> dict[str, Any]:
    """Return which tool can run a line of a model's: a command of the catalog, or a session."""
    if METACHARACTERS.intersection(line):
        return _IN_A_SESSION  # they mean something to a shell, and are refused without one
    try:
        words = split(line)
        entry = book.find(words[0]) if words else None
        args = from_words(entry, words[1:]) if entry is not None else {}
    except (ValueError, InvalidInput):
        return _IN_A_SESSION
    if entry is None or not runs(entry.name, args):
        return _IN_A_SESSION
    return {"tool": entry.name, "args": args}
