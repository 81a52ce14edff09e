"""The first line of an answer, as models read it."""

import pytest

from nacre.core.agent.status import (
    Whereabouts,
    duration,
    ended,
    folder,
    matched,
    standing,
    status_line,
)
from nacre.core.shell.state import Asks, State

HERE = Whereabouts("run 7", "~/app")


def state(asks: Asks | None = None, program: str | None = None, **more: bool) -> State:
    name = "needs_input" if asks else "running"
    return State(state=name, evidence=[], asks=asks, program=program, **more)  # type: ignore[arg-type]


def test_an_end_says_code_time_folder_and_run() -> None:
    assert ended(1, 4.21, HERE) == "[exit 1 · 4.2s · ~/app · run 7]"
    assert ended(None, 0.04, HERE._replace(more=("no exit code in a REPL",))) == (
        "[done · 0.0s · ~/app · run 7 · no exit code in a REPL]"
    )


def test_what_goes_on_says_how_to_go_on() -> None:
    assert standing(None, 45.1, 20412, HERE._replace(run="run 9")) == (
        '[running 45s · run 9 · 20,412 lines · wait continues, type keys ["C-c"] stops]'
    )
    assert standing(state(), 1.0, 1, HERE) == (
        '[running 1.0s · run 7 · 1 line · wait continues, type keys ["C-c"] stops]'
    )
    assert matched('matched "ready"', HERE) == '[matched "ready" · run 7 · ~/app · still running]'


@pytest.mark.parametrize(
    ("asks", "program", "said"),
    [
        ("confirm", "apt", "[asks confirm · run 7 · ~/app · type answers]"),
        ("line", "sh", "[asks line · run 7 · ~/app · type answers]"),
        ("editor", "vim", "[editor vim · run 7 · ~/app · type keys]"),
        ("pager", "less", '[pager less · run 7 · ~/app · type keys ["q"] leaves it]'),
        ("repl", "python3", "[repl python3 · run 7 · ~/app · run or type goes in there]"),
    ],
)
def test_what_waits_says_for_what(asks: Asks, program: str, said: str) -> None:
    assert standing(state(asks, program), 1.0, 3, HERE) == said


def test_a_password_is_for_a_person() -> None:
    told = standing(state("password", "sudo"), 1.0, 3, HERE)
    assert told.startswith("[asks password · run 7 · ~/app · a person types it")
    assert "answers" not in told


def test_a_shell_that_was_started_takes_the_next_command() -> None:
    nested = State(state="prompt", evidence=[], program="ssh")
    assert standing(nested, 2.0, 0, HERE) == (
        "[shell ssh · run 7 · run goes in there, exit leaves it]"
    ), "this folder is not where that shell is"
    far = Whereabouts(None, "/srv")
    assert standing(nested, None, 0, far) == "[shell ssh · run goes in there, exit leaves it]"
    redrawn = state(program="top", full_screen=True)
    assert standing(redrawn, 2.0, 0, HERE) == "[screen top · run 7 · ~/app · type keys]"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0.0s"), (9.94, "9.9s"), (10, "10s"), (119.4, "119s"), (185, "3m 05s")],
)
def test_times_are_short(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_folders_are_as_in_a_prompt() -> None:
    assert folder("/home/a/app", "/home/a") == "~/app"
    assert folder("/home/a", "/home/a") == "~"
    assert folder("/home/ab", "/home/a") == "/home/ab"
    assert folder("/root", "/") == "/root"
    assert folder("/srv", "/home/a", "box") == "box:/srv"
    assert folder(None, "/home/a") is None


def test_a_first_line_is_one_short_line() -> None:
    line = status_line("exit 0", None, "a\nb", "x" * 1000)
    assert line.startswith("[exit 0 · a b · xxx")
    assert line.endswith("x…]")
    assert len(line) < 310
