"""What input runs is found, and the line is known only as long as nothing but text was typed."""

import pytest

from nacre.core.shell.entering import (
    TypedLine,
    expands_history,
    is_plain,
    may_run,
    strokes_of,
    text_of,
    up_to_last_enter,
)
from nacre.core.shell.marks import ASK_KEY, Prompt

FIRST = Prompt(0, 1, continued=False)


def kinds(data: bytes) -> list[str]:
    return [stroke.kind for stroke in strokes_of(data)]


def test_input_is_taken_apart_without_losing_a_byte() -> None:
    data = b"ls \xc3\xa4\t\x1b[A\x1b[200~a\tb\x1b[201~\x1bOM\x18\x05\x03\r\n\x0f\x1b"
    assert b"".join(stroke.data for stroke in strokes_of(data)) == data
    assert text_of(strokes_of(b"\x1b[200~a\tb\x1b[201~")) == "a\tb"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"a", "text"),
        (b"\r", "enter"),
        (b"\n", "enter"),
        (b"\x0f", "strange"),
        (b"\x18", "strange"),
        (b"\x1bOM", "strange"),  # Enter of the keypad
        (b"\x1b[13u", "strange"),  # Enter as the kitty protocol has it
        (b"\x1ba", "strange"),  # accept-and-hold in zsh
        (b"\x1b\r", "strange"),
        (b"\x1b[A", "edit"),
        (b"\x1b[1;5C", "edit"),
        (b"\t", "edit"),
        (b"\x7f", "edit"),
        (b"\x1bb", "edit"),
        (b"\xff", "edit"),
        (b"\x03", "end"),
        (b"\x04", "end"),
    ],
)
def test_each_key_is_what_line_editors_make_of_it(data: bytes, kind: str) -> None:
    assert kinds(data) == [kind]
    if kind in ("enter", "strange"):
        assert may_run(data)


def test_what_only_edits_is_not_held_up() -> None:
    assert not any(map(may_run, (b"ls -l", b"\x1b[A", b"\t", b"\x03", b"\x05\x15", ASK_KEY)))


def test_what_stands_behind_the_last_enter_runs_nothing() -> None:
    strokes = strokes_of(b"a\rb\rc")
    assert text_of(up_to_last_enter(strokes)) == "a\nb\n"
    assert is_plain(strokes)
    assert not is_plain(strokes_of(b"a\x7f\r"))


@pytest.mark.parametrize("text", ["!!", "a !b", 'echo "x!y"', "^a^b", "'a' !b", "it's 'a!b"])
def test_history_expansion_is_seen(text: str) -> None:
    assert expands_history(text)


@pytest.mark.parametrize("text", ["ls", "echo 'a!b'", "! true", "[ a != b ]", "a!", "x ^ y"])
def test_what_expands_nothing_is_no_history_expansion(text: str) -> None:
    assert not expands_history(text)


def test_text_at_a_fresh_prompt_is_known() -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls ", FIRST, 0, reads=True)
    line.note(b"\x1b[200~-l\x1b[201~", FIRST, 1, reads=True)
    line.note(ASK_KEY, FIRST, 2, reads=True)
    assert line.known(FIRST, 3) == "ls -l"


def test_the_line_of_a_session_that_was_found_again_is_not_known() -> None:
    assert TypedLine().known(FIRST, 0) is None


@pytest.mark.parametrize("key", [b"\x1b[A", b"\t", b"\x7f", b"\x03", b"\x0f"])
def test_after_any_other_key_only_the_shell_knows_its_line(key: bytes) -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls" + key, FIRST, 0, reads=True)
    assert line.known(FIRST, 1) is None
    line.learn("ls -a", 1)
    assert line.known(FIRST, 1) == "ls -a"
    line.note(b"x", FIRST, 1, reads=True)  # the cursor may be anywhere
    line.note(b"\x1b[C", FIRST, 2, reads=True)
    assert line.known(FIRST, 3) is None


def test_the_next_line_is_empty_when_the_last_ended_by_enter() -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls\r", FIRST, 0, reads=True)
    assert line.awaits_shell(FIRST)
    after = Prompt(1, 2, continued=False)
    assert not line.awaits_shell(after)
    assert line.known(after, 1) == ""


@pytest.mark.parametrize("ahead", [b"a", b"\x1b[A", b"\r", b"\x03"])
def test_keys_typed_before_the_next_prompt_make_it_unknown(ahead: bytes) -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls\r", FIRST, 0, reads=True)
    line.note(ahead, FIRST, 1, reads=True)  # the shell's answer to Enter is still on its way
    assert line.known(Prompt(1, 2, continued=False), 2) is None


def test_a_line_that_ended_without_enter_leaves_the_next_unknown() -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls\x03", FIRST, 0, reads=True)
    line.note(b"\x10", FIRST, 1, reads=True)  # for the next prompt, though none is drawn yet
    assert line.known(Prompt(1, 2, continued=False), 2) is None


def test_a_prompt_that_is_only_drawn_again_keeps_the_line() -> None:
    line = TypedLine(fresh=True)
    line.note(b"ls", FIRST, 0, reads=True)
    assert line.known(Prompt(0, 2, continued=False), 1) == "ls"
    line.note(b"\r", Prompt(0, 2, continued=False), 1, reads=True)
    assert line.awaits_shell(Prompt(0, 3, continued=False))


def test_the_lines_of_a_continued_command_are_kept() -> None:
    line = TypedLine(fresh=True)
    line.note(b"if true\r", FIRST, 0, reads=True)
    more = Prompt(0, 2, continued=True)
    assert (line.known(more, 1), line.entered) == ("", "if true\n")
    line.note(b"then ls\r", more, 1, reads=True)
    line.note(b"", Prompt(0, 3, continued=True), 2, reads=True)
    assert line.entered == "if true\nthen ls\n"


def test_what_went_to_a_program_is_no_part_of_the_line() -> None:
    line = TypedLine(fresh=True)
    line.note(b"cat\r", FIRST, 0, reads=True)
    line.note(b"echo ", FIRST, 1, reads=False)
    assert line.partial
    assert line.known(Prompt(1, 2, continued=False), 2) is None
