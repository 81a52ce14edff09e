"""One client as hosts.py sees it: a process that takes orders, and what it said of them."""

import json
import queue
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

_PATIENCE = 60.0  # seconds for one order; no step takes as long


@dataclass(frozen=True)
class Told:
    """What the client handed on: a value, or what it raised."""

    value: Any = None
    raised: str = ""

    @property
    def words(self) -> str:
        """What a model or a program would read of it."""
        return self.raised or (self.value["text"] if isinstance(self.value, dict) else "")


class Peer:
    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.complaints: list[str] = []
        self._readers = [
            threading.Thread(target=self._read_answers, daemon=True),
            threading.Thread(target=self._read_complaints, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(5)

    def ask(self, what: str, **order: Any) -> Told:
        self.begin(what, **order)
        return self.answer()

    def begin(self, what: str, **order: Any) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the answer tells that it ended, and why
            self._process.stdin.write(json.dumps({"do": what, **order}) + "\n")
            self._process.stdin.flush()

    def answer(self) -> Told:
        try:
            line = self._answers.get(timeout=_PATIENCE)
        except queue.Empty:
            return Told(raised=f"no answer within {_PATIENCE:.0f} s")
        if not line:
            self._answers.put("")  # for who asks next
            return Told(raised=f"the client ended: {' '.join(self.complaints[-3:])}")
        return Told(**json.loads(line))

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        patience: float | None = None,
        progress: bool = False,
    ) -> Told:
        self.begin_call(tool, arguments, patience=patience, progress=progress)
        return self.answer()

    def begin_call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        patience: float | None = None,
        progress: bool = False,
    ) -> None:
        self.begin("call", tool=tool, arguments=arguments, patience=patience, progress=progress)

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def _read_complaints(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.complaints.append(line.rstrip())
