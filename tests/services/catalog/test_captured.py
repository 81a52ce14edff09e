"""What is kept of an output."""

import pytest

from nacre.services.catalog.captured import Captured


def test_a_character_that_two_reads_split_is_whole_though_the_other_stream_comes_between() -> None:
    captured = Captured(1000)
    euro = "€".encode()
    captured.add("stdout", euro[:1])
    captured.add("stderr", b"!")
    captured.add("stdout", euro[1:])
    captured.close()
    assert captured.text() == "!€"
    assert (captured.text("stdout"), captured.text("stderr")) == ("€", "!")
    assert captured.bytes == 4


def test_half_a_character_at_the_end_is_shown_as_such() -> None:
    captured = Captured(1000)
    captured.add("stdout", "€".encode()[:2])
    captured.close()
    assert captured.text() == "\ufffd"


def test_head_and_tail_are_kept_and_the_rest_is_counted() -> None:
    for size in (1, 7, 100):
        captured = Captured(20)
        text = "".join(chr(97 + index % 26) for index in range(100))
        for at in range(0, 100, size):
            captured.add("stdout", text[at : at + size].encode())
        captured.close()
        kept = f"{text[:10]}\n[… 80 characters left out …]\n{text[-10:]}"
        assert (captured.text(), captured.left_out) == (kept, 80)


def test_so_much_is_kept_and_no_more() -> None:
    captured = Captured(20)
    for _ in range(100):
        captured.add("stdout", b"x" * 997)
    assert (captured.chars, captured.left_out) == (2 * (10 + 4096), 99_680)


@pytest.mark.parametrize("before", [0, 3, 4093, 4096, 5000, 9000])
@pytest.mark.parametrize("after", [0, 3, 4093, 4096, 5000, 9000])
def test_no_half_of_a_secret_stands_beside_what_is_left_out(before: int, after: int) -> None:
    """Both ends of what is left out are in the middle of one, wherever the rest is."""
    captured = Captured(200)
    secret = "s3cret!!"
    first, last = "a" * 96 + secret + "b" * before, "c" * after + secret + "d" * 96
    for part in (first, last):
        captured.add("stdout", part.encode())
        captured.add("stderr", b"")
    shown = captured.text(hide=lambda text: text.replace(secret, "*" * len(secret)))
    assert captured.left_out == before + after + 8
    assert shown == f"{'a' * 96}****\n[… {captured.left_out} characters left out …]\n****{'d' * 96}"
    assert "s3cr" in captured.text()
