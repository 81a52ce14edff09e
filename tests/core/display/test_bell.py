"""A BEL rings, unless it ends a string."""

import pytest

from nacre.core.display.bell import rings_bell


@pytest.mark.parametrize(
    ("data", "within", "rings"),
    [
        (b"a\x07b", False, True),
        (b"plain", False, False),
        (b"\x1b]0;title\x07", False, False),
        (b"\x1b]0;title\x07\x07", False, True),
        (b"\x1b]0;title\x1b\\\x07", False, True),
        (b"\x1bPdata\x07more\x1b\\", False, False),
        (b"tle\x07text", True, False),
        (b"tle\x07text\x07", True, True),
        (b"tle\x1b\\\x07", True, True),
        (b"no end", True, False),
    ],
)
def test_whether_it_rings(data: bytes, within: bool, rings: bool) -> None:
    assert rings_bell(data, within=within) is rings
