"""What of a REPL's output is the command's: neither its echo nor the prompt that follows."""

import pytest

from nacre.services.prompts import pattern
from nacre.services.repl import without_prompt


@pytest.mark.parametrize(
    ("output", "command", "left"),
    [
        ("1 + 1\n2\n>>> ", "1 + 1", "2"),
        (">>> 1 + 1\n2\n>>>", "1 + 1", "2"),
        ("x = 1\n>>> ", "x = 1", ""),
        (
            "for i in (1, 2):\n...     print(i)\n... \n1\n2\n>>>",
            "for i in (1, 2):\n    print(i)",
            "1\n2",
        ),
        ("print('>>>')\n>>>\n>>> ", "print('>>>')", ">>>"),
        ("print(1)\n1", "print(1)", "1"),
        ("1\n>>> ", "print(1)", "1"),
        ("", "x", ""),
    ],
    ids=["value", "after a prompt", "none", "block", "a prompt", "no prompt", "no echo", "nothing"],
)
def test_output_is_without_echo_and_prompt(output: str, command: str, left: str) -> None:
    assert without_prompt(output, command, pattern(">>> ")) == left


def test_prompt_that_counts_is_taken_off_too() -> None:
    output = "1 + 1\nOut[3]: 2\n\nIn [4]:"
    assert without_prompt(output, "1 + 1", pattern("In [3]: ")) == "Out[3]: 2\n"
