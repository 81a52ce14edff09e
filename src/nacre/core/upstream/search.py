"""Find tools of upstream servers by keywords, as commands of the catalog are found."""

from collections.abc import Iterable

from nacre.core.commands.searching import score_named, wanted_words


def search_tools(query: str, tools: Iterable[tuple[str, str, str]], most: int) -> list[str]:
    """Return the names of the tools that fit best; each is its name, server and description."""
    wanted = wanted_words(query)
    found = [
        (score, name)
        for name, server, text in tools
        if (score := round(score_named(wanted, name.removeprefix(f"mcp_{server}_"), text)))
        or any(word == server.lower() for word in wanted)
    ]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [name for _, name in found[:most]]
