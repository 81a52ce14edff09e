"""The exit code of a run, and what is said where it has none."""

from typing import Any

import pytest

from nacre.cli.running.exit_codes import exit_code_of, missing_code


@pytest.mark.parametrize(
    ("run", "code", "told"),
    [
        ({"status": "completed", "exit_code": 3}, 3, None),
        ({"status": "completed", "exit_code": 0, "ended_by": "exit"}, 0, None),
        ({"status": "completed", "exit_code": None, "context": "repl"}, 0, "REPL"),
        ({"status": "completed", "exit_code": None, "ended_by": "exit"}, 6, "ended before it"),
        ({"status": "completed", "exit_code": None, "ended_by": "prompt"}, 1, "not known"),
        ({"status": "timeout", "exit_code": None}, 124, None),
        ({"status": "busy", "exit_code": None}, 75, None),
        ({"status": "error", "exit_code": None}, 1, None),
    ],
)
def test_a_run_without_an_exit_code_is_no_success(
    run: dict[str, Any], code: int, told: str | None
) -> None:
    assert exit_code_of(run) == code
    missing = missing_code(run)
    assert missing is told if told is None else missing is not None and told in missing
