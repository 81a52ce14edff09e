"""What runs in a session: who ran each command, since when, and how it ended.

Rule 1: runs tell of themselves (services/runs/ledger.py); what is typed is known by the shell's
marks. The journal has all of it, so the next daemon knows it too. It reads the earlier part when
somebody asks: a recovery does not wait for that.
Rule 2: who typed a command is who sent its Enter. Where that is not clear, nobody is named.
"""

import asyncio
import secrets
import time
from collections import deque
from functools import partial

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.journal.activity import (
    ActivityLog,
    ActivityNote,
    CommandBegun,
    CommandOver,
    ProgramBegun,
    pack_note,
    unpack_note,
)
from nacre.core.journal.records import ACTIVITY
from nacre.core.operations.follow import LastCommand, RunEvent
from nacre.core.operations.recordings import ActivityEntry
from nacre.services.host.bus import Tell
from nacre.services.host.host import Host
from nacre.services.session.recorder import Recorder
from nacre.services.session.screen import LiveScreen
from nacre.system.storage.segments import last_of_kind

_READ_AHEAD = 0.2  # seconds in which a shell has read what was typed before its prompt

_DOORS = {
    "cli": "command line",
    "rest": "REST",
    "ws": "WebSocket",
    "port": "session port",
    "mcp": "MCP",
    "ndjson": "NDJSON",
    "web": "web page",
}


class RanBy(msgspec.Struct, frozen=True):
    """Who ran something, as people are shown it."""

    name: str
    person: bool


def ran_by(caller: Caller | None) -> RanBy | None:
    """Name a caller in its own words: an MCP client's name, a token's, or the way it came."""
    if caller is None:
        return None
    way = _DOORS.get(caller.door, caller.door)
    if caller.person:
        return RanBy(caller.label or way, person=True)
    said = caller.client if caller.door != "cli" else ""
    return RanBy(said or caller.token_name or way, person=False)


class Activity:
    def __init__(self, host: Host, recorder: Recorder, screen: LiveScreen, tell: Tell) -> None:
        self.last: LastCommand | None = None  # for people
        self._host = host
        self._recorder = recorder
        self._screen = screen
        self._tell = tell
        self._most = host.settings.max_activity
        self._log = ActivityLog(self._most)
        # Of this daemon, until the journal's are known: those come before them.
        self._notes: deque[ActivityNote] | None = deque(maxlen=4 * self._most)
        self._reading: asyncio.Task[None] | None = None
        self._ahead: set[RanBy | None] = set()  # who sent an Enter before the prompt came
        self._entered: set[RanBy | None] = set()  # and since then
        self._prompt_at = 0.0

    # --- who types -------------------------------------------------------------------------

    def typing(self, caller: Caller | None, data: bytes, *, at_prompt: bool) -> None:
        """Take note of input on its way to the program."""
        if b"\r" not in data and b"\n" not in data:
            return
        who = ran_by(caller)
        if not at_prompt:
            self._ahead.add(who)
            return
        if self._host.loop.time() > self._prompt_at + _READ_AHEAD:
            self._ahead.clear()  # the shell, or a program before it, has read all of that
        self._entered.add(who)
        if data.count(b"\r") + data.count(b"\n") > 1:
            self._ahead.add(who)  # more than one line: the next may be theirs too

    def prompted(self) -> None:
        """The shell shows a prompt, and reads a line."""
        self._prompt_at = self._host.loop.time()

    def _who_entered(self) -> RanBy | None:
        known = self._ahead | self._entered
        self._entered.clear()
        return next(iter(known)) if len(known) == 1 else None

    # --- what is typed ---------------------------------------------------------------------

    def typed_begins(self, command: str, line: int | None) -> None:
        identifier = secrets.token_hex(6)
        who = self._who_entered()
        entry = self._begin(identifier, command, who, line, run=False)
        self._tell("runs", lambda: RunEvent(status="started", command=command, entry=entry))

    def typed_ends(self, exit_code: int | None, *, only_ours: bool = False) -> None:
        """A typed command has ended; `only_ours`: it was one if this daemon saw it begin."""
        known = self._log.typed
        if known is None and (only_ours or self._notes is None):
            return
        entry = self._end(known, exit_code)
        if entry is not None:
            self._tell("runs", lambda: _ended(entry))

    # --- runs ------------------------------------------------------------------------------

    def run_begins(self, run_id: str, command: str, who: RanBy | None) -> ActivityEntry:
        self._entered.clear()
        return self._begin(run_id, command, who, self._screen.cursor_line, run=True)

    def run_goes_on(self, run_id: str, command: str, who: RanBy | None, first: int) -> None:
        """An earlier daemon began a run: its note may not have come as far as the journal."""
        begun = self._begun(run_id, command, who, None, run=True)
        self._note(msgspec.structs.replace(begun, generation=first))

    def run_ends(self, run_id: str, exit_code: int | None) -> ActivityEntry | None:
        self._entered.clear()  # that was its own line
        return self._end(run_id, exit_code)

    # --- what there is ---------------------------------------------------------------------

    def begin_anew(self) -> None:
        """A program starts on an empty screen."""
        self._ahead.clear()
        self._entered.clear()
        self._note(ProgramBegun(key=secrets.token_hex(6)))

    async def known(self) -> ActivityLog:
        """Return everything that is known, also of earlier daemons."""
        if self._notes is not None and self._recorder.folder is not None:
            if self._reading is None:
                self._reading = self._host.loop.create_task(self._read_earlier())
            await asyncio.shield(self._reading)
        return self._log

    async def _read_earlier(self) -> None:
        folder = self._recorder.folder
        assert folder is not None
        try:
            await self._recorder.settled()
            read = partial(last_of_kind, folder, ACTIVITY, 3 * self._most)
            payloads, whole = await self._host.loop.run_in_executor(None, read)
            log = ActivityLog(self._most)
            log.earlier = not whole
            log.take_all(note for one in payloads if (note := unpack_note(one)) is not None)
            log.take_all(self._notes or ())
            self._log, self._notes = log, None
        finally:
            self._reading = None

    def _begin(
        self, identifier: str, command: str, who: RanBy | None, line: int | None, *, run: bool
    ) -> ActivityEntry:
        begun = self._begun(identifier, command, who, line, run=run)
        self.last = LastCommand(command=command, started=begun.time)
        entry = self._note(begun)
        assert entry is not None
        return entry

    def _begun(
        self, identifier: str, command: str, who: RanBy | None, line: int | None, *, run: bool
    ) -> CommandBegun:
        return CommandBegun(
            key=identifier,
            command=command[: self._host.settings.max_activity_chars],
            time=round(time.time(), 3),
            generation=self._screen.generation,
            cols=self._screen.terminal.cols,
            by=None if who is None else who.name,
            person=None if who is None else who.person,
            run=run,
            line=line,
        )

    def _end(self, identifier: str | None, exit_code: int | None) -> ActivityEntry | None:
        now = round(time.time(), 3)
        if self.last is not None:
            self.last = msgspec.structs.replace(self.last, ended=now, exit_code=exit_code)
        over = CommandOver(
            key=secrets.token_hex(6),
            time=now,
            generation=self._screen.generation,
            command=identifier,
            exit_code=exit_code,
        )
        return self._note(over)

    def _note(self, note: ActivityNote) -> ActivityEntry | None:
        if self._notes is not None:
            self._notes.append(note)
        self._recorder.note(ACTIVITY, pack_note(note), self._screen.generation)
        return self._log.take(note)


def _ended(entry: ActivityEntry) -> RunEvent:
    return RunEvent(
        status="ended",
        command=entry.command,
        exit_code=entry.exit_code,
        duration_ms=entry.duration_ms,
        entry=entry,
    )
