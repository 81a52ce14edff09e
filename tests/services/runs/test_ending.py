"""When a run is over: by which mark, in which shell, and why."""

import pytest

from nacre.core.shell.marks import Mark
from nacre.services.runs.ending import RunEnd, Start, answers_elsewhere, end_by_mark
from nacre.services.runs.request import Context, RunRequest

OWN, OUTER, SESSION = "a1", "b2", "c3"  # nonces
SHELL = "100"


def request(context: Context) -> RunRequest:
    return RunRequest(context, 0.0, nonce=OWN, outer=frozenset({OUTER}))


@pytest.mark.parametrize(
    ("context", "mark", "end"),
    [
        ("native", Mark("D", "3;/tmp", SESSION), RunEnd("mark", 3, "/tmp")),
        ("native", Mark("D", "", SESSION), RunEnd("mark", None, None)),
        ("native", Mark("C", "", SESSION), None),
        ("native", Mark("S", SHELL, OWN), None),
        ("native", Mark("E", "0", OWN), None),  # the prompt's own mark follows
        ("native", Mark("E", "5", OUTER), RunEnd("exit", 5)),
        ("wrapped", Mark("S", SHELL, OWN), None),
        ("wrapped", Mark("E", "7", OWN), RunEnd("mark", 7)),
        ("wrapped", Mark("E", f"130;{SHELL}", OWN), RunEnd("prompt", 130)),
        ("wrapped", Mark("E", "0;999", OWN), None),  # another shell answered
        (
            "wrapped",
            Mark("E", f"7;;{SHELL} web1;/srv", OWN),
            RunEnd("mark", 7, "/srv", "web1"),
        ),
        (
            "wrapped",
            Mark("E", f"130;{SHELL};{SHELL} web1;/srv", OWN),
            RunEnd("prompt", 130, "/srv", "web1"),
        ),
        ("wrapped", Mark("E", "7;;999 web1;/srv", OWN), RunEnd("mark", 7)),  # handed down
        ("wrapped", Mark("E", "1", OUTER), RunEnd("exit", 1)),
        ("wrapped", Mark("E", "1", "d4"), None),  # of a run inside of it
        ("wrapped", Mark("D", "2;/", SESSION), RunEnd("exit", 2, "/")),  # the outermost is back
        ("repl", Mark("C", "", SESSION), None),
        ("repl", Mark("D", "2;/", SESSION), RunEnd("exit", 2, "/")),
        ("repl", Mark("E", "1", OUTER), RunEnd("exit", 1)),
    ],
)
def test_run_is_over_by_a_mark(context: Context, mark: Mark, end: RunEnd | None) -> None:
    assert end_by_mark(request(context), Start(SHELL), mark) == end


@pytest.mark.parametrize(
    ("start", "code"),
    [
        (Start(SHELL, marked=True, code=7), 7),  # a function called `exit` spoilt $? behind it
        (Start(SHELL, marked=True), 130),  # Ctrl+C
        (Start(), None),  # the wrapper was spoilt: nobody knows what ran
    ],
)
def test_wrapped_command_s_own_word_counts_for_its_exit_code(start: Start, code: int) -> None:
    wrapped = request("native")
    wrapped.starts_by_wrapper = True
    mark = Mark("D", "130;/tmp", SESSION)
    assert end_by_mark(wrapped, start, mark) == RunEnd("mark", code, "/tmp")


@pytest.mark.parametrize("kind", ["A", "B", "P"])
@pytest.mark.parametrize("context", ["native", "wrapped", "repl"])
def test_prompt_s_own_marks_end_nothing(context: Context, kind: str) -> None:
    assert end_by_mark(request(context), Start(SHELL), Mark(kind, "", SESSION)) is None


def test_answer_without_a_shell_was_not_asked_for() -> None:
    assert not answers_elsewhere(SHELL, Mark("E", "0", OWN))
    assert not answers_elsewhere(SHELL, Mark("E", f"0;{SHELL}", OWN))
    assert answers_elsewhere(SHELL, Mark("E", "0;999", OWN))
