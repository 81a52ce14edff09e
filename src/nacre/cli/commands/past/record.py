"""`nacre record`: an asciicast that is written while the session runs.

The daemon's journal has everything; this process asks for what is new and appends it. So a daemon
that dies or is replaced loses nothing of it, a killed session is read to its end, and when this
process is killed, the file has everything up to a moment ago.

Rule 1: the file is a valid asciicast at every moment: it is opened before anything is announced,
and only whole lines are written.
Rule 2: no event is written twice, and intervals add up to the time that has passed, except where
idle_cap shortens them.
Rule 3: the label of a marker is the exit code, if the command had ended when it was written.
"""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from nacre.cli.flags import add_flags
from nacre.cli.output.answers import NO_LIMIT, add_json, harmless, show
from nacre.cli.session_argument import add_session
from nacre.client.calls import AnsweredError, Client
from nacre.client.greeting import was_stopped
from nacre.core.operations.recordings import ExportRecording
from nacre.errors import DaemonRestarted, DaemonUnreachable, Failed
from nacre.settings.paths import find_paths

_STANDARD_OUTPUT = "-"
_WAIT_MS = 3_600_000  # one wait for output; after that the next wait starts
# Output is collected until it pauses for the first time, but not longer than the second.
_PAUSE_MS, _LONGEST_MS = 100, 1000
_MOMENT = 0.001  # seconds; the least span that is asked for
_CHUNK = 32768  # bytes of one write, about; a kill between two leaves whole lines


def add_record(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "output", metavar="FILE", nargs="?", help="New file to write. Default: SESSION.cast."
    )
    parser.add_argument(
        "--all", action="store_true", help="Include everything that was recorded before."
    )
    parser.add_argument(
        "--scenario",
        metavar="FILE",
        help="Attach instead, and write what you do as a scenario for 'nacre test' (new file).",
    )
    add_flags(parser, ExportRecording, ("idle_cap", "input", "markers"))
    add_json(parser)
    parser.set_defaults(run=run_record)


def run_record(arguments: Namespace) -> int:
    """Record until the session ends or Ctrl+C."""
    if arguments.scenario is not None:
        from nacre.cli.commands.testing.written import record_scenario

        return record_scenario(arguments)
    output = arguments.output or f"{arguments.session}.cast"
    name = harmless(str(arguments.session))
    with Client.open(told=False) as client:  # before anything is made or announced
        details = client.ask("list_sessions", session=arguments.session)
    options = {key: getattr(arguments, key) for key in ("idle_cap", "input", "markers")}
    with _CastFile(output) as file:
        recording = _Recording(details["session_id"], file, options)
        try:
            with Client.open(told=False) as client:
                recording.begin(client, whole=arguments.all)
        except BaseException:
            file.discard()
            raise
        try:
            # From this line on Ctrl+C ends the recording, and the file is whole.
            print(f"recording {name} until it ends or Ctrl+C is pressed here", file=sys.stderr)
            recording.follow()
        except KeyboardInterrupt:
            print(file=sys.stderr)
            with Client.open(told=False) as client:
                recording.catch_up(client)
    result = {"session": details["name"], "events": file.events, "size": file.size}
    if output == _STANDARD_OUTPUT:
        return 0
    return show(arguments, {**result, "path": os.path.abspath(output)}, harmless(output))


class _Recording:
    def __init__(self, session: str, file: "_CastFile", options: dict[str, Any]) -> None:
        self._session = session  # by its id: a killed session has lost its name
        self._file = file
        self._cap = options.pop("idle_cap")  # applied here: it would hide how much time has passed
        self._options = options
        self._until = 0.0  # everything up to this time is in the file
        self._carried = 0.0  # seconds between the last event and that time

    def begin(self, client: Client, *, whole: bool) -> None:
        """Write the header, the screen, and what came before if `whole`."""
        idle = client.ask("list_sessions", session=self._session)["idle_seconds"]
        now = time.time()
        header, *lines = self._export(client, None if whole else now - _MOMENT, now)
        self._file.write([header])
        self._append([json.loads(line) for line in lines])
        self._until, self._carried = now, idle if whole else 0.0

    def follow(self) -> None:
        """Write what comes until the session ends or the daemon is stopped."""
        while True:
            try:
                with Client.open(told=False) as client:
                    # First the generation, then what there is: so the wait misses nothing.
                    seen = client.ask("list_sessions", session=self._session)
                    self.catch_up(client)
                    if not seen["alive"]:
                        return
                    self._wait(client, seen["generation"])
            except DaemonRestarted:
                continue  # the next daemon has everything
            except DaemonUnreachable as error:
                why = "the daemon was stopped" if was_stopped(find_paths()) else error
                print(f"nacre: the recording ends here: {why}", file=sys.stderr)
                return

    def catch_up(self, client: Client) -> None:
        """Append what is new."""
        now = time.time()
        if now - self._until < _MOMENT:  # or the clock was set back
            return
        _header, _screen, *events = map(json.loads, self._export(client, self._until, now))
        passed = now - self._until + self._carried
        if events:
            events[0][0] += self._carried
        self._carried = max(0.0, passed - sum(interval for interval, *_ in events))
        self._until = now
        self._append(events)

    def _append(self, events: list[Any]) -> None:
        for event in events:
            event[0] = round(event[0] if self._cap is None else min(event[0], self._cap), 3)
        self._file.write([json.dumps(event, ensure_ascii=False) for event in events])

    def _export(self, client: Client, since: float | None, until: float) -> list[str]:
        """Return the lines of a part: header, the screen at its beginning if it has one, events."""
        part = client.ask(
            "export_recording",
            session=self._session,
            since=since,
            until=until,
            max_chars=NO_LIMIT,
            **self._options,
        )
        return [line for line in part["recording"].split("\n") if line]

    def _wait(self, client: Client, generation: int) -> None:
        """Wait for output after this generation, which then pauses, or for the session's end."""
        longest = _WAIT_MS
        while True:
            try:
                waited = client.ask(
                    "wait_for",
                    session=self._session,
                    regex="(?s).",
                    after_generation=generation,
                    timeout_ms=longest,
                )
                break
            except AnsweredError as error:
                if error.code == "SESSION_DEAD":
                    return
                if (most := error.details.get("most")) is None or most >= longest:
                    raise
                longest = most  # this daemon waits no longer (max_wait)
        if waited["matched"]:
            self._settle(client)

    def _settle(self, client: Client) -> None:
        try:
            client.ask(
                "await_quiesce",
                session=self._session,
                timeout_ms=_PAUSE_MS,
                max_wait_ms=_LONGEST_MS,
            )
        except AnsweredError as error:
            # It prints all the time, or has ended, which the next wait will find.
            if error.code not in ("TIMEOUT", "SESSION_DEAD"):
                raise


class _CastFile:
    """A new file to which whole lines are appended, or standard output.

    Raises Failed when it cannot be made or written.
    """

    def __init__(self, path: str) -> None:
        self.events = -1  # the header is none
        self.size = 0
        self._path = path
        if path == _STANDARD_OUTPUT:
            self._descriptor = os.dup(1)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path, flags, 0o666)
        except FileExistsError:
            raise Failed(f"{path} already exists", "choose another path") from None
        except OSError as error:
            raise Failed(
                f"{path} cannot be written: {error.strerror}", "choose another path"
            ) from error

    def __enter__(self) -> "_CastFile":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, lines: list[str]) -> None:
        waiting = b""
        for line in lines:
            waiting += line.encode() + b"\n"
            self.events += 1
            if len(waiting) >= _CHUNK:
                self._append(waiting)
                waiting = b""
        self._append(waiting)

    def _append(self, data: bytes) -> None:
        left = data
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except OSError as error:
                if self._path != _STANDARD_OUTPUT:
                    whole = data.rfind(b"\n", 0, len(data) - len(left)) + 1  # no half of a line
                    os.ftruncate(self._descriptor, self.size + whole)
                raise Failed(
                    f"{self._path} cannot be written any further: {error.strerror}; it has the "
                    "recording up to here"
                ) from error
        self.size += len(data)

    def discard(self) -> None:
        """Delete a file in which nothing was recorded."""
        if self._path != _STANDARD_OUTPUT and not self.size:
            os.unlink(self._path)
