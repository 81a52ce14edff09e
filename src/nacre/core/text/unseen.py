"""Characters that nobody sees: they hide text from people, or change the order in which they read.

A model reads what a person does not see: words in tag characters, bits in zero-width ones, a line
that an override shows backwards. Programs, files and web pages may print all of that.

Rule 1: each run of such characters becomes one REPLACEMENT, so a text never grows; they are counted
by kind.
Rule 2: writing stays whole. A character that a script or an emoji needs is kept where it is needed,
as the table below says: once, between or behind the characters that it joins or selects.
Rule 3: a text without them is the same object afterwards, and ASCII costs one look.

Sources: Unicode 16, Default_Ignorable_Code_Point and Bidi_Control, UTS 51 (emoji ZWJ and tag
sequences), UAX 9, UTS 37 (ideographic variants), the Core Specification 9.2 and 23.2 (joiners).
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from nacre.late_pattern import late_pattern
from nacre.wording import Hint

REPLACEMENT = "\ufffd"

# Each kind with its characters, as the inside of a class.
KINDS = {
    "bidi": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero_width": "\u00ad\u034f\u180e\u200b-\u200d\u2060\ufeff",
    "tag": "\U000e0000-\U000e007f",
    "variation": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    # C0 without tab, newline, return, backspace and form feed; C1; line and paragraph separators.
    "control": "\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x80-\x9f\u2028\u2029",
    # Fillers, invisible operators, deprecated formats, annotations, shorthand, music, unassigned.
    "invisible": (
        "\u115f\u1160\u17b4\u17b5\u2061-\u2065\u206a-\u206f\u3164\uffa0\ufff0-\ufffb"
        "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
    ),
}
_ANY = "".join(KINDS.values())

_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
# Scripts in which a joiner changes how letters look: Arabic to Mandaic, Indic to Sinhala, Tibetan,
# Myanmar, Khmer, Mongolian, Balinese and its neighbours, the Indic blocks beyond the first plane.
_JOINED = (
    "\u0600-\u061b\u061d-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af"
    "\u1a20-\u1bff\ua8e0-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
)
_RIGHT_TO_LEFT = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u3040-\u30ff\u3400-\u9fff"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_MONGOLIAN = "\u1820-\u18aa"
_LETTER = r"[^\W\d_]"
# ECMA-48, 5.4 and 5.6: control sequences, control strings, and escapes of two characters.
_ESCAPE = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]*[0-~]|)"
)


def _tagged(region: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in region) + "\U000e007f"


# Where a character belongs: which ones, and the text from there that is kept.
_ALONE = f"(?![{_ANY}])"
_KEPT = (
    # An emoji's style, and the joiner that may follow it: a heart on fire; 1 in a keycap.
    (
        "\ufe0e\ufe0f",
        rf"(?<=[{_EMOJI}0-9#*])[\ufe0e\ufe0f](?:\u200d(?=[{_EMOJI}])|{_ALONE})",
    ),
    ("\u200d", rf"(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])|(?<=[{_JOINED}])\u200d{_ALONE}"),
    ("\u200c", rf"(?<=[{_JOINED}])\u200c{_ALONE}"),
    # The three flags of regions that are for general interchange: England, Scotland, Wales.
    (
        "\U000e0067",
        rf"(?<=\U0001f3f4)(?:{'|'.join(map(_tagged, ('gbeng', 'gbsct', 'gbwls')))})",
    ),
    (
        "\u061c\u200e\u200f",
        rf"(?<=[{_RIGHT_TO_LEFT}]).{_ALONE}|(?<![{_ANY}]).(?=[{_RIGHT_TO_LEFT}])",
    ),
    ("\u200b", rf"(?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])"),  # where a line may break
    (
        "".join(map(chr, (*range(0xFE00, 0xFE03), *range(0xE0100, 0xE01F0)))),
        rf"(?<=[{_HAN}\u2200-\u22ff\u2a00-\u2aff]).{_ALONE}",  # of operators, too
    ),
    ("\u180b\u180c\u180d\u180e\u180f", rf"(?<=[{_MONGOLIAN}]).(?![\u180b-\u180e])"),
    ("\u00ad", rf"(?<={_LETTER})\u00ad(?={_LETTER})"),  # where a word may be parted
    ("\u115f", "\u115f(?=[\u1160-\u11a7])"),  # of old Hangul
    ("\u1160", "(?<=[\u1100-\u115f])\u1160(?=[\u11a8-\u11ff])"),
    # What only colours (ECMA-48, 8.3.117) goes without a trace.
    ("\x1b", rf"(?P<colour>\x1b\[[0-9;:]*m)|(?P<escape>{_ESCAPE})"),
)


@cache
def _suspects() -> re.Pattern[str]:
    return re.compile(f"[{_ANY}\x1b]")


@cache
def _kinds() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>[{chars}])" for kind, chars in KINDS.items()))


@cache
def _places() -> dict[str, str]:
    return {char: kept for chars, kept in _KEPT for char in chars}


@cache
def _place(char: str) -> re.Pattern[str] | None:
    kept = _places().get(char)
    return None if kept is None else _compiled(kept)


_compiled = cache(re.compile)  # late: most daemons never need them, and they take 25 ms

Counts = Counter[str]


def neutralise(text: str, counts: Counts) -> str:
    """Return a text without what nobody sees, and count that."""
    search = _suspects().search
    suspect = search(text)
    if suspect is None:
        return text
    parts: list[str] = []
    done = 0  # up to here the text is in the parts
    replaced = -1  # where the last replacement ended: a run becomes one
    while suspect is not None:
        at, end = suspect.span()
        where = _place(suspect[0])
        found = None if where is None else where.match(text, at)
        if found is not None:
            end = found.end()
        if found is None or found.lastgroup:
            kind = _kind(suspect, found)
            parts.append(text[done:at])
            if kind == "colour":
                kind = "escape"
            else:
                if at != replaced:
                    parts.append(REPLACEMENT)
                replaced = end
            counts[kind] += 1
            done = end
        suspect = search(text, end)
    parts.append(text[done:])
    return "".join(parts) if done else text


def _kind(suspect: re.Match[str], found: re.Match[str] | None) -> str:
    known = _kinds().match(suspect[0]) if found is None else found
    assert known is not None
    assert known.lastgroup is not None  # each suspect is of a kind
    return known.lastgroup


# --- in values -----------------------------------------------------------------------------------

_encoder = msgspec.json.Encoder(enc_hook=str)
_LONG = 1 << 17  # bytes


def is_suspect(value: Any) -> bool:
    """Return whether a value may have such characters in any of its texts: one quick look."""
    return count_suspects(value) > 0


def count_suspects(value: Any) -> int:
    """Return about how many such characters a value's texts have; 0: there are none."""
    body = _encoder.encode(value)
    escaped = body.count(b"\\u00")  # controls are, in JSON
    if body.isascii():
        return escaped
    if len(body) > _LONG:
        return len(body)  # as good as known: a closer look would take long
    return escaped + len(_suspects().findall(body.decode()))


def neutralise_all(value: Any, counts: Counts) -> Any:
    """Return a value with all its texts neutralised; the same object if there is nothing to do."""
    if isinstance(value, str):
        clean = neutralise(value, counts)
        return Hint(clean, *value.next) if isinstance(value, Hint) and clean is not value else clean
    if isinstance(value, msgspec.Struct):
        changed = {
            name: new
            for name in value.__struct_fields__
            if (new := neutralise_all(old := getattr(value, name), counts)) is not old
        }
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        pairs = {
            neutralise_all(key, counts): neutralise_all(one, counts) for key, one in value.items()
        }
        return pairs if _differ(pairs, value) or _differ(pairs.values(), value.values()) else value
    if isinstance(value, list | tuple):
        items = [neutralise_all(one, counts) for one in value]
        if not _differ(items, value):
            return value
        if isinstance(value, list):
            return items
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _differ(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return any(one is not other for one, other in zip(new, old, strict=True))


def told(counts: Counts) -> str:
    """Say what was found, in few words: they come on top of an answer's budget."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f"{REPLACEMENT} stands for what nobody sees here ({kinds})"


# --- in questions --------------------------------------------------------------------------------


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{_ANY}\u2800]")  # and a blank that is no blank to a shell


def spelled_out(text: str) -> str:
    """Return a text with all that nobody sees as escapes; lines end as they do.

    For who decides by it: what is asked is the exact text, so nothing in it may be left out, and
    none of it may stand elsewhere than it does.
    """
    if text.isascii() and text.isprintable():
        return text
    unseen = _unseen()
    return "".join(
        char
        if char == "\n" or (char.isprintable() and not unseen.match(char))
        else char.encode("unicode_escape").decode()
        for char in text
    )


_NO_TEXT = late_pattern("[\ud800-\udfff]")


def bytes_spelled_out(text: str) -> str:
    """Return a text with each byte that is no UTF-8 as an escape: \\xff.

    Paths, and what a shell tells of its line, have lone surrogates for them (PEP 383), and no
    answer can carry those.
    """
    if text.isascii():
        return text
    return _NO_TEXT.sub(_escape_of_byte, text)


def value_spelled_out(value: Any) -> Any:
    """Return a JSON value with all its texts as bytes_spelled_out has them."""
    if isinstance(value, str):
        return bytes_spelled_out(value)
    if isinstance(value, dict):
        return {value_spelled_out(key): value_spelled_out(one) for key, one in value.items()}
    return [value_spelled_out(one) for one in value] if isinstance(value, list) else value


def _escape_of_byte(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def on_one_line(text: str) -> str:
    """Return it like spelled_out, line ends too: what stands beside the text could be forged."""
    return spelled_out(text).replace("\n", "\\n")


def quoted(text: str) -> str:
    """Return it like spelled_out; each of several lines is marked as one of the text's own.

    Else a line could be taken for what stands around the text.
    """
    spelled = spelled_out(text)
    return spelled if "\n" not in spelled else "| " + spelled.replace("\n", "\n| ")


# --- for eyes ------------------------------------------------------------------------------------

# What changes the order of text, or is only there for who does not see: no screen needs it, and
# each has no width. Joiners, marks and selectors stay: without them writing would look wrong.
_NOT_FOR_EYES = late_pattern(
    "(\U0001f3f4[\U000e0020-\U000e007f]+)|[\u202a-\u202e\u2066-\u2069\u2060\ufeff\U000e0000-\U000e007f]"
)
FLAG = "\U0001f3f4".encode()  # the flag that tags make one of a region
_ENDS_FLAG = late_pattern(rb"\xf0\x9f\x8f\xb4(?:\xf3\xa0[\x80\x81][\x80-\xbf])*\Z")
_NOT_FOR_EYES_UTF8 = late_pattern(
    rb"(\xf0\x9f\x8f\xb4(?:\xf3\xa0[\x80\x81][\x80-\xbf])+)"  # a flag of a region
    rb"|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa0\xa6-\xa9]|\xef\xbb\xbf|\xf3\xa0[\x80\x81][\x80-\xbf]"
)


def for_eyes(text: str) -> str:
    """Return a text as a person's terminal may show it."""
    return text if text.isascii() else _NOT_FOR_EYES.sub(r"\1", text)


def for_eyes_utf8(data: bytes) -> bytes:
    """Return output as a person's terminal may get it."""
    return data if data.isascii() else _NOT_FOR_EYES_UTF8.sub(rb"\1", data)


def ends_flag(data: bytes) -> bool:
    """Return whether tags that come next belong to a flag."""
    at = data.rfind(FLAG)
    return at >= 0 and _ENDS_FLAG.match(data, at) is not None
