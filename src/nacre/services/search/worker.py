"""The process that searches journals for the daemon: whatever it takes, no session waits for it.

`python -m nacre.services.search.worker` gets tasks on its standard input and answers each on its
standard output, both as frames (messages.py). It ends with its daemon, when its input does.

Rule 1: the newest is searched first, over all sessions. What was not reached in time is said.
Rule 2: an engine that crashes takes only this process along.
"""

import sys
import time
from typing import NamedTuple

import msgspec

from nacre.core.journal.records import peek_checkpoint, unpack_engine
from nacre.core.journal.replay import Moment, Replay
from nacre.core.journal.shown import ShownText
from nacre.core.journal.shown_search import ShownHit, find_shown, near_key, text_finder
from nacre.core.text.redaction import Redaction, SecretValues, redacting
from nacre.services.search.messages import LENGTH, RawHit, SearchAnswer, SearchTask, frame
from nacre.services.search.parts import Part, ReadParts, TooMuch, parts_of

_COARSE = 1.0  # seconds by which a file's time may be before what was written to it
_UNREADABLE = "its journal cannot be read"
_TOO_MUCH = "it shows more than may be held in memory (search_memory_bytes)"
_LONGEST = 2000  # characters of a line that are shown


class _PartHit(NamedTuple):
    part: Part
    shown: ShownText
    hit: ShownHit


def main() -> int:
    read = ReadParts()
    while head := sys.stdin.buffer.read(LENGTH):
        data = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        answer = search(read, msgspec.msgpack.decode(data, type=SearchTask))
        sys.stdout.buffer.write(frame(answer))
        sys.stdout.buffer.flush()
    return 0


def search(read: ReadParts, task: SearchTask) -> SearchAnswer:
    """Do one search. Raises PatternError for what is no expression."""
    secrets = None if task.secrets is None else Redaction(SecretValues(task.secrets))
    with redacting(secrets):
        return _Search(read, task).run()


class _Search:
    def __init__(self, read: ReadParts, task: SearchTask) -> None:
        self._read = read
        self._task = task
        self._finder = text_finder(task.text, regex=task.regex, exact=task.exact)
        self._failed: dict[str, str] = {}

    def run(self) -> SearchAnswer:
        task = self._task
        deadline = time.monotonic() + task.seconds
        found: list[_PartHit] = []
        total = 0
        left: Part | None = None
        for part in self._parts():
            try:
                shown = self._read.shown(part, deadline, task.memory, task.scrollback)
            except (OSError, ValueError):
                self._failed[part.session] = _UNREADABLE
                continue
            except TooMuch:
                self._failed[part.session] = _TOO_MUCH
                continue
            if shown is None:
                left = part
                break
            hits = find_shown(shown, self._finder, task.most, task.since, task.until)
            total += hits.total
            found += [_PartHit(part, shown, hit) for hit in hits.newest]
            if len(found) > 4 * task.most:
                found = _newest(found, task.most)
        return SearchAnswer(
            hits=self._shown(_newest(found, task.most)),
            total=total,
            searched_since=None if left is None else left.ended,
            failed=self._failed,
        )

    def _parts(self) -> list[Part]:
        """Return what is to be searched, what was written last first."""
        found: list[Part] = []
        for session, folder in self._task.journals:
            try:
                parts = parts_of(session, folder)
            except OSError:  # it was removed meanwhile, or is being
                self._failed[session] = _UNREADABLE
                continue
            found += [part for number, part in enumerate(parts) if self._matters(parts, number)]
        return sorted(found, key=lambda part: part.ended, reverse=True)

    def _matters(self, parts: list[Part], number: int) -> bool:
        since, until = self._task.since, self._task.until
        if since is not None and parts[number].ended + _COARSE < since:
            return False
        return until is None or number == 0 or parts[number - 1].ended <= until

    # --- what is shown of them -------------------------------------------------------------

    def _shown(self, found: list[_PartHit]) -> list[RawHit]:
        around = self._around_rows([one for one in found if one.hit.at.alternate])
        return [self._raw(one, around) for one in found]

    def _raw(self, found: _PartHit, around: dict[_PartHit, tuple[list[str], list[str]]]) -> RawHit:
        hit, context = found.hit, self._task.context
        before, after = around.get(found, ([], []))
        if context and not hit.at.alternate and not near_key(found.shown, hit.begin):
            before, after = found.shown.around(hit.line, hit.begin, context)
        text, start, end = _cut(hit.text, hit.start, hit.end)
        return RawHit(
            session=found.part.session,
            time=hit.at.time,
            generation=hit.at.generation,
            alternate=hit.at.alternate,
            line=hit.number,
            text=text,
            start=start,
            end=end,
            versions=hit.versions,
            before=[line[:_LONGEST] for line in before],
            after=[line[:_LONGEST] for line in after],
        )

    def _around_rows(self, found: list[_PartHit]) -> dict[_PartHit, tuple[list[str], list[str]]]:
        """Return the rows around hits on alternate screens: these are replayed once more."""
        around: dict[_PartHit, tuple[list[str], list[str]]] = {}
        if not self._task.context:
            return around
        by_part: dict[Part, list[_PartHit]] = {}
        for one in found:
            by_part.setdefault(one.part, []).append(one)
        for part, hits in by_part.items():
            data = part.checkpoint()
            checkpoint = peek_checkpoint(data)
            engine = unpack_engine(data) if checkpoint is not None else b""
            replay = Replay(checkpoint, engine, scrollback=0)
            records = list(part.records())
            at = 0
            for one in sorted(hits, key=lambda hit: hit.hit.at.generation):
                until = Moment(generation=one.hit.at.generation)
                while at < len(records) and not until.is_before(records[at]):
                    replay.apply(records[at])
                    at += 1
                around[one] = self._rows(replay, one)
            replay.terminal.close()
        return around

    def _rows(self, replay: Replay, found: _PartHit) -> tuple[list[str], list[str]]:
        row, context = found.hit.number, self._task.context
        lines = replay.terminal.plain_lines()
        shown = lines[row] if row < len(lines) else ""
        same = shown != "" and found.hit.text.startswith(shown[:40])
        if not same or near_key(found.shown, found.hit.begin):
            return [], []
        return lines[max(0, row - context) : row], lines[row + 1 : row + 1 + context]


def _newest(found: list[_PartHit], most: int) -> list[_PartHit]:
    return sorted(found, key=lambda one: (one.hit.at.time, one.hit.line), reverse=True)[:most]


def _cut(text: str, start: int, end: int) -> tuple[str, int, int]:
    """Return a line, of a long one what stands around what was found, and where that is in it."""
    if len(text) <= _LONGEST:
        return text, start, end
    first = max(0, min(start - _LONGEST // 2, len(text) - _LONGEST))
    return text[first : first + _LONGEST], start - first, min(end - first, _LONGEST)


if __name__ == "__main__":
    sys.exit(main())
