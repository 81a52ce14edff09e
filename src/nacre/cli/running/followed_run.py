"""One run whose output is shown while it is printed, to its end, its time-out or a question.

Rule 1: one call runs it (`run`), others follow what it prints (`follow_run`), on one connection.
Rule 2: when the daemon dies or is replaced, the run is followed at the next one, from the byte that
was reached. Nothing is shown twice, and nothing runs twice.
Rule 3: the first Ctrl+C interrupts the command, a second one leaves it running.
"""

import base64
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol

from nacre.client.calls import AnsweredError, Client
from nacre.client.open_calls import OpenCalls, result_of
from nacre.errors import DaemonRestarted

# What is asked for if nobody gave a time-out. The daemon cuts it to max_wait, and is asked again.
_LONG = 3_600_000  # milliseconds


class TakesOutput(Protocol):
    """What takes the output."""

    def begin(self, run_id: str) -> None: ...

    def take(self, data: bytes, cols: int) -> None: ...


class LeftRunning(KeyboardInterrupt):
    """A second Ctrl+C: the command goes on without us."""


class FollowedRun:
    def __init__(
        self, session: str, command: str, timeout_ms: int | None, shown: TakesOutput
    ) -> None:
        self._session = session
        self._command = command
        self._until = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        self._shown = shown
        self.run_id: str | None = None
        self._position = 0
        self._outcome: dict[str, Any] | None = None  # the call's, if that has ended
        self._called = self._followed = 0  # the numbers of the two calls that are under way
        self._finished = False  # all of its output was shown
        self._interrupted = False

    def outcome(self) -> dict[str, Any]:
        """Return what `run` answers, without the output.

        Raises AnsweredError, DaemonRestarted if the run had not begun when the daemon died, and
        LeftRunning.
        """
        with _woken_by_interrupts() as wake:
            self._calls = OpenCalls(Client.open(), wake)
            try:
                params: dict[str, Any] = {"session": self._session, "command": self._command}
                params["timeout_ms"] = self._left()
                self._called = self._calls.ask("run", params, tells_run=True)
                while (outcome := self._step(wake)) is None:
                    pass
                return outcome
            finally:
                self._calls.close()

    def _left(self) -> int:
        """Return how many milliseconds the run has left."""
        if self._until is None:
            return _LONG
        return max(0, round((self._until - time.monotonic()) * 1000))

    def _step(self, wake: socket.socket) -> dict[str, Any] | None:
        """Take the next message; return the outcome if it is known."""
        try:
            answer = self._calls.next_answer()
        except DaemonRestarted:
            if self.run_id is None:
                raise
            self._calls.close()
            self._calls = OpenCalls(Client.open(), wake)
            self._called = 0
            self._follow()
            return None
        if answer is None:
            self._interrupt()
        elif answer["id"] == self._called:
            return self._answered(answer)
        elif answer["id"] == self._followed:
            return self._printed(result_of(answer))
        elif "error" in answer:  # Ctrl+C could not be typed
            error = AnsweredError(answer["error"])
            print(f"nacre: {error.message}", file=sys.stderr)
        return None

    # --- the call that runs it -------------------------------------------------------------

    def _answered(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        if "begun" in answer:
            self.run_id = answer["begun"]
            self._shown.begin(answer["begun"])
            self._follow()
            return None
        outcome = result_of(answer)
        if "handover" in answer:
            outcome["handover"] = answer["handover"]
            print(f"nacre: {answer['told']}", file=sys.stderr)
        self._called = 0
        if self.run_id is None:
            return outcome
        if outcome.get("ended_by") == "deadline" and self._until is None:
            return None  # it was a long one, and goes on
        if self._finished:
            return outcome
        self._outcome = outcome
        if outcome["status"] != "completed":
            self._follow(wait=False)  # what it has printed, and no more
        return None

    # --- the calls that follow it ----------------------------------------------------------

    def _follow(self, *, wait: bool = True) -> None:
        params = {"run_id": self.run_id, "position": self._position}
        self._followed = self._calls.ask(
            "follow_run", {**params, "timeout_ms": self._left() if wait else 0}
        )

    def _printed(self, part: dict[str, Any]) -> dict[str, Any] | None:
        data = base64.b64decode(part["data"])
        if missing := part["position"] - self._position:
            print(f"nacre: {missing} bytes of the output were not kept", file=sys.stderr)
        self._position = part["next_position"]
        if data:
            self._shown.take(data, part["cols"])
        self._finished = part["finished"]
        over = self._finished or (not data and self._outcome is not None)
        if over and self._outcome is not None:
            return self._outcome
        if over and not self._called:
            return self._as_outcome(part, "completed")
        if not data and not self._called and part.get("state"):
            return self._as_outcome(part, "timeout", ended_by="needs_input")
        if not data and not self._called and self._until is not None and not self._left():
            return self._as_outcome(part, "timeout", ended_by="deadline")
        if not over:
            self._follow(wait=self._outcome is None)
        return None

    def _as_outcome(self, part: dict[str, Any], status: str, **more: str) -> dict[str, Any]:
        told = {name: part[name] for name in ("hint", "state", "ended_by") if part.get(name)}
        facts = {"status": status, "exit_code": part.get("exit_code"), "run_id": self.run_id}
        return {**facts, **told, **more}

    # --- Ctrl+C ----------------------------------------------------------------------------

    def _interrupt(self) -> None:
        """Raises KeyboardInterrupt if nothing was begun, LeftRunning for the second one."""
        if self.run_id is None:
            raise KeyboardInterrupt
        if self._interrupted:
            self._leave()
        self._interrupted = True
        self._calls.ask("press_keys", {"session": self._session, "keys": ["ctrl+c"]})
        print("nacre: interrupted; Ctrl+C again leaves the command running", file=sys.stderr)

    def _leave(self) -> NoReturn:
        print(
            f"nacre: the command goes on; wait for it: nacre wait {self._session} --run "
            f"{self.run_id}; look at it: nacre attach {self._session}",
            file=sys.stderr,
        )
        raise LeftRunning


@contextmanager
def _woken_by_interrupts() -> Iterator[socket.socket]:
    """Let Ctrl+C end a wait instead of whatever is being done: half an answer is of no use."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    before: Callable[..., Any] | int | None = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: waker.send(b"c"))
    try:
        yield woken
    finally:
        signal.signal(signal.SIGINT, before)
        woken.close()
        waker.close()
