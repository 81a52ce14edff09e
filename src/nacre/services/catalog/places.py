"""How many commands run at once, and who is next.

Rule 1: a free place goes to the client that has the fewest of them, and of those to who has waited
longest. So one that asks for a thousand does not keep the others waiting.
Rule 2: one client's queue is bounded; beyond that it is refused, and no other client is.
"""

import asyncio
from collections import Counter, deque

from nacre.errors import LimitReached


class Places:
    def __init__(self, most: int, queue: int) -> None:
        self._most = most
        self._queue = queue
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def running(self) -> int:
        return sum(self._running.values())

    def waiting(self, client: str) -> int:
        return len(self._waiting.get(client, ()))

    def at_once(self, client: str) -> bool:
        """Take a place if one is free and nobody waits for it."""
        if self._waiting or self.running >= self._most:
            return False
        self._running[client] += 1
        return True

    def join(self, client: str) -> "asyncio.Future[None]":
        """Return what is done when it is this client's turn: it has a place then.

        Raises LimitReached when a client has too many that wait.
        """
        if self.waiting(client) >= self._queue:
            raise LimitReached(
                f"{self._most} commands are running, and {self._queue} of this client wait",
                "wait for one of them, or cancel it",
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        return turn

    def give_up(self, client: str, turn: "asyncio.Future[None]") -> None:
        """Wait no longer; a place that was given meanwhile is given back."""
        if turn.done():
            self.leave(client)
            return
        queue = self._waiting[client]
        queue.remove(turn)
        if not queue:
            del self._waiting[client]

    def leave(self, client: str) -> None:
        """Give a place back, and give it to who is next."""
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        while self._waiting and self.running < self._most:
            # min takes the first of several: who got a place last stands last.
            chosen = min(self._waiting, key=lambda one: self._running[one])
            queue = self._waiting.pop(chosen)
            turn = queue.popleft()
            if queue:
                self._waiting[chosen] = queue
            self._running[chosen] += 1
            turn.set_result(None)
