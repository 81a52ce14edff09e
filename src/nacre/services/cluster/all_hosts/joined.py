"""How the answers of several hosts to one wait become one."""

import asyncio
from typing import Any

from msgspec.structs import replace


async def first_match(tasks: list["asyncio.Task[Any]"], *, wants_all: bool) -> Any:
    """Return the first answer that matched, or the last one; with `wants_all` all as one."""
    answers = []
    for done in asyncio.as_completed(tasks):
        answer = await done
        answers.append(answer)
        if answer.matched != wants_all:
            return answer
    if not wants_all:
        return answers[-1]
    matches = [name for one in answers for name in one.matches or ()]
    return replace(answers[-1], matches=matches or None)
