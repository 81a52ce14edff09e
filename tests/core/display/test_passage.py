"""What reaches a viewer's terminal: everything that draws, nothing that asks or stays."""

import pytest

from nacre.core.display.passage import Passage
from nacre.core.terminal.terminal import Terminal


def passed(data: bytes) -> bytes:
    shown = Passage().pass_on(data)
    assert shown is not None
    return shown


@pytest.mark.parametrize(
    "asked",
    [
        *(b"\x1b[c", b"\x1b[>c", b"\x1b[=c", b"\x1b[0c", b"\x1b[5n", b"\x1b[6n", b"\x1b[?6n"),
        *(b"\x1b[?1$p", b"\x1b[4$p", b"\x1b[18t", b"\x1b[8;40;100t", b"\x1b[x", b"\x1b[>q"),
        *(b"\x1b[?u", b"\x1b[?1;1;0S", b"\x1b[1;1;1;1;1;1*y", b"\x1bZ", b"\x05", b"\xc2\x9bc"),
        *(b"\x1bP$qm\x1b\\", b"\x1bP+q544e\x1b\\", b"\x1b_Gi=1,a=q;AAAA\x1b\\", b"\x1b^x\x1b\\"),
        *(b"\x1b]10;?\x07", b"\x1b]11;?\x1b\\", b"\x1b]4;1;?\x07", b"\x1b]52;c;?\x07"),
        *(b"\x1b]52;c;aGk=\x07", b"\x1b]4;1;#fff\x07", b"\x1b]9;note\x07", b"\x1b[3J"),
    ],
)
def test_questions_and_what_stays_are_left_out(asked: bytes) -> None:
    assert passed(b"a" + asked + b"b").replace(b"\xc2\x9bc", b"") in (b"ab", b"acb")
    one_by_one = Passage()
    shown = [one_by_one.pass_on(bytes([byte])) for byte in b"a" + asked + b"b"]
    assert b"".join(part or b"" for part in shown) in (b"ab", b"acb")


@pytest.mark.parametrize(
    "drawn",
    [
        *(b"plain \x07 text\r\n\t", b"\x1b[31mred\x1b[m", b"\x1b[38;2;1;2;3m", b"\x1b[4:3m"),
        *(b"\x1b[2J\x1b[H\x1b[1;1H", b"\x1b[2;5r", b"\x1b7\x1b8\x1bM", b"\x1b(0\x1b)B\x0e\x0f"),
        *(b"\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[?1;7h", b"\x1b[2 q", b"\x1b[>1u\x1b[<u"),
        *(b"\x1b]0;title\x07", b"\x1b]2;title\x1b\\", b"\x1b]8;;http://x/\x1b\\x\x1b]8;;\x1b\\"),
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f".encode(),
        *("سلام \u200fעברית می\u200cخواهم".encode(), b"\x1b]8;id=1;HTTPS://x\x07y\x1b]8;;\x07"),
        *("grüße 漢 👩‍👩‍👧 \u00a0".encode(), b"\xff\xfe", b"\x1b[?1048h", b"\x1b[>4;2m"),
    ],
)
def test_what_draws_passes_as_it_is(drawn: bytes) -> None:
    assert passed(drawn) == drawn
    one_by_one = Passage()
    shown = [one_by_one.pass_on(bytes([byte])) for byte in drawn + b"."]
    assert b"".join(part or b"" for part in shown) == drawn + b"."


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a\u202eb\u2066c\u2069".encode(), b"abc"),
        ("a\U000e0048\U000e0049b\ufeff\u2060".encode(), b"ab"),
        (b"\x1b]8;;file:///etc/passwd\x1b\\x\x1b]8;;\x1b\\", b"x\x1b]8;;\x1b\\"),
        (b"\x1b]8;id=a;javascript:alert(1)\x07x\x1b]8;;\x07", b"x\x1b]8;;\x07"),
        ("\x1b]2;a\n\x01\u202eb\x07".encode(), b"\x1b]2;ab\x07"),
    ],
)
def test_what_deceives_eyes_is_left_out(printed: bytes, shown: bytes) -> None:
    assert passed(printed) == shown
    one_by_one = Passage()
    parts = [one_by_one.pass_on(bytes([byte])) for byte in printed]
    assert b"".join(part or b"" for part in parts) == shown


@pytest.mark.parametrize(
    "switch",
    [b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?1;1047l", b"\x1b[?3h", b"\x1bc"],
)
def test_a_switch_of_the_screen_needs_a_snapshot(switch: bytes) -> None:
    assert Passage().pass_on(b"a" + switch + b"b") is None
    split = Passage()
    assert split.pass_on(b"a" + switch[:-1]) == b"a"
    assert split.pass_on(switch[-1:] + b"b") is None
    assert split.pass_on(b"c") == b"c"


def test_a_string_of_any_length_is_held_and_left_out() -> None:
    passage = Passage()
    assert passage.pass_on(b"a\x1bP" + b"x" * 100_000) == b"a"
    for _ in range(10):
        assert passage.pass_on(b"x" * 100_000) == b""
    assert passage.pass_on(b"x\x1b\\b") == b"b"
    assert passage.pass_on(b"\x1b]0;" + b"x" * 100_000) == b""
    assert passage.pass_on(b"\x07c\x1b[1md") == b"c\x1b[1md"


@pytest.mark.parametrize("text", ["aé€𐍈z".encode(), b"\x1b[1;31mx\x1b[m", b"\x1b]2;t\x1b\\x"])
def test_nothing_ends_within_a_sequence_or_a_character(text: bytes) -> None:
    passage, viewer = Passage(), Terminal(8, 20)
    for byte in text:
        viewer.feed(passage.pass_on(bytes([byte])) or b"")
        assert not viewer.in_sequence


def test_switches_pass_where_the_whole_terminal_is_the_viewers() -> None:
    passage = Passage(switches=True)
    assert passage.pass_on(b"a\x1b[?104") == b"a"
    assert passage.pass_on(b"9hb\x1bc\x1b[c") == b"\x1b[?1049hb\x1bc"
