"""What an error is on the command line: one line, one JSON value, its own exit code."""

import json

import pytest

from nacre.cli.output.answers import complain
from nacre.errors import WIRE, Internal, NacreError


@pytest.mark.parametrize("code", WIRE)
def test_each_error_exits_with_the_code_of_the_table(
    code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    error = NacreError("it happened")
    error.code = code
    assert complain(error, as_json=True) == WIRE[code].exit
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": {"code": code, "message": "it happened"}}
    assert said.err == "nacre: it happened\n"


def test_what_nobody_expected_and_what_a_newer_daemon_says_exit_with_70() -> None:
    newer = NacreError("it happened")
    newer.code = "OF_A_NEWER_DAEMON"
    assert complain(Internal("unexpected error"), as_json=False) == 70
    assert complain(newer, as_json=False) == 70
