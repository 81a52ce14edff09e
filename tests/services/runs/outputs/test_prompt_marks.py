"""What a shell prints before its prompt is cut off, and nothing else."""

import pytest

from nacre.services.runs.outputs.prompt_marks import without_prompt_mark


@pytest.mark.parametrize(
    ("output", "left"),
    [
        (b"a\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 79 + b"\r \r", b"a"),  # zsh
        (b"100%\n", b"100%\n"),
        (b"%\x1b[1;1m" * 5000 + b"%" + b" " * 79 + b"\r \r", b"%\x1b[1;1m" * 4999 + b"%"),
        (b"%", b"%"),
    ],
)
def test_mark_before_a_prompt_is_no_output(output: bytes, left: bytes) -> None:
    assert without_prompt_mark(output) == left
