import pytest

from nacre.core.journal.asciicast_reader import CastEvent, events_of

V3 = '{"version": 3, "term": {"cols": 80, "rows": 24}}\n'
V2 = '{"version": 2, "width": 80, "height": 24}\n'


def test_version_3_counts_from_the_event_before() -> None:
    text = V3 + '[0.5, "o", "a"]\n# a comment\n\n[1, "r", "90x30"]\n[0.25, "x", "0"]\n'
    assert list(events_of(text)) == [
        CastEvent(0.5, "o", "a"),
        CastEvent(1.0, "r", "90x30"),
        CastEvent(0.25, "x", "0"),
    ]


def test_version_2_counts_from_the_beginning() -> None:
    text = V2 + '[0.5, "o", "a"]\n[2.0, "o", "b"]\n[1.5, "o", "c"]'
    assert [event.delay for event in events_of(text)] == [0.5, 1.5, 0.0]


def test_other_line_ends_may_stand_in_a_line() -> None:
    text = V3 + '[0, "o", "a\u2028b\x85c"]\r\n'
    assert list(events_of(text)) == [CastEvent(0.0, "o", "a\u2028b\x85c")]


@pytest.mark.parametrize("head", ["", "[]", "{}", '{"version": 1}', "\x1b[31mno", '{"version": 3'])
def test_what_has_no_header_is_no_recording(head: str) -> None:
    with pytest.raises(ValueError, match="line 1 is no header"):
        list(events_of(head))


@pytest.mark.parametrize(
    "line",
    ["x", "{}", "[1]", '[1, "o"]', '["1", "o", ""]', '[-1, "o", ""]', '[1, "o", 2]', '[1, "'],
)
def test_what_is_no_event_is_named_by_its_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 3 is no event"):
        list(events_of(f'{V3}[1, "o", "a"]\n{line}\n'))
