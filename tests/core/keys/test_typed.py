"""Keys as terminals send them, by name; nothing that was typed is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.keys.typed import TypedKey, TypedStream, parse_typed

KEYS: dict[bytes, tuple[str | None, tuple[str, ...]]] = {
    b"a": ("a", ()),
    b"A": ("A", ()),
    b" ": (" ", ()),
    "ß".encode(): ("ß", ()),
    "漢".encode(): ("漢", ()),
    "🙂".encode(): ("🙂", ()),
    # ECMA-48 C0
    b"\r": ("Enter", ()),
    b"\n": ("j", ("ctrl",)),
    b"\t": ("Tab", ()),
    b"\x7f": ("Backspace", ()),
    b"\x1b": ("Escape", ()),
    b"\x03": ("c", ("ctrl",)),
    b"\x08": ("h", ("ctrl",)),
    b"\x00": (" ", ("ctrl",)),
    b"\x1c": ("\\", ("ctrl",)),
    b"\x1d": ("]", ("ctrl",)),
    b"\x1e": ("^", ("ctrl",)),
    b"\x1f": ("_", ("ctrl",)),
    # Alt
    b"\x1ba": ("a", ("alt",)),
    "\x1bä".encode(): ("ä", ("alt",)),
    b"\x1b\x01": ("a", ("ctrl", "alt")),
    b"\x1b\x7f": ("Backspace", ("alt",)),
    b"\x1b[": ("[", ("alt",)),
    b"\x1bO": ("O", ("alt",)),
    b"\x1b]": ("]", ("alt",)),
    b"\x1bP": ("P", ("alt",)),
    b"\x1b\x1b[A": ("ArrowUp", ("alt",)),
    # xterm: PC-style and VT220-style function keys
    b"\x1b[A": ("ArrowUp", ()),
    b"\x1bOB": ("ArrowDown", ()),
    b"\x1b[1;5C": ("ArrowRight", ("ctrl",)),
    b"\x1b[1;4D": ("ArrowLeft", ("alt", "shift")),
    b"\x1b[H": ("Home", ()),
    b"\x1bOF": ("End", ()),
    b"\x1b[1~": ("Home", ()),
    b"\x1b[2~": ("Insert", ()),
    b"\x1b[3;5~": ("Delete", ("ctrl",)),
    b"\x1b[4~": ("End", ()),
    b"\x1b[5;3~": ("PageUp", ("alt",)),
    b"\x1b[6~": ("PageDown", ()),
    b"\x1bOP": ("F1", ()),
    b"\x1bO5P": ("F1", ("ctrl",)),
    b"\x1b[1;2Q": ("F2", ("shift",)),
    b"\x1b[1;2R": ("F3", ("shift",)),
    b"\x1b[11~": ("F1", ()),
    b"\x1b[15~": ("F5", ()),
    b"\x1b[24;6~": ("F12", ("ctrl", "shift")),
    b"\x1b[34~": ("F20", ()),
    b"\x1b[[E": ("F5", ()),
    b"\x1b[Z": ("Tab", ("shift",)),
    b"\x1bOM": ("Enter", ()),
    b"\x1bOq": ("1", ()),
    # modifyOtherKeys
    b"\x1b[27;5;13~": ("Enter", ("ctrl",)),
    b"\x1b[27;6;65~": ("a", ("ctrl", "shift")),
    b"\x1b[27;5;105~": ("i", ("ctrl",)),
    # kitty
    b"\x1b[97u": ("a", ()),
    b"\x1b[97;5u": ("a", ("ctrl",)),
    b"\x1b[97;69u": ("a", ("ctrl",)),  # caps lock
    b"\x1b[97;2u": ("A", ()),
    b"\x1b[49:33;2u": ("!", ()),
    b"\x1b[97:65;6u": ("a", ("ctrl", "shift")),
    b"\x1b[1089::99;5u": ("c", ("ctrl",)),
    b"\x1b[27u": ("Escape", ()),
    b"\x1b[13;2u": ("Enter", ("shift",)),
    b"\x1b[9;6u": ("Tab", ("ctrl", "shift")),
    b"\x1b[127;3u": ("Backspace", ("alt",)),
    b"\x1b[32;5u": (" ", ("ctrl",)),
    b"\x1b[97;1:2u": ("a", ()),  # repeated
    b"\x1b[97;9;97u": ("a", ("super",)),
    b"\x1b[57387u": ("F24", ()),
    b"\x1b[57399u": ("0", ()),
    b"\x1b[57414;5u": ("Enter", ("ctrl",)),
    b"\x1b[1;1:1A": ("ArrowUp", ()),
    b"\x1b[3;5:2~": ("Delete", ("ctrl",)),
    # one item each
    b"\x1b[200~two\rlines\x1b[A\x1b[201~": ("Paste", ()),
    b"\x1b[<0;10;5M": ("Mouse", ()),
    b"\x1b[<35;10;5m": ("Mouse", ()),
    b"\x1b[M !!": ("Mouse", ()),
    b"\x1b[32;10;5M": ("Mouse", ()),
    # no press, or not known
    b"\x1b[97;1:3u": (None, ()),  # let go of
    b"\x1b[1;1:3A": (None, ()),
    b"\x1b[57441u": (None, ()),  # shift alone
    b"\x1b[u": (None, ()),
    b"\x1b[I": (None, ()),  # focus
    b"\x1b[12;40R": (None, ()),
    b"\x1b[?1;2c": (None, ()),
    b"\x1b[99~": (None, ()),
    b"\x1b]11;rgb:0000/0000/0000\x1b\\": (None, ()),
    b"\x1bP>|term 1.0\x1b\\": (None, ()),
    b"\xff": (None, ()),
    b"\xe6": (None, ()),
}


@pytest.mark.parametrize("raw", KEYS)
def test_a_key_has_its_name(raw: bytes) -> None:
    assert parse_typed(raw) == [TypedKey(raw, *KEYS[raw])]


def ambiguous(raw: bytes) -> bool:
    """Whether what follows can make another key of it."""
    return raw in (b"\x1b", b"\x1b[", b"\x1bO", b"\xe6")


@pytest.mark.parametrize("raw", [raw for raw in KEYS if not ambiguous(raw)])
def test_what_follows_does_not_change_a_key(raw: bytes) -> None:
    keys = [TypedKey(raw, *KEYS[raw]), TypedKey(b"x", "x")]
    assert parse_typed(raw + b"x") == keys
    assert TypedStream().feed(raw + b"x") == keys


@pytest.mark.parametrize(
    "raw",
    [raw for raw in KEYS if not ambiguous(raw) and len(raw) > 3 and raw[:2] != b"\x1b\x1b"],
)
def test_a_sequence_that_two_chunks_share_is_one_key(raw: bytes) -> None:
    """Not split after ESC, which is a key at once; nor a chunk that is Alt and a key."""
    first = 3 if raw[:1] == b"\x1b" else 1
    for cut in range(first, len(raw)):
        stream = TypedStream()
        assert stream.feed(raw[:cut]) == []
        assert stream.feed(raw[cut:]) == [TypedKey(raw, *KEYS[raw])]


def test_escape_is_told_at_once() -> None:
    stream = TypedStream()
    assert stream.feed(b"\x1b") == [TypedKey(b"\x1b", "Escape")]
    assert stream.feed(b"x\x1b") == [TypedKey(b"x", "x"), TypedKey(b"\x1b", "Escape")]
    assert stream.feed(b"\x1b\x1b") == [TypedKey(b"\x1b", "Escape")] * 2
    assert stream.feed(b"\x1b[") == [TypedKey(b"\x1b[", "[", ("alt",))]


def test_a_paste_waits_for_its_end_and_a_long_one_comes_in_parts() -> None:
    stream = TypedStream()
    assert stream.feed(b"\x1b[200~a\rb") == []
    assert stream.feed(b"c\x1b[20") == []
    assert stream.feed(b"1~d") == [
        TypedKey(b"\x1b[200~a\rbc\x1b[201~", "Paste"),
        TypedKey(b"d", "d"),
    ]
    long = b"\x1b[200~" + b"p" * (1 << 20)
    assert stream.feed(long) == [TypedKey(long, "Paste")]
    assert stream.feed(b"more\x1b[2") == [TypedKey(b"more", "Paste")]
    assert stream.feed(b"01~x") == [TypedKey(b"\x1b[201~", "Paste"), TypedKey(b"x", "x")]


def test_what_never_ends_is_not_held_for_ever() -> None:
    stream = TypedStream()
    raw = b"\x1b[" + b"1;" * 2000
    assert b"".join(key.raw for key in stream.feed(raw)) + stream.held == raw
    assert len(stream.held) <= 1024


def test_what_is_held_comes_out_at_the_end() -> None:
    stream = TypedStream()
    assert stream.feed(b"a\x1b[1;") == [TypedKey(b"a", "a")]
    assert stream.held == b"\x1b[1;"
    assert b"".join(key.raw for key in stream.flush()) == b"\x1b[1;"
    assert stream.held == b""


_BITS = st.one_of(
    st.sampled_from(sorted(KEYS)), st.sampled_from([b"\x1b[", b"\x1b", b"[", b"O", b"5;"])
)
_TYPED = st.one_of(st.binary(max_size=40), st.lists(_BITS, max_size=8).map(b"".join))


@steady
@given(_TYPED)
def test_nothing_is_lost(data: bytes) -> None:
    assert b"".join(key.raw for key in parse_typed(data)) == data


@steady
@given(st.lists(_TYPED, max_size=6))
def test_nothing_is_lost_in_a_stream(chunks: list[bytes]) -> None:
    stream = TypedStream()
    keys = [key for chunk in chunks for key in stream.feed(chunk)] + stream.flush()
    assert b"".join(key.raw for key in keys) == b"".join(chunks)
