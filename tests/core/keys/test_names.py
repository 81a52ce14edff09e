import pytest

from nacre.core.keys.names import KEY_NAMES, KeyPress, UnknownKey, parse_key
from nacre.core.terminal.terminal import Terminal


@pytest.mark.parametrize(
    ("name", "press"),
    [
        ("Enter", KeyPress("enter")),
        ("return", KeyPress("enter")),
        ("ESC", KeyPress("escape")),
        ("ArrowUp", KeyPress("up")),
        ("Page Up", KeyPress("pageup")),
        ("PgDn", KeyPress("pagedown")),
        ("page_down", KeyPress("pagedown")),
        ("Del", KeyPress("delete")),
        ("F24", KeyPress("f24")),
        ("space", KeyPress("space")),
        (" ", KeyPress("space")),
        ("Ctrl+C", KeyPress("c", ctrl=True)),
        ("control+c", KeyPress("c", ctrl=True)),
        ("ctrl-c", KeyPress("c", ctrl=True)),
        ("C-c", KeyPress("c", ctrl=True)),
        ("M-x", KeyPress("x", alt=True)),
        ("M-X", KeyPress("X", alt=True)),
        ("C-M-Left", KeyPress("left", ctrl=True, alt=True)),
        ("S-Tab", KeyPress("tab", shift=True)),
        ("cmd+k", KeyPress("k", super=True)),
        ("Option + Shift + F5", KeyPress("f5", alt=True, shift=True)),
        ("ctrl++", KeyPress("+", ctrl=True)),
        ("ctrl+-", KeyPress("-", ctrl=True)),
        ("C--", KeyPress("-", ctrl=True)),
        ("+", KeyPress("+")),
        ("-", KeyPress("-")),
        ("c", KeyPress("c")),
        ("A", KeyPress("A")),
        ("é", KeyPress("é")),
        ("漢", KeyPress("漢")),
        ("\r", KeyPress("enter")),
        ("\x03", KeyPress("c", ctrl=True)),
        ("\x00", KeyPress("space", ctrl=True)),
        ("\x1c", KeyPress("\\", ctrl=True)),
    ],
)
def test_a_name_is_read_in_any_spelling(name: str, press: KeyPress) -> None:
    assert parse_key(name) == press


@pytest.mark.parametrize("name", KEY_NAMES)
def test_every_canonical_name_is_itself(name: str) -> None:
    assert parse_key(name) == KeyPress(name)
    assert parse_key(name.upper()).key == name


@pytest.mark.parametrize("name", ["", "nosuch", "ctrl+", "ctrl+nosuch", "f25", "f0", "s+x", "ab"])
def test_an_unknown_name_is_refused_and_named(name: str) -> None:
    with pytest.raises(UnknownKey, match="f1 to f24") as refusal:
        parse_key(name)
    assert repr(name) in str(refusal.value)


LEGACY = {
    "ctrl+c": b"\x03",
    "ctrl+d": b"\x04",
    "ctrl+z": b"\x1a",
    "ctrl+l": b"\x0c",
    "ctrl+r": b"\x12",
    "ctrl+space": b"\x00",
    "ctrl+\\": b"\x1c",
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "up": b"\x1b[A",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "f1": b"\x1bOP",
    "f5": b"\x1b[15~",
    "f12": b"\x1b[24~",
    "pageup": b"\x1b[5~",
    "ctrl+right": b"\x1b[1;5C",
    "C-M-Left": b"\x1b[1;7D",
    "alt+x": b"\x1bx",
    "alt+X": b"\x1bX",
    "alt+enter": b"\x1b\r",
    "A": b"A",
    "shift+a": b"A",
    "é": "é".encode(),
    "漢": "漢".encode(),
    "space": b" ",
    "+": b"+",
    "?": b"?",
}


@pytest.mark.parametrize(("name", "code"), LEGACY.items())
def test_a_key_has_its_legacy_code(name: str, code: bytes) -> None:
    assert Terminal().encode_key(parse_key(name)) == code


# The engine would send CSI u codes here, which a program that never asked for them prints.
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ctrl+i", b"\t"),
        ("ctrl+m", b"\r"),
        ("ctrl+[", b"\x1b"),
        ("ctrl+@", b"\x00"),
        ("ctrl+shift+c", b"\x03"),
        ("shift+enter", b"\r"),
        ("ctrl+enter", b"\r"),
        ("ctrl+é", "é".encode()),
        ("ctrl++", b"+"),
        ("ctrl+alt+i", b"\x1b\t"),
    ],
)
def test_a_program_that_asked_for_nothing_gets_no_extended_code(name: str, code: bytes) -> None:
    assert Terminal().encode_key(parse_key(name)) == code


def test_application_cursor_keys_change_the_arrows() -> None:
    terminal = Terminal()
    terminal.feed(b"\x1b[?1h")
    assert terminal.encode_key(parse_key("up")) == b"\x1bOA"
    assert terminal.encode_key(parse_key("home")) == b"\x1bOH"
    terminal.feed(b"\x1b[?1l")
    assert terminal.encode_key(parse_key("up")) == b"\x1b[A"


def test_the_kitty_protocol_disambiguates() -> None:
    terminal = Terminal()
    terminal.feed(b"\x1b[>1u")
    assert terminal.encode_key(parse_key("ctrl+c")) == b"\x1b[99;5u"
    assert terminal.encode_key(parse_key("ctrl+i")) == b"\x1b[105;5u"
    assert terminal.encode_key(parse_key("shift+enter")) == b"\x1b[13;2u"
    assert terminal.encode_key(parse_key("escape")) == b"\x1b[27u"
    assert terminal.encode_key(parse_key("a")) == b"a"
    terminal.feed(b"\x1b[<u")
    assert terminal.encode_key(parse_key("ctrl+c")) == b"\x03"


def test_the_kitty_protocol_reports_shift_of_a_capital() -> None:
    terminal = Terminal()
    terminal.feed(b"\x1b[>9u")  # disambiguate, and report all keys as codes
    assert terminal.encode_key(parse_key("A")) == b"\x1b[97;2u"


def test_modify_other_keys_is_honoured() -> None:
    terminal = Terminal()
    terminal.feed(b"\x1b[>4;2m")
    assert terminal.encode_key(parse_key("ctrl+i")) == b"\x1b[27;5;105~"
    assert terminal.encode_key(parse_key("shift+enter")) == b"\x1b[27;2;13~"


@pytest.mark.parametrize("name", KEY_NAMES)
def test_every_named_key_has_a_code(name: str) -> None:
    assert Terminal().encode_key(KeyPress(name))


def test_a_paste_is_bracketed_only_when_asked_for() -> None:
    terminal = Terminal()
    assert terminal.encode_paste("a\nb") == b"a\rb"
    terminal.feed(b"\x1b[?2004h")
    assert terminal.encode_paste("a\nb") == b"\x1b[200~a\nb\x1b[201~"


def test_crlf_is_one_newline_in_a_paste() -> None:
    assert Terminal().encode_paste("a\r\nb") == b"a\rb"


@pytest.mark.parametrize("end", ["\x1b[201~", "\x9b201~"])
def test_a_paste_cannot_end_itself(end: str) -> None:
    terminal = Terminal()
    terminal.feed(b"\x1b[?2004h")
    code = terminal.encode_paste(f"x{end}rm -rf /\n")
    assert code.endswith(b"\x1b[201~")
    assert code.count(b"\x1b[201~") == 1
    assert "\x9b".encode() not in code


def test_an_unpaired_surrogate_is_replaced() -> None:
    assert Terminal().encode_paste("a\ud800b") == b"a?b"
    assert Terminal().encode_key(KeyPress("\ud800")) == b"?"
