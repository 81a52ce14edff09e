"""Waits for a session's next change: its next output, or its end."""

from collections.abc import Callable

from nacre.services.host.wait import Waiters, next_of


class Changes:
    def __init__(self) -> None:
        self._for_output = Waiters()
        self._for_end = Waiters()  # a wait for output also ends with the child

    def note_output(self) -> None:
        if self._for_output:
            self._for_output.wake()

    def note_end(self) -> None:
        self._for_end.wake()

    async def next(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> None:
        """Return when the child ends, at the next output if `output`, or at the time `until`.

        With `when`, only output counts after which that holds.
        """
        if output:
            await next_of(until, self._for_output, self._for_end, when=when)
        else:
            await next_of(until, self._for_end)
