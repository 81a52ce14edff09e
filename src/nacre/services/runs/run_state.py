"""How far a run has come: not started, started, over."""

from msgspec import Struct

from nacre.services.runs.ending import RunEnd, Start


class RunState(Struct):
    started_by_mark: bool = False
    restored: bool = False  # an earlier daemon sent it, or died before it had
    reads_parts: bool = False  # the shell waits for the parts of a long command
    shell_id: str = ""  # the shell that it began in, as that shell reports it, also behind ssh
    own_code: int | None = None  # of a wrapped command in the native shell, by its own mark
    elsewhere: bool = False  # another shell answered when it was asked for its end
    replaced: bool = False  # that one took the place of its shell (exec)
    first: int = 0  # the generation after which its output begins
    last: int | None = None  # the generation that it ends with
    begun: int = -1  # where the terminal's stream stood then, to the read; -1: not known
    over: int = -1  # the same at its end
    unstarted_end: RunEnd | None = None  # an end without a start: perhaps of another line
    early_end: RunEnd | None = None  # told before the mark of its start, which was late
    parts: int = 0  # lines of it that have ended, while more were to come
    part_end: RunEnd | None = None  # how the last of them ended
    end: RunEnd | None = None
    ended: float | None = None  # when, by the loop's clock
    cut_short: bool = False  # by Ctrl+C, and the code that its shell told may be another's
    interrupts: int = 0  # the session's count of Ctrl+C at its begin
    inputs: int = 0  # the session's count of inputs at its end
    known_end: RunEnd | None = None  # known to an earlier daemon; it may be seen again

    @property
    def start(self) -> Start:
        return Start(self.shell_id, self.started_by_mark, self.own_code)

    def close(self, end: RunEnd, *, at: float, generation: int, inputs: int) -> None:
        self.end, self.ended, self.last, self.inputs = end, at, generation, inputs

    def end_part(self, end: RunEnd) -> None:
        """A line has ended, and another follows."""
        self.parts += 1
        self.part_end, self.started_by_mark = end, False

    def reopen(self) -> None:
        """Forget an end that will be seen once more."""
        self.over = -1
        self.known_end, self.end, self.ended, self.last = self.end, None, None, None
