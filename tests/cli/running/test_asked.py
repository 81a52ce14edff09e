"""Why a run returned early, in the words of the command line."""

import pytest

from nacre.cli.output.words import CommandWords
from nacre.cli.running.asked import in_commands
from nacre.wording import Hint


@pytest.mark.parametrize(
    ("asks", "told", "worded"),
    [
        (
            "password",
            "it asks for a password: let a person type it, or send ctrl+d",
            "it asks for a password; type it: nacre attach d; interrupt it: nacre keys d ctrl+d",
        ),
        (
            "confirm",
            "it asks for yes or no: press y or n, without Enter",
            "it asks for yes or no; answer: nacre keys d y; interrupt it: nacre keys d ctrl+c",
        ),
        (
            "confirm",
            "it asks for yes or no: send y or n, and Enter",
            "it asks for yes or no; answer: nacre send d y; interrupt it: nacre keys d ctrl+c",
        ),
        (
            "pager",
            "a pager is open: send q to quit, or a space for the next page",
            "a pager is open; quit it: nacre keys d q; read on: nacre attach d",
        ),
        (
            "editor",
            "an editor is open: use its keys (nano: ctrl+x leaves it)",
            "an editor is open: use its keys (nano: ctrl+x leaves it); work in it: nacre attach d",
        ),
    ],
)
def test_what_a_program_waits_for_is_told_in_commands(asks: str, told: str, worded: str) -> None:
    hint = in_commands("d", {"asks": asks, "hint": told}, told)
    assert isinstance(hint, Hint)
    assert CommandWords("run").hint(hint) == worded
