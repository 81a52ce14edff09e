"""Reading font files: the packaged ones, and ones that are cut short."""

import pytest

from nacre.core.pictures.sfnt import BadFont, Outlines, read_charmap, read_tables
from nacre.system.images.fonts import font_file, packaged_outlines


def data() -> bytes:
    with open(font_file(bold=False, italic=False), "rb") as file:
        return file.read()


def test_every_style_has_letters_and_all_are_equally_wide() -> None:
    for outlines in packaged_outlines().values():
        assert (outlines.units_per_em, outlines.advance) == (2048, 1233)
        assert all(map(outlines.has, "Aé0λ…"))
        assert not outlines.has("世")
    assert all(map(packaged_outlines()[False, False].has, "→✓"))


def test_outlines_are_closed_paths_and_a_blank_has_none() -> None:
    regular = packaged_outlines()[False, False]
    assert regular.path(" ") == ""
    assert regular.path("o").count("M") == regular.path("o").count("z") == 2
    assert regular.path("é").count("M") == regular.path("e").count("M") + 1  # made of two glyphs


def test_a_font_that_is_cut_short_is_refused() -> None:
    whole = data()
    for size in (*range(0, 400, 7), 5000, 50_000):
        with pytest.raises(BadFont):
            Outlines(whole[:size])


def test_what_is_no_font_is_refused() -> None:
    with pytest.raises(BadFont):
        list(read_tables(lambda at, size: (b"GIF89a" * 9)[at : at + size]))
    with pytest.raises(BadFont):
        read_charmap(b"\0\0\0\0")
