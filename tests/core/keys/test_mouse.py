"""Mouse reports reach the child in its own coordinates."""

import pytest

from nacre.core.keys.mouse import Mouse

ABOVE, ROWS = 2, 5


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (b"\x1b[<0;10;3M", b"\x1b[<0;10;1M"),
        (b"\x1b[<0;10;7M", b"\x1b[<0;10;5M"),
        (b"\x1b[<0;10;2M", b""),  # on a panel
        (b"\x1b[<0;10;8M", b""),
        (b"\x1b[<35;1;1M", b""),  # moved over one
        (b"\x1b[<0;10;1m", b"\x1b[<0;10;1m"),  # let go of
        (b"\x1b[<0;10;9m", b"\x1b[<0;10;5m"),
        (b"\x1b[M !#", b"\x1b[M !!"),
        (b"\x1b[M !!", b""),
        (b"\x1b[M#!!", b"\x1b[M#!!"),
        (b"\x1b[32;10;4M", b"\x1b[32;10;2M"),
        (b"\x1b[32;10;1M", b""),
        (b"\x1b[35;10;1M", b"\x1b[35;10;1M"),
        (b"a\x1b[<0;1;3Mb\x1b[<0;1;4Mc", b"a\x1b[<0;1;1Mb\x1b[<0;1;2Mc"),
        (b"plain\x1b[A\x1b[", b"plain\x1b[A\x1b["),
    ],
)
def test_a_report_is_moved_or_goes_nowhere(typed: bytes, told: bytes) -> None:
    assert Mouse().move(typed, ABOVE, ROWS) == told


def test_rows_that_are_scrolled_out_of_view_are_counted() -> None:
    assert Mouse().move(b"\x1b[<0;1;1M", -3, 10) == b"\x1b[<0;1;4M"


@pytest.mark.parametrize("report", [b"\x1b[<0;10;3M", b"\x1b[M !#"])
def test_a_report_in_two_chunks_is_one(report: bytes) -> None:
    for cut in range(3, len(report)):
        mouse = Mouse()
        told = mouse.move(b"x" + report[:cut], ABOVE, ROWS)
        assert told == b"x"
        assert mouse.move(report[cut:] + b"y", ABOVE, ROWS) == Mouse().move(report, 2, 5) + b"y"
