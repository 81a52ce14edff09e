"""`nacre audit`: verify, show and search the record of who did what. It needs no daemon.

A running one is asked for its status first: it then writes what it still collects.

Rule 1: what `verify` finds decides the exit code: 1 if something was changed, removed or inserted.
What a crash left is said, and is no failure.
Rule 2: with --json, tail and query print a record a line, as it stands in the log.
"""

import os
import re
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from nacre.cli.output.answers import add_json, harmless, print_json
from nacre.client.calls import Client
from nacre.core.audit.chain import read_fields
from nacre.core.audit.search import AuditSearch
from nacre.core.audit.verify import AuditFinding
from nacre.errors import InvalidInput, NacreError
from nacre.settings.paths import find_paths
from nacre.system.storage.audit_log import last_lines, read_lines, unverifiable_files, verify

_ACTIONS = ("verify", "tail", "query")
_AGO = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LAST = 20  # records that tail shows
_PATIENCE = 2.0  # seconds that a daemon has to answer


def add_audit(parser: ArgumentParser) -> None:
    parser.description = (
        "Verify, show and search the record of who did what.\n"
        "verify  name every record that was changed, removed or inserted\n"
        "tail    show the last records\n"
        "query   show the records that fit all of the conditions"
    )
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="verify, tail or query")
    parser.add_argument(
        "-n",
        "--lines",
        metavar="N",
        type=int,
        default=None,
        help=f"Show at most N records, the last ones (tail: {_LAST}).",
    )
    parser.add_argument("--session", metavar="SESSION", help="Only of this session: name or id.")
    parser.add_argument("--kind", metavar="KIND", help="Only of this kind: input, run, spawn …")
    parser.add_argument(
        "--caller",
        metavar="WHO",
        help="Only by this caller: person, agent, a door, a token, a part of a client's name.",
    )
    parser.add_argument(
        "--request", metavar="ID", help="Only of this call; in a cluster all hosts have its id."
    )
    parser.add_argument("--since", metavar="TIME", help="Not before: 10m, 2h, 3d ago, or a date.")
    parser.add_argument("--until", metavar="TIME", help="Before this time, given like --since.")
    parser.add_argument("--text", metavar="TEXT", help="Only with this text; case does not matter.")
    add_json(parser)
    parser.set_defaults(run=run_audit)


def run_audit(arguments: Namespace) -> int:
    folder = find_paths().audit
    if not os.path.isdir(folder):
        raise InvalidInput(f"there is no audit log in {folder}; a daemon writes one (audit)")
    with suppress(NacreError):
        if (daemon := Client.reach(timeout=_PATIENCE)) is not None:
            with daemon:
                daemon.call("status")
    if arguments.action == "verify":
        return _verify(arguments, folder)
    return _show(arguments, folder)


# --- verify ------------------------------------------------------------------------------------


def _verify(arguments: Namespace, folder: str) -> int:
    found = verify(folder)
    orphans = unverifiable_files(folder)
    ok = found.intact
    if arguments.json:
        print_json(
            {
                "ok": ok,
                "records": found.records,
                "findings": [_as_json(finding) for finding in found.findings],
                "unverifiable_files": orphans,
            }
        )
        return 0 if ok else 1
    for finding in found.findings:
        print(f"{finding.kind:<9} {_where(finding)}{finding.text}")
    for name in orphans:
        print(f"unknown   {os.path.join(folder, name)}: the key of these records is gone")
    span = ""
    if found.first is not None and found.newest is not None:
        span = f", from {found.first['time']} to {found.newest['time']}"
    verdict = "intact" if ok else "NOT intact"
    print(f"{verdict}: {found.records} records hold{span}")
    return 0 if ok else 1


def _where(finding: AuditFinding) -> str:
    return "" if finding.place is None else f"{finding.place.file}:{finding.place.line}: "


def _as_json(finding: AuditFinding) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": finding.kind, "text": finding.text}
    if finding.seq is not None:
        told |= {"seq": finding.seq, "last": finding.last}
    if finding.place is not None:
        told |= {"file": finding.place.file, "line": finding.place.line}
    return told


# --- tail and query ----------------------------------------------------------------------------


def _show(arguments: Namespace, folder: str) -> int:
    if arguments.lines is not None and arguments.lines < 1:
        raise InvalidInput("--lines must be at least 1")
    search = _search(arguments)
    if arguments.action == "tail" and search == AuditSearch():
        lines: Iterable[bytes] = last_lines(folder, arguments.lines or _LAST)
    else:
        lines = (line for _, line in read_lines(folder))
    found = (record for line in lines if (record := read_fields(line)) and search.finds(record))
    most = arguments.lines or (_LAST if arguments.action == "tail" else None)
    for record in found if most is None else _last(found, most):
        if arguments.json:
            print_json(record)
        else:
            print(harmless(_in_words(record)))
    sys.stdout.flush()
    return 0


def _last(records: Iterable[dict[str, Any]], count: int) -> Iterable[dict[str, Any]]:
    from collections import deque

    return deque(records, maxlen=count)


def _search(arguments: Namespace) -> AuditSearch:
    return AuditSearch(
        session=arguments.session,
        kind=arguments.kind,
        caller=arguments.caller,
        since=_moment("--since", arguments.since),
        until=_moment("--until", arguments.until),
        text=arguments.text,
        request=arguments.request,
    )


def _moment(flag: str, given: str | None) -> str | None:
    """Return a time as records write it."""
    if given is None:
        return None
    if ago := _AGO.fullmatch(given):
        seconds = time.time() - float(ago[1]) * _SECONDS[ago[2]]
        at = datetime.fromtimestamp(seconds, UTC)
    else:
        try:
            at = datetime.fromisoformat(given)
        except ValueError:
            raise InvalidInput(
                f"{flag} takes 10m, 2h or 3d (ago), or a date like 2026-05-04T12:30"
            ) from None
        at = at.astimezone(UTC)  # without a zone it is the machine's
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


_SHOWN_FIRST = ("seq", "time", "kind", "session", "session_id", "caller", "prev", "mac")


def _in_words(record: dict[str, Any]) -> str:
    caller = record.get("caller") or {}
    who = "person" if caller.get("person") else "agent" if caller else "-"
    by = "/".join(str(part) for part in (who, caller.get("door"), caller.get("client")) if part)
    rest = ", ".join(
        f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}"
        for name, value in record.items()
        if name not in _SHOWN_FIRST and value is not None
    )
    where = record.get("session", "-")
    return f"{record.get('seq')}  {record.get('time')}  {record.get('kind')}  {where}  {by}  {rest}"
