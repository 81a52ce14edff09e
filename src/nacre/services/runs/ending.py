"""Decide that a run is over, and say why.

Rule 1: only this file decides it. There are three kinds of evidence, which `ended_by` names:
  mark    the shell has marked the end of the command
  prompt  the prompt at which it was sent is back, and nothing marked its end
  exit    the shell that it ran in is gone
Rule 2: the exit code of a wrapped command is what its own mark says. The prompt's mark counts where
a signal ended the line, and only if the command had started: what a user's functions made of the
wrapper is not its exit code.
Rule 3: a shell that was asked tells the code only of what it ran itself. One that took the place of
the run's shell (`exec`) has the same process id, but not its variables.
Rule 4: quiet is no evidence. What was typed into another program is left when that has been quiet,
because nobody can know its end; `quiet` says so.
"""

from typing import Literal, NamedTuple

from nacre.core.shell.marks import Mark
from nacre.services.runs.request import RunRequest

EndedBy = Literal["mark", "prompt", "exit", "quiet"]


class RunEnd(NamedTuple):
    by: EndedBy
    exit_code: int | None = None
    folder: str | None = None  # where the shell is then
    host: str | None = None  # of a shell that is not the session's own


BACK_AT_PROMPT = RunEnd("prompt")  # its exit code is unknown
LEFT = RunEnd("quiet")


class Start(NamedTuple):
    """What is known of a run's start; `code` is what a wrapped command's own mark has told."""

    shell_id: str = ""  # the shell that it began in
    marked: bool = False
    code: int | None = None


def end_by_mark(request: RunRequest, start: Start, mark: Mark) -> RunEnd | None:
    """Return how a run ends by this mark, or None."""
    if mark.nonce == request.nonce:
        # In the native shell the prompt's own mark follows, with the folder.
        return _by_own_mark(start.shell_id, mark) if request.context == "wrapped" else None
    if mark.kind == "D" and request.context == "native":
        return RunEnd("mark", _native_code(request, start, mark), mark.folder)
    if mark.kind == "D" or (mark.kind == "E" and mark.nonce in request.outer):
        # The session's own shell is back, or the command that started this run's shell has ended.
        return RunEnd("exit", mark.exit_code, mark.folder if mark.kind == "D" else None)
    return None


def _native_code(request: RunRequest, start: Start, mark: Mark) -> int | None:
    if not request.starts_by_wrapper:
        return mark.exit_code
    if start.code is not None:
        return start.code
    return mark.exit_code if start.marked else None


def answers_elsewhere(shell_id: str, mark: Mark) -> bool:
    """Return whether another shell than the run's own answered when it was asked for its end."""
    answering = _answering(mark)
    return answering is not None and answering.shell_id != shell_id


def answers_in_place(mark: Mark) -> bool:
    """Return whether a shell answered that took the place of the one that was there."""
    answering = _answering(mark)
    return answering is not None and not answering.shell_id


def _by_own_mark(shell_id: str, mark: Mark) -> RunEnd | None:
    if mark.kind != "E" or answers_elsewhere(shell_id, mark):
        return None
    answering, code = _answering(mark), mark.exit_code
    by: EndedBy = "mark" if answering is None else "prompt"
    if answering is not None and "a" in answering.options:
        code = None  # all variables are exported: another shell in its place would have them, too
    place = mark.place(shell_id)
    if place is None:
        return RunEnd(by, code)
    return RunEnd(by, code, place.folder, place.host)


class _Answering(NamedTuple):
    """The shell that was asked for its end: the one that had `options` when the run began."""

    shell_id: str  # empty: it ran no command of ours
    options: str


def _answering(mark: Mark) -> _Answering | None:
    """Return None where it told by itself."""
    told = [*mark.value.split(";", 2), ""][1]
    shell_id, _, options = told.partition(":")
    return _Answering(shell_id, options) if told else None
