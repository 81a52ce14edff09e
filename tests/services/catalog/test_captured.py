"""What is kept of an output."""

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
        assert (captured.text(), captured.left_out, captured.chars) == (kept, 80, 20)
