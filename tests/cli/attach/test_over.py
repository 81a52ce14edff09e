"""What attach prints at its end, and its exit code."""

import pytest

from nacre.cli.attach.over import Over, program_ended, program_lost


@pytest.mark.parametrize(
    ("over", "said", "code"),
    [
        (program_ended("dev", 0, None), "dev has ended with exit code 0", 0),
        (program_ended("dev", 3, None), "dev has ended with exit code 3", 3),
        (program_ended("dev", None, "KILL"), "dev was killed by KILL", 137),
        (program_ended("dev", None, None), "dev has ended; its exit code is not known", 1),
        (
            program_lost("dev"),
            "dev was lost with its daemon; start it again: nacre restore dev",
            1,
        ),
    ],
)
def test_an_end_is_told_with_what_is_known_of_it(over: Over, said: str, code: int) -> None:
    assert (over.said, over.code) == (f"nacre: {said}", code)
