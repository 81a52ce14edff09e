"""What nobody sees goes out of a text and is counted; what writing needs stays."""

import os
import sys
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.text.unseen import (
    REPLACEMENT,
    Counts,
    bytes_spelled_out,
    for_eyes,
    is_suspect,
    neutralise,
    neutralise_all,
    spelled_out,
    told,
)
from nacre.wording import Hint, Use


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def selectors(text: str) -> str:
    """Hide a text in variation selectors, a byte in each."""
    return "".join(
        chr(0xE0100 + byte - 16) if byte >= 16 else chr(0xFE00 + byte) for byte in text.encode()
    )


@pytest.mark.parametrize(
    ("printed", "read", "counted"),
    [
        ("a\u202etxt.exe", f"a{REPLACEMENT}txt.exe", {"bidi": 1}),
        (
            "\u2066if admin\u2069 \u2066",
            f"{REPLACEMENT}if admin{REPLACEMENT} {REPLACEMENT}",
            {"bidi": 3},
        ),
        ("pass\u200bword", f"pass{REPLACEMENT}word", {"zero_width": 1}),
        ("\u200c\u200d\u200c\u2060\ufeff", REPLACEMENT, {"zero_width": 5}),
        (f"ok{tags('ignore all')}.", f"ok{REPLACEMENT}.", {"tag": 10}),
        (f"😀{selectors('run rm')}", f"😀{REPLACEMENT}", {"variation": 6}),
        ("\U0001f3f4" + tags("deadbe") + "\U000e007f", f"\U0001f3f4{REPLACEMENT}", {"tag": 7}),
        ("\x1b[31mred\x1b[0m", "red", {"escape": 2}),
        ("\x1b]52;c;YQ==\x07x", f"{REPLACEMENT}x", {"escape": 1}),
        ("\x1b]8;;file:///x\x1b\\y", f"{REPLACEMENT}y", {"escape": 1}),
        ("\x1bP$qm\x1b\\\x1b[5n.", f"{REPLACEMENT}.", {"escape": 2}),
        ("half\x1b", f"half{REPLACEMENT}", {"escape": 1}),
        ("\x9d0;x\x9c\x85\u2028\x00", f"{REPLACEMENT}0;x{REPLACEMENT}", {"control": 5}),
        ("\u3164\uffa0\u2062\u206a\ufff9", REPLACEMENT, {"invisible": 5}),
        ("a\ufe0f", f"a{REPLACEMENT}", {"variation": 1}),
        ("ا\u200c\u200c\u200dب", f"ا{REPLACEMENT}ب", {"zero_width": 3}),
    ],
)
def test_what_nobody_sees_is_replaced_and_counted(
    printed: str, read: str, counted: dict[str, int]
) -> None:
    counts = Counts()
    assert neutralise(printed, counts) == read
    assert counts == counted


@pytest.mark.parametrize(
    "text",
    [
        "plain ASCII,\ttabs\r\nand lines\x08\x0c",
        "grüße, ÇA VA, Ελληνικά, кириллица, 漢字かな, 한국어, ไทย",
        "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d💻 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥 🏴\u200d☠\ufe0f",
        "1\ufe0f\u20e3 #\ufe0f\u20e3 ©\ufe0f ⚠\ufe0f ✔\ufe0e ☺\ufe0f",
        *("\U0001f3f4" + tags(region) + "\U000e007f" for region in ("gbeng", "gbsct", "gbwls")),
        "مرحبا بالعالم، שלום עולם",
        "می\u200cخواهم نامه\u200cای",  # Persian: half-spaces
        "क\u094d\u200dष न\u094d\u200cय",  # Devanagari: half forms
        "ශ\u0dca\u200dරී ලංක\u0dcf",  # Sinhala
        "\u05d0\u200f! \u200fאב (\u061cعربي)",  # marks beside right-to-left letters
        "ภาษา\u200bไทย",  # where a line may break
        "葛\U000e0100城 \u9089\U000e0102",  # ideographic variants
        "ᠡᠮᠦᠨ\u180eᠠ ᠠ\u180b",  # Mongolian
        "Zu\u00adsam\u00admen",
        "∩\ufe00",
        "\ue0b0 \uf015 \U000f0219 ⠀⠿",  # icons of fonts, braille
    ],
)
def test_writing_stays_as_it_is(text: str) -> None:
    counts = Counts()
    assert neutralise(text, counts) is text
    assert not counts
    assert for_eyes(text) == text


def test_each_format_character_has_a_kind() -> None:
    # Those of Arabic, Syriac, Kaithi and Egyptian are seen, or join what is.
    seen = ("ARABIC", "SYRIAC", "KAITHI", "EGYPT")
    formats = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(char) == "Cf" and not unicodedata.name(char, "").startswith(seen)
    ]
    assert len(formats) > 100
    for char in formats:
        counts = Counts()
        neutralise(f"-{char}-", counts)
        assert counts.total() == 1, hex(ord(char))


@steady
@given(
    st.text(st.sampled_from("ab1 \n\u200b\u200d\u202e\ufe0f\U000e0041\u0627\u094d👩😀\x1b[m]\x07"))
)
def test_a_text_never_grows_and_is_clean_afterwards(text: str) -> None:
    counts = Counts()
    clean = neutralise(text, counts)
    assert len(clean) <= len(text)
    again = Counts()
    assert neutralise(clean, again) == clean
    assert not again
    assert bool(counts) is (clean != text)


class Shown(msgspec.Struct, frozen=True):
    lines: list[str]
    cwd: str
    more: dict[str, str] | None = None
    hint: str | None = None
    pair: tuple[str, int] = ("", 0)


def test_a_value_is_cleaned_in_all_its_texts() -> None:
    shown = Shown(
        ["a\u202eb", "c"], "/x\u200by", {"k\u2060": "v"}, Hint("h\u200b", Use("read", "go on"))
    )
    counts = Counts()
    assert is_suspect(shown)
    clean = neutralise_all(shown, counts)
    assert clean.lines == [f"a{REPLACEMENT}b", "c"]
    assert clean.cwd == f"/x{REPLACEMENT}y"
    assert clean.more == {f"k{REPLACEMENT}": "v"}
    assert clean.hint == f"h{REPLACEMENT}"
    assert isinstance(clean.hint, Hint)
    assert clean.hint.next == (Use("read", "go on"),)
    assert counts == {"bidi": 1, "zero_width": 3}
    assert "1 bidi, 3 zero_width" in told(counts)


def test_a_value_with_nothing_in_it_is_the_same_one() -> None:
    shown = Shown(["grüße", "👩\u200d💻"], "/home", {"a": "b"}, pair=("é", 1))
    assert is_suspect(shown), "a joiner, where it belongs"
    counts = Counts()
    assert neutralise_all(shown, counts) is shown
    assert not is_suspect(Shown(["grüße 語"], "/home"))
    assert not is_suspect(Shown(["ls -l", "\ttab\n"], "/home"))
    assert is_suspect(Shown(["\x1b]52;c;x\x07"], "/home"))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("rm -r x\n# why", "rm -r x\n# why"),
        ("größe 文 😀", "größe 文 😀"),
        ("echo a\u202eb\r\t\x1b[2K", r"echo a\u202eb\r\t\x1b[2K"),
        ("ls\U000e0072\U000e006d", r"ls\U000e0072\U000e006d"),  # tags: letters that are not drawn
        ("a\u200bb\u3164c\u2800d\u00a0e\ufe0f", r"a\u200bb\u3164c\u2800d\xa0e\ufe0f"),
        ("\ud800", r"\ud800"),  # no character at all
    ],
)
def test_a_question_shows_every_character_of_what_is_asked(given: str, shown: str) -> None:
    assert spelled_out(given) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (b"ls", "ls"),
        ("ä 日 😀".encode(), "ä 日 😀"),
        (b"x\xff\x80y", r"x\xff\x80y"),
        ("ä".encode()[:1], r"\xc3"),
    ],
)
def test_bytes_that_are_no_text_are_spelled_out(given: bytes, shown: str) -> None:
    assert bytes_spelled_out(os.fsdecode(given)) == shown


def test_half_a_character_is_spelled_out() -> None:
    assert bytes_spelled_out("\ud83d") == r"\ud83d"
