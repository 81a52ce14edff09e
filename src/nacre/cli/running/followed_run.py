"""One run that is shown while it prints, or only at its end: to its end, its time-out, a question.

Rule 1: one call runs it (`run`), others follow what it prints (`follow_run`), on one connection.
Rule 2: when the daemon dies or is replaced, the run is followed at the next one, from the byte that
was reached. Nothing is shown twice, and nothing runs twice.
Rule 3: the first Ctrl+C interrupts the command, a second one leaves it running.
"""

import base64
import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn, Protocol

from nacre.cli.output.answers import complain
from nacre.client.calls import AnsweredError, Client
from nacre.client.open_calls import OpenCalls, result_of
from nacre.errors import DaemonRestarted, NacreError
from nacre.wording import Hint, Use

# What is asked for if nobody gave a time-out. The daemon cuts it to max_wait, and is asked again.
_LONG = 3_600_000  # milliseconds
_ANY_WIDTH = 1 << 14  # columns; what is rendered has no width any more
_INCOMPLETE = "nacre: {} of the output was lost when the daemon was restarted"
_OUR_TIME_CUT = f"timeout_ms was cut from {_LONG} "
_NO_BYTES = 1 << 62  # a position that no output reaches: only its end is told


class TakesOutput(Protocol):
    """What takes the output."""

    def begin(self, run_id: str) -> None: ...

    def take(self, data: bytes, cols: int) -> None: ...


class LeftRunning(KeyboardInterrupt):
    """A second Ctrl+C: the command goes on without us."""


class Wanted(NamedTuple):
    """What is to be run."""

    session: str
    command: str
    timeout_ms: int | None = None
    passes_input: bool = False  # our standard input is the command's
    max_chars: int | None = None  # of an output that is taken at the end


class FollowedRun:
    def __init__(self, wanted: Wanted, shown: TakesOutput | None) -> None:
        """`shown` None: the output is in the outcome."""
        self._wanted = wanted
        self._began = time.monotonic()
        self._shown = shown
        self.run_id: str | None = None
        self._position = 0 if shown is not None else _NO_BYTES
        self._outcome: dict[str, Any] | None = None  # the call's, if that has ended
        self._called = self._followed = self._pressed = 0  # the numbers of calls under way
        self._finished = False  # all of its output was shown
        self._interrupted = self._incomplete = False

    def outcome(self) -> dict[str, Any]:
        """Return what `run` answers; without the output if that is shown.

        Raises AnsweredError, DaemonRestarted if the run had not begun when the daemon died, and
        LeftRunning.
        """
        with _woken_by_interrupts() as wake:
            self._calls = OpenCalls(Client.open(), wake)
            try:
                self._called = self._calls.ask("run", self._params(), **self._beside())
                while (outcome := self._step(wake)) is None:
                    pass
            finally:
                self._calls.close()
        if self._shown is not None:
            outcome.pop("output", None)
        return outcome

    def _params(self) -> dict[str, Any]:
        wanted = self._wanted
        params: dict[str, Any] = {"session": wanted.session, "command": wanted.command}
        if wanted.max_chars is not None:
            params["max_chars"] = wanted.max_chars
        return {**params, "timeout_ms": self._left()}

    def _beside(self) -> dict[str, Any]:
        follows = self._shown is not None
        return {
            "tells_run": True,
            "follows_run": follows,
            "passes_input": self._wanted.passes_input,
        }

    def _left(self) -> int:
        """Return how many milliseconds the run has left."""
        if self._wanted.timeout_ms is None:
            return _LONG
        return max(0, self._wanted.timeout_ms - self._lasted())

    def _lasted(self) -> int:
        return round((time.monotonic() - self._began) * 1000)

    def _step(self, wake: socket.socket) -> dict[str, Any] | None:
        """Take the next message; return the outcome if it is known."""
        try:
            return self._take(self._calls.next_answer())
        except DaemonRestarted:
            if self.run_id is None:
                raise
        with suppress(DaemonRestarted):  # of this one too: the next step finds that out
            self._go_on(wake)
        return None

    def _go_on(self, wake: socket.socket) -> None:
        """Follow the run at the next daemon. Raises DaemonRestarted if that dies as well."""
        self._calls.close()
        self._calls = OpenCalls(Client.open(), wake)
        self._called = 0
        self._follow(wait=self._outcome is None)
        if self._pressed:  # whether it was typed nobody knows
            self._pressed = self._calls.ask("press_keys", self._ctrl_c())

    def _take(self, answer: dict[str, Any] | None) -> dict[str, Any] | None:
        if answer is None:
            self._interrupt()
        elif answer["id"] == self._called:
            return self._answered(answer)
        elif answer["id"] == self._followed:
            return self._printed(result_of(answer))
        elif answer["id"] == self._pressed:
            self._pressed = 0
            if "error" in answer:  # Ctrl+C could not be typed
                complain(AnsweredError(answer["error"]), as_json=False, command="run")
        return None

    # --- the call that runs it -------------------------------------------------------------

    def _answered(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        if "begun" in answer:
            self.run_id = answer["begun"]
            if self._shown is not None:
                self._shown.begin(answer["begun"])
                self._follow()
            return None
        outcome = result_of(answer)
        if "handover" in answer:
            outcome["handover"] = answer["handover"]
            print(f"nacre: {answer['told']}", file=sys.stderr)
        if notice := self._worth_telling(answer.get("notice", "")):
            outcome["notice"] = notice
        self._called = 0
        if self.run_id is None:
            # Refused, or the daemon is older than this command line and tells no ids.
            if outcome["output"] and self._shown is not None:
                self._shown.take(f"{outcome['output']}\n".encode(), _ANY_WIDTH)
            return outcome
        if outcome.get("ended_by") == "deadline" and self._wanted.timeout_ms is None:
            if self._shown is None:
                self._follow()
            return None  # it was a long one, and goes on
        if self._finished or self._shown is None:
            return outcome
        self._outcome = outcome
        if outcome["status"] != "completed":
            self._follow(wait=False)  # what it has printed, and no more
        return None

    def _worth_telling(self, notice: str) -> str:
        """Leave out that a time-out was cut which nobody gave."""
        if self._wanted.timeout_ms is not None:
            return notice
        return "; ".join(one for one in notice.split("; ") if not one.startswith(_OUR_TIME_CUT))

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
        if part.get("incomplete") and not self._incomplete:
            self._incomplete = True
            lost = part.get("lost_bytes")
            much = f"about {lost} bytes" if lost else "a part"
            print(_INCOMPLETE.format(much), file=sys.stderr)
        self._position = part["next_position"]
        if data and self._shown is not None:
            self._shown.take(data, part["cols"])
        self._finished = part["finished"]
        over = self._finished or (not data and self._outcome is not None)
        if over and self._outcome is not None:
            return self._outcome
        if over and not self._called:
            return self._completed(part)
        if not data and not self._called and part.get("state"):
            return self._unfinished(part, "needs_input")
        if not data and not self._called and not self._left():
            return self._unfinished(part, "deadline")
        if not over:
            self._follow(wait=self._outcome is None)
        return None

    def _completed(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return what the call would have answered that died with its daemon.

        Raises DaemonRestarted if nobody knows whether the command was run.
        """
        if not part.get("started", True):
            self.run_id = None
            raise DaemonRestarted("the daemon was restarted before the command began")
        answer = self._ask("wait_for", run_id=self.run_id, timeout_ms=0)
        told = answer.get("run")
        if told is None:  # it has aged out meanwhile
            facts = {name: part.get(name) for name in ("exit_code", "ended_by")}
            return {"status": "completed", **facts, "run_id": self.run_id, "output": ""}
        if "notice" in answer:
            told["notice"] = answer["notice"]
        if self._shown is None:
            return self._within_budget(told)
        return {name: told[name] for name in told if name not in ("omitted_lines", "hint")}

    def _unfinished(self, part: dict[str, Any], ended_by: str) -> dict[str, Any]:
        page: dict[str, Any] = {}
        if self._shown is None:
            page = self._ask("read_run", run_id=self.run_id, max_chars=self._wanted.max_chars)
        return {
            "status": "timeout",
            "exit_code": None,
            "run_id": self.run_id,
            "duration_ms": self._lasted(),
            "ended_by": ended_by,
            **{name: part[name] for name in ("state", "hint") if part.get(name)},
            "output": page.get("output", ""),
        }

    def _within_budget(self, outcome: dict[str, Any]) -> dict[str, Any]:
        if self._wanted.max_chars is None:
            return outcome
        from nacre.core.text.budget import head_and_tail

        facts = {name: outcome[name] for name in outcome if name not in ("output", "hint")}
        room = self._wanted.max_chars - len(json.dumps(facts))
        output, omitted = head_and_tail(outcome["output"].split("\n"), room)
        if not omitted:
            return outcome
        omitted += outcome.get("omitted_lines", 0)
        whole = Use("read_run", "read those lines", {"run_id": self.run_id})
        hint = Hint(f"{omitted} lines are left out of the middle", whole)
        return {**outcome, "omitted_lines": omitted, "hint": hint, "output": output}

    def _ask(self, operation: str, **params: Any) -> dict[str, Any]:
        given = {name: value for name, value in params.items() if value is not None}
        with Client.open() as client:
            return client.ask(operation, **given)

    # --- Ctrl+C ----------------------------------------------------------------------------

    def _interrupt(self) -> None:
        """Raises KeyboardInterrupt if nothing was begun, LeftRunning for the second one."""
        if self.run_id is None:
            raise KeyboardInterrupt
        if self._interrupted:
            self._leave()
        self._interrupted = True
        print("nacre: interrupted; Ctrl+C again leaves the command running", file=sys.stderr)
        self._pressed = -1
        self._pressed = self._calls.ask("press_keys", self._ctrl_c())

    def _leave(self) -> NoReturn:
        session = self._wanted.session
        print(
            f"nacre: the command goes on; wait for it: nacre wait {session} --run "
            f"{self.run_id}; look at it: nacre attach {session}",
            file=sys.stderr,
        )
        raise LeftRunning

    def stop(self) -> None:
        """Interrupt the command, if it has begun: nobody takes its output any more."""
        if self.run_id is not None:
            with suppress(NacreError), Client.open() as client:
                client.call("press_keys", **self._ctrl_c())

    def _ctrl_c(self) -> dict[str, Any]:
        return {"session": self._wanted.session, "keys": ["ctrl+c"]}


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
