"""Output that is slow to draw is cut finely, ordinary output hardly at all."""

from nacre.services.host.pace import Pace

REPEAT = b"x\x1b[65535b"
USUAL = 80 * 24


def slices(pace: Pace, data: bytes, cells: int = USUAL, seconds: float = 0.0) -> list[bytes]:
    found, at = [], 0
    while at < len(data):
        end = pace.end_of_slice(data, at, cells)
        found.append(data[at:end])
        pace.took(seconds)
        at = end
    return found


def test_slices_are_the_whole_data_in_order() -> None:
    data = b"text\r\n" * 500 + REPEAT * 500 + b"more" * 3000
    assert b"".join(slices(Pace(), data)) == data


def test_text_without_escapes_is_cut_only_by_its_length() -> None:
    assert list(map(len, slices(Pace(), b"y\r\n" * 16384))) == [16384, 16384, 16384]


def test_no_slice_has_many_escapes_wherever_they_are() -> None:
    for data in (REPEAT * 3000, b"y" * 30_000 + b"\x1bc" * 1000, b"\x1b[31m\x1b[2J" * 5000):
        assert max(part.count(b"b") for part in slices(Pace(), data)) <= 17
        assert max(part.count(b"c") for part in slices(Pace(), data)) <= 17
        assert max(part.count(b"J") for part in slices(Pace(), data)) <= 17


def test_colours_are_cheap() -> None:
    line = b"\x1b[32mgreen\x1b[0m \x1b[38;2;1;2;3;48:5:7mboth\x1b[m\r\n"
    assert max(map(len, slices(Pace(), line * 1000))) == 16384


def test_after_a_slow_slice_sequences_are_fed_one_by_one_until_they_are_quick() -> None:
    pace = Pace()
    pace.took(0.014)
    # A slice may complete a sequence of the one before it.
    clear = b"x\x1b[2J"
    assert max(part.count(b"J") for part in slices(pace, clear * 20, seconds=0.001)) <= 2
    pace.took(0.0)
    assert max(part.count(b"J") for part in slices(pace, clear * 20)) > 2


def test_text_that_was_slow_is_cut_shorter_until_it_is_quick_again() -> None:
    pace, text = Pace(), "👩‍👩‍👧‍👦".encode() * 20_000
    slow = list(map(len, slices(pace, text, seconds=0.005)))
    assert slow[0] > 16380
    assert slow[-2] <= 1024
    assert max(map(len, slices(pace, text))) > 16380


def test_long_runs_of_bytes_that_continue_nothing_are_cut_short() -> None:
    run = b"\x9b" * 300
    for data in (run * 70, b"text" * 5000 + run * 70, (run + b"text" * 250) * 20):
        assert max(len(part) for part in slices(Pace(), data) if run in part) <= 512
    for text in ("語", "é", "👩", "a👩é語", "語漢字\r\n", "👩‍👩‍👧‍👦"):
        assert max(map(len, slices(Pace(), text.encode() * 10_000))) > 16_370


def test_no_slice_ends_within_a_character() -> None:
    for part in slices(Pace(), "é語👩".encode() * 20_000, seconds=0.005):
        part.decode()


def test_repeats_of_many_are_fed_one_by_one_from_the_first() -> None:
    # A slice may complete a sequence of the one before it.
    assert max(part.count(b"b") for part in slices(Pace(), b"text" * 100 + REPEAT * 20)) <= 2


def test_on_a_huge_screen_slices_are_smaller() -> None:
    huge = 1000 * 1000
    assert max(part.count(b"J") for part in slices(Pace(), b"\x1b[2J" * 500, huge)) == 1
    assert max(map(len, slices(Pace(), b"\n" * 4096, huge))) <= 128


def test_changes_of_the_width_are_fed_one_by_one_from_the_first() -> None:
    data = b"\x1b[0mtext" * 10 + b"\x1b[?3h\x1b[?3l" * 20
    assert max(part.count(b"\x1b[?3") for part in slices(Pace(), data)) == 1
