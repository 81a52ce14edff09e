"""A line that a model wrote is taken only in the form that was asked for."""

import pytest

from nacre.core.commands.sampled import SampledLine, read_sampled


def test_a_line_is_read_from_what_was_asked_for() -> None:
    assert read_sampled('{"command": " ls -l ", "explanation": "List\\n them."}') == SampledLine(
        "ls -l", "List them."
    )
    assert read_sampled('```json\n{"command": "ls"}\n```') == SampledLine("ls", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls -l",
        "{",
        "[]",
        '{"command": null, "explanation": "unclear"}',
        '{"command": ["ls"]}',
        '{"command": "ls", "explanation": 3}',
        '{"command": "  "}',
        '{"command": "ls\\nrm x"}',
        '{"command": "ls \\u202e x"}',
        '{"command": "ls \\u001b[2K"}',
        '{"command": "%s"}' % ("x" * 3000),
        "{" * 100_000 + "}" * 100_000,
    ],
)
def test_anything_else_has_no_line(text: str) -> None:
    assert read_sampled(text) is None
