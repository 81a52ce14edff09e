"""The packaged font, and the machine's own fonts for characters that it does not have.

Rule 1: letters always come from the packaged font, so a picture is the same on every machine, also
on one without fonts.
Rule 2: the machine's fonts are searched when a character first needs one, by the characters in
their files. The results are remembered.
"""

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nacre.core.pictures.sfnt import BadFont, Charmap, Outlines, read_charmap, read_tables

_FOLDER = Path(__file__).parent / "dejavu"
_FILES = {  # by bold and italic
    (False, False): "DejaVuSansMono.ttf",
    (True, False): "DejaVuSansMono-Bold.ttf",
    (False, True): "DejaVuSansMono-Oblique.ttf",
    (True, True): "DejaVuSansMono-BoldOblique.ttf",
}

# Folders with fonts: those of XDG (as in fontconfig) and of macOS.
SYSTEM_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
)
_SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")
_MAX_FILES = 4000  # limits the search; a machine with every TeX font has about 3,000
_MAX_REMEMBERED = 4096  # characters; with more, all are forgotten


def font_file(*, bold: bool, italic: bool) -> str:
    """Return the packaged font's file."""
    return str(_FOLDER / _FILES[bold, italic])


@cache
def packaged_outlines() -> dict[tuple[bool, bool], Outlines]:
    return {style: Outlines((_FOLDER / name).read_bytes()) for style, name in _FILES.items()}


class Font(NamedTuple):
    """A font of the machine; the file of a collection has several."""

    path: str
    number: int  # in the file
    charmap: Charmap

    def has(self, text: str) -> bool:
        return all(self.charmap.glyph(ord(char)) for char in text)


class SystemFonts:
    def __init__(self, folders: Iterable[str] = SYSTEM_FOLDERS) -> None:
        self._folders = tuple(folders)
        self._unread: Iterator[Font] | None = None
        self._fonts: list[Font] = []
        self._found: dict[tuple[str, bool], Font | None] = {}

    def find(self, text: str, *, emoji: bool) -> Font | None:
        """Return a font with all these characters; prefer an emoji font if asked."""
        key = (text, emoji)
        if key not in self._found:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            self._found[key] = self._look(text, emoji=emoji)
        return self._found[key]

    def _look(self, text: str, *, emoji: bool) -> Font | None:
        fitting = (font for font in self._all() if font.has(text))
        if not emoji:
            return next(fitting, None)
        return min(fitting, key=lambda font: not _is_emoji(font.path), default=None)

    def _all(self) -> Iterator[Font]:
        """Yield the fonts, better ones first; files are read only when needed."""
        yield from self._fonts
        if self._unread is None:
            self._unread = _read_fonts(self._folders)
        for font in self._unread:
            self._fonts.append(font)
            yield font


def _read_fonts(folders: tuple[str, ...]) -> Iterator[Font]:
    for path in sorted(_font_files(folders), key=_rank):
        try:
            with open(path, "rb") as file:
                yield from _fonts_in(file.fileno(), path)
        except (OSError, BadFont):
            continue


def _fonts_in(descriptor: int, path: str) -> Iterator[Font]:
    def read(at: int, size: int) -> bytes:
        return os.pread(descriptor, size, at)

    for number, tables in enumerate(read_tables(read)):
        if place := tables.get("cmap"):
            yield Font(path, number, read_charmap(read(*place)))


def _font_files(folders: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for folder in folders:
        for root, _folders, names in os.walk(os.path.expanduser(folder)):
            found += [
                os.path.join(root, name) for name in names if name.lower().endswith(_SUFFIXES)
            ]
            if len(found) >= _MAX_FILES:
                return found[:_MAX_FILES]
    return found


def _is_emoji(path: str) -> bool:
    return "emoji" in os.path.basename(path).lower()


def _rank(path: str) -> tuple[bool, bool, bool, bool, str]:
    """Rank plain before styled, sans before serif, and emoji fonts (which have digits) last."""
    name = os.path.basename(path).lower()
    styled = any(word in name for word in ("bold", "italic", "oblique", "light", "thin", "black"))
    return _is_emoji(path), styled, "serif" in name, "mono" not in name, name
