"""A span's style as SGR parameters (ECMA-48 8.3.117), and its text in that style."""

from collections.abc import Iterator

from nacre.core.screen.screen import COLOR_NAMES, Color, Span

_ATTRIBUTES = {
    "bold": "1",
    "faint": "2",
    "italic": "3",
    "blink": "5",
    "inverse": "7",
    "invisible": "8",
    "strikethrough": "9",
    "overline": "53",
}
# Kitty's extension 4:n, which other terminals support too; 4 alone is a single line.
_UNDERLINES = {"double": "4:2", "curly": "4:3", "dotted": "4:4", "dashed": "4:5"}


def sgr_parameters(span: Span, *, colored: bool = True) -> str:
    """Return the text between CSI and m; nothing for the default style."""
    return ";".join([*_attributes(span), *(_colors(span) if colored else ())])


def styled_text(span: Span, *, colored: bool = True) -> str:
    """Return a span as text that a terminal shows in its style, and nothing after it."""
    codes = sgr_parameters(span, colored=colored)
    return f"\x1b[{codes}m{span.text}\x1b[0m" if codes else span.text


def _attributes(span: Span) -> Iterator[str]:
    for name, code in _ATTRIBUTES.items():
        if getattr(span, name):
            yield code
    if span.underline:
        yield _UNDERLINES.get(span.underline_style or "", "4")


def _colors(span: Span) -> Iterator[str]:
    if span.fg is not None:
        yield _color(span.fg, base=30, extended=38)
    if span.bg is not None:
        yield _color(span.bg, base=40, extended=48)
    if span.underline_color is not None:
        yield _color(span.underline_color, base=None, extended=58)


def _color(color: Color, *, base: int | None, extended: int) -> str:
    if not isinstance(color, str):
        return f"{extended};2;{color.r};{color.g};{color.b}"
    if color not in COLOR_NAMES:
        return f"{extended};5;{int(color.removeprefix('color'))}"
    index = COLOR_NAMES.index(color)
    if base is None:  # underlines have no short form
        return f"{extended};5;{index}"
    # 90 to 97 and 100 to 107: aixterm
    return str(base + index if index < 8 else base + 60 + index - 8)
