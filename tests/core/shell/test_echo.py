"""The veil hides the echo and nothing that the terminal must know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.core.shell.echo import Veil
from nacre.core.shell.marks import Mark

START = Mark("S", "77", "n1")


def shown(veil: Veil, *pieces: bytes | Mark) -> list[bytes | Mark]:
    return [seen for piece in pieces for seen in veil.pass_on(piece)]


def test_the_echo_is_replaced_when_the_command_starts() -> None:
    veil = Veil("n1", b"echo hi\r\n")
    assert shown(veil, b" printf '\\033", b"...'\r\n", START, b"hi\r\n") == [
        b"echo hi\r\n",
        START,
        b"hi\r\n",
    ]
    assert veil.lifted


def test_marks_of_others_pass_and_do_not_lift_it() -> None:
    veil = Veil("n1", b"")
    other = Mark("S", "", "n2")
    assert shown(veil, b"echo", other, Mark("A")) == [other, Mark("A")]
    assert not veil.lifted


def test_the_mark_that_only_asks_for_the_parts_does_not_lift_it() -> None:
    veil = Veil("n1", b"x")
    reading = Mark("S", "read", "n1")
    assert shown(veil, b"echo", reading, b"more echo", START) == [reading, b"x", START]


def test_it_can_end_with_another_mark() -> None:
    veil = Veil("n1", b"\r", "E")
    end = Mark("E", "130;77", "n1")
    assert shown(veil, b"echo", START, b"echo", end) == [START, b"\r", end]


@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b[?2004l",
        b"\x1b[?1h",
        b"\x1b=",
        b"\x1b>",
        b"\x1b[>1u",
        b"\x1b[<u",
        b"\x1b[6n",
        b"\x1b[c",
    ],
)
def test_modes_and_questions_pass(sequence: bytes) -> None:
    veil = Veil("n1", b"x")
    assert shown(veil, b" printf\x1b[7m\x1b[K" + sequence + b"\r\n", START) == [
        sequence + b"x",
        START,
    ]


def test_a_mode_split_over_two_pieces_passes() -> None:
    veil = Veil("n1", b"")
    assert shown(veil, b"echo\x1b[?20", b"04l\r\n", START) == [b"\x1b[?2004l", START]


def test_what_was_held_comes_out_when_it_is_given_up() -> None:
    veil = Veil("n1", b"x")
    assert shown(veil, b"a", b"b") == []
    assert veil.release() == b"ab"
    assert shown(veil, b"c", START) == [b"c", START]


def test_more_than_an_echo_is_output() -> None:
    veil = Veil("n1", b"x")
    flood = b"y" * 3_000_000
    assert shown(veil, flood) == [flood]
    assert veil.lifted


@steady
@given(st.lists(st.binary(max_size=50)))
def test_without_the_mark_nothing_is_lost(pieces: list[bytes]) -> None:
    veil = Veil("n1", b"x")
    assert shown(veil, *pieces) == []
    assert veil.release() == b"".join(pieces)


def test_what_came_behind_the_echo_is_shown_and_the_echo_is_not() -> None:
    veil = Veil("a1b2c3", b"ls\r\n")
    echo = b' { _ns=$?;\x1b[?2004l _nn=a1b2c3;\r\n"$_nb" eval "$_nk"&&:\r\n'
    assert veil.pass_on(echo + b"\x1b[?2004hConnection closed.\r\nbox> ") == []
    assert veil.uncover() == b"\x1b[?2004lls\r\n\x1b[?2004hConnection closed.\r\nbox> "
    assert veil.lifted


def test_what_is_no_echo_is_shown_as_it_is() -> None:
    veil = Veil("a1b2c3", b"ls\r\n")
    assert veil.pass_on(b"one\r\ntwo") == []
    assert veil.uncover() == b"one\r\ntwo"


def test_a_piece_of_the_echo_is_no_prompt() -> None:
    for piece in (b"{ wrap", b"{ wrap\r\n _nn=a1"):
        veil = Veil("a1", b"ls\r\n")
        veil.pass_on(piece)
        assert veil.drop(prompt=True) == b"ls\r\n"


def test_what_a_shell_did_not_understand_is_left_out_but_for_its_prompt() -> None:
    for prompt, shown in ((True, b"\x1b[?2004lls\r\nbox> "), (False, b"\x1b[?2004l")):
        veil = Veil("a1", b"ls\r\n")
        assert veil.pass_on(b"{ wrapper }\r\n\x1b[?2004lwhat?\r\nbox> ") == []
        assert veil.drop(prompt=prompt) == shown
        assert veil.lifted
