"""One wait over sessions of several hosts: how it is held, and how their answers become one.

Rule 1: the first host where it is true answers; with match=all each of them has to.
Rule 2: with match=any a host that cannot be reached holds nothing up. The others are waited for,
and the answer names what is not. Only if nothing is left to wait for is it an error.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from nacre.errors import HostUnreachable
from nacre.wording import also

_Reference = str | int
# Return the host of a session, None for this one, and how it is called there.
Find = Callable[[_Reference], Awaitable[tuple[str | None, _Reference]]]
AskHost = Callable[[str | None, list[_Reference]], Awaitable[Any]]


class JoinedWait:
    def __init__(self, *, wants_all: bool) -> None:
        self._wants_all = wants_all
        self.parts: dict[str | None, list[_Reference]] = {}  # by host: its sessions, named as there
        self._named: dict[str | None, list[_Reference]] = {}  # the same, as the caller named them
        self._order: list[str | None] = []  # the host of each session
        self._left_out: dict[_Reference, HostUnreachable] = {}

    async def add(self, reference: _Reference, find: Find) -> None:
        """Wait for this session, too. Raises what `find` raises, unless the others suffice."""
        try:
            host, inner = await find(reference)
        except HostUnreachable as error:
            if self._wants_all:
                raise
            self._left_out[reference] = error
            return
        self._order.append(host)
        self.parts.setdefault(host, []).append(inner)
        self._named.setdefault(host, []).append(reference)

    async def answer(self, ask: AskHost) -> Any:
        """Ask all hosts, and return their answer as one. Raises what they raise."""
        if not self.parts:
            raise next(iter(self._left_out.values()))
        if len(self.parts) == 1 and not self._left_out:
            [(host, sessions)] = self.parts.items()
            return await ask(host, sessions)
        tasks: dict[asyncio.Task[Any], str | None] = {
            asyncio.ensure_future(ask(host, sessions)): host
            for host, sessions in self.parts.items()
        }
        try:
            return await self._joined(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _joined(self, tasks: dict["asyncio.Task[Any]", str | None]) -> Any:
        answers: dict[str | None, Any] = {}
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            # Errors first: an answer of the same moment tells of them.
            for task in sorted(done, key=lambda one: one.exception() is None):
                host = tasks[task]
                try:
                    answer = task.result()
                except HostUnreachable as error:
                    if self._wants_all:
                        raise
                    self._left_out |= dict.fromkeys(self._named[host], error)
                    continue
                if answer.matched != self._wants_all:
                    return self._told(answer)
                answers[host] = answer
        if not answers:
            raise next(iter(self._left_out.values()))
        last = list(answers.values())[-1]
        if self._wants_all:
            return replace(last, matches=self._matches(answers))
        return self._told(last)

    def _told(self, answer: Any) -> Any:
        """Return the answer with what was not waited for."""
        if not self._left_out:
            return answer
        named = "; ".join(f"{name} ({error.message})" for name, error in self._left_out.items())
        return replace(answer, hint=also(answer.hint, f"not waited for: {named}"))

    def _matches(self, answers: dict[str | None, Any]) -> list[str] | None:
        """Return the sessions in the order in which the caller named them."""
        of_host = {host: iter(answer.matches or ()) for host, answer in answers.items()}
        found = [next(of_host[host], None) for host in self._order]
        return [name for name in found if name is not None] or None
