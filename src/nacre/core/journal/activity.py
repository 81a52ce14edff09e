"""What ran in a session, as notes of its journal, and the list that they make.

Rule 1: a note is taken once: it has a key, for the journal and the memory may both have it.
Rule 2: what is typed runs one after the other. So an end that names no command is that of the last
typed one, and a command whose end nobody saw ends with the next one's beginning.
Rule 3: the list is bounded; the oldest entries are dropped, but none that runs.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import cast

import msgspec

from nacre.core.operations.recordings import ActivityEntry


class CommandBegun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="begun"):
    key: str  # the command's id
    command: str
    time: float  # seconds since the epoch
    generation: int
    cols: int  # of the terminal that it prints for
    by: str | None = None
    person: bool | None = None
    run: bool = False
    line: int | None = None


class CommandOver(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="over"):
    key: str
    time: float
    generation: int
    command: str | None = None  # its id; None: the last typed one, which an earlier daemon saw
    exit_code: int | None = None


class ProgramBegun(msgspec.Struct, frozen=True, kw_only=True, tag="fresh"):
    """A program starts on an empty screen: nothing runs, and lines are counted from zero."""

    key: str


ActivityNote = CommandBegun | CommandOver | ProgramBegun

_decoder = msgspec.json.Decoder(ActivityNote)


def pack_note(note: ActivityNote) -> bytes:
    return msgspec.json.encode(note)


def unpack_note(payload: bytes) -> ActivityNote | None:
    """Return a note; None for one of another version."""
    try:
        return cast(ActivityNote, _decoder.decode(payload))
    except msgspec.DecodeError:
        return None


class ActivityLog:
    def __init__(self, most: int) -> None:
        self.earlier = False  # there were more, which were dropped
        self._most = most
        self._entries: OrderedDict[str, ActivityEntry] = OrderedDict()
        self._cols: dict[str, int] = {}
        self._typed: str | None = None  # the id of the typed command that runs
        self._taken: OrderedDict[str, None] = OrderedDict()

    def take(self, note: ActivityNote) -> ActivityEntry | None:
        """Return the entry that has changed; None if there is none."""
        if note.key in self._taken:
            return None
        self._taken[note.key] = None
        while len(self._taken) > 4 * self._most:
            self._taken.popitem(last=False)
        if isinstance(note, CommandBegun):
            return self._begin(note)
        if isinstance(note, CommandOver):
            return self._end(note)
        self._begin_anew()
        return None

    def take_all(self, notes: Iterable[ActivityNote]) -> None:
        for note in notes:
            self.take(note)

    def _begin(self, note: CommandBegun) -> ActivityEntry:
        if not note.run:
            self._lose_typed()
            self._typed = note.key
        entry = ActivityEntry(
            id=note.key,
            command=note.command,
            started=note.time,
            running=True,
            by=note.by,
            person=note.person,
            run_id=note.key if note.run else None,
            line=note.line,
            generation=note.generation,
        )
        self._entries[note.key] = entry
        self._cols[note.key] = note.cols
        self._drop_old()
        return entry

    def _end(self, note: CommandOver) -> ActivityEntry | None:
        command = note.command or self._typed
        if command is None or (entry := self._entries.get(command)) is None or not entry.running:
            return None
        if command == self._typed:
            self._typed = None
        lasted = round(max(0.0, note.time - entry.started) * 1000)
        return self._change(
            entry,
            running=False,
            ended=note.time,
            exit_code=note.exit_code,
            duration_ms=lasted,
            last_generation=note.generation,
        )

    def lose(self, command: str) -> None:
        """Take note that nobody saw how a command ended."""
        if (entry := self._entries.get(command)) is not None and entry.running:
            self._change(entry, running=False)

    def _lose_typed(self) -> None:
        if self._typed is not None:
            self.lose(self._typed)
            self._typed = None

    def _begin_anew(self) -> None:
        self._typed = None
        for entry in list(self._entries.values()):
            if entry.running or entry.line is not None:
                self._change(entry, running=False, line=None)

    def _change(self, entry: ActivityEntry, **fields: object) -> ActivityEntry:
        changed = msgspec.structs.replace(entry, **fields)
        self._entries[entry.id] = changed
        return changed

    def _drop_old(self) -> None:
        # Not a look at all of them: each command passes here.
        while len(self._entries) > self._most:
            ended = (name for name, entry in self._entries.items() if not entry.running)
            if (oldest := next(ended, None)) is None:
                return
            del self._entries[oldest], self._cols[oldest]
            self.earlier = True

    # --- what there is ---------------------------------------------------------------------

    @property
    def entries(self) -> list[ActivityEntry]:
        return list(self._entries.values())

    def find(self, command: str) -> tuple[ActivityEntry, int] | None:
        """Return an entry, and the columns that it printed for."""
        entry = self._entries.get(command)
        return None if entry is None else (entry, self._cols[command])

    @property
    def typed(self) -> str | None:
        """The id of the typed command that runs."""
        return self._typed
