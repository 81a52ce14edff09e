"""The tools for models: what a context is, which command there is, which line does what.

Rule 1: they run nothing, and their output is one JSON object.
Rule 2: a line comes from a recipe, or from nowhere: `command` is null then.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.core.commands.book import CommandBook
from nacre.core.commands.recipes import Recipe, suggest
from nacre.core.commands.searching import ManualPage, search
from nacre.services.catalog.contexts import CommandContext, describe
from nacre.system.command_files import manual_pages, shipped_recipes

_RESULTS = 10  # of a search, as many as fit on a screen
_HISTORY = 50  # lines of it that a model is told


class Assistant:
    def __init__(self) -> None:
        self._pages: tuple[ManualPage, ...] | None = None

    async def answer(
        self,
        name: str,
        given: Mapping[str, Any],
        context: CommandContext,
        environment: Mapping[str, str],
        book: CommandBook,
    ) -> str:
        if name == "get_shell_context":
            told: Any = describe(context, environment, _HISTORY)
        elif name == "search_commands":
            told = await self._search(given, book)
        else:
            recipes = await asyncio.to_thread(shipped_recipes)
            told = suggested(str(given["query"]), recipes, book)
        return msgspec.json.encode(told).decode() + "\n"

    async def _search(self, given: Mapping[str, Any], book: CommandBook) -> dict[str, Any]:
        if self._pages is None:
            self._pages = await asyncio.to_thread(manual_pages)
        query = str(given["query"])
        most = int(given.get("limit", _RESULTS))
        found = await asyncio.to_thread(search, query, list(book), self._pages, most)
        return {"query": query, "results": [_shown(one._asdict()) for one in found]}


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    return found if found["refused"] else {k: v for k, v in found.items() if k != "refused"}


def suggested(query: str, recipes: tuple[Recipe, ...], book: CommandBook) -> dict[str, Any]:
    found = suggest(query, recipes)
    if found is None:
        return {
            "query": query,
            "command": None,
            "explanation": "no recipe covers this; search_commands finds commands by keyword",
            "source": None,
        }
    told: dict[str, Any] = {
        "query": query,
        "command": found.command,
        "explanation": found.explanation,
        "source": "recipes",
    }
    entry = book.find(found.tool) if found.tool else None
    if entry is not None and not entry.refused:
        return {**told, "tool": entry.name, "args": found.args}
    return {**told, "tool": None, "run_with": "a session: run or run_command takes this line"}
