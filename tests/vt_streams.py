"""Streams that terminals get wrong, by name, and what is compared of a terminal."""

from typing import Any

from nacre.core.terminal.terminal import Terminal

STREAMS: dict[str, bytes] = {
    "plain text": b"hello\r\nworld\r\n",
    "attributes": b"".join(b"\x1b[%dm%d\x1b[m " % (n, n) for n in (1, 2, 3, 4, 5, 7, 8, 9, 21, 53)),
    "attributes off": b"\x1b[1;3;4;5;7;8;9;53mA\x1b[22;23;24;25;27;28;29;55mB",
    "sixteen colours": b"".join(b"\x1b[%d;%dmx" % (30 + n, 107 - n) for n in range(8)),
    "palette": b"\x1b[38;5;15ma\x1b[48;5;16mb\x1b[38;5;255mc\x1b[39;49md",
    "direct colour": b"\x1b[38;2;1;2;3ma\x1b[48:2::4:5:6mb\x1b[58;2;7;8;9;4mc",
    "underlines": b"\x1b[4:1ma\x1b[4:2mb\x1b[4:3mc\x1b[4:4md\x1b[4:5me\x1b[58:5:99mf\x1b[4:0mg",
    "UTF-8 of all lengths": "aé€𐍈z".encode(),
    "wide": "漢字かな한국어 ｆｕｌｌ".encode(),
    "wide at the edge": b"x" * 19 + "漢字".encode(),
    "half of a wide one overwritten": "漢字漢字\x1b[2Gx\x1b[7Gy".encode(),
    "combining": "e\u0301 a\u0308\u0304 \u0e01\u0e33 n\u0303".encode(),
    "emoji": "👩‍👩‍👧 🇩🇪 👍🏽 ❤️ ☺".encode(),
    "emoji, clustering on": "\x1b[?2027h👩‍👩‍👧 🇩🇪 👍🏽 ❤️ ☺".encode(),
    "hyperlinks": b"\x1b]8;;http://a/\x1b\\one\x1b]8;id=x;http://b/\x07two\x1b]8;;\x07three",
    "title and directory": "\x1b]0;naïve\x07\x1b]2;two\x1b\\\x1b]7;file://host/tmp/a%20b\x07".encode(),
    "alternate screen": b"one\x1b[?1049h\x1b[2Jtwo\x1b[5;5Hthree",
    "alternate screen and back": b"one\r\ntwo\x1b[?1049h\x1b[2Jthree\x1b[?1049l four",
    "scroll region": b"a\r\nb\r\nc\r\nd\r\ne\x1b[2;4r\x1b[4;1H\n\nx\x1b[2;1H\x1bMy\x1b[r",
    "alignment test": b"\x1b#8\x1b[3;3H\x1b[1J",
    "tabs": b"\ta\tb\r\n\x1b[3g\x1b[5G\x1bH\r\tc\x1b[2Id\x1b[Ze",
    "insert and delete": b"abcdef\x1b[3G\x1b[2@XY\x1b[P\x1b[1G\x1b[4hZ\x1b[4l\r\nq\x1b[L\x1b[M",
    "erase": b"abc\r\ndef\r\nghi\x1b[2;2H\x1b[K\x1b[1K\x1b[A\x1b[J",
    "erase with colour": b"\x1b[44mab\x1b[K\r\n\x1b[48;2;9;8;7m\x1b[J\x1b[mtail",
    "line drawing": b"\x1b(0lqqk\r\nx  x\r\nmqqj\x1b(B ok \x0eq\x0f",
    "invalid UTF-8": b"a\xffb\xc3(\xe2\x82z\xf0\x9f\x98\xed\xa0\x80\xf8\x88 end",
    "cursor": b"\x1b[3;4H\x1b[5 q\x1b[?25l\x1b7\x1b[9;9H\x1b8",
    "modes": b"\x1b[?1;66;1004;1002;2004h\x1b=\x1b[>5u",
    "wrap": b"x" * 45 + b"\x1b[?7l" + b"y" * 45 + b"\x1b[?7h",
    "repeat": b"ab\x1b[30b",
    "queries": b"\x1b[c\x1b[6n\x1b[?1$p\x1bP$qm\x1b\\\x1b[18t",
    "scrollback": b"".join(b"\x1b[3%dmline %d\x1b[m\r\n" % (n % 8, n) for n in range(30)),
    "erased scrollback": b"one\r\n" * 20 + b"\x1b[3J" + b"two\r\n" * 3,
    "reset": b"\x1b[31mred\r\n\x1b[?1049h\x1bcblank",
    "synchronised": b"\x1b[?2026hheld\x1b[2;2Hmore\x1b[?2026l",
    "strings without an end": b"a\x1b]0;never\x1b[31mb\x1bP1;2qjunk\x18c\x1b_apc\x1b\\d",
    "controls inside a sequence": b"a\x1b[3\r1m\x08b\x1b[\x18c",
    "images refused": b"\x1b_Gi=1,a=T,f=24,s=1,v=1;AAAA\x1b\\x",
}


def snapshot(terminal: Terminal) -> dict[str, Any]:
    """Everything that can be read of a terminal."""
    total = terminal.scrollback_total
    return {
        "size": (terminal.rows, terminal.cols),
        "plain": terminal.plain_lines(),
        "styled": terminal.styled_lines(),
        "cursor": terminal.cursor(),
        "modes": terminal.modes(),
        "title": terminal.title,
        "cwd": terminal.cwd,
        "scrollback": (terminal.evicted, total, terminal.scrollback_plain(0, total)),
        "styled scrollback": terminal.scrollback_styled(0, total),
    }


def styled_text(lines: list[Any]) -> list[str]:
    return ["".join(span.text for span in line).rstrip(" ") for line in lines]
