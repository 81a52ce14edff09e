"""`nacre events`: what happened in a session, in its order. It needs no daemon; one that runs is
asked on which host a session is that is not known here.

Rule 1: it shows what the audit has (docs/audit.md): what was not recorded there is not shown here.
Rule 2: a name stands for the last session that had it.
Rule 3: with --follow it hears of what is written (inotify), and ends with the session. Where the
system sends no such events, it looks every second.
"""

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.client.calls import Client
from nacre.core.audit.chain import read_fields
from nacre.errors import InvalidInput, NacreError, SessionNotFound
from nacre.settings.paths import find_paths
from nacre.system.folder_watch import FolderWatch
from nacre.system.storage.audit_log import read_lines

_LOOK = 1.0  # seconds between two looks where nothing is heard
_SEALS = ("prev", "mac")
_SHOWN = 200  # characters of a text


def add_events(parser: ArgumentParser) -> None:
    parser.epilog = "These are runs, input, hand-overs, approvals, and its end."
    parser.add_argument("session", metavar="SESSION", help="Name or id; also one that has ended.")
    parser.add_argument("--follow", action="store_true", help="Go on until the session ends.")
    add_json(parser)
    parser.set_defaults(run=run_events)


def run_events(arguments: Namespace) -> int:
    folder = find_paths().audit
    if not os.path.isdir(folder):
        raise InvalidInput(f"there is no audit log in {folder}; a daemon writes one (audit)")
    timeline = _Timeline(folder, arguments.session, as_json=arguments.json)
    timeline.show_new()
    if timeline.identifier is None:
        raise _unknown(arguments.session)
    if arguments.follow and not timeline.over:
        asyncio.run(_follow(folder, timeline))
    return 0


def _unknown(session: str) -> SessionNotFound:
    """Return the error for a session of which the audit here has nothing."""
    what = f"the audit here has no session {session!r}"
    with suppress(NacreError), Client.open(told=False) as client:
        host = client.call("list_sessions", session=session).get("host")
        hosts = client.call("cluster_status")["hosts"] if host else ()
        if any(one["host"] == host and not one["here"] for one in hosts):
            return SessionNotFound(f"{what}: it is on host {host!r}", "run this command there")
    return SessionNotFound(what)


async def _follow(folder: str, timeline: "_Timeline") -> None:
    changed = asyncio.Event()
    watch = FolderWatch(asyncio.get_running_loop(), changed.set)
    watch.folders(written=[folder])
    patience = None if watch.hears else _LOOK
    try:
        while not timeline.over:
            try:
                async with asyncio.timeout(patience):
                    await changed.wait()
            except TimeoutError:
                pass
            changed.clear()
            timeline.show_new()
    finally:
        watch.close()


class _Timeline:
    def __init__(self, folder: str, session: str, *, as_json: bool) -> None:
        self._folder = folder
        self._session = session
        self._json = as_json
        self._seen = 0  # the number of the last record
        self.identifier: str | None = None
        self.over = False

    def show_new(self) -> None:
        records = list(self._records())
        if self.identifier is None:
            named = (one for one in reversed(records) if self._is_named(one))
            self.identifier = next((str(one["session_id"]) for one in named), None)
            if self.identifier is None:
                return
        for record in records:
            self._seen = max(self._seen, int(record.get("seq", 0)))
            if record.get("session_id") == self.identifier:
                self._show(record)
        sys.stdout.flush()

    def _records(self) -> Iterator[dict[str, Any]]:
        for _, line in read_lines(self._folder):
            record = read_fields(line) if line.endswith(b"\n") else None
            if record is not None and int(record.get("seq", 0)) > self._seen:
                yield record

    def _is_named(self, record: dict[str, Any]) -> bool:
        known = (record.get("session"), record.get("session_id"))
        return self._session in known and bool(record.get("session_id"))

    def _show(self, record: dict[str, Any]) -> None:
        self.over = record.get("kind") == "exit" or (self.over and record.get("kind") != "spawn")
        if self._json:
            print_json({name: value for name, value in record.items() if name not in _SEALS})
        else:
            print(harmless(_in_words(record)))


def _in_words(record: dict[str, Any]) -> str:
    return f"{record.get('time')}  {_who(record):<14}  {_what(record)}"


def _who(record: dict[str, Any]) -> str:
    caller = record.get("caller") or {}
    if not caller:
        return "-"
    kind = "person" if caller.get("person") else "agent"
    return f"{kind}/{caller.get('door')}"


def _what(record: dict[str, Any]) -> str:
    kind = record.get("kind")
    if kind == "spawn":
        argv = " ".join(str(word) for word in record.get("argv") or ())
        return f"started {_short(argv)} in {record.get('cwd')} (pid {record.get('pid')})"
    if kind == "exit":
        signal = record.get("signal")
        return f"ended by signal {signal}" if signal else f"ended, exit {record.get('exit_code')}"
    if kind == "input":
        return f"typed {'(hidden)' if record.get('hidden') else _short(record.get('text'))}"
    if kind == "run":
        code = record.get("exit_code")
        ended = "its exit code is not known" if code is None else f"exit {code}"
        return f"ran {_short(record.get('command'))}: {ended}, {record.get('ms')} ms"
    if kind == "decision":
        answer = f", answered {record['answer']}" if record.get("answer") else ""
        return f"policy: {record.get('verdict')} {_short(record.get('text'))}{answer}"
    if kind == "approval":
        return f"approval: {record.get('answer')} {_short(record.get('line'))}"
    skipped = {"seq", "time", "kind", "session", "session_id", "caller", "operation", "outcome"}
    more = [
        f"{name}={_short(value)}"
        for name, value in record.items()
        if name not in skipped and name not in _SEALS and value is not None
    ]
    outcome = record.get("outcome")
    failed = f": {outcome}" if outcome not in (None, "ok") else ""
    return " ".join([str(record.get("operation") or record.get("event") or kind), *more]) + failed


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
