"""A process that replays journals for a daemon: an engine that crashes takes only this one along.

`python -m nacre.services.recovery.worker` gets tasks on its standard input and answers each on its
standard output. Both are frames: a length (eight bytes, little endian) and a message (msgpack).

Rule 1: what is in the ring is fed too, after the answer was packed: the daemon will show it, and it
must not be the first to find that the engine crashes in it.
Rule 2: what cannot be answered (a damaged journal, a sequence of megabytes) is left to the daemon,
which knows what to say about it.
Rule 3: it ends with its daemon, when its standard input does.
"""

import sys
from typing import Any, BinaryIO

import msgspec

LENGTH = 8  # bytes


class Task(msgspec.Struct, frozen=True):
    folder: str  # of the journal
    size: tuple[int, int]  # rows and columns, for a journal that is empty
    scrollback: int
    begin: int  # the offset of `unwritten` in the terminal's stream
    unwritten: bytes  # what is in the ring; some of it may be in the journal too


class Replayed(msgspec.Struct, frozen=True):
    """A terminal after its journal, with what the engine does not know."""

    engine: bytes  # as Terminal.snapshot packs it
    prompting: dict[str, Any]
    prompt_end: tuple[int, int] | None
    generation: int
    offset: int  # in the terminal's stream, of everything on the screen


Answer = Replayed | None  # None: the daemon has to do it


def frame(message: Task | Answer) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(LENGTH, "little") + data


def main() -> int:
    from nacre.core.terminal.terminal import Terminal

    Terminal().close()  # builds the tables that all of them share, before there is a task
    while head := sys.stdin.buffer.read(LENGTH):
        data = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        _serve(msgspec.msgpack.decode(data, type=Task), sys.stdout.buffer)
    return 0


def _serve(task: Task, out: BinaryIO) -> None:
    from nacre.core.terminal.packed import WithinSequence
    from nacre.services.recovery.journal import replay_journal

    try:
        replay = replay_journal(task.folder, task.size, task.scrollback)
    except (OSError, ValueError):
        _write(out, None)
        return
    try:
        end, offset = replay.prompt_end, replay.offset or 0
        replayed = Replayed(
            replay.terminal.snapshot(),
            vars(replay.prompting),
            None if end is None else (end.row, end.col),
            replay.generation,
            offset,
        )
        replay.terminal.feed(task.unwritten[max(0, offset - task.begin) :])
        _write(out, replayed)
    except WithinSequence:
        _write(out, None)
    finally:
        replay.terminal.close()


def _write(out: BinaryIO, answer: Answer) -> None:
    out.write(frame(answer))
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
